//! The direction of an operation.

use super::Currency;

/// A deposit or a withdrawal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Coins come in, BRL is credited.
    Deposit,
    /// BRL is debited, coins go out.
    Withdrawal,
}

impl Side {
    /// Both sides.
    pub const ALL: [Self; 2] = [Self::Deposit, Self::Withdrawal];

    /// Returns the name on the wire and in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deposit => "deposit",
            Self::Withdrawal => "withdrawal",
        }
    }

    /// Returns the side with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|side| side.as_str() == name)
    }

    /// Returns the decimals of an amount of this side.
    #[must_use]
    pub const fn decimals(self, currency: Currency) -> u32 {
        match self {
            Self::Deposit => currency.deposit_decimals(),
            Self::Withdrawal => currency.withdrawal_decimals(),
        }
    }
}
