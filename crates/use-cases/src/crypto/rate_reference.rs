//! An operator's acceptance of the present rate of a currency, after a jump of the rate stopped all quotes. The next
//! rates are compared with the accepted rate.

use std::time::Duration;

use cais_domain::crypto::quote::QuotedTerms;
use cais_domain::crypto::{Currency, Quote, Rate, Side};
use cais_domain::fee::FeeRule;
use cais_domain::ids::{AccountId, CryptoQuoteId};
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use cais_domain::text::Text;
use cais_ports::{AcquirerError, Actor, ChangeSet, QueryError, Write};
use futures_util::future::join;
use jiff::Timestamp;
use uuid::Uuid;

use super::{CryptoSources, CryptoUnavailable, prices};
use crate::audit::{self, AuditedChange, Fields};
use crate::ports::Ports;
use crate::store_error::StoreError;

/// The time for one read. The operator waits for the result.
const READ_BUDGET: Duration = Duration::from_secs(10);
/// The amount of the stored quote. No order uses the quote, so the amount has no effect.
const AMOUNT: Money = Money::from_centavos(100_000);
/// The value of `used_by` of the stored quote. A used quote is never removed, and no order can use it.
const USED_BY: &str = "operator";

/// The reason why a rate was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AcceptRateError {
    /// The present rate is not the rate that the operator expects.
    #[error("the present rate {present} differs by more than a tenth from the expected rate {expected}")]
    Unexpected {
        /// The present rate.
        present: String,
        /// The rate that the operator expects.
        expected: String,
    },
    /// The acceptance has no effect. Another quote still counts as the newest, because its node's clock was ahead. The
    /// accepted rate differs too much from the rate of that quote.
    #[error(
        "the accepted rate has no effect: the quote {newest} of {created_at} counts as newer, because the clock of its \
         node was ahead; correct the clock of that node, and repeat the command after {created_at}"
    )]
    NotNewest {
        /// The newest quote.
        newest: CryptoQuoteId,
        /// The instant of the newest quote, by the clock of its node.
        created_at: Timestamp,
    },
    /// The present rate could not be read.
    #[error(transparent)]
    Unavailable(#[from] CryptoUnavailable),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<AcquirerError> for AcceptRateError {
    fn from(error: AcquirerError) -> Self {
        Self::Unavailable(error.into())
    }
}

impl From<QueryError> for AcceptRateError {
    fn from(error: QueryError) -> Self {
        Self::Store(error.into())
    }
}

/// The accepted rate, and the rate with which it would have been compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedRate {
    /// A quote at the accepted rate. The quote belongs to no account.
    pub quote: Quote,
    /// The rate of the newest quote before the acceptance. `None` if the currency had no quote.
    pub last: Option<Rate>,
}

/// Stores the present rate of a currency as its newest quote, so that the next rates are compared with this rate. The
/// rate has no spread. The same commit writes a row of the audit log.
///
/// # Errors
/// [`AcceptRateError`]. The present rate is refused if it is not near the rate that the operator expects, because it
/// may itself be an error of a source. After [`AcceptRateError::NotNewest`] the accepted rate is stored, but further
/// quotes are still refused.
pub async fn accept(
    ports: &Ports,
    crypto: &CryptoSources,
    operator: &Actor,
    (currency, expected): (Currency, &Rate),
    note: &Text,
) -> Result<AcceptedRate, AcceptRateError> {
    let at = ports.clock.now();
    let reads = join(
        crypto.processor.usdt_per_coin(Side::Deposit, currency, READ_BUDGET),
        crypto.rates.usd_rate(at, READ_BUDGET),
    );
    let (usdt_per_coin, usd) = reads.await;
    let (usdt_per_coin, usd) = (usdt_per_coin?, usd?);
    let inputs = prices::inputs(Side::Deposit, (usdt_per_coin, at), &usd, Percentage::zero());
    let ids = (CryptoQuoteId::new(ports.ids.next_uuid()), AccountId::new(Uuid::nil()));
    let terms = QuotedTerms { side: Side::Deposit, currency, amount: AMOUNT };
    let quote =
        Quote::open(ids, terms, FeeRule::default(), inputs, ports.clock.now()).map_err(CryptoUnavailable::from)?;
    if !quote.prices.rate.is_near(expected) {
        let (present, expected) = (quote.prices.rate.to_string(), expected.to_string());
        return Err(AcceptRateError::Unexpected { present, expected });
    }
    let quote = Quote { used_by: Some(USED_BY.to_owned()), ..quote };
    let last = ports.queries.find_newest_crypto_quote(currency).await?.map(|newest| newest.prices.rate);
    let audited = AuditedChange {
        action: "crypto_rate.accept",
        subject: currency.code().to_owned(),
        account: None,
        before: last.as_ref().map(|last| Fields::new().text("rate", last).into_json()),
        after: Some(record(&quote, note)),
    };
    let mut change = ChangeSet::new(quote.created_at);
    change.writes.push(Write::insert(quote.clone()));
    change.writes.push(audit::record(ports, operator, quote.created_at, audited));
    ports.store.commit(change).await.map_err(StoreError::from)?;
    // Quotes are ordered by their ids, and an id contains the time at its node's clock.
    let newest = ports.queries.find_newest_crypto_quote(currency).await?;
    let is_refused = |newest: &Quote| {
        let age = ports.clock.now().duration_since(newest.created_at);
        !quote.prices.rate.may_follow(&newest.prices.rate, age)
    };
    match newest.filter(is_refused) {
        Some(Quote { id, created_at, .. }) => Err(AcceptRateError::NotNewest { newest: id, created_at }),
        None => Ok(AcceptedRate { quote, last }),
    }
}

/// Returns the accepted rate and its inputs, as JSON.
fn record(quote: &Quote, note: &Text) -> Vec<u8> {
    Fields::new()
        .text("rate", &quote.prices.rate)
        .text("usdt_per_coin", &quote.inputs.usdt_per_coin)
        .text("brl_per_usd", &quote.inputs.brl_per_usd)
        .text("note", note)
        .into_json()
}
