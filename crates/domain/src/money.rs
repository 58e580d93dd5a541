//! An exact amount of Brazilian reais, kept as a whole number of centavos with checked arithmetic only.

use std::fmt;

use crate::decimal::{self, DecimalError};

/// Integer digits an amount may have when it is read from text.
const MAX_INTEGER_DIGITS: u32 = 12;
/// Decimals of the currency.
const DECIMALS: u32 = 2;
/// Centavos in one real.
const CENTAVOS_PER_REAL: u64 = 100;

/// An amount in BRL, in centavos; negative amounts are debits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Money(i64);

/// Why an amount was refused. The texts may be shown to the user of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    /// More than two decimals, by value.
    #[error("must have at most two decimals")]
    TooManyDecimals,
    /// More than 12 integer digits when read, or beyond 64 bits of centavos when computed.
    #[error("is too large: at most 12 digits before the decimal point")]
    OutOfRange,
    /// Not the text of a JSON number.
    #[error("must be a number")]
    NotANumber,
}

impl Money {
    /// R$ 0.00.
    pub const ZERO: Self = Self(0);

    /// The amount of so many centavos.
    #[must_use]
    pub const fn from_centavos(centavos: i64) -> Self {
        Self(centavos)
    }

    /// The amount in centavos.
    #[must_use]
    pub const fn centavos(self) -> i64 {
        self.0
    }

    /// Reads the text of a JSON number, in reais, judged by its value: `10.5`, `10.500` and `105e-1` are the same amount.
    ///
    /// # Errors
    /// [`MoneyError`] says which rule the text breaks.
    pub fn parse(text: &str) -> Result<Self, MoneyError> {
        decimal::parse_scaled(text, MAX_INTEGER_DIGITS, DECIMALS).map(Self).map_err(|error| match error {
            DecimalError::NotANumber => MoneyError::NotANumber,
            DecimalError::TooManyDecimals => MoneyError::TooManyDecimals,
            DecimalError::OutOfRange => MoneyError::OutOfRange,
        })
    }

    /// The sum of two amounts.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`] when it does not fit.
    pub fn checked_add(self, other: Self) -> Result<Self, MoneyError> {
        self.0.checked_add(other.0).map(Self).ok_or(MoneyError::OutOfRange)
    }

    /// This amount less another.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`] when it does not fit.
    pub fn checked_sub(self, other: Self) -> Result<Self, MoneyError> {
        self.0.checked_sub(other.0).map(Self).ok_or(MoneyError::OutOfRange)
    }

    /// The same amount with the other sign.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`] for the one amount that has no opposite.
    pub fn checked_neg(self) -> Result<Self, MoneyError> {
        self.0.checked_neg().map(Self).ok_or(MoneyError::OutOfRange)
    }

    /// The sum of many amounts; zero for none.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`] when a running sum does not fit.
    pub fn sum(amounts: impl IntoIterator<Item = Self>) -> Result<Self, MoneyError> {
        amounts.into_iter().try_fold(Self::ZERO, Self::checked_add)
    }

    /// Whether this is R$ 0.00.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Whether this is above R$ 0.00.
    #[must_use]
    pub const fn is_positive(self) -> bool {
        self.0 > 0
    }

    /// Whether this is below R$ 0.00.
    #[must_use]
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }
}

/// Always two decimals and a point: `10.50`, `-0.05`.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.unsigned_abs();
        let sign = if self.is_negative() { "-" } else { "" };
        write!(f, "{sign}{}.{:02}", magnitude / CENTAVOS_PER_REAL, magnitude % CENTAVOS_PER_REAL)
    }
}
