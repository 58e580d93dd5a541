//! The side of a crypto operation: deposit or withdrawal.

use super::Currency;

named! {
    /// A deposit or a withdrawal.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Side {
        /// Coins arrive, and BRL is credited.
        Deposit = "deposit",
        /// BRL is debited, and coins are sent.
        Withdrawal = "withdrawal",
    }
}

impl Side {
    /// Returns the maximum number of decimals of the coins that a deposit requests or a withdrawal sends.
    #[must_use]
    pub const fn decimals(self, currency: Currency) -> u32 {
        match self {
            Self::Deposit => currency.deposit_decimals(),
            Self::Withdrawal => currency.withdrawal_decimals(),
        }
    }
}
