//! The states of a charge, each with exactly its facts.

use jiff::Timestamp;

use crate::acquirer_name::AcquirerName;
use crate::end_to_end_id::EndToEndId;
use crate::money::Money;

/// The acquirer's data about an issued charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issued {
    /// The acquirer of the charge.
    pub acquirer: AcquirerName,
    /// The Pix copy-and-paste code.
    pub copy_paste: String,
    /// The end of the payment period.
    pub expires_at: Timestamp,
}

/// The payment that settled the charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    /// The instant the acquirer received the Pix.
    pub paid_at: Timestamp,
    /// The end-to-end id of the Pix.
    pub end_to_end_id: EndToEndId,
    /// The amounts of the shares, in the order of the charge's split.
    pub parts: Vec<Money>,
}

/// The state of a charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChargeState {
    /// The charge is being created at `acquirer` and is not visible.
    Creating {
        /// The acquirer of the current request, also after a crash.
        acquirer: AcquirerName,
    },
    /// No acquirer accepted the charge. The charge is invisible unless its creation is retried.
    Abandoned {
        /// The last acquirer of the attempt.
        acquirer: AcquirerName,
        /// The instant of abandonment.
        at: Timestamp,
    },
    /// The charge waits for its payer.
    Pending(Issued),
    /// Paid.
    Paid(Issued, Settlement),
    /// Not paid in time.
    Expired {
        /// The data from the acquirer.
        issued: Issued,
        /// The instant the expiry was recorded.
        at: Timestamp,
    },
    /// The merchant cancelled the charge.
    Cancelled {
        /// The data from the acquirer.
        issued: Issued,
        /// The instant of cancellation.
        at: Timestamp,
    },
    /// The whole amount was refunded.
    Refunded {
        /// The data from the acquirer.
        issued: Issued,
        /// The payment that was refunded.
        settlement: Settlement,
        /// The instant of the last refund.
        at: Timestamp,
    },
}

named! {
    /// The name of a state, without its facts.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ChargeStatus {
        /// See [`ChargeState::Creating`].
        Creating = "creating",
        /// See [`ChargeState::Abandoned`].
        Abandoned = "abandoned",
        /// See [`ChargeState::Pending`].
        Pending = "pending",
        /// See [`ChargeState::Paid`].
        Paid = "paid",
        /// See [`ChargeState::Expired`].
        Expired = "expired",
        /// See [`ChargeState::Cancelled`].
        Cancelled = "cancelled",
        /// See [`ChargeState::Refunded`].
        Refunded = "refunded",
    }
}

impl ChargeStatus {
    /// Returns whether the API shows charges in this status.
    #[must_use]
    pub const fn is_visible(self) -> bool {
        match self {
            Self::Creating | Self::Abandoned => false,
            Self::Pending | Self::Paid | Self::Expired | Self::Cancelled | Self::Refunded => true,
        }
    }
}

impl ChargeState {
    /// Returns the status.
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

    /// Returns the acquirer's data, once issued.
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

    /// Returns the payment that settled the charge, if any.
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

    /// Returns the acquirer that holds or creates the charge.
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
