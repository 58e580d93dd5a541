//! The states of a refund, each with exactly its facts.

use jiff::Timestamp;

use crate::end_to_end_id::ReturnId;

/// The state of a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundState {
    /// The money is held, and the request to the acquirer is in flight. The refund is not visible yet.
    Pending,
    /// The acquirer certainly did not accept the refund. The money was given back. The refund is invisible unless
    /// retried.
    Abandoned {
        /// The instant of abandonment.
        at: Timestamp,
    },
    /// The acquirer has the refund, or may have it.
    Processing {
        /// The instant of the last request, always with the same identifier.
        sent_at: Timestamp,
        /// The id of the return, once reported.
        return_id: Option<ReturnId>,
    },
    /// The payer has the money back.
    Completed {
        /// The id of the return.
        return_id: Option<ReturnId>,
        /// The instant.
        at: Timestamp,
    },
    /// The payer does not get the money. The amount was given back to the account.
    Failed {
        /// The id of the return, if reported before the failure.
        return_id: Option<ReturnId>,
        /// The reason.
        reason: String,
        /// The instant.
        at: Timestamp,
    },
}

named! {
    /// The name of a state, without its facts.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum RefundStatus {
        /// See [`RefundState::Pending`].
        Pending = "pending",
        /// See [`RefundState::Abandoned`].
        Abandoned = "abandoned",
        /// See [`RefundState::Processing`].
        Processing = "processing",
        /// See [`RefundState::Completed`].
        Completed = "completed",
        /// See [`RefundState::Failed`].
        Failed = "failed",
    }
}

impl RefundStatus {
    /// Returns whether the API shows refunds in this status.
    #[must_use]
    pub const fn is_visible(self) -> bool {
        match self {
            Self::Pending | Self::Abandoned => false,
            Self::Processing | Self::Completed | Self::Failed => true,
        }
    }
}

impl RefundState {
    /// Returns the status.
    #[must_use]
    pub const fn status(&self) -> RefundStatus {
        match self {
            Self::Pending => RefundStatus::Pending,
            Self::Abandoned { .. } => RefundStatus::Abandoned,
            Self::Processing { .. } => RefundStatus::Processing,
            Self::Completed { .. } => RefundStatus::Completed,
            Self::Failed { .. } => RefundStatus::Failed,
        }
    }

    /// Returns the id of the return, once reported.
    #[must_use]
    pub const fn return_id(&self) -> Option<&ReturnId> {
        match self {
            Self::Pending | Self::Abandoned { .. } => None,
            Self::Processing { return_id, .. } | Self::Completed { return_id, .. } | Self::Failed { return_id, .. } => {
                return_id.as_ref()
            }
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
}
