//! An exact amount of Brazilian reais: a whole number of centavos, with checked arithmetic only.

use std::fmt;

use crate::decimal::{self, DecimalError};

/// The maximum number of integer digits in the text of an amount.
const MAX_INTEGER_DIGITS: u32 = 12;
/// The number of decimals of an amount in reais.
const DECIMALS: u32 = 2;
/// The number of centavos in one real.
const CENTAVOS_PER_REAL: u64 = 100;

/// An amount in BRL, in centavos. In an entry of a ledger account, a negative amount is a debit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Money(i64);

/// The reason an amount is invalid. Messages are safe to show to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    /// The value has more than two decimals.
    #[error("must have at most two decimals")]
    TooManyDecimals,
    /// The text has more than 12 integer digits, or a computed value exceeds 64 bits of centavos.
    #[error("is too large: at most 12 digits before the decimal point")]
    OutOfRange,
    /// The text is not a JSON number.
    #[error("must be a number")]
    NotANumber,
}

impl Money {
    /// R$ 0.00.
    pub const ZERO: Self = Self(0);

    /// Creates an amount from centavos.
    #[must_use]
    pub const fn from_centavos(centavos: i64) -> Self {
        Self(centavos)
    }

    /// Returns the amount in centavos.
    #[must_use]
    pub const fn centavos(self) -> i64 {
        self.0
    }

    /// Parses the text of a JSON number, in reais. Only the value counts: `10.5`, `10.500` and `105e-1` are the same
    /// amount.
    ///
    /// # Errors
    /// [`MoneyError`] with the violated rule.
    pub fn parse(text: &str) -> Result<Self, MoneyError> {
        decimal::parse_scaled(text, MAX_INTEGER_DIGITS, DECIMALS).map(Self).map_err(|error| match error {
            DecimalError::NotANumber => MoneyError::NotANumber,
            DecimalError::TooManyDecimals => MoneyError::TooManyDecimals,
            DecimalError::OutOfRange => MoneyError::OutOfRange,
        })
    }

    /// Returns the sum of two amounts.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`].
    pub fn checked_add(self, other: Self) -> Result<Self, MoneyError> {
        self.0.checked_add(other.0).map(Self).ok_or(MoneyError::OutOfRange)
    }

    /// Returns this amount minus another.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`].
    pub fn checked_sub(self, other: Self) -> Result<Self, MoneyError> {
        self.0.checked_sub(other.0).map(Self).ok_or(MoneyError::OutOfRange)
    }

    /// Returns the amount with the opposite sign.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`] for the smallest amount, which has no opposite.
    pub fn checked_neg(self) -> Result<Self, MoneyError> {
        self.0.checked_neg().map(Self).ok_or(MoneyError::OutOfRange)
    }

    /// Returns the sum of many amounts. The sum of no amounts is zero.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`], also if only a partial sum is out of range.
    pub fn sum(amounts: impl IntoIterator<Item = Self>) -> Result<Self, MoneyError> {
        amounts.into_iter().try_fold(Self::ZERO, Self::checked_add)
    }

    /// Returns whether the amount is R$ 0.00.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Returns whether the amount is above R$ 0.00.
    #[must_use]
    pub const fn is_positive(self) -> bool {
        self.0 > 0
    }

    /// Returns whether the amount is below R$ 0.00.
    #[must_use]
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }
}

/// Formats the amount with two decimals and a point: `10.50`, `-0.05`.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.unsigned_abs();
        let sign = if self.is_negative() { "-" } else { "" };
        write!(f, "{sign}{}.{:02}", magnitude / CENTAVOS_PER_REAL, magnitude % CENTAVOS_PER_REAL)
    }
}
