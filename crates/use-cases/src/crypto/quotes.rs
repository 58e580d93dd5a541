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
use crate::upstream_order::CreateError;

/// The reason why an amount has no price, or an order has no quote.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PriceRefusal {
    /// The amount is above the account's limit.
    #[error("the amount is above the account's limit of {limit}")]
    TransactionLimit {
        /// The limit.
        limit: Money,
    },
    /// The account has no such quote.
    #[error("the quote does not exist")]
    QuoteNotFound,
    /// The quote cannot be used.
    #[error(transparent)]
    Quote(#[from] UseQuoteError),
    /// The amount is below the minimum of the currency.
    #[error("the amount is below the current minimum of {coins} {}, which is {brl} BRL", .coins.currency())]
    BelowMinimum {
        /// The minimum in coins.
        coins: CryptoAmount,
        /// The minimum in BRL.
        brl: Money,
    },
    /// No price or minimum can be read now.
    #[error("crypto prices are temporarily unavailable: {0}")]
    NoPrice(#[from] CryptoUnavailable),
}

/// The reason why no quote is given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuoteRefusal {
    /// The account is not permitted to make the quoted operation, a deposit or a withdrawal.
    #[error(transparent)]
    NotPermitted(#[from] NotPermitted),
    /// The amount has no price.
    #[error(transparent)]
    Price(#[from] PriceRefusal),
}

impl From<CryptoUnavailable> for QuoteRefusal {
    fn from(error: CryptoUnavailable) -> Self {
        Self::Price(error.into())
    }
}

impl From<StoreError> for QuoteRefusal {
    fn from(error: StoreError) -> Self {
        CryptoUnavailable::Store(error).into()
    }
}

/// An order is refused if its quote is refused.
impl<R: From<PriceRefusal>> From<QuoteRefusal> for CreateError<R> {
    fn from(refusal: QuoteRefusal) -> Self {
        match refusal {
            QuoteRefusal::NotPermitted(reason) => Self::NotPermitted(reason),
            QuoteRefusal::Price(PriceRefusal::NoPrice(CryptoUnavailable::Store(error))) => error.into(),
            QuoteRefusal::Price(refusal) => Self::Refused(refusal.into()),
        }
    }
}

/// The quote of an order, with its write. The write is `None` if the order used the quote before.
pub(super) struct UsedQuote {
    pub(super) quote: Quote,
    pub(super) write: Option<Write>,
}

/// Uses the account's quote `named` for the order `owner`. If `named` is `None`, the terms are priced now, and the new
/// quote is created as used by `owner`.
pub(super) async fn use_for_order(
    ports: &Ports,
    crypto: &CryptoSources,
    account: &Account,
    terms: QuotedTerms,
    (named, owner): (Option<CryptoQuoteId>, String),
) -> Result<UsedQuote, QuoteRefusal> {
    let Some(id) = named else {
        let quote = price(ports, crypto, account, terms).await?;
        let at = quote.created_at;
        let quote = quote.used(terms, owner, at).map_err(PriceRefusal::from)?;
        return Ok(UsedQuote { write: Some(Write::insert(quote.clone())), quote });
    };
    let quote = find(ports, account.id, id).await?.ok_or(PriceRefusal::QuoteNotFound)?;
    let now = ports.clock.now();
    // A repeat of an abandoned order uses the same quote again, until the quote expires.
    if quote.used_by.as_ref() == Some(&owner) && now < quote.expires_at {
        return Ok(UsedQuote { quote, write: None });
    }
    let quote = quote.used(terms, owner, now).map_err(PriceRefusal::from)?;
    Ok(UsedQuote { write: Some(Write::update(quote.clone())), quote })
}

/// Creates a quote, and stores it with the inputs of its rate.
///
/// # Errors
/// [`QuoteRefusal`]. The checks, in this order: the permission, the limit, the prices, the minimum.
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
        return Err(PriceRefusal::TransactionLimit { limit }.into());
    }
    let live = prices::read(ports, crypto, account, terms.currency, terms.side).await?;
    let below = || -> Result<PriceRefusal, CryptoUnavailable> {
        let brl = live.minimum.effective_brl(&live.rate)?;
        Ok(PriceRefusal::BelowMinimum { coins: live.minimum.effective(), brl })
    };
    let id = CryptoQuoteId::new(ports.ids.next_uuid());
    let rule = account.fees.get(operation).clone();
    let quote = match Quote::open((id, account.id), terms, rule, live.inputs.clone(), ports.clock.now()) {
        Ok(quote) => quote,
        Err(QuoteError::NoCoins) => return Err(below()?.into()),
        Err(error) => return Err(CryptoUnavailable::from(error).into()),
    };
    let allowed = live.minimum.allows(quote.prices.coins).map_err(CryptoUnavailable::from)?;
    if allowed { Ok(quote) } else { Err(below()?.into()) }
}

/// Returns a quote of the account. Returns `None` if the account has no quote with this id.
///
/// # Errors
/// [`StoreError`].
pub async fn find(ports: &Ports, account: AccountId, id: CryptoQuoteId) -> Result<Option<Quote>, StoreError> {
    Ok(ports.queries.find_crypto_quote(account, id).await?)
}
