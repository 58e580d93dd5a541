//! The steps of a refund, each together with what it does to its charge: neither ever changes without the other.

use jiff::Timestamp;

use super::{Refund, RefundState, RefundStatus, WITHIN};
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

/// What follows from asking a refund to take a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundStep {
    /// It took the step.
    Taken(Box<RefundChange>),
    /// It had taken it before; nothing is to be done.
    AlreadyTaken(Box<Refund>),
}

/// Everything that must become true together when a refund takes a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundChange {
    /// The refund after the step.
    pub refund: Refund,
    /// Its charge after the step; `None` when the step does not change it.
    pub charge: Option<Charge>,
    /// The money that moves with it.
    pub transfers: Vec<Transfer>,
    /// What happened to the refund, if anybody is to know.
    pub event: Option<EventType>,
    /// What happened to the charge, if anybody is to know.
    pub charge_event: Option<EventType>,
}

/// Why a refund cannot begin or take a step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefundError {
    /// The charge is not paid.
    #[error("the charge is {}", .0.as_str())]
    NotPaid(ChargeStatus),
    /// An infraction on the charge is open.
    #[error("an infraction on the charge is open")]
    InfractionOpen,
    /// The payment is too long ago.
    #[error("the payment was received more than 90 days ago")]
    TooLate,
    /// More than what is left of the charge or the payment.
    #[error("only {rest} can still be refunded")]
    ExceedsAmount {
        /// What is left.
        rest: Money,
    },
    /// Its status does not allow it.
    #[error("the refund is {}", .0.as_str())]
    InvalidState(RefundStatus),
    /// The charge does not allow it.
    #[error(transparent)]
    Charge(#[from] ChargeError),
    /// An amount left the range of money.
    #[error("an amount is out of range")]
    Money(#[from] MoneyError),
}

/// What a merchant asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRefund {
    /// The identifier that it gets.
    pub id: RefundId,
    /// How much; `None` is all that is left.
    pub amount: Option<Money>,
    /// Why.
    pub reason: Option<Text>,
    /// The merchant's own name for it.
    pub external_id: Option<ExternalId>,
}

/// A credited payment with every infraction on its Pix, all read after the charge that they belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refundable<'a> {
    /// The payment.
    pub payment: &'a CreditedPayment,
    /// Every infraction on the Pix, in whatever state.
    pub infractions: &'a [Infraction],
}

impl Refundable<'_> {
    /// Returns what can still be refunded: of the charge's amount, and of what was paid beyond it.
    fn left(self, charge: &Charge) -> Result<(Money, Money), MoneyError> {
        let left = left_of(self.payment, charge, self.infractions)?;
        let end_to_end_id = &self.payment.payment.end_to_end_id;
        let pays = charge.state.settlement().is_some_and(|settled| settled.end_to_end_id == *end_to_end_id);
        let of_charge = if pays { charge.refundable()?.min(left) } else { Money::ZERO };
        Ok((of_charge, left.checked_sub(of_charge)?))
    }
}

impl Refund {
    /// Begins a refund of `charge`, which was paid at `acquirer`: its money is held, and what is left of the charge is less. Of an
    /// overpayment at most the charge's amount goes back: for the excess see [`Refund::open_of_payment`].
    ///
    /// # Errors
    /// [`RefundError`]: the state of the charge first, then infractions, time, amount.
    pub fn open(
        charge: Charge,
        asked: NewRefund,
        acquirer: AcquirerName,
        at: Timestamp,
    ) -> Result<RefundStep, RefundError> {
        let ChargeState::Paid(_, settlement) = &charge.state else {
            return Err(RefundError::NotPaid(charge.state.status()));
        };
        permit(&charge, settlement.paid_at, at)?;
        let rest = charge.refundable()?;
        let amount = asked.amount.unwrap_or(rest);
        if amount > rest || !amount.is_positive() {
            return Err(RefundError::ExceedsAmount { rest });
        }
        let end_to_end_id = settlement.end_to_end_id.clone();
        Self::begin(charge, asked, (end_to_end_id, acquirer), (amount, amount), at)
    }

    /// Begins a refund of one payment of `charge`, whatever the charge's status: the one that paid it or any other. What was paid beyond
    /// the charge's amount goes back first; only the rest of `amount` counts as refunded of the charge.
    ///
    /// # Errors
    /// [`RefundError`]: infractions first, then time, amount.
    pub fn open_of_payment(
        charge: Charge,
        asked: NewRefund,
        refundable: Refundable<'_>,
        at: Timestamp,
    ) -> Result<RefundStep, RefundError> {
        let payment = &refundable.payment.payment;
        permit(&charge, payment.paid_at, at)?;
        let (of_charge, beyond) = refundable.left(&charge)?;
        let rest = of_charge.checked_add(beyond)?;
        let amount = asked.amount.unwrap_or(rest);
        if amount > rest || !amount.is_positive() {
            return Err(RefundError::ExceedsAmount { rest });
        }
        let of_charge = amount.checked_sub(amount.min(beyond))?;
        let pix = (payment.end_to_end_id.clone(), payment.acquirer.clone());
        Self::begin(charge, asked, pix, (amount, of_charge), at)
    }

