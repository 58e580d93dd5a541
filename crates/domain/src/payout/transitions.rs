//! The steps of a payout: each consumes it and returns what must become true together.

use jiff::Timestamp;

use super::{Payout, PayoutState, PayoutStatus, Recipient, Sent};
use crate::acquirer_name::AcquirerName;
use crate::end_to_end_id::EndToEndId;
use crate::event::EventType;
use crate::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, SystemAccount, Transfer};
use crate::money::{Money, MoneyError};
use crate::pause::pause;

/// What follows from asking a payout to take a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PayoutStep {
    /// It took the step.
    Taken {
        /// The payout after the step.
        payout: Payout,
        /// The money that moves with it.
        transfers: Vec<Transfer>,
        /// What happened, if anybody is to know.
        event: Option<EventType>,
    },
    /// It had taken it before; nothing is to be done.
    AlreadyTaken(Payout),
}

/// Why a payout cannot take a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PayoutError {
    /// Its status does not allow it.
    #[error("the payout is {}", .0.as_str())]
    InvalidState(PayoutStatus),
    /// More came back than was sent.
    #[error("more came back than was sent")]
    ReturnedTooMuch,
    /// An amount left the range of money.
    #[error("an amount is out of range")]
    Money(#[from] MoneyError),
}

impl Payout {
    /// The money that leaves `available` when it is asked for: amount and fee, which must be covered.
    #[must_use]
    pub fn hold(&self) -> Vec<Transfer> {
        self.both_parts(Bucket::Available, Bucket::InTransit, Overdraft::Forbidden, (EntryKind::Payout, EntryKind::Fee))
    }

    /// The acquirer is asked, and whether it has it is to be found out: `end_to_end_id` and `recipient` as far as it said.
    ///
    /// # Errors
    /// [`PayoutError::InvalidState`] once its outcome is known, or when it was given up.
    pub fn send(
        self,
        end_to_end_id: Option<EndToEndId>,
        recipient: Recipient,
        at: Timestamp,
    ) -> Result<PayoutStep, PayoutError> {
        match &self.state {
            PayoutState::Pending { acquirer } => {
                let sent = Sent { acquirer: acquirer.clone(), at, end_to_end_id };
                let recipient = self.recipient.clone().or(recipient);
                let due_at = Some(pause(at, 0));
                let payout = Self { state: PayoutState::Processing(sent), recipient, due_at, ..self };
                Ok(PayoutStep::Taken { payout, transfers: Vec::new(), event: None })
            }
            PayoutState::Processing(known) => {
                let named = known.end_to_end_id.clone().or(end_to_end_id);
                let after = self.recipient.clone().or(recipient);
                if named == known.end_to_end_id && after == self.recipient {
                    return Ok(PayoutStep::AlreadyTaken(self));
                }
                let sent = Sent { end_to_end_id: named, ..known.clone() };
                let payout = Self { state: PayoutState::Processing(sent), recipient: after, ..self };
                Ok(PayoutStep::Taken { payout, transfers: Vec::new(), event: None })
            }
            PayoutState::Abandoned { .. }
            | PayoutState::Completed { .. }
            | PayoutState::Failed { .. }
            | PayoutState::Reversed { .. } => Err(self.invalid_state()),
        }
    }

