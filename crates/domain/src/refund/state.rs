//! The states of a refund, each with exactly its facts.

use jiff::Timestamp;

use crate::end_to_end_id::ReturnId;

/// Where a refund stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundState {
    /// Its money is held, and the acquirer is being asked; nobody can see it yet.
    Pending,
    /// The acquirer certainly did not take it: its money was given back, and nobody will ever see it, unless it is tried again.
    Abandoned {
        /// When it was given up.
        at: Timestamp,
    },
    /// The acquirer has it, or may have it.
    Processing {
        /// When the acquirer was asked last, always by the same name.
        sent_at: Timestamp,
        /// The return, once the acquirer named it.
        return_id: Option<ReturnId>,
    },
    /// The payer has the money back.
    Completed {
        /// The return.
        return_id: Option<ReturnId>,
        /// When.
        at: Timestamp,
    },
    /// The payer does not get it; it was given back to the account.
    Failed {
        /// The return, if the acquirer named it before it failed.
        return_id: Option<ReturnId>,
        /// Why.
        reason: String,
        /// When.
        at: Timestamp,
    },
}

/// The name of a state, without its facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefundStatus {
    /// See [`RefundState::Pending`].
    Pending,
    /// See [`RefundState::Abandoned`].
    Abandoned,
    /// See [`RefundState::Processing`].
    Processing,
    /// See [`RefundState::Completed`].
    Completed,
    /// See [`RefundState::Failed`].
    Failed,
}

impl RefundStatus {
    /// Every status.
    pub const ALL: [Self; 5] = [Self::Pending, Self::Abandoned, Self::Processing, Self::Completed, Self::Failed];

    /// The word on the wire (visible ones) and in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Abandoned => "abandoned",
            Self::Processing => "processing",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }

    /// The status of that word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// Whether a reader may know of a refund in this status.
    #[must_use]
    pub const fn is_visible(self) -> bool {
        match self {
            Self::Pending | Self::Abandoned => false,
            Self::Processing | Self::Completed | Self::Failed => true,
        }
    }
}

impl RefundState {
    /// Its name.
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

    /// The return, once the acquirer named it.
    #[must_use]
    pub const fn return_id(&self) -> Option<&ReturnId> {
        match self {
            Self::Pending | Self::Abandoned { .. } => None,
            Self::Processing { return_id, .. } | Self::Completed { return_id, .. } | Self::Failed { return_id, .. } => {
                return_id.as_ref()
            }
        }
    }

    /// When the payer got the money back, if that happened.
    #[must_use]
    pub const fn completed_at(&self) -> Option<Timestamp> {
        match self {
            Self::Completed { at, .. } => Some(*at),
            Self::Pending | Self::Abandoned { .. } | Self::Processing { .. } | Self::Failed { .. } => None,
        }
    }
}
