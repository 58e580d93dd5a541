//! The states of a charge. Each state has the data that belongs to it.

use jiff::Timestamp;

use crate::acquirer_name::AcquirerName;
use crate::end_to_end_id::EndToEndId;
use crate::money::Money;

/// The acquirer's data about an issued charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issued {
    /// The acquirer that issued the charge.
    pub acquirer: AcquirerName,
    /// The Pix copy-and-paste code.
    pub copy_paste: String,
    /// The end of the payment period.
    pub expires_at: Timestamp,
}

/// The payment that settled the charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    /// The instant at which the acquirer received the Pix.
    pub paid_at: Timestamp,
    /// The end-to-end id of the Pix.
    pub end_to_end_id: EndToEndId,
    /// The amounts of the shares, in the order of the charge's split.
    pub parts: Vec<Money>,
}

/// The state of a charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChargeState {
    /// The charge is being created at an acquirer. The API does not show the charge.
    Creating {
        /// The acquirer that receives the next creation request. After a request with an unknown outcome, this is the
        /// acquirer of that request, because it may have issued the charge.
        acquirer: AcquirerName,
    },
    /// No acquirer accepted the charge. The API does not show the charge. A repeat of the request can reopen it.
    Abandoned {
        /// The acquirer that was stored in [`ChargeState::Creating`].
        acquirer: AcquirerName,
        /// The instant at which the charge was abandoned.
        at: Timestamp,
    },
    /// The charge waits for a payment.
    Pending(Issued),
    /// A payment settled the charge.
    Paid(Issued, Settlement),
    /// The payment period ended without a sufficient payment.
    Expired {
        /// The acquirer's data.
        issued: Issued,
        /// The instant at which the expiry was stored.
        at: Timestamp,
    },
    /// The merchant cancelled the charge.
    Cancelled {
        /// The acquirer's data.
        issued: Issued,
        /// The instant of the cancellation.
        at: Timestamp,
    },
    /// The whole amount was returned to the payer, by refunds or lost infractions.
    Refunded {
        /// The acquirer's data.
        issued: Issued,
        /// The payment that was refunded.
        settlement: Settlement,
        /// The instant at which the last part was returned.
        at: Timestamp,
    },
}

named! {
    /// The name of a state, without its data.
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

    /// Returns the acquirer's data. Returns `None` if the charge was never issued.
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

    /// Returns the payment that settled the charge. Returns `None` if no payment settled it.
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

    /// Returns the acquirer that issued the charge. If the charge was not issued, returns the acquirer that was stored
    /// in [`ChargeState::Creating`].
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
