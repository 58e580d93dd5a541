//! Compares the value of the coins at the processor with the BRL that the ledger records for them.

use std::time::Duration;

use cais_domain::crypto::rate::{LONG_WEEKEND, worth_of_coins};
use cais_domain::crypto::{CryptoAmount, Rate, Side};
use cais_domain::ledger::SystemAccount;
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use cais_ports::{UsdRate, alerts};
use futures_util::future::{join, try_join_all};

use super::{CryptoSources, CryptoUnavailable, prices};
use crate::ports::Ports;
use crate::store_error::StoreError;

/// The time for one read. An operator or a worker waits for the result.
const READ_BUDGET: Duration = Duration::from_secs(10);

/// The coins of one currency at the processor, and their current value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldCoins {
    /// The coins that the service can send.
    pub coins: CryptoAmount,
    /// The BRL for one coin, without a spread.
    pub rate: Rate,
    /// The value in BRL, rounded down.
    pub worth: Money,
}

/// The coins at the processor, compared with the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exposure {
    /// The BRL credited for deposits minus the BRL debited for withdrawals. This is the balance of `crypto:<processor>`
    /// with the opposite sign. The amount is negative if the debits are greater than the credits.
    pub owed: Money,
    /// The coins of each currency whose balance is not zero.
    pub held: Vec<HeldCoins>,
    /// The value of all coins.
    pub worth: Money,
    /// The value minus the owed BRL. If negative, the coins are worth less than the BRL that was credited for them.
    pub surplus: Money,
}

/// Reads the service's balances at the processor, the prices of these coins, and the ledger.
///
/// The surplus is not only gain or loss. Coins of withdrawals in progress may have left the balances already, although
/// the ledger still counts them. Coins that the service bought are in the balances, but not in the ledger.
///
/// # Errors
/// [`CryptoUnavailable`] if a balance or a price cannot be read.
pub async fn read(ports: &Ports, crypto: &CryptoSources) -> Result<Exposure, CryptoUnavailable> {
    let now = ports.clock.now();
    let reads = join(crypto.processor.balances(READ_BUDGET), crypto.rates.usd_rate(now, READ_BUDGET));
    let (balances, usd) = reads.await;
    let usd = usd?;
    if now.duration_since(usd.published_at) > LONG_WEEKEND {
        tracing::error!(
            alert = alerts::CRYPTO_USD_RATE_OLD, published_at = %usd.published_at,
            "rate of the US dollar is older than a long weekend; after six days no quotes are given"
        );
    }
    let balances = balances?;
    let priced = balances.into_iter().filter(|coins| !coins.is_zero()).map(|coins| price(ports, crypto, &usd, coins));
    let held = try_join_all(priced).await?;
    let worth = Money::sum(held.iter().map(|coins| coins.worth))?;
    let account = SystemAccount::Crypto(crypto.processor.name().clone());
    let balance = ports.queries.system_balance(&account).await.map_err(StoreError::from)?;
    let owed = Money::ZERO.checked_sub(balance)?;
    Ok(Exposure { owed, held, worth, surplus: worth.checked_sub(owed)? })
}

/// Returns the coins with their value at the price of deposits, because at that price the coins can be sold.
async fn price(
    ports: &Ports,
    crypto: &CryptoSources,
    usd: &UsdRate,
    coins: CryptoAmount,
) -> Result<HeldCoins, CryptoUnavailable> {
    let at = ports.clock.now();
    let usdt_per_coin = crypto.processor.usdt_per_coin(Side::Deposit, coins.currency(), READ_BUDGET).await?;
    let inputs = prices::inputs(Side::Deposit, (usdt_per_coin, at), usd, Percentage::zero());
    let rate = inputs.rate(Side::Deposit, ports.clock.now())?;
    Ok(HeldCoins { coins, worth: worth_of_coins(coins, &rate)?, rate })
}
