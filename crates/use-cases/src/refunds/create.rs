//! Refunding a payment of a charge: hold the money and claim the key, ask the acquirer, answer; each half in one commit.

use cais_domain::account::{Account, NotPermitted};
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::external_id::ExternalId;
use cais_domain::idempotency_key::IdempotencyKey;
use cais_domain::ids::{RefundId, RequestId};
use cais_domain::money::Money;
use cais_domain::refund::{NewRefund, Refund, RefundChange, RefundError, RefundStep, Refundable};
use cais_domain::text::Text;
use cais_ports::{ChangeSet, ClaimChange, ClaimRef, CommitError, Fingerprint, Reservation, ReservationKey, Write};
use jiff::Timestamp;

use super::ROUNDS;
use super::answer_again::{existing, named, repeat};
use super::complete::{Outcome, complete, external_id_key, under_way};
use crate::answer::Answer;
use crate::charges::fetch::{ChargeName, FetchChargeError, find};
use crate::external_id_conflict::ExternalIdConflict;
use crate::idempotency::{IdempotentRequest, KeepError, KeyInUse, Stored, keep_answer};
use crate::ports::Ports;
use crate::trouble::{RETRY_AFTER_S, Trouble};

/// The status of the answer to a refund that the balance does not cover.
pub(super) const NOT_COVERED: u16 = 422;

/// A call to refund a charge, already read and within the contract's limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateRefund {
    /// Who calls.
    pub account: Account,
    /// The call's own id.
    pub request: RequestId,
    /// The caller's key.
    pub key: IdempotencyKey,
    /// Method, path and body of the call.
    pub fingerprint: Fingerprint,
    /// What is refunded.
    pub charge: ChargeName,
    /// Which payment of it; `None` is the one that paid it, and at most the charge's amount.
    pub end_to_end_id: Option<EndToEndId>,
    /// How much; `None` is all that is left.
    pub amount: Option<Money>,
    /// Why; shown to the payer.
    pub reason: Option<Text>,
    /// The merchant's own name for the refund.
    pub external_id: Option<ExternalId>,
}

