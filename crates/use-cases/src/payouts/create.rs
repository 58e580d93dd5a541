//! Creating a payout: claim the key and hold the money, ask the acquirer, answer; each half in one commit, so that a crash
//! between them is resumed.

use cais_domain::account::{Account, Feature};
use cais_domain::charge::Origin;
use cais_domain::document::Document;
use cais_domain::external_id::ExternalId;
use cais_domain::fee::Operation;
use cais_domain::idempotency_key::IdempotencyKey;
use cais_domain::ids::{PayoutId, RequestId};
use cais_domain::money::Money;
use cais_domain::payout::{Payout, PayoutStep, PayoutTerms};
use cais_domain::pix_key::PixKey;
use cais_domain::text::Text;
use cais_ports::{ChangeSet, ClaimRef, Fingerprint, Reservation, ReservationKey, Write};

use crate::answer::Answer;
use crate::idempotency::IdempotentRequest;
use crate::ports::Ports;
use crate::trouble::Trouble;
use crate::upstream_order::{self, CreateCommand, CreateError, Opened, Precedence, Refusal, StoredRecord as _};

/// What a merchant asks for, already read and within the contract's limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPayout {
    /// What the recipient is to get.
    pub amount: Money,
    /// Where it goes.
    pub pix_key: PixKey,
    /// Who must own the key, if that is to be checked.
    pub recipient_document: Option<Document>,
    /// Shown to the recipient.
    pub description: Option<Text>,
    /// The merchant's own name for it.
    pub external_id: Option<ExternalId>,
}

/// A call to create a payout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatePayout {
    /// Who calls.
    pub account: Account,
    /// The call's own id.
    pub request: RequestId,
    /// The caller's key.
    pub key: IdempotencyKey,
    /// Method, path and body of the call.
    pub fingerprint: Fingerprint,
    /// What is asked for.
    pub terms: NewPayout,
}

/// A refusal of payouts alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PayoutRefusal {
    /// Above the account's limit.
    #[error("the amount is above the account's limit of {limit}")]
    TransactionLimit {
        /// The limit.
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

/// The reason for which no payout was created.
pub type CreatePayoutError = CreateError<PayoutRefusal>;

/// Creates a payout, replays the response of the request that did, or resumes what a request left half done.
///
/// # Errors
/// [`CreatePayoutError`]. A known key comes first, then what the account may do, its limit, the external id, cover and upstream.
pub async fn create(ports: &Ports, command: CreatePayout) -> Result<Answer, CreatePayoutError> {
    upstream_order::create(ports, &command).await
}

impl CreateCommand for CreatePayout {
    type Resource = Payout;
    type Refusal = PayoutRefusal;

    fn request(&self) -> IdempotentRequest {
        let name = ClaimRef { account: self.account.id, key: self.key.clone() };
        IdempotentRequest { name, fingerprint: self.fingerprint, request: self.request }
    }

    fn external_id(&self) -> Option<&ExternalId> {
        self.terms.external_id.as_ref()
    }

    /// Judges what the account may do first, then its limit, then upstream.
    async fn open(&self, ports: &Ports) -> Result<Opened<Payout>, CreatePayoutError> {
        self.account.permit(Feature::PixOut)?;
        let (asked, limit) = (&self.terms, self.account.limits.payout);
        if asked.amount > limit {
            return Err(CreateError::Refused(PayoutRefusal::TransactionLimit { limit }));
        }
        let acquirer = ports.acquirers.first_sender().ok_or(CreateError::AcquirerUnavailable)?;
        let fee = self.account.fees.get(Operation::PixOut).fee(asked.amount);
        let terms = PayoutTerms {
            amount: asked.amount,
            fee: fee.map_err(|error| Trouble::Internal(error.to_string()))?,
            pix_key: asked.pix_key.clone(),
            recipient_document: asked.recipient_document.clone(),
            description: asked.description.clone(),
            external_id: asked.external_id.clone(),
            origin: Origin::Api,
        };
        let id = PayoutId::new(ports.ids.next_uuid());
        let payout = Payout::open(id, self.account.id, terms, acquirer, ports.clock.now());
        let mut change = ChangeSet::new(payout.created_at);
        let key = ReservationKey::InstructionId(payout.instruction_id());
        change.reserve.push(Reservation { key, account: payout.account, owner: id.to_string() });
        change.writes.push(Write::InsertPayout(Box::new(payout.clone())));
        change.transfers = payout.hold();
        Ok(Opened { resource: payout, change })
    }

    async fn reopen(&self, ports: &Ports, abandoned: Payout) -> Result<Option<Opened<Payout>>, CreatePayoutError> {
        let acquirer = ports.acquirers.first_sender().ok_or(CreateError::AcquirerUnavailable)?;
        let mut change = ChangeSet::new(ports.clock.now());
        let resource = match abandoned.reopen(acquirer).map_err(Trouble::from)? {
            PayoutStep::Taken { payout, transfers, event: _ } => {
                change.transfers = transfers;
                payout
            }
            PayoutStep::AlreadyTaken(payout) => payout,
        };
        change.writes.push(resource.update());
        Ok(Some(Opened { resource, change }))
    }

    async fn compare(&self, _: &Ports, owner: &Payout) -> Result<Vec<(&'static str, bool)>, CreatePayoutError> {
        let (ours, theirs) = (&self.terms, &owner.terms);
        Ok(vec![("amount", ours.amount == theirs.amount), ("pix_key", ours.pix_key == theirs.pix_key)])
    }
}
