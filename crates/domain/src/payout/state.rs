//! The states of a payout, each with exactly its facts.

use jiff::Timestamp;

use crate::acquirer_name::AcquirerName;
use crate::end_to_end_id::EndToEndId;

/// A request to an acquirer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The acquirer. A payout never moves to another acquirer.
    pub acquirer: AcquirerName,
    /// The instant of the last request, always with the same identifier.
    pub at: Timestamp,
    /// The Pix, once reported.
    pub end_to_end_id: Option<EndToEndId>,
}

/// The state of a payout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PayoutState {
    /// The money is held, and the request to `acquirer` is in flight. The payout is not visible yet.
    Pending {
        /// The acquirer of the current request, also after a crash.
        acquirer: AcquirerName,
    },
    /// The acquirer certainly did not accept the payout. The money was given back. The payout is invisible unless
    /// retried.
    Abandoned {
        /// The acquirer of the attempt.
        acquirer: AcquirerName,
        /// The instant of abandonment.
        at: Timestamp,
    },
    /// The acquirer has the payout, or may have it.
    Processing(Sent),
    /// The recipient has the money.
    Completed {
        /// The request.
        sent: Sent,
        /// The instant.
        at: Timestamp,
    },
    /// The recipient never gets the money. Amount and fee were given back.
    Failed {
        /// The request.
        sent: Sent,
        /// The reason, safe to show to the merchant.
        reason: String,
        /// The instant.
        at: Timestamp,
    },
    /// The recipient had the money, and the whole amount came back.
    Reversed {
        /// The request.
        sent: Sent,
        /// The instant of completion.
        completed_at: Timestamp,
        /// The instant of the last return.
        at: Timestamp,
    },
}

named! {
    /// The name of a state, without its facts.
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

    /// Returns the request to the acquirer, if made.
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

    /// Returns the acquirer that has or receives the request.
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

    /// Returns the Pix, once reported.
    #[must_use]
    pub fn end_to_end_id(&self) -> Option<&EndToEndId> {
        self.sent()?.end_to_end_id.as_ref()
    }

    /// Returns the instant of completion, if completed.
    #[must_use]
    pub const fn completed_at(&self) -> Option<Timestamp> {
        match self {
            Self::Completed { at, .. } => Some(*at),
            Self::Reversed { completed_at, .. } => Some(*completed_at),
            Self::Pending { .. } | Self::Abandoned { .. } | Self::Processing(_) | Self::Failed { .. } => None,
        }
    }

    /// Returns the reason of the failure, if failed.
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