/// Why nothing was refunded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateRefundError {
    /// The account may not.
    #[error(transparent)]
    NotPermitted(#[from] NotPermitted),
    /// The account has no charge of that name.
    #[error("there is no such charge")]
    NotFound,
    /// No payment of that end-to-end id was credited to the charge.
    #[error("the charge has no such payment")]
    NoSuchPayment,
    /// The charge is being created.
    #[error("the charge is still being created")]
    ChargeInProgress {
        /// When to repeat.
        retry_after_s: u32,
    },
    /// The key belongs to another request.
    #[error("the idempotency key was used for another request")]
    KeyConflict,
    /// The first request with the key is still being executed.
    #[error("the first request with this key is still being processed")]
    KeyInProgress {
        /// When to repeat.
        retry_after_s: u32,
    },
    /// The external id belongs to a refund of another charge or amount.
    #[error(transparent)]
    ExternalIdConflict(#[from] ExternalIdConflict),
    /// A refund with the external id is being created.
    #[error("a refund with this external id is still being created")]
    ExternalIdInProgress {
        /// When to look.
        retry_after_s: u32,
    },
    /// The charge's status does not allow it.
    #[error("the charge is {}", .0.as_str())]
    InvalidState(ChargeStatus),
    /// An infraction on the charge is open.
    #[error("an infraction on the charge is open")]
    InfractionOpen,
    /// The payment was received more than 90 days ago.
    #[error("the payment was received more than 90 days ago")]
    DeadlinePassed,
    /// More than what is left of the charge or the payment.
    #[error("only {rest} can still be refunded")]
    ExceedsAmount {
        /// What is left.
        rest: Money,
    },
    /// The acquirer certainly did not take it; nothing of it is visible.
    #[error("the acquirer did not take the refund")]
    AcquirerUnavailable,
    /// It may or may not have been made; the same key resumes it.
    #[error("the outcome is not known yet")]
    Unavailable {
        /// When to repeat with the same key.
        retry_after_s: u32,
    },
    /// A bug or a damaged store.
    #[error("internal error: {0}")]
    Internal(String),
}

/// Refunds a charge, repeats the answer of the call that did, or resumes what a call left half done. A balance that does not
/// cover it is an answer too, of status 422.
///
/// # Errors
/// [`CreateRefundError`]. A known key comes first, then what the account may do, an external id that has an owner, and the state of
/// the charge.
pub async fn create(ports: &Ports, command: CreateRefund) -> Result<Answer, CreateRefundError> {
    if let Err(reason) = command.account.permit_write() {
        return refuse(ports, &command, None, reason.into()).await;
    }
    let id = RefundId::new(ports.ids.next_uuid());
    // Key, external id, record and hold are one commit; nearly always nobody has the names, so they are not read first.
    // Whoever received it stays so, whatever else becomes of the charge.
    let mut paid_to = None;
    for _ in 0..ROUNDS {
        let charge = match locate(ports, &command).await {
            Ok(charge) => charge,
            Err(error) => return refuse(ports, &command, None, error.into()).await,
        };
        let now = ports.clock.now();
        let opened = if let Some(pix) = &command.end_to_end_id {
            let payment = ports.queries.find_payment(charge.account, pix).await.map_err(Trouble::from)?;
            let Some(payment) = payment.filter(|payment| payment.charge == charge.id) else {
                return refuse(ports, &command, Some(&charge), CreateRefundError::NoSuchPayment).await;
            };
            let read = ports.queries.list_infractions_of_pix(charge.account, pix).await;
            let infractions = read.map_err(Trouble::from)?;
            let refundable = Refundable { payment: &payment, infractions: &infractions };
            Refund::open_of_payment(charge.clone(), command.asks(id), refundable, now)
        } else {
            if paid_to.is_none() {
                paid_to = receiver(ports, &charge).await?;
            }
            let acquirer = paid_to.clone().unwrap_or_else(|| charge.state.acquirer().clone());
            Refund::open(charge.clone(), command.asks(id), acquirer, now)
        };
        let opened = match opened {
            Ok(RefundStep::Taken(opened)) => *opened,
            Ok(RefundStep::AlreadyTaken(_)) => return Err(CreateRefundError::Internal(format!("{id} was there"))),
            Err(error) => return refuse(ports, &command, Some(&charge), error.into()).await,
        };
        let claim = command.call().takes(id.to_string(), now);
        let change = holds(&opened, Write::InsertRefund(Box::new(opened.refund.clone())), claim, now);
        match ports.store.commit(change).await {
            Ok(_) => {
                return finish(complete(ports, under_way(opened.refund, command.call().holding(now), false)).await?);
            }
            Err(CommitError::Claimed { claim }) => return repeat(ports, &command, *claim).await,
            Err(CommitError::Taken { key: ReservationKey::RefundExternalId(..), by }) => {
                if let Some(answer) = existing(ports, &command, &charge, &by).await? {
                    return Ok(answer);
                }
            }
            // The charge was changed meanwhile: by another refund, a payment, an infraction.
            Err(CommitError::Stale) => {}
            Err(CommitError::NotCovered { available, .. }) => {
                let needed = opened.refund.amount;
                let body = ports.representation.insufficient_balance(command.request, needed, available);
                return match keep_answer(ports, &command.call(), &id.to_string(), NOT_COVERED, body).await? {
                    Stored::Answered(answer) => Ok(answer),
                    Stored::Known(claim) => repeat(ports, &command, claim).await,
                };
            }
            Err(error) => return Err(Trouble::from(error).into()),
        }
    }
    Err(Trouble::contended().into())
}

/// The charge that the call names. A payment can also be refunded of a charge that was given up, which nobody can see otherwise.
async fn locate(ports: &Ports, command: &CreateRefund) -> Result<Charge, FetchChargeError> {
    let found = find(ports, command.account.id, &command.charge).await;
    match (found, &command.charge, &command.end_to_end_id) {
        (Err(FetchChargeError::NotFound), ChargeName::Id(id), Some(_)) => {
            let charge = ports.queries.find_charge(command.account.id, *id).await.map_err(Trouble::from)?;
            charge.ok_or(FetchChargeError::NotFound)
        }
        (found, _, _) => found,
    }
}

/// A call that cannot be executed: what was answered before still is, and what the external id names, then the reason.
async fn refuse(
    ports: &Ports,
    command: &CreateRefund,
    charge: Option<&Charge>,
    reason: CreateRefundError,
) -> Result<Answer, CreateRefundError> {
    let known = ports.queries.find_claim(&command.call().name).await.map_err(Trouble::from)?;
    if let Some(claim) = known {
        return repeat(ports, command, claim).await;
    }
    if let Some(charge) = charge
        && let Some(answer) = named(ports, command, charge).await?
    {
        return Ok(answer);
    }
    Err(reason)
}

/// What begins a refund: its claim, its external id, its record, what is left of its charge, and its hold.
pub(super) fn holds(opened: &RefundChange, record: Write, claim: ClaimChange, now: Timestamp) -> ChangeSet {
    let refund = &opened.refund;
    let owner = refund.id.to_string();
    let mut change = ChangeSet { claim: Some(claim), ..ChangeSet::new(now) };
    change.reserve.extend(external_id_key(refund).map(|key| Reservation { key, account: refund.account, owner }));
    change.writes.push(record);
    change.writes.extend(opened.charge.clone().map(|charge| Write::UpdateCharge(Box::new(charge))));
    change.transfers.clone_from(&opened.transfers);
    change
}

/// Who received the Pix that paid the charge; `None` while nobody paid it. It need not be who issued the charge: one that holds a
/// twin of the same txid may have been paid, and only who has the money can return it.
async fn receiver(ports: &Ports, charge: &Charge) -> Result<Option<AcquirerName>, Trouble> {
    let Some(settlement) = charge.state.settlement() else { return Ok(None) };
    let pix = &settlement.end_to_end_id;
    match ports.queries.find_payment(charge.account, pix).await? {
        Some(credit) => Ok(Some(credit.payment.acquirer)),
        None => Err(Trouble::Internal(format!("{} was paid by {pix}, and there is no such payment", charge.id))),
    }
}

/// The answer that a finished creation gives its caller.
pub(super) fn finish(outcome: Outcome) -> Result<Answer, CreateRefundError> {
    match outcome {
        Outcome::Answered(answer) => Ok(answer),
        Outcome::Abandoned => Err(CreateRefundError::AcquirerUnavailable),
        Outcome::TakenOver(error) => Err(error.into()),
    }
}

impl CreateRefund {
    pub(super) fn call(&self) -> IdempotentRequest {
        let name = ClaimRef { account: self.account.id, key: self.key.clone() };
        IdempotentRequest { name, fingerprint: self.fingerprint, request: self.request }
    }

    fn asks(&self, id: RefundId) -> NewRefund {
        NewRefund { id, amount: self.amount, reason: self.reason.clone(), external_id: self.external_id.clone() }
    }

    pub(super) fn external_id_key(&self) -> Option<ReservationKey> {
        let external_id = self.external_id.clone()?;
        Some(ReservationKey::RefundExternalId(self.account.id, external_id))
    }
}

impl From<Trouble> for CreateRefundError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Unavailable(reason) => {
                tracing::warn!(reason, "a refund could not be made");
                Self::Unavailable { retry_after_s: RETRY_AFTER_S }
            }
            Trouble::Internal(cause) => Self::Internal(cause),
        }
    }
}

