//! Reads the current inputs of a rate, and the current minimum.

use std::time::Duration;

use cais_domain::crypto::{Currency, Minimum, Rate, RateInputs, Side};
use cais_domain::merchant::account::Account;
use cais_domain::rate::Percentage;
use cais_ports::{UsdRate, alerts};
use jiff::Timestamp;

use super::{CryptoSources, CryptoUnavailable};
use crate::ports::Ports;
use crate::store_error::StoreError;

/// The time for each read of a price or minimum. This service answers a POST within 10 s, and the reads are a part of
/// them.
const READ_BUDGET: Duration = Duration::from_secs(3);

/// A rate, its inputs, and the minimum of the deposits or withdrawals.
#[derive(Debug, Clone)]
pub(super) struct Price {
    /// The BRL for one coin.
    pub(super) rate: Rate,
    /// The prices and the spread from which the rate is computed.
    pub(super) inputs: RateInputs,
    /// The smallest deposit or withdrawal.
    pub(super) minimum: Minimum,
}

/// Reads a price for an account. The coin's price, the rate of the US dollar and the minimum are read concurrently.
pub(super) async fn read(
    ports: &Ports,
    crypto: &CryptoSources,
    account: &Account,
    currency: Currency,
    side: Side,
) -> Result<Price, CryptoUnavailable> {
    let processor = &crypto.processor;
    // The instant of the price is taken before the reads, so that a price never seems newer than it is.
    let at = ports.clock.now();
    let (usdt_per_coin, usd, technical) = futures_util::future::join3(
        processor.usdt_per_coin(side, currency, READ_BUDGET),
        crypto.rates.usd_rate(at, READ_BUDGET),
        processor.minimum(side, currency, READ_BUDGET),
    )
    .await;
    let (usdt_per_coin, usd) = (usdt_per_coin?, usd?);
    let minimum = Minimum::new(side, &usdt_per_coin, technical?)?;
    let spread = account.crypto_spread.as_ref().unwrap_or(&crypto.spread);
    let inputs = inputs(side, (usdt_per_coin, at), &usd, spread.clone());
    let rate = inputs.rate(side, ports.clock.now())?;
    check_jump(ports, currency, &rate).await?;
    Ok(Price { rate, inputs, minimum })
}

/// Returns the inputs of a rate: the price of a coin with its instant, the rate of the US dollar, and the spread.
pub(super) fn inputs(
    side: Side,
    (usdt_per_coin, coin_priced_at): (Rate, Timestamp),
    usd: &UsdRate,
    spread: Percentage,
) -> RateInputs {
    let (brl_per_usd, usd_priced_at) = (usd.of(side).clone(), usd.published_at);
    RateInputs { usdt_per_coin, coin_priced_at, brl_per_usd, usd_priced_at, spread }
}

/// Refuses a rate that differs too much from the rate of the currency's newest quote. A jump is more likely an error of
/// a source than a change of the market price.
async fn check_jump(ports: &Ports, currency: Currency, rate: &Rate) -> Result<(), CryptoUnavailable> {
    let newest = ports.queries.find_newest_crypto_quote(currency).await.map_err(StoreError::from)?;
    let now = ports.clock.now();
    match newest {
        Some(quote) if !rate.may_follow(&quote.prices.rate, now.duration_since(quote.created_at)) => {
            tracing::error!(
                alert = alerts::CRYPTO_RATE_JUMPED, currency = currency.code(), %rate, last = %quote.prices.rate,
                last_at = %quote.created_at, quote = %quote.id, "rate of a currency jumped; no quotes are given"
            );
            Err(CryptoUnavailable::Jump { new: rate.to_string(), last: quote.prices.rate.to_string() })
        }
        Some(_) | None => Ok(()),
    }
}
