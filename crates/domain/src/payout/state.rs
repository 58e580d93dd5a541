//! The states of a payout. Each state has the data that belongs to it.

use jiff::Timestamp;

use crate::acquirer_name::AcquirerName;
use crate::end_to_end_id::EndToEndId;

/// The request that sent the payout to its acquirer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The acquirer. A sent payout never moves to another acquirer.
    pub acquirer: AcquirerName,
    /// The instant at which this service recorded the last request. A repeated request has the same identifier as the
    /// first.
    pub recorded_at: Timestamp,
    /// The end-to-end id of the payout's Pix. `None` until the acquirer reports the id.
    pub end_to_end_id: Option<EndToEndId>,
}

/// The state of a payout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PayoutState {
    /// The money is held. The request to the acquirer is not sent yet, or its result is not stored yet. The payout is
    /// not visible.
    Pending {
        /// The acquirer that receives the request. This name is stored before the request is sent.
        acquirer: AcquirerName,
    },
    /// The acquirer certainly did not accept the payout. The held money was returned to `available`. The payout is not
    /// visible. A repeat of the merchant's request can reopen the payout.
    Abandoned {
        /// The acquirer of the last request.
        acquirer: AcquirerName,
        /// The instant at which the payout was abandoned.
        at: Timestamp,
    },
    /// The acquirer has the payout, or may have it. The outcome is open.
    Processing(Sent),
    /// The recipient has received the money.
    Completed {
        /// The request to the acquirer.
        sent: Sent,
        /// The instant of completion.
        at: Timestamp,
    },
    /// The recipient will never receive the money. The amount and the fee were returned to `available`.
    Failed {
        /// The request to the acquirer.
        sent: Sent,
        /// The reason, safe to show to the merchant.
        reason: String,
        /// The instant of the failure.
        at: Timestamp,
    },
    /// The recipient received the money, and later the recipient's institution returned the whole amount. The fee was
    /// not returned.
    Reversed {
        /// The request to the acquirer.
        sent: Sent,
        /// The instant of completion.
        completed_at: Timestamp,
        /// The instant of the last return.
        at: Timestamp,
    },
}

named! {
    /// The name of a state, without its data.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum PayoutStatus {
        /// See [`PayoutState::Pending`].
        Pending = "pending",
        /// See [`PayoutState::Abandoned`].
        Abandoned = "abandoned",
        /// See [`PayoutState::Processing`].
        Processing = "processing",
        /// See [`PayoutState::Completed`].
        Completed = "completed",
        /// See [`PayoutState::Failed`].
        Failed = "failed",
        /// See [`PayoutState::Reversed`].
        Reversed = "reversed",
    }
}

impl PayoutStatus {
    /// Returns whether the API shows payouts in this status.
    #[must_use]
    pub const fn is_visible(self) -> bool {
        match self {
            Self::Pending | Self::Abandoned => false,
            Self::Processing | Self::Completed | Self::Failed | Self::Reversed => true,
        }
    }
}

impl PayoutState {
    /// Returns the status.
    #[must_use]
    pub const fn status(&self) -> PayoutStatus {
        match self {
            Self::Pending { .. } => PayoutStatus::Pending,
            Self::Abandoned { .. } => PayoutStatus::Abandoned,
            Self::Processing(_) => PayoutStatus::Processing,
            Self::Completed { .. } => PayoutStatus::Completed,
            Self::Failed { .. } => PayoutStatus::Failed,
            Self::Reversed { .. } => PayoutStatus::Reversed,
        }
    }

    /// Returns the request to the acquirer. Returns `None` if the payout is pending or abandoned.
    #[must_use]
    pub const fn sent(&self) -> Option<&Sent> {
        match self {
            Self::Pending { .. } | Self::Abandoned { .. } => None,
            Self::Processing(sent)
            | Self::Completed { sent, .. }
            | Self::Failed { sent, .. }
            | Self::Reversed { sent, .. } => Some(sent),
        }
    }

    /// Returns the acquirer that receives the request, or received the last one.
    #[must_use]
    pub const fn acquirer(&self) -> &AcquirerName {
        match self {
            Self::Pending { acquirer } | Self::Abandoned { acquirer, .. } => acquirer,
            Self::Processing(sent)
            | Self::Completed { sent, .. }
            | Self::Failed { sent, .. }
            | Self::Reversed { sent, .. } => &sent.acquirer,
        }
    }

    /// Returns the end-to-end id of the payout's Pix. Returns `None` if the acquirer has not reported the id.
    #[must_use]
    pub fn end_to_end_id(&self) -> Option<&EndToEndId> {
        self.sent()?.end_to_end_id.as_ref()
    }

    /// Returns the instant of completion. Returns `None` if the payout was never completed.
    #[must_use]
    pub const fn completed_at(&self) -> Option<Timestamp> {
        match self {
            Self::Completed { at, .. } => Some(*at),
            Self::Reversed { completed_at, .. } => Some(*completed_at),
            Self::Pending { .. } | Self::Abandoned { .. } | Self::Processing(_) | Self::Failed { .. } => None,
        }
    }

    /// Returns the reason of the failure. Returns `None` if the payout did not fail.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        match self {
            Self::Failed { reason, .. } => Some(reason),
            Self::Pending { .. }
            | Self::Abandoned { .. }
            | Self::Processing(_)
            | Self::Completed { .. }
            | Self::Reversed { .. } => None,
        }
    }
}
