//! Creates a refund of a payment. The first commit holds the money and stores the idempotency record. Then the acquirer
//! receives the refund. The second commit stores the outcome and the response.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::external_id::ExternalId;
use cais_domain::ids::{AccountId, RefundId};
use cais_domain::infraction::Infraction;
use cais_domain::merchant::account::Account;
use cais_domain::money::Money;
use cais_domain::refund::{NewRefund, Refund, RefundChange, RefundError, RefundStep, Refundable};
use cais_domain::text::Text;
use cais_ports::{ChangeSet, Write};
use jiff::Timestamp;

use super::changes::charge_of;
use crate::charges::fetch::{ChargeName, FetchError, find};
use crate::ports::Ports;
use crate::response::Response;
use crate::store_error::StoreError;
use crate::upstream_order::{
    self, CreateError, CreateRequest, CreateTerms, Opened, Precedence, Refusal, StoredRecord as _,
};

/// The largest number of characters in the reason of a refund.
pub const MAX_REASON: usize = 140;

/// A request to refund a charge.
pub type CreateRefund = CreateRequest<RequestedRefund>;

/// The validated terms of a merchant's request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedRefund {
    /// The charge to refund.
    pub charge: ChargeName,
    /// The payment to refund. `None` stands for the payment that paid the charge. Refunds without a named payment are
    /// limited to the charge's amount.
    pub end_to_end_id: Option<EndToEndId>,
    /// The amount. `None` stands for the whole part that was not refunded yet.
    pub amount: Option<Money>,
    /// The reason for the refund. The payer sees the reason.
    pub reason: Option<Text>,
    /// The merchant's identifier for the refund.
    pub external_id: Option<ExternalId>,
}

/// A refusal that only refunds can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefundRefusal {
    /// The account has no charge with that identifier.
    #[error("the charge does not exist")]
    NotFound,
    /// No payment with this end-to-end id was credited to the charge.
    #[error("the payment of the charge does not exist")]
    NoSuchPayment,
    /// The charge is being created.
    #[error("the charge is still being created")]
    ChargeInProgress {
        /// Seconds until a repeat is useful.
        retry_after_s: u32,
    },
    /// The charge's status does not allow a refund.
    #[error("the charge is {}", .0.as_str())]
    InvalidState(ChargeStatus),
    /// An infraction on the charge is open.
    #[error("an infraction on the charge is open")]
    InfractionOpen,
    /// The payment was received more than 90 days ago.
    #[error("the payment was received more than 90 days ago")]
    DeadlinePassed,
    /// The amount exceeds the rest of the charge or of the payment.
    #[error("only {rest} can still be refunded")]
    ExceedsAmount {
        /// The amount that can still be refunded.
        rest: Money,
    },
}

impl Refusal for RefundRefusal {
    /// Returns the position of the refusal in the order of checks. A missing charge, or a charge in creation, is
    /// refused first. Every other refusal comes after the comparison with the refund that already has the external id.
    fn precedence(&self) -> Precedence {
        match self {
            Self::NotFound | Self::ChargeInProgress { .. } => Precedence::First,
            Self::NoSuchPayment
            | Self::InvalidState(_)
            | Self::InfractionOpen
            | Self::DeadlinePassed
            | Self::ExceedsAmount { .. } => Precedence::AfterConflict,
        }
    }
}

/// The reason why no refund was created.
pub type CreateRefundError = CreateError<RefundRefusal>;

/// Refunds a charge, replays the stored response, or resumes an unfinished refund. If the balance does not cover the
/// refund, the response reports this and is stored for repeats.
///
/// # Errors
/// [`CreateRefundError`]. The checks are made in this order:
///
/// 1. whether the idempotency key was used before;
/// 2. the account's permissions;
/// 3. whether the charge exists;
/// 4. whether the external id is in use;
/// 5. whether the payment, the state of the charge and the amount permit the refund.
pub async fn create(ports: &Ports, command: CreateRefund) -> Result<Response, CreateRefundError> {
    upstream_order::create(ports, &command).await
}

impl CreateTerms for RequestedRefund {
    type Resource = Refund;
    type Refusal = RefundRefusal;

