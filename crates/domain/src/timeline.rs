//! The unified timeline: how charges, payouts and split credits look as one kind of thing, with one list of statuses.

use crate::charge::ChargeStatus;
use crate::payout::PayoutStatus;

/// Which way money goes.
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

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CashIn => "cash_in",
            Self::CashOut => "cash_out",
        }
    }

    /// The direction of that word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|direction| direction.as_str() == word)
    }
}

/// Where a timeline entry stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TransactionStatus {
    /// Waits for its payer, or is about to be sent.
    Pending,
    /// On its way.
    Processing,
    /// The money is there.
    Completed,
    /// It never arrives.
    Failed,
    /// Withdrawn, or not paid in time.
    Cancelled,
    /// All of it went back.
    Refunded,
}

impl TransactionStatus {
    /// Every status.
    pub const ALL: [Self; 6] =
        [Self::Pending, Self::Processing, Self::Completed, Self::Failed, Self::Cancelled, Self::Refunded];

    /// The word on the wire.
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

    /// The status of that word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// How a charge in that status appears; `None` for one that nobody can see.
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

    /// How a payout in that status appears; `None` for one that nobody can see.
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
