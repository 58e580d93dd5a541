//! Creates a deposit: prices it, requests an address from the processor, and returns the response.

use std::time::Duration;

use cais_domain::charge::Origin;
use cais_domain::crypto::deposit::{Deposit, DepositPrice, DepositStep, DepositTerms};
use cais_domain::crypto::quote::QuotedTerms;
use cais_domain::crypto::{Currency, Minimum, ProcessorId, Quote, Side};
use cais_domain::external_id::ExternalId;
use cais_domain::ids::{CryptoDepositId, CryptoQuoteId};
use cais_domain::merchant::account::{Account, Feature};
use cais_domain::merchant::webhook::Postback;
use cais_domain::money::Money;
use cais_domain::text::Text;
use cais_ports::{ChangeSet, Reservation, ReservationKey, Write};

use crate::crypto::quotes::{self, PriceRefusal, QuoteRefusal, UsedQuote};
use crate::crypto::{CryptoSources, CryptoUnavailable};
use crate::ports::Ports;
use crate::response::Response;
use crate::store_error::StoreError;
use crate::upstream_order::{self, CreateError, CreateRequest, CreateTerms, Opened, Precedence, Refusal};
use crate::webhooks::postback;

/// The time for reading the minimum, if the deposit uses a quote. This service answers a POST within 10 s, and the read
/// is a part of them.
const MINIMUM_BUDGET: Duration = Duration::from_secs(3);

/// The validated terms of a merchant's request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDeposit {
    /// The requested amount in BRL, before the fee.
    pub amount: Money,
    /// The currency of the payer's coins.
    pub currency: Currency,
    /// Free text of the merchant.
    pub description: Option<Text>,
    /// The merchant's own id of the deposit.
    pub external_id: Option<ExternalId>,
    /// The origin of the request.
    pub origin: Origin,
    /// The address of one of the account's endpoints. The events of the deposit are sent to this endpoint, and to the
    /// subscribed endpoints.
    pub postback_url: Option<String>,
    /// The quote to use. If absent, the deposit has the current price.
    pub quote: Option<CryptoQuoteId>,
}

/// A request to create a deposit.
pub type CreateDeposit = CreateRequest<NewDeposit>;

/// The reason why a deposit is refused, if the reason is special to deposits. [`CreateError`] has the reasons that all
/// operations share.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DepositRefusal {
    /// No active endpoint of the account has the address.
    #[error("the postback_url is not a registered, active webhook endpoint of the account")]
    PostbackUrlNotRegistered,
    /// The amount has no price, or the quote cannot be used.
    #[error(transparent)]
    Price(#[from] PriceRefusal),
}

impl Refusal for DepositRefusal {
    fn precedence(&self) -> Precedence {
        match self {
            Self::PostbackUrlNotRegistered | Self::Price(_) => Precedence::BeforeConflict,
        }
    }
}

impl From<DepositRefusal> for CreateError<DepositRefusal> {
    fn from(refusal: DepositRefusal) -> Self {
        Self::Refused(refusal)
    }
}

/// The reason why no deposit was created.
pub type CreateDepositError = CreateError<DepositRefusal>;

/// Creates a deposit, replays the stored response, or resumes an unfinished creation.
///
/// # Errors
/// [`CreateDepositError`]. The checks, in this order: whether the idempotency key was used before, the account's
/// permissions, whether a processor is configured, the postback, the limit, the quote, the minimum, whether the
/// external id is in use, and whether the processor accepts the order.
pub async fn create(ports: &Ports, command: CreateDeposit) -> Result<Response, CreateDepositError> {
    upstream_order::create(ports, &command).await
}

impl NewDeposit {
    /// Returns the quote that prices the deposit `id`: the requested quote, or a new quote at the current price.
    async fn price(
        &self,
        ports: &Ports,
        account: &Account,
        id: CryptoDepositId,
    ) -> Result<UsedQuote, CreateDepositError> {
        let crypto = ports.crypto.as_ref().ok_or(CreateError::AcquirerUnavailable)?;
        let terms = QuotedTerms { side: Side::Deposit, currency: self.currency, amount: self.amount };
        let order = (self.quote, id.to_string());
        let used = quotes::use_for_order(ports, crypto, account, terms, order).await?;
        if self.quote.is_some() {
            check_minimum(crypto, &used.quote).await?;
        }
        Ok(used)
    }

