//! The steps of a refund, with their effects on the charge. The refund and the charge are committed together.

use jiff::Timestamp;

use super::{REFUND_PERIOD, Refund, RefundState, RefundStatus};
use crate::acquirer_name::AcquirerName;
use crate::charge::{Charge, ChargeError, ChargeState, ChargeStatus};
use crate::end_to_end_id::EndToEndId;
use crate::end_to_end_id::ReturnId;
use crate::event::EventType;
use crate::external_id::ExternalId;
use crate::ids::RefundId;
use crate::infraction::{Infraction, left_of};
use crate::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, SystemAccount, Transfer};
use crate::money::{Money, MoneyError};
use crate::pause::pause;
use crate::payment::CreditedPayment;
use crate::text::Text;

/// The result of a step of a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundStep {
    /// The step was applied.
    Taken(Box<RefundChange>),
    /// The step was applied before. Nothing changes.
    AlreadyTaken(Box<Refund>),
}

/// The changes of a step of a refund, for one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundChange {
    /// The refund after the step.
    pub refund: Refund,
    /// The charge after the step. `None` if the charge is unchanged.
    pub charge: Option<Charge>,
    /// The transfers of the step.
    pub transfers: Vec<Transfer>,
    /// The event about the refund, if the step publishes one.
    pub event: Option<EventType>,
    /// The event about the charge, if the step publishes one.
    pub charge_event: Option<EventType>,
}

/// The reason why a refund cannot begin or cannot take a step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefundError {
    /// The status of the charge is not `paid`.
    #[error("the charge is {}", .0.as_str())]
    NotPaid(ChargeStatus),
    /// An infraction on the charge is open.
    #[error("an infraction on the charge is open")]
    InfractionOpen,
    /// The payment was received more than 90 days ago.
    #[error("the payment was received more than 90 days ago")]
    TooLate,
    /// The amount is not positive, or exceeds the part of the charge or of the payment that can still be refunded.
    #[error("only {rest} can still be refunded")]
    ExceedsAmount {
        /// The amount that can still be refunded.
        rest: Money,
    },
    /// The status does not allow the step.
    #[error("the refund is {}", .0.as_str())]
    InvalidState(RefundStatus),
    /// The charge does not allow the step.
    #[error(transparent)]
    Charge(#[from] ChargeError),
    /// An amount is out of range.
    #[error("an amount is out of range")]
    Money(#[from] MoneyError),
}

/// The terms of the merchant's request for a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRefund {
    /// The identifier of the new refund.
    pub id: RefundId,
    /// The amount. `None` stands for the whole amount that can still be refunded.
    pub amount: Option<Money>,
    /// The merchant's reason. The payer sees it.
    pub reason: Option<Text>,
    /// The merchant's identifier of the refund.
    pub external_id: Option<ExternalId>,
}

/// A credited payment and all infractions on its Pix. Read the charge of the payment before these values, so that a
/// commit with outdated values fails with `Stale`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refundable<'a> {
    /// The payment to refund.
    pub payment: &'a CreditedPayment,
    /// All infractions on the Pix, in any state.
    pub infractions: &'a [Infraction],
}

impl Refundable<'_> {
    /// Returns the part of the payment that can still be refunded, as two amounts. The first counts as a refund of the
    /// charge. The second is money that did not settle the charge.
    fn left(self, charge: &Charge) -> Result<(Money, Money), MoneyError> {
        let left = left_of(self.payment, charge, self.infractions)?;
        let end_to_end_id = &self.payment.payment.end_to_end_id;
        let pays = charge.state.settlement().is_some_and(|settled| settled.end_to_end_id == *end_to_end_id);
        let of_charge = if pays { charge.refundable()?.min(left) } else { Money::ZERO };
        Ok((of_charge, left.checked_sub(of_charge)?))
    }
}

impl Refund {
    /// Opens a refund of the payment that settled `charge`, and holds the money of the refund. `acquirer` is the
    /// acquirer that received the payment. The refund is limited to the part of the charge's amount that was not
    /// refunded yet. The surplus of an overpayment is refunded by [`Refund::open_of_payment`].
    ///
    /// # Errors
    /// [`RefundError`]. The checks are made in this order: the status of the charge, open infractions, the age of the
    /// payment, the amount.
    pub fn open(
        charge: Charge,
        request: NewRefund,
        acquirer: AcquirerName,
        at: Timestamp,
    ) -> Result<RefundStep, RefundError> {
        let ChargeState::Paid(_, settlement) = &charge.state else {
            return Err(RefundError::NotPaid(charge.state.status()));
        };
        permit(&charge, settlement.paid_at, at)?;
        let rest = charge.refundable()?;
        let amount = request.amount.unwrap_or(rest);
        if amount > rest || !amount.is_positive() {
            return Err(RefundError::ExceedsAmount { rest });
        }
        let end_to_end_id = settlement.end_to_end_id.clone();
        Self::begin(charge, request, (end_to_end_id, acquirer), (amount, amount), at)
    }

