//! Creates a quote, and reads one.

use cais_domain::crypto::quote::{QuoteError, QuotedTerms};
use cais_domain::crypto::{CryptoAmount, Quote, Side};
use cais_domain::fee::Operation;
use cais_domain::ids::{AccountId, CryptoQuoteId};
use cais_domain::merchant::account::{Account, Feature, NotPermitted};
use cais_domain::money::Money;
use cais_ports::{ChangeSet, Write};

use super::{CryptoSources, CryptoUnavailable, prices};
use crate::ports::Ports;
use crate::store_error::StoreError;

/// The reason for which no quote is given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuoteRefusal {
    /// The account may not use the side.
    #[error(transparent)]
    NotPermitted(#[from] NotPermitted),
    /// The amount is above the account's limit.
    #[error("the amount is above the account's limit of {limit}")]
    TransactionLimit {
        /// The limit.
        limit: Money,
    },
    /// The amount is below the minimum of the currency.
    #[error("the amount is below the minimum of {coins} {}, {brl} BRL now", .coins.currency())]
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

/// Creates a quote and stores it with its inputs.
///
/// # Errors
/// [`QuoteRefusal`], in the order of its variants.
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

/// Prices terms without storing the quote.
pub(super) async fn price(
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

/// Returns a quote of the account; `None` if the account has none of this id.
///
/// # Errors
/// [`StoreError`].
pub async fn find(ports: &Ports, account: AccountId, id: CryptoQuoteId) -> Result<Option<Quote>, StoreError> {
    Ok(ports.queries.find_crypto_quote(account, id).await?)
}
