//! Lists the currencies with their current minimums.

use cais_domain::crypto::{Currency, Minimum, Side};
use cais_domain::merchant::account::Account;
use cais_domain::money::Money;
use futures_util::future::join_all;

use super::{CryptoSources, CryptoUnavailable, prices};
use crate::ports::Ports;

/// The minimum of deposits or of withdrawals in one currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveMinimum {
    /// The minimum in coins.
    pub coins: Minimum,
    /// The effective minimum ([`Minimum::effective`]) in BRL, rounded up.
    pub effective_brl: Money,
}

/// A currency. A side (deposits or withdrawals) without a minimum is currently unavailable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveCurrency {
    /// The currency.
    pub currency: Currency,
    /// The minimum of deposits.
    pub deposit: Option<LiveMinimum>,
    /// The minimum of withdrawals.
    pub withdrawal: Option<LiveMinimum>,
}

/// Returns all currencies with their minimums, converted at the account's rates. If the price or the minimum of one
/// side cannot be read, that side is listed as unavailable.
///
/// # Errors
/// [`CryptoUnavailable`] if no price of any currency can be read.
pub async fn list(
    ports: &Ports,
    crypto: &CryptoSources,
    account: &Account,
) -> Result<Vec<LiveCurrency>, CryptoUnavailable> {
    let reads = Currency::ALL.map(|currency| async move {
        let [deposit, withdrawal] = Side::ALL.map(|side| minimum(ports, crypto, account, currency, side));
        let (deposit, withdrawal) = futures_util::future::join(deposit, withdrawal).await;
        (currency, deposit, withdrawal)
    });
    let read = join_all(reads).await;
    let failed = read.iter().all(|(_, deposit, withdrawal)| deposit.is_err() && withdrawal.is_err());
    if let (true, Some((_, Err(error), _))) = (failed, read.first()) {
        return Err(error.clone());
    }
    let current = read.into_iter();
    Ok(current
        .map(|(currency, deposit, withdrawal)| LiveCurrency {
            currency,
            deposit: available(currency, deposit),
            withdrawal: available(currency, withdrawal),
        })
        .collect())
}

async fn minimum(
    ports: &Ports,
    crypto: &CryptoSources,
    account: &Account,
    currency: Currency,
    side: Side,
) -> Result<LiveMinimum, CryptoUnavailable> {
    let price = prices::read(ports, crypto, account, currency, side).await?;
    Ok(LiveMinimum { coins: price.minimum, effective_brl: price.minimum.effective_brl(&price.rate)? })
}

fn available(currency: Currency, read: Result<LiveMinimum, CryptoUnavailable>) -> Option<LiveMinimum> {
    read.inspect_err(|error| {
        tracing::warn!(currency = currency.code(), %error, "minimum of a currency could not be read; its deposits or withdrawals are shown as unavailable");
    })
    .ok()
}
