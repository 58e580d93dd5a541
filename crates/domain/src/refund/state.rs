//! The states of a refund. Each state has the data that belongs to it.

use jiff::Timestamp;

use crate::end_to_end_id::ReturnId;

/// The state of a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundState {
    /// The money is held. The request to the acquirer is not sent yet, or its result is not stored yet. The refund is
    /// not visible.
    Pending,
    /// The acquirer certainly did not accept the refund. The held money was returned to `available`. The refund is not
    /// visible. A repeat of the merchant's request can reopen the refund.
    Abandoned {
        /// The instant at which the refund was abandoned.
        at: Timestamp,
    },
    /// The acquirer has the refund, or may have it. The outcome is open.
    Processing {
        /// The instant at which this service recorded the last request. A repeated request has the same identifier as
        /// the first.
        recorded_at: Timestamp,
        /// The country-wide id of the return. `None` until the acquirer reports the id.
        return_id: Option<ReturnId>,
    },
    /// The payer has received the money.
    Completed {
        /// The id of the return, if the acquirer reported it.
        return_id: Option<ReturnId>,
        /// The instant of completion.
        at: Timestamp,
    },
    /// The payer does not receive the money. The amount was returned to `available`, and can be refunded again.
    Failed {
        /// The id of the return, if the acquirer reported it before the failure.
        return_id: Option<ReturnId>,
        /// The reason of the failure, safe to show to the merchant.
        reason: String,
        /// The instant of the failure.
        at: Timestamp,
    },
}

named! {
    /// The name of a state, without its data.
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

    /// Returns the id of the return. Returns `None` if the acquirer has not reported it.
    #[must_use]
    pub const fn return_id(&self) -> Option<&ReturnId> {
        match self {
            Self::Pending | Self::Abandoned { .. } => None,
            Self::Processing { return_id, .. } | Self::Completed { return_id, .. } | Self::Failed { return_id, .. } => {
                return_id.as_ref()
            }
        }
    }

    /// Returns the instant of completion. Returns `None` if the refund is not completed.
    #[must_use]
    pub const fn completed_at(&self) -> Option<Timestamp> {
        match self {
            Self::Completed { at, .. } => Some(*at),
            Self::Pending | Self::Abandoned { .. } | Self::Processing { .. } | Self::Failed { .. } => None,
        }
    }
}