    /// Opens a refund of one payment of `charge`, and holds the money of the refund. The charge can have any status.
    /// Money that did not settle the charge is refunded first. If the refund exceeds this money, only the difference
    /// counts as a refund of the charge.
    ///
    /// # Errors
    /// [`RefundError`]. The checks are made in this order: open infractions, the age of the payment, the amount.
    pub fn open_of_payment(
        charge: Charge,
        request: NewRefund,
        refundable: Refundable<'_>,
        at: Timestamp,
    ) -> Result<RefundStep, RefundError> {
        let payment = &refundable.payment.payment;
        permit(&charge, payment.paid_at, at)?;
        let (of_charge, beyond) = refundable.left(&charge)?;
        let rest = of_charge.checked_add(beyond)?;
        let amount = request.amount.unwrap_or(rest);
        if amount > rest || !amount.is_positive() {
            return Err(RefundError::ExceedsAmount { rest });
        }
        let of_charge = amount.checked_sub(amount.min(beyond))?;
        let pix = (payment.end_to_end_id.clone(), payment.acquirer.clone());
        Self::begin(charge, request, pix, (amount, of_charge), at)
    }

    fn begin(
        charge: Charge,
        request: NewRefund,
        (end_to_end_id, acquirer): (EndToEndId, AcquirerName),
        (amount, of_charge): (Money, Money),
        at: Timestamp,
    ) -> Result<RefundStep, RefundError> {
        let refund = Self {
            id: request.id,
            account: charge.account,
            charge: charge.id,
            end_to_end_id,
            acquirer,
            amount,
            of_charge,
            reason: request.reason,
            external_id: request.external_id,
            state: RefundState::Pending,
            due_at: None,
            attempts: 0,
            created_at: at,
            version: 0,
        };
        let transfers = vec![refund.hold()];
        let charge = Some(charge.reserve_refund(of_charge)?);
        Ok(changed(RefundChange { refund, charge, transfers, event: None, charge_event: None }))
    }

    /// Reopens an abandoned refund, and holds its money again. The same amount must still be refundable.
    ///
    /// # Errors
    /// [`RefundError::InvalidState`] if the refund is not abandoned. After this check, the errors of
    /// [`Refund::open_of_payment`].
    pub fn reopen(self, charge: Charge, refundable: Refundable<'_>, at: Timestamp) -> Result<RefundStep, RefundError> {
        let RefundState::Abandoned { .. } = &self.state else { return Err(self.invalid_state()) };
        permit(&charge, refundable.payment.payment.paid_at, at)?;
        let (of_charge, beyond) = refundable.left(&charge)?;
        if self.of_charge > of_charge || self.beyond()? > beyond {
            let rest = if self.beyond()?.is_zero() { of_charge } else { of_charge.checked_add(beyond)? };
            return Err(RefundError::ExceedsAmount { rest });
        }
        let refund = Self { state: RefundState::Pending, due_at: None, attempts: 0, ..self };
        let transfers = vec![refund.hold()];
        let charge = Some(charge.reserve_refund(refund.of_charge)?);
        Ok(changed(RefundChange { refund, charge, transfers, event: None, charge_event: None }))
    }

    /// Records that the acquirer has the refund, or may have it. The outcome stays open. `return_id` is the id of the
    /// return, if the acquirer has reported it. An id that was recorded before stays.
    ///
    /// # Errors
    /// [`RefundError::InvalidState`] if the outcome is known, or if the refund was abandoned.
    pub fn send(self, return_id: Option<ReturnId>, at: Timestamp) -> Result<RefundStep, RefundError> {
        match &self.state {
            RefundState::Pending => {
                let state = RefundState::Processing { recorded_at: at, return_id };
                Ok(taken(Self { state, due_at: Some(pause(at, 0)), ..self }))
            }
            RefundState::Processing { recorded_at, return_id: None } if return_id.is_some() => {
                let state = RefundState::Processing { recorded_at: *recorded_at, return_id };
                Ok(taken(Self { state, ..self }))
            }
            RefundState::Processing { .. } => Ok(RefundStep::AlreadyTaken(Box::new(self))),
            RefundState::Abandoned { .. } | RefundState::Completed { .. } | RefundState::Failed { .. } => {
                Err(self.invalid_state())
            }
        }
    }

    /// Records that the refund is sent again with the same identifier, because the acquirer has no refund with this
    /// identifier.
    ///
    /// # Errors
    /// [`RefundError::InvalidState`], unless the refund is in processing.
    pub fn send_again(self, at: Timestamp) -> Result<RefundStep, RefundError> {
        let RefundState::Processing { return_id, .. } = &self.state else { return Err(self.invalid_state()) };
        let state = RefundState::Processing { recorded_at: at, return_id: return_id.clone() };
        Ok(taken(Self { state, ..self }.schedule_next_poll(at)))
    }

    /// Schedules the next poll, because the outcome is not proven. The pause before the poll doubles each time, up to
    /// [`crate::pause::MAX_PAUSE`].
    #[must_use]
    pub fn schedule_next_poll(self, at: Timestamp) -> Self {
        let attempts = self.attempts.saturating_add(1);
        Self { attempts, due_at: Some(pause(at, attempts)), ..self }
    }

