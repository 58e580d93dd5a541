//! The states of a deposit. Each state has the data that belongs to it.

use jiff::Timestamp;

use crate::crypto::ProcessorId;

/// The processor's data about an issued deposit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issued {
    /// The id of the payment record that the processor created together with the address. Further payments to the
    /// address have ids of their own.
    pub payment: ProcessorId,
    /// The address that the payer must use.
    pub address: String,
    /// The memo that the payer must add, if the currency needs one.
    pub extra_id: Option<String>,
    /// The end of the payment period. If the processor ends the period earlier, the earlier instant is stored here.
    pub expires_at: Timestamp,
}

/// The state of a deposit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DepositState {
    /// The address is requested from the processor. The API does not show the deposit yet.
    Creating,
    /// The creation ended without an address for the payer. The API does not show the deposit. A repeat of the request
    /// can reopen it.
    Abandoned {
        /// The instant at which the deposit was abandoned.
        at: Timestamp,
    },
    /// The deposit waits for a payment.
    Pending(Issued),
    /// A payment was seen on the chain.
    Confirming(Issued),
    /// The requested amount, or more, was credited.
    Completed {
        /// The processor's data.
        issued: Issued,
        /// The instant of completion.
        at: Timestamp,
    },
    /// Less than the requested amount was credited.
    Underpaid {
        /// The processor's data.
        issued: Issued,
        /// The instant of the last credit.
        at: Timestamp,
    },
    /// The payment period ended, and no coins had arrived.
    Expired {
        /// The processor's data.
        issued: Issued,
        /// The instant at which the expiry was stored.
        at: Timestamp,
    },
    /// No coins were credited, because the processor reported an error or an operator dismissed the coins.
    Failed {
        /// The processor's data.
        issued: Issued,
        /// The instant of the failure.
        at: Timestamp,
    },
    /// The processor returned the coins to the payer, and nothing was credited.
    Refunded {
        /// The processor's data.
        issued: Issued,
        /// The instant of the refund.
        at: Timestamp,
    },
}

named! {
    /// The name of a state, without its data.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum DepositStatus {
        /// See [`DepositState::Creating`].
        Creating = "creating",
        /// See [`DepositState::Abandoned`].
        Abandoned = "abandoned",
        /// See [`DepositState::Pending`].
        Pending = "pending",
        /// See [`DepositState::Confirming`].
        Confirming = "confirming",
        /// See [`DepositState::Completed`].
        Completed = "completed",
        /// See [`DepositState::Underpaid`].
        Underpaid = "underpaid",
        /// See [`DepositState::Expired`].
        Expired = "expired",
        /// See [`DepositState::Failed`].
        Failed = "failed",
        /// See [`DepositState::Refunded`].
        Refunded = "refunded",
    }
}

named! {
    /// The comparison of the credited coins with the requested coins. [`super::Deposit::resolution`] describes when a
    /// value is set.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Resolution {
        /// The coins are as many as requested, or fewer with the same value in BRL.
        Exact = "exact",
        /// The coins have less than the requested value in BRL.
        Underpaid = "underpaid",
        /// The coins are more than requested, in one payment or in several.
        Overpaid = "overpaid",
        /// The payment that decided this value arrived after the payment period.
        Late = "late",
    }
}

impl DepositStatus {
    /// Returns whether the API shows deposits in this status.
    #[must_use]
    pub const fn is_visible(self) -> bool {
        !matches!(self, Self::Creating | Self::Abandoned)
    }
}

impl DepositState {
    /// Returns the status.
    #[must_use]
    pub const fn status(&self) -> DepositStatus {
        match self {
            Self::Creating => DepositStatus::Creating,
            Self::Abandoned { .. } => DepositStatus::Abandoned,
            Self::Pending(_) => DepositStatus::Pending,
            Self::Confirming(_) => DepositStatus::Confirming,
            Self::Completed { .. } => DepositStatus::Completed,
            Self::Underpaid { .. } => DepositStatus::Underpaid,
            Self::Expired { .. } => DepositStatus::Expired,
            Self::Failed { .. } => DepositStatus::Failed,
            Self::Refunded { .. } => DepositStatus::Refunded,
        }
    }

    /// Returns the processor's data. Returns `None` if the deposit was never issued.
    #[must_use]
    pub const fn issued(&self) -> Option<&Issued> {
        match self {
            Self::Creating | Self::Abandoned { .. } => None,
            Self::Pending(issued)
            | Self::Confirming(issued)
            | Self::Completed { issued, .. }
            | Self::Underpaid { issued, .. }
            | Self::Expired { issued, .. }
            | Self::Failed { issued, .. }
            | Self::Refunded { issued, .. } => Some(issued),
        }
    }

    /// Returns the instant that the state stores: its beginning, or the last credit for `Underpaid`. Returns `None` for
    /// `Creating`, `Pending` and `Confirming`.
    #[must_use]
    pub const fn since(&self) -> Option<Timestamp> {
        match self {
            Self::Creating | Self::Pending(_) | Self::Confirming(_) => None,
            Self::Abandoned { at }
            | Self::Completed { at, .. }
            | Self::Underpaid { at, .. }
            | Self::Expired { at, .. }
            | Self::Failed { at, .. }
            | Self::Refunded { at, .. } => Some(*at),
        }
    }

    /// Returns the instant of completion. Returns `None` if the deposit is not completed.
    #[must_use]
    pub const fn completed_at(&self) -> Option<Timestamp> {
        match self {
            Self::Completed { at, .. } => Some(*at),
            Self::Creating
            | Self::Abandoned { .. }
            | Self::Pending(_)
            | Self::Confirming(_)
            | Self::Underpaid { .. }
            | Self::Expired { .. }
            | Self::Failed { .. }
            | Self::Refunded { .. } => None,
        }
    }
}