    fn begin(
        charge: Charge,
        asked: NewRefund,
        (end_to_end_id, acquirer): (EndToEndId, AcquirerName),
        (amount, of_charge): (Money, Money),
        at: Timestamp,
    ) -> Result<RefundStep, RefundError> {
        let refund = Self {
            id: asked.id,
            account: charge.account,
            charge: charge.id,
            end_to_end_id,
            acquirer,
            amount,
            of_charge,
            reason: asked.reason,
            external_id: asked.external_id,
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

    /// It was given up and is tried anew: its money is held again, if so much of the payment is still left.
    ///
    /// # Errors
    /// [`RefundError`].
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

    /// The acquirer is asked, and whether it has it is to be found out.
    ///
    /// # Errors
    /// [`RefundError::InvalidState`] once its outcome is known, or when it was given up.
    pub fn send(self, return_id: Option<ReturnId>, at: Timestamp) -> Result<RefundStep, RefundError> {
        match &self.state {
            RefundState::Pending => {
                let state = RefundState::Processing { sent_at: at, return_id };
                Ok(taken(Self { state, due_at: Some(pause(at, 0)), ..self }))
            }
            RefundState::Processing { sent_at, return_id: None } if return_id.is_some() => {
                let state = RefundState::Processing { sent_at: *sent_at, return_id };
                Ok(taken(Self { state, ..self }))
            }
            RefundState::Processing { .. } => Ok(RefundStep::AlreadyTaken(Box::new(self))),
            RefundState::Abandoned { .. } | RefundState::Completed { .. } | RefundState::Failed { .. } => {
                Err(self.invalid_state())
            }
        }
    }

    /// It is about to be sent once more, under the same name, because the acquirer says that it never had it.
    ///
    /// # Errors
    /// [`RefundError::InvalidState`] unless its outcome is open.
    pub fn send_again(self, at: Timestamp) -> Result<RefundStep, RefundError> {
        let RefundState::Processing { return_id, .. } = &self.state else { return Err(self.invalid_state()) };
        let state = RefundState::Processing { sent_at: at, return_id: return_id.clone() };
        Ok(taken(Self { state, ..self }.asked(at)))
    }

    /// Upstream was asked and its outcome is still open: it is asked again after a pause that grows.
    #[must_use]
    pub fn asked(self, at: Timestamp) -> Self {
        let attempts = self.attempts.saturating_add(1);
        Self { attempts, due_at: Some(pause(at, attempts)), ..self }
    }

    /// The acquirer certainly did not take it: all is given back, and nothing of it will be seen.
    ///
    /// # Errors
    /// [`RefundError::InvalidState`] once it may have been sent.
    pub fn abandon(self, charge: Charge, at: Timestamp) -> Result<RefundStep, RefundError> {
        match &self.state {
            RefundState::Pending => {
                let charge = Some(charge.release_refund(self.of_charge)?);
                let transfers = vec![self.give_back()];
                let refund = Self { state: RefundState::Abandoned { at }, due_at: None, ..self };
                Ok(changed(RefundChange { refund, charge, transfers, event: None, charge_event: None }))
            }
            RefundState::Abandoned { .. } => Ok(RefundStep::AlreadyTaken(Box::new(self))),
            RefundState::Processing { .. } | RefundState::Completed { .. } | RefundState::Failed { .. } => {
                Err(self.invalid_state())
            }
        }
    }

    /// The payer has the money back; the charge is refunded when all of it went back.
    ///
    /// # Errors
    /// [`RefundError::InvalidState`] when it failed or was given up.
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

    /// The payer does not get it: it is given back to the account, and the charge can be refunded by so much again.
    ///
    /// # Errors
    /// [`RefundError::InvalidState`] when it was completed or given up.
    pub fn fail(self, charge: Charge, reason: String, at: Timestamp) -> Result<RefundStep, RefundError> {
        match &self.state {
            RefundState::Pending | RefundState::Processing { .. } => {
                let charge = Some(charge.release_refund(self.of_charge)?);
                let transfers = vec![self.give_back()];
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

    fn give_back(&self) -> Transfer {
        self.transfer(self.bucket(Bucket::InTransit), self.bucket(Bucket::Available), EntryKind::RefundFailed)
    }

    const fn bucket(&self, bucket: Bucket) -> LedgerAccount {
        LedgerAccount::Merchant(self.account, bucket)
    }

    /// The account must have what it refunds: the house lends nobody anything.
    fn transfer(&self, from: LedgerAccount, to: LedgerAccount, kind: EntryKind) -> Transfer {
        let (resource, end_to_end_id) = (Some(self.id.to_string()), Some(self.end_to_end_id.clone()));
        Transfer { from, to, amount: self.amount, overdraft: Overdraft::Forbidden, kind, resource, end_to_end_id }
    }

    const fn invalid_state(&self) -> RefundError {
        RefundError::InvalidState(self.state.status())
    }
}

/// Refuses a refund while an infraction on the charge is open, or more than 90 days after the payment.
fn permit(charge: &Charge, paid_at: Timestamp, at: Timestamp) -> Result<(), RefundError> {
    if charge.open_infractions > 0 {
        return Err(RefundError::InfractionOpen);
    }
    if at.duration_since(paid_at) > WITHIN {
        return Err(RefundError::TooLate);
    }
    Ok(())
}

/// A step that moves no money, leaves the charge as it is, and that nobody is told of.
fn taken(refund: Refund) -> RefundStep {
    changed(RefundChange { refund, charge: None, transfers: Vec::new(), event: None, charge_event: None })
}

fn changed(change: RefundChange) -> RefundStep {
    RefundStep::Taken(Box::new(change))
}
