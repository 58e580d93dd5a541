//! The steps of a refund, each together with what it does to its charge: neither ever changes without the other.

use jiff::Timestamp;

use super::{Refund, RefundState, RefundStatus, WITHIN};
use crate::acquirer_name::AcquirerName;
use crate::charge::{Charge, ChargeError, ChargeState, ChargeStatus};
use crate::end_to_end_id::ReturnId;
use crate::event::EventType;
use crate::external_id::ExternalId;
use crate::ids::RefundId;
use crate::ledger::{Bucket, Cover, EntryKind, LedgerAccount, SystemAccount, Transfer};
use crate::money::{Money, MoneyError};
use crate::pause::pause;
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
    #[error("the charge was paid more than 90 days ago")]
    TooLate,
    /// More than what is left of the charge.
    #[error("only {rest} of the charge can still be refunded")]
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

impl Refund {
    /// Begins a refund of `charge`, which was paid at `acquirer`: its money is held, and what is left of the charge is less.
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
        if charge.open_infractions > 0 {
            return Err(RefundError::InfractionOpen);
        }
        if at.duration_since(settlement.paid_at) > WITHIN {
            return Err(RefundError::TooLate);
        }
        let rest = charge.refundable()?;
        let amount = asked.amount.unwrap_or(rest);
        if amount > rest || !amount.is_positive() {
            return Err(RefundError::ExceedsAmount { rest });
        }
        let refund = Self {
            id: asked.id,
            account: charge.account,
            charge: charge.id,
            end_to_end_id: settlement.end_to_end_id.clone(),
            acquirer,
            amount,
            reason: asked.reason,
            external_id: asked.external_id,
            state: RefundState::Pending,
            due_at: None,
            attempts: 0,
            created_at: at,
            version: 0,
        };
        let transfers = vec![refund.hold()];
        let charge = Some(charge.reserve_refund(amount)?);
        Ok(changed(RefundChange { refund, charge, transfers, event: None, charge_event: None }))
    }

    /// It was given up and is tried anew: its money is held again, if so much of the charge is still left.
    ///
    /// # Errors
    /// [`RefundError`].
    pub fn reopen(self, charge: Charge, at: Timestamp) -> Result<RefundStep, RefundError> {
        let RefundState::Abandoned { .. } = &self.state else { return Err(self.refuse()) };
        let asked =
            NewRefund { id: self.id, amount: Some(self.amount), reason: self.reason, external_id: self.external_id };
        match Self::open(charge, asked, self.acquirer, at)? {
            RefundStep::Taken(change) => {
                let refund = Self { created_at: self.created_at, version: self.version, ..change.refund };
                Ok(changed(RefundChange { refund, ..*change }))
            }
            repeat @ RefundStep::AlreadyTaken(_) => Ok(repeat),
        }
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
                Err(self.refuse())
            }
        }
    }

    /// It is about to be sent once more, under the same name, because the acquirer says that it never had it.
    ///
    /// # Errors
    /// [`RefundError::InvalidState`] unless its outcome is open.
    pub fn send_again(self, at: Timestamp) -> Result<RefundStep, RefundError> {
        let RefundState::Processing { return_id, .. } = &self.state else { return Err(self.refuse()) };
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
                let charge = Some(charge.release_refund(self.amount)?);
                let transfers = vec![self.give_back()];
                let refund = Self { state: RefundState::Abandoned { at }, due_at: None, ..self };
                Ok(changed(RefundChange { refund, charge, transfers, event: None, charge_event: None }))
            }
            RefundState::Abandoned { .. } => Ok(RefundStep::AlreadyTaken(Box::new(self))),
            RefundState::Processing { .. } | RefundState::Completed { .. } | RefundState::Failed { .. } => {
                Err(self.refuse())
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
                let (charge, charge_event) = charge.settle_refund(self.amount, at)?;
                let return_id = return_id.or_else(|| self.state.return_id().cloned());
                let refund = Self { state: RefundState::Completed { return_id, at }, due_at: None, ..self };
                let event = Some(EventType::RefundCompleted);
                Ok(changed(RefundChange { refund, charge: Some(charge), transfers, event, charge_event }))
            }
            RefundState::Completed { .. } => Ok(RefundStep::AlreadyTaken(Box::new(self))),
            RefundState::Abandoned { .. } | RefundState::Failed { .. } => Err(self.refuse()),
        }
    }

    /// The payer does not get it: it is given back to the account, and the charge can be refunded by so much again.
    ///
    /// # Errors
    /// [`RefundError::InvalidState`] when it was completed or given up.
    pub fn fail(self, charge: Charge, reason: String, at: Timestamp) -> Result<RefundStep, RefundError> {
        match &self.state {
            RefundState::Pending | RefundState::Processing { .. } => {
                let charge = Some(charge.release_refund(self.amount)?);
                let transfers = vec![self.give_back()];
                let return_id = self.state.return_id().cloned();
                let refund = Self { state: RefundState::Failed { return_id, reason, at }, due_at: None, ..self };
                let event = Some(EventType::RefundFailed);
                Ok(changed(RefundChange { refund, charge, transfers, event, charge_event: None }))
            }
            RefundState::Failed { .. } => Ok(RefundStep::AlreadyTaken(Box::new(self))),
            RefundState::Abandoned { .. } | RefundState::Completed { .. } => Err(self.refuse()),
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
        Transfer { from, to, amount: self.amount, cover: Cover::Required, kind, resource, end_to_end_id }
    }

    const fn refuse(&self) -> RefundError {
        RefundError::InvalidState(self.state.status())
    }
}

/// A step that moves no money, leaves the charge as it is, and that nobody is told of.
fn taken(refund: Refund) -> RefundStep {
    changed(RefundChange { refund, charge: None, transfers: Vec::new(), event: None, charge_event: None })
}

fn changed(change: RefundChange) -> RefundStep {
    RefundStep::Taken(Box::new(change))
}