    fn external_id(&self) -> Option<&ExternalId> {
        self.external_id.as_ref()
    }

    async fn open(&self, ports: &Ports, account: &Account) -> Result<Opened<Refund>, CreateRefundError> {
        account.permit_write()?;
        let charge = locate(ports, account.id, &self.charge, self.end_to_end_id.as_ref()).await?;
        let now = ports.clock.now();
        let new = NewRefund {
            id: RefundId::new(ports.ids.next_uuid()),
            amount: self.amount,
            reason: self.reason.clone(),
            external_id: self.external_id.clone(),
        };
        let step = decided(ports, charge, self.end_to_end_id.as_ref(), new, now).await;
        match step? {
            RefundStep::Taken(step) => {
                let record = Write::insert(step.refund.clone());
                Ok(opened(*step, record, now))
            }
            RefundStep::AlreadyTaken(refund) => {
                Err(CreateError::Internal(format!("the new refund {} exists already", refund.id)))
            }
        }
    }

    /// Checks by the current rules whether the abandoned refund may still be made, and holds its money again.
    async fn reopen(
        &self,
        ports: &Ports,
        account: &Account,
        abandoned: Refund,
    ) -> Result<Option<Opened<Refund>>, CreateRefundError> {
        account.permit_write()?;
        let charge = charge_of(ports, &abandoned).await?;
        let pix = &abandoned.end_to_end_id;
        let payment = ports.queries.find_payment(abandoned.account, pix).await.map_err(StoreError::from)?;
        let payment =
            payment.ok_or_else(|| StoreError::Internal(format!("{}: its payment {pix} is missing", abandoned.id)))?;
        let infractions = infractions_of(ports, &charge, pix).await?;
        let refundable = Refundable { payment: &payment, infractions: &infractions };
        let now = ports.clock.now();
        match abandoned.clone().reopen(charge, refundable, now) {
            Ok(RefundStep::Taken(step)) => {
                let record = Write::update(step.refund.clone());
                Ok(Some(opened(*step, record, now)))
            }
            Ok(RefundStep::AlreadyTaken(_)) => Ok(None),
            // Another repeat has reopened this refund meanwhile. Its hold may be the only reason for the error, so the
            // refund is read again.
            Err(_) if abandoned.reread(ports).await?.version != abandoned.version => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns `true`: an abandoned refund may be reopened whatever `open` refused, because `reopen` makes all checks
    /// again.
    fn may_reopen(_: &CreateRefundError) -> bool {
        true
    }

    async fn compare(&self, ports: &Ports, owner: &Refund) -> Result<Vec<(&'static str, bool)>, CreateRefundError> {
        let charge = locate(ports, owner.account, &self.charge, self.end_to_end_id.as_ref()).await?;
        let same_amount = self.amount.is_none_or(|amount| amount == owner.amount);
        let same_pix = self.end_to_end_id.as_ref().is_none_or(|pix| *pix == owner.end_to_end_id);
        Ok(vec![("charge_id", owner.charge == charge.id), ("amount", same_amount), ("end_to_end_id", same_pix)])
    }
}

/// Returns the amount of a refund that [`create`] would create now: `amount`, or the whole rest. Writes nothing.
///
/// # Errors
/// [`CreateRefundError`] if the account or the charge does not permit the refund now, or the store failed.
pub async fn preview(
    ports: &Ports,
    account: &Account,
    charge: &ChargeName,
    pix: Option<&EndToEndId>,
    amount: Option<Money>,
) -> Result<Money, CreateRefundError> {
    account.permit_write()?;
    let charge = locate(ports, account.id, charge, pix).await?;
    let new = NewRefund { id: RefundId::new(ports.ids.next_uuid()), amount, reason: None, external_id: None };
    match decided(ports, charge, pix, new, ports.clock.now()).await? {
        RefundStep::Taken(step) => Ok(step.refund.amount),
        RefundStep::AlreadyTaken(refund) => Ok(refund.amount),
    }
}

/// Checks a new refund by the rules of its charge and payment. Returns the step that opens the refund. Writes nothing.
async fn decided(
    ports: &Ports,
    charge: Charge,
    pix: Option<&EndToEndId>,
    new: NewRefund,
    now: Timestamp,
) -> Result<RefundStep, CreateRefundError> {
    if let Some(pix) = pix {
        let payment = ports.queries.find_payment(charge.account, pix).await.map_err(StoreError::from)?;
        let payment = payment.filter(|payment| payment.charge == charge.id);
        let payment = payment.ok_or(CreateError::Refused(RefundRefusal::NoSuchPayment))?;
        let infractions = infractions_of(ports, &charge, pix).await?;
        let refundable = Refundable { payment: &payment, infractions: &infractions };
        Ok(Refund::open_of_payment(charge, new, refundable, now)?)
    } else {
        let paid_to = receiver(ports, &charge).await?;
        let acquirer = paid_to.unwrap_or_else(|| charge.state.acquirer().clone());
        Ok(Refund::open(charge, new, acquirer, now)?)
    }
}

/// Returns the charge that the request names. If the request names the charge by its id, and also names a payment, the
/// charge may be abandoned or in creation. Other requests cannot read such a charge.
async fn locate(
    ports: &Ports,
    account: AccountId,
    charge: &ChargeName,
    pix: Option<&EndToEndId>,
) -> Result<Charge, CreateRefundError> {
    let found = find(ports, account, charge).await;
    match (found, charge, pix) {
        (Err(FetchError::NotFound), ChargeName::Id(id), Some(_)) => {
            let charge = ports.queries.find_charge(account, *id).await.map_err(StoreError::from)?;
            charge.ok_or(CreateError::Refused(RefundRefusal::NotFound))
        }
        (found, _, _) => Ok(found?),
    }
}

async fn infractions_of(ports: &Ports, charge: &Charge, pix: &EndToEndId) -> Result<Vec<Infraction>, StoreError> {
    Ok(ports.queries.list_infractions_of_pix(charge.account, pix).await?)
}

/// Returns a refund in its first state, and the changes of the first commit: the refund's record, its charge, and its
/// hold.
fn opened(step: RefundChange, record: Write, now: Timestamp) -> Opened<Refund> {
    let mut change = ChangeSet::new(now);
    change.writes.push(record);
    change.writes.extend(step.charge.map(Write::update));
    change.transfers = step.transfers;
    Opened { resource: step.refund, change }
}

/// Returns the acquirer that received the Pix which paid the charge. Returns `None` if the charge is not paid.
///
/// The receiver can differ from the issuer, because a payer can pay a duplicate charge at a second acquirer. Only the
/// acquirer that has the money can return it.
async fn receiver(ports: &Ports, charge: &Charge) -> Result<Option<AcquirerName>, StoreError> {
    let Some(settlement) = charge.state.settlement() else { return Ok(None) };
    let pix = &settlement.end_to_end_id;
    match ports.queries.find_payment(charge.account, pix).await? {
        Some(credit) => Ok(Some(credit.payment.acquirer)),
        None => Err(StoreError::Internal(format!("{} was paid by {pix}, and that payment is missing", charge.id))),
    }
}

impl From<FetchError> for CreateRefundError {
    fn from(error: FetchError) -> Self {
        match error {
            FetchError::NotFound => Self::Refused(RefundRefusal::NotFound),
            FetchError::InProgress { retry_after_s } => {
                Self::Refused(RefundRefusal::ChargeInProgress { retry_after_s })
            }
            FetchError::Unavailable { retry_after_s } => Self::Unavailable { retry_after_s },
            FetchError::Internal(cause) => Self::Internal(cause),
        }
    }
}

impl From<RefundError> for CreateRefundError {
    fn from(error: RefundError) -> Self {
        match error {
            RefundError::NotPaid(status) => Self::Refused(RefundRefusal::InvalidState(status)),
            RefundError::InfractionOpen => Self::Refused(RefundRefusal::InfractionOpen),
            RefundError::TooLate => Self::Refused(RefundRefusal::DeadlinePassed),
            RefundError::ExceedsAmount { rest } => Self::Refused(RefundRefusal::ExceedsAmount { rest }),
            RefundError::InvalidState(_) | RefundError::Charge(_) | RefundError::Money(_) => {
                Self::Internal(error.to_string())
            }
        }
    }
}
