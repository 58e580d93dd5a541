//! Creates and reads quotes.

use cais_domain::crypto::quote::{QuoteError, QuotedTerms, UseQuoteError};
use cais_domain::crypto::{CryptoAmount, Quote, Side};
use cais_domain::fee::Operation;
use cais_domain::ids::{AccountId, CryptoQuoteId};
use cais_domain::merchant::account::{Account, Feature, NotPermitted};
use cais_domain::money::Money;
use cais_ports::{ChangeSet, Write};

use super::{CryptoSources, CryptoUnavailable, prices};
use crate::ports::Ports;
use crate::store_error::StoreError;

/// The reason why no quote is given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuoteRefusal {
    /// The account is not permitted to make the quoted operation, a deposit or a withdrawal.
    #[error(transparent)]
    NotPermitted(#[from] NotPermitted),
    /// The amount is above the account's limit.
    #[error("the amount is above the account's limit of {limit}")]
    TransactionLimit {
        /// The limit.
        limit: Money,
    },
    /// The amount is below the minimum of the currency.
    #[error("the amount is below the current minimum of {coins} {}, which is {brl} BRL", .coins.currency())]
    BelowMinimum {
        /// The minimum in coins.
        coins: CryptoAmount,
        /// The minimum in BRL.
        brl: Money,
    },
    /// No price can be given now.
    #[error("crypto prices are temporarily unavailable: {0}")]
    Unavailable(#[from] CryptoUnavailable),
}

impl From<StoreError> for QuoteRefusal {
    fn from(error: StoreError) -> Self {
        Self::Unavailable(CryptoUnavailable::Store(error))
    }
}

/// The quote of an order, with its write. The write is `None` if the order used the quote before.
pub(super) struct TakenQuote {
    pub(super) quote: Quote,
    pub(super) write: Option<Write>,
}

/// The reason why an order has no quote.
pub(super) enum TakeQuoteError {
    /// The account has no such quote.
    NotFound,
    /// The quote cannot be used.
    Unusable(UseQuoteError),
    /// A new quote is refused.
    Refused(QuoteRefusal),
}

impl From<QuoteRefusal> for TakeQuoteError {
    fn from(refusal: QuoteRefusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Uses the account's quote `named` for the order `owner`. If `named` is `None`, the terms are priced now, and the new
/// quote is created as used by `owner`.
pub(super) async fn take(
    ports: &Ports,
    crypto: &CryptoSources,
    account: &Account,
    terms: QuotedTerms,
    (named, owner): (Option<CryptoQuoteId>, String),
) -> Result<TakenQuote, TakeQuoteError> {
    let Some(id) = named else {
        let quote = price(ports, crypto, account, terms).await?;
        let at = quote.created_at;
        let quote = quote.used(terms, owner, at).map_err(TakeQuoteError::Unusable)?;
        return Ok(TakenQuote { write: Some(Write::insert(quote.clone())), quote });
    };
    let found = find(ports, account.id, id).await.map_err(QuoteRefusal::from)?;
    let quote = found.ok_or(TakeQuoteError::NotFound)?;
    let now = ports.clock.now();
    // An abandoned order keeps its quote until the quote expires.
    if quote.used_by.as_ref() == Some(&owner) && now < quote.expires_at {
        return Ok(TakenQuote { quote, write: None });
    }
    let quote = quote.used(terms, owner, now).map_err(TakeQuoteError::Unusable)?;
    Ok(TakenQuote { write: Some(Write::update(quote.clone())), quote })
}

/// Creates a quote, and stores it with the inputs of its rate.
///
/// # Errors
/// [`QuoteRefusal`]. The order of the checks is: the permission, the limit, the prices, the minimum.
pub async fn create(
    ports: &Ports,
    crypto: &CryptoSources,
    account: &Account,
    terms: QuotedTerms,
) -> Result<Quote, QuoteRefusal> {
    let quote = price(ports, crypto, account, terms).await?;
    let mut change = ChangeSet::new(quote.created_at);
    change.writes.push(Write::insert(quote.clone()));
    ports.store.commit(change).await.map_err(StoreError::from)?;
    Ok(Quote { version: 1, ..quote })
}

/// Prices the terms. The quote is not stored.
async fn price(
    ports: &Ports,
    crypto: &CryptoSources,
    account: &Account,
    terms: QuotedTerms,
) -> Result<Quote, QuoteRefusal> {
    let (feature, operation, limit) = match terms.side {
        Side::Deposit => (Feature::CryptoIn, Operation::CryptoIn, account.limits.charge),
        Side::Withdrawal => (Feature::CryptoOut, Operation::CryptoOut, account.limits.payout),
    };
    account.permit(feature)?;
    if terms.amount > limit {
        return Err(QuoteRefusal::TransactionLimit { limit });
    }
    let live = prices::read(ports, crypto, account, terms.currency, terms.side).await?;
    let below = || -> Result<QuoteRefusal, CryptoUnavailable> {
        let brl = live.minimum.effective_brl(&live.rate)?;
        Ok(QuoteRefusal::BelowMinimum { coins: live.minimum.effective(), brl })
    };
    let id = CryptoQuoteId::new(ports.ids.next_uuid());
    let rule = account.fees.get(operation).clone();
    let quote = match Quote::open((id, account.id), terms, rule, live.inputs.clone(), ports.clock.now()) {
        Ok(quote) => quote,
        Err(QuoteError::NoCoins) => return Err(below()?),
        Err(error) => return Err(CryptoUnavailable::from(error).into()),
    };
    let allowed = live.minimum.allows(quote.prices.coins).map_err(CryptoUnavailable::from)?;
    if allowed { Ok(quote) } else { Err(below()?) }
}

/// Returns a quote of the account. Returns `None` if the account has no quote with this id.
///
/// # Errors
/// [`StoreError`].
pub async fn find(ports: &Ports, account: AccountId, id: CryptoQuoteId) -> Result<Option<Quote>, StoreError> {
    Ok(ports.queries.find_crypto_quote(account, id).await?)
}
