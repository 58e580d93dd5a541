//! The direction of an operation.

use super::Currency;

named! {
    /// A deposit or a withdrawal.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Side {
        /// Coins come in, BRL is credited.
        Deposit = "deposit",
        /// BRL is debited, coins go out.
        Withdrawal = "withdrawal",
    }
}

impl Side {
    /// Returns the decimals of an amount of this side.
    #[must_use]
    pub const fn decimals(self, currency: Currency) -> u32 {
        match self {
            Self::Deposit => currency.deposit_decimals(),
            Self::Withdrawal => currency.withdrawal_decimals(),
        }
    }
}
