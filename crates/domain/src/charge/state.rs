//! The states of a charge, each with exactly its facts.

use jiff::Timestamp;

use crate::acquirer_name::AcquirerName;
use crate::end_to_end_id::EndToEndId;
use crate::money::Money;

/// What the acquirer gave when it took the charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issued {
    /// Who took it.
    pub acquirer: AcquirerName,
    /// The Pix copy-and-paste code.
    pub copy_paste: String,
    /// When it can no longer be paid.
    pub expires_at: Timestamp,
}

/// The payment that paid the charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    /// When the acquirer received it.
    pub paid_at: Timestamp,
    /// Which Pix it was.
    pub end_to_end_id: EndToEndId,
    /// What those who share in the charge got, in the order of its split.
    pub parts: Vec<Money>,
}

/// Where a charge stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChargeState {
    /// Being created at `acquirer`; nobody can see it yet.
    Creating {
        /// Who is asked, and asked again after a crash.
        acquirer: AcquirerName,
    },
    /// No acquirer took it; nobody will ever see it, unless its creation is tried again.
    Abandoned {
        /// Who was asked last.
        acquirer: AcquirerName,
        /// When it was given up.
        at: Timestamp,
    },
    /// Waits for its payer.
    Pending(Issued),
    /// Paid.
    Paid(Issued, Settlement),
    /// Not paid in time.
    Expired {
        /// What the acquirer gave.
        issued: Issued,
        /// When it was found expired.
        at: Timestamp,
    },
    /// Withdrawn by the merchant.
    Cancelled {
        /// What the acquirer gave.
        issued: Issued,
        /// When.
        at: Timestamp,
    },
    /// Paid, and all of it went back.
    Refunded {
        /// What the acquirer gave.
        issued: Issued,
        /// The payment that went back.
        settlement: Settlement,
        /// When the last of it went back.
        at: Timestamp,
    },
}

/// The name of a state, without its facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChargeStatus {
    /// See [`ChargeState::Creating`].
    Creating,
    /// See [`ChargeState::Abandoned`].
    Abandoned,
    /// See [`ChargeState::Pending`].
    Pending,
    /// See [`ChargeState::Paid`].
    Paid,
    /// See [`ChargeState::Expired`].
    Expired,
    /// See [`ChargeState::Cancelled`].
    Cancelled,
    /// See [`ChargeState::Refunded`].
    Refunded,
}

impl ChargeStatus {
    /// Every status.
    pub const ALL: [Self; 7] =
        [Self::Creating, Self::Abandoned, Self::Pending, Self::Paid, Self::Expired, Self::Cancelled, Self::Refunded];

    /// The word on the wire (visible ones) and in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Creating => "creating",
            Self::Abandoned => "abandoned",
            Self::Pending => "pending",
            Self::Paid => "paid",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::Refunded => "refunded",
        }
    }

    /// The status of that word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// Whether a reader may know of a charge in this status.
    #[must_use]
    pub const fn is_visible(self) -> bool {
        match self {
            Self::Creating | Self::Abandoned => false,
            Self::Pending | Self::Paid | Self::Expired | Self::Cancelled | Self::Refunded => true,
        }
    }
}

impl ChargeState {
    /// Its name.
    #[must_use]
    pub const fn status(&self) -> ChargeStatus {
        match self {
            Self::Creating { .. } => ChargeStatus::Creating,
            Self::Abandoned { .. } => ChargeStatus::Abandoned,
            Self::Pending(_) => ChargeStatus::Pending,
            Self::Paid(..) => ChargeStatus::Paid,
            Self::Expired { .. } => ChargeStatus::Expired,
            Self::Cancelled { .. } => ChargeStatus::Cancelled,
            Self::Refunded { .. } => ChargeStatus::Refunded,
        }
    }

    /// What the acquirer gave, once there is something.
    #[must_use]
    pub const fn issued(&self) -> Option<&Issued> {
        match self {
            Self::Creating { .. } | Self::Abandoned { .. } => None,
            Self::Pending(issued)
            | Self::Paid(issued, _)
            | Self::Expired { issued, .. }
            | Self::Cancelled { issued, .. }
            | Self::Refunded { issued, .. } => Some(issued),
        }
    }

    /// The payment that paid it, once there is one.
    #[must_use]
    pub const fn settlement(&self) -> Option<&Settlement> {
        match self {
            Self::Paid(_, settlement) | Self::Refunded { settlement, .. } => Some(settlement),
            Self::Creating { .. }
            | Self::Abandoned { .. }
            | Self::Pending(_)
            | Self::Expired { .. }
            | Self::Cancelled { .. } => None,
        }
    }

    /// Who holds it, or is being asked to.
    #[must_use]
    pub const fn acquirer(&self) -> &AcquirerName {
        match self {
            Self::Creating { acquirer } | Self::Abandoned { acquirer, .. } => acquirer,
            Self::Pending(issued)
            | Self::Paid(issued, _)
            | Self::Expired { issued, .. }
            | Self::Cancelled { issued, .. }
            | Self::Refunded { issued, .. } => &issued.acquirer,
        }
    }
}
