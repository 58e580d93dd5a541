//! The steps of a payout. Each step consumes the payout and returns all changes for one commit.

use jiff::Timestamp;

use super::{Payout, PayoutState, PayoutStatus, Recipient, Sent};
use crate::acquirer_name::AcquirerName;
use crate::end_to_end_id::EndToEndId;
use crate::event::EventType;
use crate::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, SystemAccount, Transfer};
use crate::money::{Money, MoneyError};
use crate::pause::pause;

/// The result of a step of a payout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PayoutStep {
    /// The step was applied.
    Taken {
        /// The payout after the step.
        payout: Payout,
        /// The transfers of the step.
        transfers: Vec<Transfer>,
        /// The event to publish, if any.
        event: Option<EventType>,
    },
    /// The step was applied before. Nothing changes.
    AlreadyTaken(Payout),
}

/// The reason why a payout cannot take a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PayoutError {
    /// The status does not allow the step.
    #[error("the payout is {}", .0.as_str())]
    InvalidState(PayoutStatus),
    /// The sum of the returns exceeds the payout, or a return is not positive.
    #[error("more was returned than was sent")]
    ReturnedTooMuch,
    /// An amount is out of range.
    #[error("an amount is out of range")]
    Money(#[from] MoneyError),
}

impl Payout {
    /// Returns the transfers that hold the amount and the fee: from `available` to `in_transit`. The balance of
    /// `available` must cover both.
    #[must_use]
    pub fn hold(&self) -> Vec<Transfer> {
        self.both_parts(Bucket::Available, Bucket::InTransit, Overdraft::Forbidden, (EntryKind::Payout, EntryKind::Fee))
    }

    /// Records that the acquirer has the payout, or may have it. The outcome stays open. `end_to_end_id` and
    /// `recipient` are the values that the acquirer has reported so far. An end-to-end id that was recorded before
    /// stays.
    ///
    /// # Errors
    /// [`PayoutError::InvalidState`] if the outcome is known, or if the payout was abandoned.
    pub fn send(
        self,
        end_to_end_id: Option<EndToEndId>,
        recipient: Recipient,
        at: Timestamp,
    ) -> Result<PayoutStep, PayoutError> {
        match &self.state {
            PayoutState::Pending { acquirer } => {
                let sent = Sent { acquirer: acquirer.clone(), recorded_at: at, end_to_end_id };
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

    /// Records that the payout is sent again, with the same identifier. This is needed in two cases:
    /// - The acquirer has no payout with this identifier.
    /// - The acquirer has the payout, but waits for its approval. The second request approves the payout.
    ///
    /// # Errors
    /// [`PayoutError::InvalidState`], unless the payout is in processing.
    pub fn send_again(self, at: Timestamp) -> Result<PayoutStep, PayoutError> {
        let PayoutState::Processing(sent) = &self.state else { return Err(self.invalid_state()) };
        let state = PayoutState::Processing(Sent { recorded_at: at, ..sent.clone() });
        let payout = Self { state, ..self }.schedule_next_poll(at);
        Ok(PayoutStep::Taken { payout, transfers: Vec::new(), event: None })
    }

    /// Schedules the next poll, because the outcome is not proven. The pause before the poll doubles each time, up to
    /// [`crate::pause::MAX_PAUSE`].
    #[must_use]
    pub fn schedule_next_poll(self, at: Timestamp) -> Self {
        let attempts = self.attempts.saturating_add(1);
        Self { attempts, due_at: Some(pause(at, attempts)), ..self }
    }

    /// Abandons a payout that the acquirer certainly did not accept. The amount and the fee return to `available`. The
    /// payout stays invisible.
    ///
    /// # Errors
    /// [`PayoutError::InvalidState`] if the payout was sent or may have been sent.
    pub fn abandon(self, at: Timestamp) -> Result<PayoutStep, PayoutError> {
        match &self.state {
            PayoutState::Pending { acquirer } => {
                let state = PayoutState::Abandoned { acquirer: acquirer.clone(), at };
                let transfers = self.release_hold();
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

    /// Reopens an abandoned payout, which will be sent to `acquirer`. The money is held again.
    ///
    /// # Errors
    /// [`PayoutError::InvalidState`] if the payout is not abandoned.
    pub fn reopen(self, acquirer: AcquirerName) -> Result<PayoutStep, PayoutError> {
        let PayoutState::Abandoned { .. } = &self.state else { return Err(self.invalid_state()) };
        let transfers = self.hold();
        let payout = Self { state: PayoutState::Pending { acquirer }, ..self };
        Ok(PayoutStep::Taken { payout, transfers, event: None })
    }

    /// Records that the recipient has received the money. The amount and the fee leave `in_transit`.
    ///
    /// # Errors
    /// [`PayoutError::InvalidState`] if the payout failed or was abandoned.
    pub fn complete(
        self,
        end_to_end_id: EndToEndId,
        recipient: Recipient,
        at: Timestamp,
    ) -> Result<PayoutStep, PayoutError> {
        let sent = match &self.state {
            PayoutState::Pending { acquirer } => {
                Sent { acquirer: acquirer.clone(), recorded_at: at, end_to_end_id: Some(end_to_end_id) }
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

    /// Records that the recipient will never receive the money. The amount and the fee return to `available`.
    ///
    /// # Errors
    /// [`PayoutError::InvalidState`] if the payout was completed or abandoned.
    pub fn fail(self, reason: String, at: Timestamp) -> Result<PayoutStep, PayoutError> {
        let sent = match &self.state {
            PayoutState::Pending { acquirer } => {
                Sent { acquirer: acquirer.clone(), recorded_at: at, end_to_end_id: None }
            }
            PayoutState::Processing(sent) => sent.clone(),
            PayoutState::Failed { .. } => return Ok(PayoutStep::AlreadyTaken(self)),
            PayoutState::Abandoned { .. } | PayoutState::Completed { .. } | PayoutState::Reversed { .. } => {
                return Err(self.invalid_state());
            }
        };
        let transfers = self.release_hold();
        let payout = Self { state: PayoutState::Failed { sent, reason, at }, due_at: None, ..self };
        Ok(PayoutStep::Taken { payout, transfers, event: Some(EventType::PayoutFailed) })
    }

    /// Credits `amount`, which the recipient's institution returned. The fee is not returned. When the sum of the
    /// returns reaches the payout's amount, the payout is reversed.
    ///
    /// This function does not detect a return that was credited before. The caller reserves the id of the return in the
    /// same commit, and the store accepts each id once.
    ///
    /// # Errors
    /// [`PayoutError::InvalidState`] if the payout was never completed. [`PayoutError::ReturnedTooMuch`] if the sum of
    /// returns exceeds the payout's amount, or if `amount` is not positive.
    pub fn credit_return(self, amount: Money, at: Timestamp) -> Result<PayoutStep, PayoutError> {
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

    fn release_hold(&self) -> Vec<Transfer> {
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

/// Removes transfers with an amount of zero, because the ledger refuses them. The fee may be zero.
fn moving(mut transfers: Vec<Transfer>) -> Vec<Transfer> {
    transfers.retain(|transfer| !transfer.amount.is_zero());
    transfers
}
