//! Creates a payout. Commit 1 stores the idempotency record and holds the money. Then the acquirer receives the order.
//! Commit 2 stores the result. After a crash between the commits, a repeat or a worker resumes the creation.

use cais_domain::charge::Origin;
use cais_domain::document::Document;
use cais_domain::external_id::ExternalId;
use cais_domain::fee::Operation;
use cais_domain::ids::PayoutId;
use cais_domain::merchant::account::{Account, Feature};
use cais_domain::money::Money;
use cais_domain::payout::{Payout, PayoutStep, PayoutTerms};
use cais_domain::pix_key::PixKey;
use cais_domain::text::Text;
use cais_ports::{ChangeSet, Reservation, ReservationKey, Write};

use crate::ports::Ports;
use crate::response::Response;
use crate::store_error::StoreError;
use crate::upstream_order::{self, CreateError, CreateRequest, CreateTerms, Opened, Precedence, Refusal};

/// The validated terms of a merchant's request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPayout {
    /// The amount that the recipient receives.
    pub amount: Money,
    /// The Pix key of the recipient.
    pub pix_key: PixKey,
    /// The document that the owner of the key must have, if the request contains one.
    pub recipient_document: Option<Document>,
    /// The text that the recipient sees.
    pub description: Option<Text>,
    /// The merchant's own id of the payout.
    pub external_id: Option<ExternalId>,
    /// The origin of the request: the API or the dashboard.
    pub origin: Origin,
}

/// A request to create a payout.
pub type CreatePayout = CreateRequest<NewPayout>;

/// The reason why a payout is refused, in addition to the reasons in [`CreateError`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PayoutRefusal {
    /// The amount is above the account's limit.
    #[error("the amount is above the account's limit of {limit}")]
    TransactionLimit {
        /// The account's largest amount of one payout.
        limit: Money,
    },
}

impl Refusal for PayoutRefusal {
    fn precedence(&self) -> Precedence {
        match self {
            Self::TransactionLimit { .. } => Precedence::BeforeConflict,
        }
    }
}

/// The reason why no payout was created.
pub type CreatePayoutError = CreateError<PayoutRefusal>;

/// Creates a payout, replays the stored response, or resumes an unfinished creation.
///
/// # Errors
/// [`CreatePayoutError`]. The checks are made in this order:
///
/// 1. whether the idempotency key was used before;
/// 2. the account's permissions, then its limit;
/// 3. whether the external id is in use;
/// 4. whether an acquirer can send payouts now;
/// 5. the balance.
pub async fn create(ports: &Ports, command: CreatePayout) -> Result<Response, CreatePayoutError> {
    upstream_order::create(ports, &command).await
}

/// Checks that the account may send the amount. Returns the fee of the payout.
pub(super) fn check(account: &Account, amount: Money) -> Result<Money, CreatePayoutError> {
    account.permit(Feature::PixOut)?;
    let limit = account.limits.payout;
    if amount > limit {
        return Err(CreateError::Refused(PayoutRefusal::TransactionLimit { limit }));
    }
    let fee = account.fees.get(Operation::PixOut).fee(amount);
    Ok(fee.map_err(|error| StoreError::Internal(error.to_string()))?)
}

impl CreateTerms for NewPayout {
    type Resource = Payout;
    type Refusal = PayoutRefusal;

    fn external_id(&self) -> Option<&ExternalId> {
        self.external_id.as_ref()
    }

    /// Opens the payout after these checks, in this order: the account's permissions, its limit, and whether an
    /// acquirer can send payouts now.
    async fn open(&self, ports: &Ports, account: &Account) -> Result<Opened<Payout>, CreatePayoutError> {
        let fee = check(account, self.amount)?;
        let acquirer = ports.acquirers.first_sender(&account.acquirers).ok_or(CreateError::AcquirerUnavailable)?;
        let terms = PayoutTerms {
            amount: self.amount,
            fee,
            pix_key: self.pix_key.clone(),
            recipient_document: self.recipient_document.clone(),
            description: self.description.clone(),
            external_id: self.external_id.clone(),
            origin: self.origin,
        };
        let id = PayoutId::new(ports.ids.next_uuid());
        let payout = Payout::open(id, account.id, terms, acquirer, ports.clock.now());
        let mut change = ChangeSet::new(payout.created_at);
        let key = ReservationKey::InstructionId(payout.instruction_id());
        change.reserve.push(Reservation { key, account: payout.account, owner: id.to_string() });
        change.writes.push(Write::insert(payout.clone()));
        change.transfers = payout.hold();
        Ok(Opened { resource: payout, change })
    }

    async fn reopen(
        &self,
        ports: &Ports,
        account: &Account,
        abandoned: Payout,
    ) -> Result<Option<Opened<Payout>>, CreatePayoutError> {
        let acquirer = ports.acquirers.first_sender(&account.acquirers).ok_or(CreateError::AcquirerUnavailable)?;
        let mut change = ChangeSet::new(ports.clock.now());
        let resource = match abandoned.reopen(acquirer).map_err(StoreError::from)? {
            PayoutStep::Taken { payout, transfers, event: _ } => {
                change.transfers = transfers;
                payout
            }
            PayoutStep::AlreadyTaken(payout) => payout,
        };
        change.writes.push(Write::update(resource.clone()));
        Ok(Some(Opened { resource, change }))
    }

    async fn compare(&self, _: &Ports, owner: &Payout) -> Result<Vec<(&'static str, bool)>, CreatePayoutError> {
        let theirs = &owner.terms;
        Ok(vec![("amount", self.amount == theirs.amount), ("pix_key", self.pix_key == theirs.pix_key)])
    }
}
