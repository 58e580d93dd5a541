//! The states of a payout, each with exactly its facts.

use jiff::Timestamp;

use crate::acquirer_name::AcquirerName;
use crate::end_to_end_id::EndToEndId;

/// That an acquirer was asked to send it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// Who was asked; nobody else ever is.
    pub acquirer: AcquirerName,
    /// When it was asked last, always by the same name.
    pub at: Timestamp,
    /// The Pix, once the acquirer named it.
    pub end_to_end_id: Option<EndToEndId>,
}

/// Where a payout stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PayoutState {
    /// Its money is held, and `acquirer` is being asked; nobody can see it yet.
    Pending {
        /// Who is asked, and asked again after a crash.
        acquirer: AcquirerName,
    },
    /// The acquirer certainly did not take it: its money was given back, and nobody will ever see it, unless it is tried again.
    Abandoned {
        /// Who was asked.
        acquirer: AcquirerName,
        /// When it was given up.
        at: Timestamp,
    },
    /// The acquirer has it, or may have it.
    Processing(Sent),
    /// The recipient has the money.
    Completed {
        /// Who sent it.
        sent: Sent,
        /// When.
        at: Timestamp,
    },
    /// The recipient never gets the money; it was given back with the fee.
    Failed {
        /// Who refused it.
        sent: Sent,
        /// Why, as a merchant may read it.
        reason: String,
        /// When.
        at: Timestamp,
    },
    /// The recipient had the money, and all of it came back.
    Reversed {
        /// Who sent it.
        sent: Sent,
        /// When it was completed.
        completed_at: Timestamp,
        /// When the last of it came back.
        at: Timestamp,
    },
}

/// The name of a state, without its facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PayoutStatus {
    /// See [`PayoutState::Pending`].
    Pending,
    /// See [`PayoutState::Abandoned`].
    Abandoned,
    /// See [`PayoutState::Processing`].
    Processing,
    /// See [`PayoutState::Completed`].
    Completed,
    /// See [`PayoutState::Failed`].
    Failed,
    /// See [`PayoutState::Reversed`].
    Reversed,
}

impl PayoutStatus {
    /// Every status.
    pub const ALL: [Self; 6] =
        [Self::Pending, Self::Abandoned, Self::Processing, Self::Completed, Self::Failed, Self::Reversed];

    /// The word on the wire (visible ones) and in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Abandoned => "abandoned",
            Self::Processing => "processing",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Reversed => "reversed",
        }
    }

    /// The status of that word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// Whether a reader may know of a payout in this status.
    #[must_use]
    pub const fn is_visible(self) -> bool {
        match self {
            Self::Pending | Self::Abandoned => false,
            Self::Processing | Self::Completed | Self::Failed | Self::Reversed => true,
        }
    }
}

impl PayoutState {
    /// Its name.
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

    /// That it was sent, once it was.
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

    /// Who has it, or is being asked.
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

    /// The Pix, once it is named.
    #[must_use]
    pub fn end_to_end_id(&self) -> Option<&EndToEndId> {
        self.sent()?.end_to_end_id.as_ref()
    }

    /// When the recipient got the money, if it did.
    #[must_use]
    pub const fn completed_at(&self) -> Option<Timestamp> {
        match self {
            Self::Completed { at, .. } => Some(*at),
            Self::Reversed { completed_at, .. } => Some(*completed_at),
            Self::Pending { .. } | Self::Abandoned { .. } | Self::Processing(_) | Self::Failed { .. } => None,
        }
    }

    /// Why the recipient never gets the money.
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
