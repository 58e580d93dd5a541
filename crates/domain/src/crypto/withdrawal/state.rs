//! The states of a withdrawal. Each state has the data that belongs to it.

use jiff::Timestamp;

use crate::crypto::ProcessorId;

/// The request to the processor. A request that the processor may have accepted is never repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithdrawalSent {
    /// The instant at which this service recorded the request.
    pub recorded_at: Timestamp,
    /// The processor's id of the batch that contains the withdrawal. `None` until the processor reports the id.
    pub batch: Option<ProcessorId>,
}

/// The state of a withdrawal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WithdrawalState {
    /// The money is held. The request to the processor is not sent yet, or its result is not stored yet. The withdrawal
    /// is not visible.
    Pending,
    /// The processor certainly did not accept the withdrawal. The held money is in `available` again. The withdrawal is
    /// not visible. A repeat of the merchant's request can reopen the withdrawal.
    Abandoned {
        /// The instant at which the withdrawal was abandoned.
        at: Timestamp,
    },
    /// The processor has the withdrawal, or may have it.
    Processing {
        /// The request to the processor.
        sent: WithdrawalSent,
        /// The instant since which an operator must decide; `None` if no decision is needed. A decision is needed in
        /// two cases:
        /// - The processor reports an error, but may still send the coins.
        /// - Minutes after the creation, the processor still does not show the withdrawal.
        review_since: Option<Timestamp>,
    },
    /// The coins were sent.
    Completed {
        /// The request to the processor.
        sent: WithdrawalSent,
        /// The instant of completion.
        at: Timestamp,
    },
    /// The coins will never be sent. The amount and the fee were returned to the account.
    Failed {
        /// The request to the processor.
        sent: WithdrawalSent,
        /// The reason, safe to show to the merchant.
        reason: String,
        /// The instant of the failure.
        at: Timestamp,
    },
}

named! {
    /// The name of a state, without its data.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum WithdrawalStatus {
        /// See [`WithdrawalState::Pending`].
        Pending = "pending",
        /// See [`WithdrawalState::Abandoned`].
        Abandoned = "abandoned",
        /// See [`WithdrawalState::Processing`].
        Processing = "processing",
        /// See [`WithdrawalState::Completed`].
        Completed = "completed",
        /// See [`WithdrawalState::Failed`].
        Failed = "failed",
    }
}

impl WithdrawalStatus {
    /// Returns whether the API shows withdrawals in this status.
    #[must_use]
    pub const fn is_visible(self) -> bool {
        match self {
            Self::Pending | Self::Abandoned => false,
            Self::Processing | Self::Completed | Self::Failed => true,
        }
    }
}

impl WithdrawalState {
    /// Returns the status.
    #[must_use]
    pub const fn status(&self) -> WithdrawalStatus {
        match self {
            Self::Pending => WithdrawalStatus::Pending,
            Self::Abandoned { .. } => WithdrawalStatus::Abandoned,
            Self::Processing { .. } => WithdrawalStatus::Processing,
            Self::Completed { .. } => WithdrawalStatus::Completed,
            Self::Failed { .. } => WithdrawalStatus::Failed,
        }
    }

    /// Returns the request to the processor. Returns `None` if the withdrawal is pending or abandoned.
    #[must_use]
    pub const fn sent(&self) -> Option<&WithdrawalSent> {
        match self {
            Self::Pending | Self::Abandoned { .. } => None,
            Self::Processing { sent, .. } | Self::Completed { sent, .. } | Self::Failed { sent, .. } => Some(sent),
        }
    }

    /// Returns the instant since which an operator must decide. Returns `None` if no decision is needed.
    #[must_use]
    pub const fn review_since(&self) -> Option<Timestamp> {
        match self {
            Self::Processing { review_since, .. } => *review_since,
            Self::Pending | Self::Abandoned { .. } | Self::Completed { .. } | Self::Failed { .. } => None,
        }
    }

    /// Returns the instant of completion. Returns `None` if the withdrawal is not completed.
    #[must_use]
    pub const fn completed_at(&self) -> Option<Timestamp> {
        match self {
            Self::Completed { at, .. } => Some(*at),
            Self::Pending | Self::Abandoned { .. } | Self::Processing { .. } | Self::Failed { .. } => None,
        }
    }

    /// Returns the reason of the failure. Returns `None` if the withdrawal did not fail.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        match self {
            Self::Failed { reason, .. } => Some(reason),
            Self::Pending | Self::Abandoned { .. } | Self::Processing { .. } | Self::Completed { .. } => None,
        }
    }
}