    /// Abandons a refund that the acquirer certainly did not accept. The money returns to `available`. The refund stays
    /// invisible.
    ///
    /// # Errors
    /// [`RefundError::InvalidState`] if the refund was sent or may have been sent.
    pub fn abandon(self, charge: Charge, at: Timestamp) -> Result<RefundStep, RefundError> {
        match &self.state {
            RefundState::Pending => {
                let charge = Some(charge.release_refund(self.of_charge)?);
                let transfers = vec![self.release_hold()];
                let refund = Self { state: RefundState::Abandoned { at }, due_at: None, ..self };
                Ok(changed(RefundChange { refund, charge, transfers, event: None, charge_event: None }))
            }
            RefundState::Abandoned { .. } => Ok(RefundStep::AlreadyTaken(Box::new(self))),
            RefundState::Processing { .. } | RefundState::Completed { .. } | RefundState::Failed { .. } => {
                Err(self.invalid_state())
            }
        }
    }

    /// Records that the payer has received the money. The amount leaves `in_transit`. When the whole amount of the
    /// charge is refunded, the charge becomes refunded.
    ///
    /// # Errors
    /// [`RefundError::InvalidState`] if the refund failed or was abandoned.
    pub fn complete(
        self,
        charge: Charge,
        return_id: Option<ReturnId>,
        at: Timestamp,
    ) -> Result<RefundStep, RefundError> {
        match &self.state {
            RefundState::Pending | RefundState::Processing { .. } => {
                let settlement = LedgerAccount::system(SystemAccount::Settlement(self.acquirer.clone()), self.account);
                let transfers = vec![self.transfer(self.bucket(Bucket::InTransit), settlement, EntryKind::Refund)];
                let (charge, charge_event) = charge.settle_refund(self.of_charge, at)?;
                let return_id = return_id.or_else(|| self.state.return_id().cloned());
                let refund = Self { state: RefundState::Completed { return_id, at }, due_at: None, ..self };
                let event = Some(EventType::RefundCompleted);
                Ok(changed(RefundChange { refund, charge: Some(charge), transfers, event, charge_event }))
            }
            RefundState::Completed { .. } => Ok(RefundStep::AlreadyTaken(Box::new(self))),
            RefundState::Abandoned { .. } | RefundState::Failed { .. } => Err(self.invalid_state()),
        }
    }

    /// Records that the payer does not receive the money. The amount returns to `available`, and can be refunded again.
    ///
    /// # Errors
    /// [`RefundError::InvalidState`] if the refund was completed or abandoned.
    pub fn fail(self, charge: Charge, reason: String, at: Timestamp) -> Result<RefundStep, RefundError> {
        match &self.state {
            RefundState::Pending | RefundState::Processing { .. } => {
                let charge = Some(charge.release_refund(self.of_charge)?);
                let transfers = vec![self.release_hold()];
                let return_id = self.state.return_id().cloned();
                let refund = Self { state: RefundState::Failed { return_id, reason, at }, due_at: None, ..self };
                let event = Some(EventType::RefundFailed);
                Ok(changed(RefundChange { refund, charge, transfers, event, charge_event: None }))
            }
            RefundState::Failed { .. } => Ok(RefundStep::AlreadyTaken(Box::new(self))),
            RefundState::Abandoned { .. } | RefundState::Completed { .. } => Err(self.invalid_state()),
        }
    }

    fn hold(&self) -> Transfer {
        self.transfer(self.bucket(Bucket::Available), self.bucket(Bucket::InTransit), EntryKind::Refund)
    }

    fn release_hold(&self) -> Transfer {
        self.transfer(self.bucket(Bucket::InTransit), self.bucket(Bucket::Available), EntryKind::RefundFailed)
    }

    const fn bucket(&self, bucket: Bucket) -> LedgerAccount {
        LedgerAccount::Merchant(self.account, bucket)
    }

    /// Returns a transfer of the refund. The balance of `from` must cover the amount.
    fn transfer(&self, from: LedgerAccount, to: LedgerAccount, kind: EntryKind) -> Transfer {
        let (resource, end_to_end_id) = (Some(self.id.to_string()), Some(self.end_to_end_id.clone()));
        Transfer { from, to, amount: self.amount, overdraft: Overdraft::Forbidden, kind, resource, end_to_end_id }
    }

    const fn invalid_state(&self) -> RefundError {
        RefundError::InvalidState(self.state.status())
    }
}

/// Checks that no infraction on the charge is open, and that the payment is at most 90 days old.
fn permit(charge: &Charge, paid_at: Timestamp, at: Timestamp) -> Result<(), RefundError> {
    if charge.open_infractions > 0 {
        return Err(RefundError::InfractionOpen);
    }
    if at.duration_since(paid_at) > REFUND_PERIOD {
        return Err(RefundError::TooLate);
    }
    Ok(())
}

/// Returns a step that changes only the refund and publishes no event.
fn taken(refund: Refund) -> RefundStep {
    changed(RefundChange { refund, charge: None, transfers: Vec::new(), event: None, charge_event: None })
}

fn changed(change: RefundChange) -> RefundStep {
    RefundStep::Taken(Box::new(change))
}
