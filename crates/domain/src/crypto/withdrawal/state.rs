//! The states of a withdrawal, each with exactly its facts.

use jiff::Timestamp;

use crate::crypto::ProcessorId;

/// The one request to the processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithdrawalSent {
    /// The instant of the request.
    pub at: Timestamp,
    /// The batch of the withdrawal, once the processor reported it.
    pub batch: Option<ProcessorId>,
}

/// The state of a withdrawal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WithdrawalState {
    /// The money is held, and the request to the processor is in flight. The withdrawal is not visible yet.
    Pending,
    /// The processor certainly did not accept the withdrawal. The money was given back. The withdrawal is invisible
    /// unless retried.
    Abandoned {
        /// The instant of abandonment.
        at: Timestamp,
    },
    /// The processor has the withdrawal, or may have it.
    Processing {
        /// The request.
        sent: WithdrawalSent,
        /// The instant since which an operator has to decide. The processor reports an error but may still send the
        /// coins, or does not show the withdrawal.
        review_since: Option<Timestamp>,
    },
    /// The coins are sent.
    Completed {
        /// The request.
        sent: WithdrawalSent,
        /// The instant.
        at: Timestamp,
    },
    /// The coins are never sent. Amount and fee were given back.
    Failed {
        /// The request.
        sent: WithdrawalSent,
        /// The reason, safe to show to the merchant.
        reason: String,
        /// The instant.
        at: Timestamp,
    },
}

named! {
    /// The name of a state, without its facts.
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

    /// Returns the request to the processor, if made.
    #[must_use]
    pub const fn sent(&self) -> Option<&WithdrawalSent> {
        match self {
            Self::Pending | Self::Abandoned { .. } => None,
            Self::Processing { sent, .. } | Self::Completed { sent, .. } | Self::Failed { sent, .. } => Some(sent),
        }
    }

    /// Returns the instant since which an operator has to decide.
    #[must_use]
    pub const fn review_since(&self) -> Option<Timestamp> {
        match self {
            Self::Processing { review_since, .. } => *review_since,
            Self::Pending | Self::Abandoned { .. } | Self::Completed { .. } | Self::Failed { .. } => None,
        }
    }

    /// Returns the instant of completion, if completed.
    #[must_use]
    pub const fn completed_at(&self) -> Option<Timestamp> {
        match self {
            Self::Completed { at, .. } => Some(*at),
            Self::Pending | Self::Abandoned { .. } | Self::Processing { .. } | Self::Failed { .. } => None,
        }
    }

    /// Returns the reason of the failure, if failed.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        match self {
            Self::Failed { reason, .. } => Some(reason),
            Self::Pending | Self::Abandoned { .. } | Self::Processing { .. } | Self::Completed { .. } => None,
        }
    }
}
