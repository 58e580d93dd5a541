//! The unified timeline: one representation and one list of statuses for charges, payouts and split credits.

use crate::charge::ChargeStatus;
use crate::payout::PayoutStatus;

/// The direction of the money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Charges and split credits.
    CashIn,
    /// Payouts.
    CashOut,
}

impl Direction {
    /// Both.
    pub const ALL: [Self; 2] = [Self::CashIn, Self::CashOut];

    /// Returns the name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CashIn => "cash_in",
            Self::CashOut => "cash_out",
        }
    }

    /// Returns the direction with this name.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|direction| direction.as_str() == word)
    }
}

/// The status of a timeline entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TransactionStatus {
    /// The entry waits for its payer, or is about to be sent.
    Pending,
    /// The money is in flight.
    Processing,
    /// The money arrived.
    Completed,
    /// The money never arrives.
    Failed,
    /// Cancelled, or not paid in time.
    Cancelled,
    /// The whole amount was refunded.
    Refunded,
}

impl TransactionStatus {
    /// Every status.
    pub const ALL: [Self; 6] =
        [Self::Pending, Self::Processing, Self::Completed, Self::Failed, Self::Cancelled, Self::Refunded];

    /// Returns the name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Processing => "processing",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Refunded => "refunded",
        }
    }

    /// Returns the status with this name.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// Returns the timeline status of a charge; `None` for an invisible status.
    #[must_use]
    pub const fn of_charge(status: ChargeStatus) -> Option<Self> {
        match status {
            ChargeStatus::Creating | ChargeStatus::Abandoned => None,
            ChargeStatus::Pending => Some(Self::Pending),
            ChargeStatus::Paid => Some(Self::Completed),
            ChargeStatus::Expired | ChargeStatus::Cancelled => Some(Self::Cancelled),
            ChargeStatus::Refunded => Some(Self::Refunded),
        }
    }

    /// Returns the timeline status of a payout; `None` for an invisible status.
    #[must_use]
    pub const fn of_payout(status: PayoutStatus) -> Option<Self> {
        match status {
            PayoutStatus::Pending | PayoutStatus::Abandoned => None,
            PayoutStatus::Processing => Some(Self::Processing),
            PayoutStatus::Completed => Some(Self::Completed),
            PayoutStatus::Failed => Some(Self::Failed),
            PayoutStatus::Reversed => Some(Self::Refunded),
        }
    }
}
