//! The timeline of an account: charges, payouts and split credits in one list, with common statuses. A split credit is
//! a credited share in a charge of another account.

use crate::charge::ChargeStatus;
use crate::payout::PayoutStatus;

named! {
    /// The direction of the money.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Direction {
        /// Charges and split credits.
        CashIn = "cash_in",
        /// Payouts.
        CashOut = "cash_out",
    }
}

named! {
    /// The status of a timeline entry.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum TransactionStatus {
        /// The charge waits for its payment.
        Pending = "pending",
        /// The outcome of the payout is open.
        Processing = "processing",
        /// The charge was paid, the share was credited, or the payout was completed.
        Completed = "completed",
        /// The payout failed.
        Failed = "failed",
        /// The charge was cancelled or has expired.
        Cancelled = "cancelled",
        /// The whole amount of the charge was refunded, or the whole amount of the payout was returned.
        Refunded = "refunded",
    }
}

impl TransactionStatus {
    /// Returns the timeline status of a charge. Returns `None` if the charge is not visible.
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

    /// Returns the timeline status of a payout. Returns `None` if the payout is not visible.
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
