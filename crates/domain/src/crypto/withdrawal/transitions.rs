//! The steps of a withdrawal. Each step consumes the withdrawal and returns all changes for one commit.
//!
//! If the processor may have the withdrawal, no step leads to a second request: the processor could send the coins
//! twice.

use jiff::{SignedDuration, Timestamp};

use super::{Withdrawal, WithdrawalPrice, WithdrawalSent, WithdrawalState, WithdrawalStatus};
use crate::crypto::{CryptoAmount, ProcessorId};
use crate::event::EventType;
use crate::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, SystemAccount, Transfer};
use crate::money::Money;
use crate::pause::pause;

/// The life of a one-time code (RFC 6238), and the pause of [`Withdrawal::await_code`]. The code verifies a withdrawal
/// at the processor.
const CODE_LIFE: SignedDuration = SignedDuration::from_secs(30);

/// The result of a step of a withdrawal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WithdrawalStep {
    /// The step was applied.
    Taken {
        /// The withdrawal after the step.
        withdrawal: Box<Withdrawal>,
        /// The transfers of the step.
        transfers: Vec<Transfer>,
        /// The event to publish, if any.
        event: Option<EventType>,
    },
    /// The step was applied before. Nothing changes.
    AlreadyTaken(Box<Withdrawal>),
}

/// The reason why a withdrawal cannot take a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WithdrawalError {
    /// The status does not allow the step.
    #[error("the withdrawal is {}", .0.as_str())]
    InvalidState(WithdrawalStatus),
}

impl Withdrawal {
    /// Returns the transfers that hold the amount and the fee. `available` must cover both.
    #[must_use]
    pub fn hold(&self) -> Vec<Transfer> {
        let kinds = (EntryKind::CryptoWithdrawal, EntryKind::Fee);
        self.both_parts(Bucket::Available, Bucket::InTransit, kinds)
    }

    /// Records that the processor has the withdrawal, or may have it. `batch` is the id of the processor's batch, if
    /// reported. An id that was recorded before stays.
    ///
    /// # Errors
    /// [`WithdrawalError::InvalidState`] if the outcome is known or the withdrawal was abandoned.
    pub fn send(self, batch: Option<ProcessorId>, at: Timestamp) -> Result<WithdrawalStep, WithdrawalError> {
        match &self.state {
            WithdrawalState::Pending => {
                let sent = WithdrawalSent { recorded_at: at, batch };
                let state = WithdrawalState::Processing { sent, review_since: None };
                Ok(taken(Self { state, due_at: Some(pause(at, 0)), ..self }))
            }
            WithdrawalState::Processing { sent, review_since } => {
                if sent.batch.is_some() || batch.is_none() {
                    return Ok(WithdrawalStep::AlreadyTaken(Box::new(self)));
                }
                let (sent, review_since) = (WithdrawalSent { batch, ..sent.clone() }, *review_since);
                Ok(taken(Self { state: WithdrawalState::Processing { sent, review_since }, ..self }))
            }
            WithdrawalState::Abandoned { .. } | WithdrawalState::Completed { .. } | WithdrawalState::Failed { .. } => {
                Err(self.invalid_state())
            }
        }
    }

    /// Schedules the next poll, because the outcome is not proven. The pause before the poll doubles each time, up to
    /// [`crate::pause::MAX_PAUSE`].
    #[must_use]
    pub fn schedule_next_poll(self, at: Timestamp) -> Self {
        let attempts = self.attempts.saturating_add(1);
        Self { attempts, due_at: Some(pause(at, attempts)), ..self }
    }

    /// Postpones the next look-up by 30 s, because another withdrawal has used the current one-time code. By then a new
    /// code is valid, so this pause does not grow.
    #[must_use]
    pub fn await_code(self, at: Timestamp) -> Self {
        Self { due_at: Some(at.saturating_add(CODE_LIFE).unwrap_or(Timestamp::MAX)), ..self }
    }

    /// Marks the withdrawal for review by an operator. The money stays held, because the coins may still be sent.
    ///
    /// # Errors
    /// [`WithdrawalError::InvalidState`] if the outcome is known or the withdrawal was abandoned.
    pub fn review(self, at: Timestamp) -> Result<WithdrawalStep, WithdrawalError> {
        let sent = match &self.state {
            WithdrawalState::Pending => WithdrawalSent { recorded_at: at, batch: None },
            WithdrawalState::Processing { review_since: Some(_), .. } => {
                return Ok(WithdrawalStep::AlreadyTaken(Box::new(self)));
            }
            WithdrawalState::Processing { sent, review_since: None } => sent.clone(),
            WithdrawalState::Abandoned { .. } | WithdrawalState::Completed { .. } | WithdrawalState::Failed { .. } => {
                return Err(self.invalid_state());
            }
        };
        let due_at = self.due_at.or(Some(pause(at, self.attempts)));
        Ok(taken(Self { state: WithdrawalState::Processing { sent, review_since: Some(at) }, due_at, ..self }))
    }

    /// Abandons a withdrawal that the processor certainly did not accept. The amount and the fee return to `available`.
    /// The withdrawal stays invisible.
    ///
    /// # Errors
    /// [`WithdrawalError::InvalidState`] if the withdrawal was sent or may have been sent.
    pub fn abandon(self, at: Timestamp) -> Result<WithdrawalStep, WithdrawalError> {
        match &self.state {
            WithdrawalState::Pending => {
                let transfers = self.release_hold();
                let withdrawal = Box::new(Self { state: WithdrawalState::Abandoned { at }, due_at: None, ..self });
                Ok(WithdrawalStep::Taken { withdrawal, transfers, event: None })
            }
            WithdrawalState::Abandoned { .. } => Ok(WithdrawalStep::AlreadyTaken(Box::new(self))),
            WithdrawalState::Processing { .. } | WithdrawalState::Completed { .. } | WithdrawalState::Failed { .. } => {
                Err(self.invalid_state())
            }
        }
    }