    /// Checks the account's permission, the processor, the postback and the limit. Returns the resolved postback;
    /// `None` if the request has no `postback_url`.
    async fn check(&self, ports: &Ports, account: &Account) -> Result<Option<Postback>, CreateDepositError> {
        account.permit(Feature::CryptoIn)?;
        if ports.crypto.is_none() {
            return Err(CreateError::AcquirerUnavailable);
        }
        let postback = match &self.postback_url {
            Some(url) => {
                let postback = postback::resolve(ports, account.id, url).await?;
                Some(postback.ok_or(DepositRefusal::PostbackUrlNotRegistered)?)
            }
            None => None,
        };
        let limit = account.limits.charge;
        if self.amount > limit {
            Err(DepositRefusal::from(PriceRefusal::TransactionLimit { limit }).into())
        } else {
            Ok(postback)
        }
    }
}

/// Compares a quote with the processor's current minimum. The minimum can rise after the quote was created.
async fn check_minimum(crypto: &CryptoSources, quote: &Quote) -> Result<(), QuoteRefusal> {
    let (side, currency) = (quote.terms.side, quote.terms.currency);
    let technical = crypto.processor.minimum(side, currency, MINIMUM_BUDGET).await;
    let checked = || -> Result<Option<PriceRefusal>, CryptoUnavailable> {
        let minimum = Minimum::new(side, &quote.inputs.usdt_per_coin, technical?)?;
        if minimum.allows(quote.prices.coins)? {
            return Ok(None);
        }
        let brl = minimum.effective_brl(&quote.prices.rate)?;
        Ok(Some(PriceRefusal::BelowMinimum { coins: minimum.effective(), brl }))
    };
    checked()?.map_or(Ok(()), |refusal| Err(refusal.into()))
}

impl CreateTerms for NewDeposit {
    type Resource = Deposit;
    type Refusal = DepositRefusal;

    const OPENS_UPSTREAM: bool = true;

    fn external_id(&self) -> Option<&ExternalId> {
        self.external_id.as_ref()
    }

    async fn open(&self, ports: &Ports, account: &Account) -> Result<Opened<Deposit>, CreateDepositError> {
        let id = CryptoDepositId::new(ports.ids.next_uuid());
        let postback = self.check(ports, account).await?;
        let UsedQuote { quote, write } = self.price(ports, account, id).await?;
        let crypto = ports.crypto.as_ref().ok_or(CreateError::AcquirerUnavailable)?;
        let processor = crypto.processor.name().clone();
        let terms = DepositTerms {
            amount: self.amount,
            currency: self.currency,
            description: self.description.clone(),
            external_id: self.external_id.clone(),
            postback,
            origin: self.origin,
        };
        let owner = id.to_string();
        let order = ProcessorId::parse(&owner).map_err(|error| StoreError::Internal(error.to_string()))?;
        let key = ReservationKey::crypto_payment(&processor, &order);
        let deposit = Deposit::open((id, account.id), terms, DepositPrice::of(&quote), processor, ports.clock.now());
        let mut change = ChangeSet::new(deposit.created_at);
        change.reserve.push(Reservation { key, account: deposit.account, owner });
        change.writes.extend(write);
        change.writes.push(Write::insert(deposit.clone()));
        Ok(Opened { resource: deposit, change })
    }

    /// Reopens the deposit at the price of the requested quote, or else at the current price.
    async fn reopen(
        &self,
        ports: &Ports,
        account: &Account,
        abandoned: Deposit,
    ) -> Result<Option<Opened<Deposit>>, CreateDepositError> {
        self.check(ports, account).await?;
        let UsedQuote { quote, write } = self.price(ports, account, abandoned.id).await?;
        let (DepositStep::Taken { deposit, .. } | DepositStep::AlreadyTaken(deposit)) =
            abandoned.reopen(DepositPrice::of(&quote)).map_err(StoreError::from)?;
        let mut change = ChangeSet::new(ports.clock.now());
        change.writes.extend(write);
        change.writes.push(Write::update((*deposit).clone()));
        Ok(Some(Opened { resource: *deposit, change }))
    }

    async fn compare(&self, _: &Ports, owner: &Deposit) -> Result<Vec<(&'static str, bool)>, CreateDepositError> {
        let theirs = &owner.terms;
        Ok(vec![("amount", self.amount == theirs.amount), ("currency", self.currency == theirs.currency)])
    }
}
