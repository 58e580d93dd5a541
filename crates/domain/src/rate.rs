//! Percentages, and the rules for rounding.

use std::fmt;

use bigdecimal::num_bigint::BigInt;
use bigdecimal::{BigDecimal, RoundingMode, ToPrimitive, Zero};

use crate::decimal::{self, DecimalError};
use crate::money::{Money, MoneyError};

/// The maximum number of integer digits in the text of a percentage: enough for 100.
const MAX_INTEGER_DIGITS: u32 = 3;
/// The maximum number of decimals of a percentage.
const DECIMALS: u32 = 4;
/// 100 %, in ten-thousandths of a percent.
const WHOLE: i64 = 1_000_000;

/// The rule for rounding a value to whole units, for example to whole centavos.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// Rounds to the nearest unit. A value exactly between two units is rounded to the even one of them.
    HalfEven,
    /// Rounds down, towards minus infinity.
    Floor,
    /// Rounds up, towards plus infinity.
    Ceiling,
}

impl From<Rounding> for RoundingMode {
    fn from(rounding: Rounding) -> Self {
        match rounding {
            Rounding::HalfEven => Self::HalfEven,
            Rounding::Floor => Self::Floor,
            Rounding::Ceiling => Self::Ceiling,
        }
    }
}

/// A percentage from 0 to 100 with at most four decimals.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percentage(BigDecimal);

/// The reason a percentage is invalid. Messages are safe to show to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PercentageError {
    /// The value has more than four decimals.
    #[error("must have at most four decimals")]
    TooManyDecimals,
    /// The value is below 0 or above 100.
    #[error("must be between 0 and 100")]
    OutOfRange,
    /// The text is not a JSON number.
    #[error("must be a number")]
    NotANumber,
}

impl Percentage {
    /// Returns 0 %.
    #[must_use]
    pub fn zero() -> Self {
        Self(BigDecimal::zero())
    }

    /// Parses the text of a JSON number. The number is in percent: `0.99` is 0.99 %.
    ///
    /// # Errors
    /// [`PercentageError`] with the violated rule.
    pub fn parse(text: &str) -> Result<Self, PercentageError> {
        let scaled = decimal::parse_scaled(text, MAX_INTEGER_DIGITS, DECIMALS).map_err(|error| match error {
            DecimalError::NotANumber => PercentageError::NotANumber,
            DecimalError::TooManyDecimals => PercentageError::TooManyDecimals,
            DecimalError::OutOfRange => PercentageError::OutOfRange,
        })?;
        if !(0..=WHOLE).contains(&scaled) {
            return Err(PercentageError::OutOfRange);
        }
        Ok(Self(BigDecimal::new(BigInt::from(scaled), i64::from(DECIMALS)).normalized()))
    }

    /// Returns the number in percent, from 0 to 100.
    #[must_use]
    pub const fn as_decimal(&self) -> &BigDecimal {
        &self.0
    }

    /// Returns whether the percentage is 0 %.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.0.is_zero()
    }

    /// Returns this percentage of an amount. The exact result is rounded once, to a whole centavo.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`], impossible because a percentage is at most 100.
    #[expect(clippy::arithmetic_side_effects, reason = "a BigDecimal grows instead of overflowing")]
    pub fn of(&self, amount: Money, rounding: Rounding) -> Result<Money, MoneyError> {
        let hundredth = BigDecimal::new(BigInt::from(1), 2);
        let exact = BigDecimal::from(amount.centavos()) * &self.0 * hundredth;
        let rounded = exact.with_scale_round(0, rounding.into());
        rounded.to_i64().map(Money::from_centavos).ok_or(MoneyError::OutOfRange)
    }

    /// Returns whether the sum of the percentages is at most 100 %.
    #[must_use]
    #[expect(clippy::arithmetic_side_effects, reason = "a BigDecimal grows instead of overflowing")]
    pub fn fit_in_whole(shares: &[Self]) -> bool {
        let total = shares.iter().fold(BigDecimal::zero(), |total, share| total + &share.0);
        total <= 100
    }
}

/// Formats the percentage without trailing zeros and without an exponent: `0.99`, `100`.
impl fmt::Display for Percentage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_plain_string())
    }
}