    /// Reopens an abandoned withdrawal at a new price. The money is held again.
    ///
    /// # Errors
    /// [`WithdrawalError::InvalidState`] if the withdrawal is not abandoned.
    pub fn reopen(self, price: WithdrawalPrice) -> Result<WithdrawalStep, WithdrawalError> {
        let WithdrawalState::Abandoned { .. } = &self.state else { return Err(self.invalid_state()) };
        let withdrawal = Box::new(Self { state: WithdrawalState::Pending, price, ..self });
        Ok(WithdrawalStep::Taken { transfers: withdrawal.hold(), withdrawal, event: None })
    }

    /// Records that the coins were sent.
    ///
    /// # Errors
    /// [`WithdrawalError::InvalidState`] if the withdrawal failed or was abandoned.
    pub fn complete(
        self,
        tx_hash: Option<String>,
        network_fee: Option<CryptoAmount>,
        at: Timestamp,
    ) -> Result<WithdrawalStep, WithdrawalError> {
        let sent = match &self.state {
            WithdrawalState::Pending => WithdrawalSent { recorded_at: at, batch: None },
            WithdrawalState::Processing { sent, .. } => sent.clone(),
            WithdrawalState::Completed { .. } => return Ok(WithdrawalStep::AlreadyTaken(Box::new(self))),
            WithdrawalState::Abandoned { .. } | WithdrawalState::Failed { .. } => return Err(self.invalid_state()),
        };
        let crypto = LedgerAccount::system(SystemAccount::Crypto(self.processor.clone()), self.account);
        let fees = LedgerAccount::system(SystemAccount::Fees, self.account);
        let transit = self.bucket(Bucket::InTransit);
        let transfers = moving(vec![
            self.transfer(transit.clone(), crypto, self.terms.amount, EntryKind::CryptoWithdrawal),
            self.transfer(transit, fees, self.price.fee, EntryKind::Fee),
        ]);
        let (tx_hash, network_fee) = (tx_hash.or(self.tx_hash), network_fee.or(self.network_fee));
        let state = WithdrawalState::Completed { sent, at };
        let withdrawal = Box::new(Self { state, tx_hash, network_fee, due_at: None, ..self });
        Ok(WithdrawalStep::Taken { withdrawal, transfers, event: Some(EventType::CryptoWithdrawalCompleted) })
    }

    /// Records that the coins will never be sent. The amount and the fee return to `available`.
    ///
    /// # Errors
    /// [`WithdrawalError::InvalidState`] if the withdrawal was completed or abandoned.
    pub fn fail(self, reason: String, at: Timestamp) -> Result<WithdrawalStep, WithdrawalError> {
        let sent = match &self.state {
            WithdrawalState::Pending => WithdrawalSent { recorded_at: at, batch: None },
            WithdrawalState::Processing { sent, .. } => sent.clone(),
            WithdrawalState::Failed { .. } => return Ok(WithdrawalStep::AlreadyTaken(Box::new(self))),
            WithdrawalState::Abandoned { .. } | WithdrawalState::Completed { .. } => return Err(self.invalid_state()),
        };
        let transfers = self.release_hold();
        let state = WithdrawalState::Failed { sent, reason, at };
        let withdrawal = Box::new(Self { state, due_at: None, ..self });
        Ok(WithdrawalStep::Taken { withdrawal, transfers, event: Some(EventType::CryptoWithdrawalFailed) })
    }

    fn release_hold(&self) -> Vec<Transfer> {
        let kinds = (EntryKind::CryptoWithdrawalFailed, EntryKind::Fee);
        self.both_parts(Bucket::InTransit, Bucket::Available, kinds)
    }

    fn both_parts(&self, from: Bucket, to: Bucket, (kind, fee): (EntryKind, EntryKind)) -> Vec<Transfer> {
        let (from, to) = (self.bucket(from), self.bucket(to));
        moving(vec![
            self.transfer(from.clone(), to.clone(), self.terms.amount, kind),
            self.transfer(from, to, self.price.fee, fee),
        ])
    }

    const fn bucket(&self, bucket: Bucket) -> LedgerAccount {
        LedgerAccount::Merchant(self.account, bucket)
    }

    /// Returns a transfer of the withdrawal. The balance of `from` must cover the amount.
    fn transfer(&self, from: LedgerAccount, to: LedgerAccount, amount: Money, kind: EntryKind) -> Transfer {
        let resource = Some(self.id.to_string());
        Transfer { from, to, amount, overdraft: Overdraft::Forbidden, kind, resource, end_to_end_id: None }
    }

    const fn invalid_state(&self) -> WithdrawalError {
        WithdrawalError::InvalidState(self.state.status())
    }
}

/// Returns a step that changes only the withdrawal and publishes no event.
fn taken(withdrawal: Withdrawal) -> WithdrawalStep {
    WithdrawalStep::Taken { withdrawal: Box::new(withdrawal), transfers: Vec::new(), event: None }
}

/// Removes transfers with an amount of zero, because the ledger refuses them. The fee may be zero.
fn moving(mut transfers: Vec<Transfer>) -> Vec<Transfer> {
    transfers.retain(|transfer| !transfer.amount.is_zero());
    transfers
}
