//! A payout batch (cash-out) with its withdrawals.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{crypto::amount::Amount, wire};

/// The time for the verification of a batch after its creation. Withdrawals that are not verified in this time are rejected.
pub const VERIFICATION_TIME: SignedDuration = SignedDuration::from_hours(1);

/// The largest number of attempts to verify a batch.
pub const MAX_VERIFICATIONS: u32 = 10;

/// The status of a withdrawal, in upper case on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum WithdrawalStatus {
    /// The withdrawal is not verified yet.
    Creating,
    /// The withdrawal is verified.
    Waiting,
    /// The processor works on the withdrawal.
    Processing,
    /// The withdrawal is on the chain.
    Sending,
    /// The coins arrived.
    Finished,
    /// An error occurred. The processor may still send the money, so the balance stays debited.
    Failed,
    /// The withdrawal was rejected for good. Its money is in the balance again.
    Rejected,
    /// The client cancelled the scheduled withdrawal. Not simulated: every request to cancel is refused.
    Cancelled,
}

/// The outcome of a verified withdrawal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WithdrawalOutcome {
    /// `FINISHED`.
    #[default]
    Finish,
    /// `REJECTED`.
    Reject,
    /// `FAILED`.
    Fail,
    /// The withdrawal stays `PROCESSING` until the tester moves it.
    Stay,
}

/// A withdrawal of one coin to one address.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Withdrawal {
    /// `id`.
    pub id: u64,
    /// `address`.
    pub address: Box<str>,
    /// `currency`, in lower case.
    pub currency: Box<str>,
    /// `amount`.
    pub amount: Amount,
    /// The network fee, debited on top of the amount.
    pub fee: Amount,
    /// `extra_id`.
    pub extra_id: Option<Box<str>>,
    /// `ipn_callback_url`.
    pub ipn_callback_url: Option<Box<str>>,
    /// `payout_description`.
    pub description: Option<Box<str>>,
    /// `unique_external_id`. Uniqueness is not enforced, so that a withdrawal sent twice is visible.
    pub external_id: Option<Box<str>>,
    /// The status.
    pub status: WithdrawalStatus,
    /// `hash`.
    pub hash: Option<Box<str>>,
    /// `error`.
    pub error: Option<Box<str>>,
    /// `requested_at`: the instant of the verification.
    #[serde(with = "wire::optional_micros")]
    pub requested_at: Option<Timestamp>,
    /// `updated_at`.
    #[serde(with = "wire::optional_micros")]
    pub updated_at: Option<Timestamp>,
    /// The outcome that follows the verification; in the journal `fate`.
    #[serde(rename = "fate")]
    pub outcome: WithdrawalOutcome,
    /// The instant at which the clock moves the withdrawal to its outcome; `None` before the verification.
    #[serde(with = "wire::optional_micros")]
    pub settles_at: Option<Timestamp>,
}

impl Withdrawal {
    /// Returns the status to which the clock alone moves the withdrawal next. Meant for a withdrawal that is due.
    #[must_use]
    pub fn next_status(&self) -> WithdrawalStatus {
        match (self.status, self.outcome) {
            (WithdrawalStatus::Creating, _) | (_, WithdrawalOutcome::Reject) => WithdrawalStatus::Rejected,
            (_, WithdrawalOutcome::Fail) => WithdrawalStatus::Failed,
            (WithdrawalStatus::Sending, WithdrawalOutcome::Finish | WithdrawalOutcome::Stay) => {
                WithdrawalStatus::Finished
            }
            (_, WithdrawalOutcome::Finish | WithdrawalOutcome::Stay) => WithdrawalStatus::Sending,
        }
    }

    /// Returns the instant when the clock alone changes the status; `None` if the clock does not change it. `verified_by` is the latest
    /// instant for the verification.
    fn due_at(&self, verified_by: Timestamp) -> Option<Timestamp> {
        match self.status {
            WithdrawalStatus::Creating => Some(verified_by),
            WithdrawalStatus::Waiting | WithdrawalStatus::Processing | WithdrawalStatus::Sending => {
                self.settles_at.filter(|_| self.outcome != WithdrawalOutcome::Stay)
            }
            WithdrawalStatus::Finished
            | WithdrawalStatus::Failed
            | WithdrawalStatus::Rejected
            | WithdrawalStatus::Cancelled => None,
        }
    }
}

/// Withdrawals that a client requested together. They are verified together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Batch {
    /// `id`.
    pub id: u64,
    /// `created_at`.
    #[serde(with = "wire::micros")]
    pub created_at: Timestamp,
    /// The instant of the verification.
    #[serde(with = "wire::optional_micros")]
    pub verified_at: Option<Timestamp>,
    /// The number of requests for verification so far.
    pub verifications: u32,
    /// The codes of earlier requests for the verification of this batch. None of them is accepted again.
    pub codes: Vec<Box<str>>,
    /// The withdrawals.
    pub withdrawals: Vec<Withdrawal>,
}

impl Batch {
    /// Returns the earliest instant when the clock alone changes the status of a withdrawal.
    #[must_use]
    pub fn due_at(&self) -> Option<Timestamp> {
        let verified_by = self.created_at.saturating_add(VERIFICATION_TIME).unwrap_or(Timestamp::MAX);
        self.withdrawals.iter().filter_map(|withdrawal| withdrawal.due_at(verified_by)).min()
    }

    /// Returns the position of the first withdrawal that is due by `now`.
    #[must_use]
    pub fn find_due(&self, now: Timestamp) -> Option<usize> {
        let verified_by = self.created_at.saturating_add(VERIFICATION_TIME).unwrap_or(Timestamp::MAX);
        self.withdrawals.iter().position(|withdrawal| withdrawal.due_at(verified_by).is_some_and(|due| due <= now))
    }
}