    /// It is about to be sent once more, under the same name, because the acquirer says that it never had it.
    ///
    /// # Errors
    /// [`PayoutError::InvalidState`] unless its outcome is open.
    pub fn send_again(self, at: Timestamp) -> Result<PayoutStep, PayoutError> {
        let PayoutState::Processing(sent) = &self.state else { return Err(self.invalid_state()) };
        let state = PayoutState::Processing(Sent { at, ..sent.clone() });
        Ok(PayoutStep::Taken { payout: Self { state, ..self }.asked(at), transfers: Vec::new(), event: None })
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
    /// [`PayoutError::InvalidState`] once it may have been sent.
    pub fn abandon(self, at: Timestamp) -> Result<PayoutStep, PayoutError> {
        match &self.state {
            PayoutState::Pending { acquirer } => {
                let state = PayoutState::Abandoned { acquirer: acquirer.clone(), at };
                let transfers = self.give_back();
                let payout = Self { state, due_at: None, ..self };
                Ok(PayoutStep::Taken { payout, transfers, event: None })
            }
            PayoutState::Abandoned { .. } => Ok(PayoutStep::AlreadyTaken(self)),
            PayoutState::Processing(_)
            | PayoutState::Completed { .. }
            | PayoutState::Failed { .. }
            | PayoutState::Reversed { .. } => Err(self.invalid_state()),
        }
    }

    /// It was given up and is tried anew, at `acquirer`: its money is held again.
    ///
    /// # Errors
    /// [`PayoutError::InvalidState`] unless it was given up.
    pub fn reopen(self, acquirer: AcquirerName) -> Result<PayoutStep, PayoutError> {
        let PayoutState::Abandoned { .. } = &self.state else { return Err(self.invalid_state()) };
        let transfers = self.hold();
        let payout = Self { state: PayoutState::Pending { acquirer }, ..self };
        Ok(PayoutStep::Taken { payout, transfers, event: None })
    }

    /// The recipient has the money.
    ///
    /// # Errors
    /// [`PayoutError::InvalidState`] when it failed or was given up.
    pub fn complete(
        self,
        end_to_end_id: EndToEndId,
        recipient: Recipient,
        at: Timestamp,
    ) -> Result<PayoutStep, PayoutError> {
        let sent = match &self.state {
            PayoutState::Pending { acquirer } => {
                Sent { acquirer: acquirer.clone(), at, end_to_end_id: Some(end_to_end_id) }
            }
            PayoutState::Processing(sent) => Sent { end_to_end_id: Some(end_to_end_id), ..sent.clone() },
            PayoutState::Completed { .. } | PayoutState::Reversed { .. } => return Ok(PayoutStep::AlreadyTaken(self)),
            PayoutState::Abandoned { .. } | PayoutState::Failed { .. } => return Err(self.invalid_state()),
        };
        let settlement = LedgerAccount::system(SystemAccount::Settlement(sent.acquirer.clone()), self.account);
        let fees = LedgerAccount::system(SystemAccount::Fees, self.account);
        let transit = self.bucket(Bucket::InTransit);
        let mut payout = Self { state: PayoutState::Completed { sent, at }, due_at: None, ..self };
        payout.recipient = payout.recipient.or(recipient);
        let transfers = vec![
            payout.transfer(transit.clone(), settlement, payout.terms.amount, Overdraft::Forbidden, EntryKind::Payout),
            payout.transfer(transit, fees, payout.terms.fee, Overdraft::Forbidden, EntryKind::Fee),
        ];
        Ok(PayoutStep::Taken { transfers: moving(transfers), payout, event: Some(EventType::PayoutCompleted) })
    }

    /// The recipient will never get the money: all is given back.
    ///
    /// # Errors
    /// [`PayoutError::InvalidState`] when it was completed or given up.
    pub fn fail(self, reason: String, at: Timestamp) -> Result<PayoutStep, PayoutError> {
        let sent = match &self.state {
            PayoutState::Pending { acquirer } => Sent { acquirer: acquirer.clone(), at, end_to_end_id: None },
            PayoutState::Processing(sent) => sent.clone(),
            PayoutState::Failed { .. } => return Ok(PayoutStep::AlreadyTaken(self)),
            PayoutState::Abandoned { .. } | PayoutState::Completed { .. } | PayoutState::Reversed { .. } => {
                return Err(self.invalid_state());
            }
        };
        let transfers = self.give_back();
        let payout = Self { state: PayoutState::Failed { sent, reason, at }, due_at: None, ..self };
        Ok(PayoutStep::Taken { payout, transfers, event: Some(EventType::PayoutFailed) })
    }

    /// `amount` of it came back from the recipient's institution; the fee does not. It is reversed when all came back.
    ///
    /// The store credits each return id once, so a repeat never reaches the ledger.
    ///
    /// # Errors
    /// [`PayoutError::InvalidState`] unless it was completed, [`PayoutError::ReturnedTooMuch`] beyond its amount.
    pub fn take_back(self, amount: Money, at: Timestamp) -> Result<PayoutStep, PayoutError> {
        let (sent, completed_at) = match &self.state {
            PayoutState::Completed { sent, at } => (sent.clone(), *at),
            PayoutState::Reversed { .. } => return Err(PayoutError::ReturnedTooMuch),
            PayoutState::Pending { .. }
            | PayoutState::Abandoned { .. }
            | PayoutState::Processing(_)
            | PayoutState::Failed { .. } => return Err(self.invalid_state()),
        };
        let returned = self.returned.checked_add(amount)?;
        if returned > self.terms.amount || !amount.is_positive() {
            return Err(PayoutError::ReturnedTooMuch);
        }
        let settlement = LedgerAccount::system(SystemAccount::Settlement(sent.acquirer.clone()), self.account);
        let available = self.bucket(Bucket::Available);
        let transfer = self.transfer(settlement, available, amount, Overdraft::Allowed, EntryKind::PayoutReversed);
        let whole = returned == self.terms.amount;
        let state = if whole { PayoutState::Reversed { sent, completed_at, at } } else { self.state.clone() };
        let payout = Self { returned, state, ..self };
        Ok(PayoutStep::Taken { payout, transfers: vec![transfer], event: whole.then_some(EventType::PayoutReversed) })
    }

    fn give_back(&self) -> Vec<Transfer> {
        let kinds = (EntryKind::PayoutFailed, EntryKind::Fee);
        self.both_parts(Bucket::InTransit, Bucket::Available, Overdraft::Forbidden, kinds)
    }

    fn both_parts(
        &self,
        from: Bucket,
        to: Bucket,
        overdraft: Overdraft,
        (kind, fee): (EntryKind, EntryKind),
    ) -> Vec<Transfer> {
        let (from, to) = (self.bucket(from), self.bucket(to));
        moving(vec![
            self.transfer(from.clone(), to.clone(), self.terms.amount, overdraft, kind),
            self.transfer(from, to, self.terms.fee, overdraft, fee),
        ])
    }

    const fn bucket(&self, bucket: Bucket) -> LedgerAccount {
        LedgerAccount::Merchant(self.account, bucket)
    }

    fn transfer(
        &self,
        from: LedgerAccount,
        to: LedgerAccount,
        amount: Money,
        overdraft: Overdraft,
        kind: EntryKind,
    ) -> Transfer {
        let resource = Some(self.id.to_string());
        Transfer { from, to, amount, overdraft, kind, resource, end_to_end_id: self.state.end_to_end_id().cloned() }
    }

    const fn invalid_state(&self) -> PayoutError {
        PayoutError::InvalidState(self.state.status())
    }
}

/// Without the movements of nothing, which the ledger does not know: a fee may be zero.
fn moving(mut transfers: Vec<Transfer>) -> Vec<Transfer> {
    transfers.retain(|transfer| !transfer.amount.is_zero());
    transfers
}
