//! Creates a withdrawal: prices it, checks the address, holds the money, sends the order, and returns the response.

use std::time::Duration;

use cais_domain::charge::Origin;
use cais_domain::crypto::quote::QuotedTerms;
use cais_domain::crypto::withdrawal::{Withdrawal, WithdrawalPrice, WithdrawalStep, WithdrawalTerms};
use cais_domain::crypto::{Address, Side};
use cais_domain::external_id::ExternalId;
use cais_domain::ids::{CryptoQuoteId, CryptoWithdrawalId};
use cais_domain::merchant::account::{Account, Feature};
use cais_domain::money::Money;
use cais_domain::text::Text;
use cais_ports::{ChangeSet, Write};
use futures_util::future::join;

use crate::crypto::quotes::{self, PriceRefusal, UsedQuote};
use crate::ports::Ports;
use crate::response::Response;
use crate::store_error::StoreError;
use crate::upstream_order::{self, CreateError, CreateRequest, CreateTerms, Opened, Precedence, Refusal};

/// The time for the check of the address, a part of the 10 s within which this service answers a POST. The price is
/// read at the same time.
const ADDRESS_BUDGET: Duration = Duration::from_secs(3);

/// The validated terms of a merchant's request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWithdrawal {
    /// The amount that is converted to coins.
    pub amount: Money,
    /// The recipient's address, which decides the currency.
    pub address: Address,
    /// Free text of the merchant.
    pub description: Option<Text>,
    /// The merchant's own id of the withdrawal.
    pub external_id: Option<ExternalId>,
    /// The origin of the request.
    pub origin: Origin,
    /// The quote to use. If absent, the withdrawal has the current price.
    pub quote: Option<CryptoQuoteId>,
}

/// A request to create a withdrawal.
pub type CreateWithdrawal = CreateRequest<NewWithdrawal>;

/// The reason why a withdrawal is refused, in addition to the reasons in [`CreateError`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WithdrawalRefusal {
    /// The amount is above the limit or has no price, or the quote cannot be used.
    #[error(transparent)]
    Price(#[from] PriceRefusal),
    /// The processor cannot send to the address.
    #[error("the processor cannot send to the address")]
    InvalidAddress,
}

impl Refusal for WithdrawalRefusal {
    fn precedence(&self) -> Precedence {
        match self {
            Self::Price(_) | Self::InvalidAddress => Precedence::BeforeConflict,
        }
    }
}

/// The reason why no withdrawal was created.
pub type CreateWithdrawalError = CreateError<WithdrawalRefusal>;

/// Creates a withdrawal, replays the stored response, or resumes an unfinished creation.
///
/// # Errors
/// [`CreateWithdrawalError`]. The order of checks is:
///
/// 1. whether the idempotency key was used before;
/// 2. the account's permissions;
/// 3. whether a processor is configured;
/// 4. the account's limit;
/// 5. the quote, the minimum and the address;
/// 6. the external id and the balance;
/// 7. whether the processor accepts the order.
pub async fn create(ports: &Ports, command: CreateWithdrawal) -> Result<Response, CreateWithdrawalError> {
    upstream_order::create(ports, &command).await
}

impl NewWithdrawal {
    /// Checks the request, and prices the withdrawal `id`. Returns the price and the write of its quote. The write is
    /// `None` if the withdrawal used the quote before.
    async fn price(
        &self,
        ports: &Ports,
        account: &Account,
        id: CryptoWithdrawalId,
    ) -> Result<(WithdrawalPrice, Option<Write>), CreateWithdrawalError> {
        account.permit(Feature::CryptoOut)?;
        let crypto = ports.crypto.as_ref().ok_or(CreateError::AcquirerUnavailable)?;
        let limit = account.limits.payout;
        if self.amount > limit {
            return Err(CreateError::Refused(PriceRefusal::TransactionLimit { limit }.into()));
        }
        let accepts = crypto.processor.accepts_address(&self.address, ADDRESS_BUDGET);
        let NewWithdrawal { amount, address, .. } = self;
        let terms = QuotedTerms { side: Side::Withdrawal, currency: address.currency(), amount: *amount };
        let used = quotes::use_for_order(ports, crypto, account, terms, (self.quote, id.to_string()));
        let (used, accepted) = join(used, accepts).await;
        let UsedQuote { quote, write } = used?;
        let price = WithdrawalPrice::of(&quote).map_err(|error| StoreError::Internal(error.to_string()))?;
        match accepted {
            Ok(true) => Ok((price, write)),
            Ok(false) => Err(CreateError::Refused(WithdrawalRefusal::InvalidAddress)),
            Err(error) => {
                let reason = error.to_string();
                tracing::warn!(processor = %crypto.processor.name(), reason, "address of a withdrawal could not be checked; the withdrawal is not created");
                Err(CreateError::AcquirerUnavailable)
            }
        }
    }
}

impl CreateTerms for NewWithdrawal {
    type Resource = Withdrawal;
    type Refusal = WithdrawalRefusal;

    const OPENS_UPSTREAM: bool = true;

    fn external_id(&self) -> Option<&ExternalId> {
        self.external_id.as_ref()
    }

    async fn open(&self, ports: &Ports, account: &Account) -> Result<Opened<Withdrawal>, CreateWithdrawalError> {
        let id = CryptoWithdrawalId::new(ports.ids.next_uuid());
        let (price, write) = self.price(ports, account, id).await?;
        let crypto = ports.crypto.as_ref().ok_or(CreateError::AcquirerUnavailable)?;
        let terms = WithdrawalTerms {
            amount: self.amount,
            address: self.address.clone(),
            description: self.description.clone(),
            external_id: self.external_id.clone(),
            origin: self.origin,
        };
        let (ids, processor) = ((id, account.id), crypto.processor.name().clone());
        let withdrawal = Withdrawal::open(ids, terms, price, processor, ports.clock.now());
        let mut change = ChangeSet::new(withdrawal.created_at);
        change.writes.extend(write);
        change.writes.push(Write::insert(withdrawal.clone()));
        change.transfers = withdrawal.hold();
        Ok(Opened { resource: withdrawal, change })
    }

    /// Reopens the withdrawal at the price of the requested quote. Without a quote, the current price applies.
    async fn reopen(
        &self,
        ports: &Ports,
        account: &Account,
        abandoned: Withdrawal,
    ) -> Result<Option<Opened<Withdrawal>>, CreateWithdrawalError> {
        let (price, write) = self.price(ports, account, abandoned.id).await?;
        let mut change = ChangeSet::new(ports.clock.now());
        change.writes.extend(write);
        let resource = match abandoned.reopen(price).map_err(StoreError::from)? {
            WithdrawalStep::Taken { withdrawal, transfers, event: _ } => {
                change.transfers = transfers;
                *withdrawal
            }
            WithdrawalStep::AlreadyTaken(withdrawal) => *withdrawal,
        };
        change.writes.push(Write::update(resource.clone()));
        Ok(Some(Opened { resource, change }))
    }

    async fn compare(&self, _: &Ports, owner: &Withdrawal) -> Result<Vec<(&'static str, bool)>, CreateWithdrawalError> {
        let theirs = &owner.terms;
        Ok(vec![
            ("amount", self.amount == theirs.amount),
            ("currency", self.address.currency() == theirs.address.currency()),
            ("address", self.address.as_str() == theirs.address.as_str()),
        ])
    }
}