impl From<KeyInUse> for CreateRefundError {
    fn from(error: KeyInUse) -> Self {
        match error {
            KeyInUse::Conflict => Self::KeyConflict,
            KeyInUse::InProgress { retry_after_s } => Self::KeyInProgress { retry_after_s },
        }
    }
}

impl From<KeepError> for CreateRefundError {
    fn from(error: KeepError) -> Self {
        match error {
            KeepError::Key(error) => error.into(),
            KeepError::Store(trouble) => trouble.into(),
        }
    }
}

impl From<FetchChargeError> for CreateRefundError {
    fn from(error: FetchChargeError) -> Self {
        match error {
            FetchChargeError::NotFound => Self::NotFound,
            FetchChargeError::InProgress { retry_after_s } => Self::ChargeInProgress { retry_after_s },
            FetchChargeError::Unavailable { retry_after_s } => Self::Unavailable { retry_after_s },
            FetchChargeError::Internal(cause) => Self::Internal(cause),
        }
    }
}

impl From<RefundError> for CreateRefundError {
    fn from(error: RefundError) -> Self {
        match error {
            RefundError::NotPaid(status) => Self::InvalidState(status),
            RefundError::InfractionOpen => Self::InfractionOpen,
            RefundError::TooLate => Self::DeadlinePassed,
            RefundError::ExceedsAmount { rest } => Self::ExceedsAmount { rest },
            RefundError::InvalidState(_) | RefundError::Charge(_) | RefundError::Money(_) => {
                Self::Internal(error.to_string())
            }
        }
    }
}
