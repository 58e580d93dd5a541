//! The fee of an operation: a fixed part and a percentage, within an optional minimum and maximum.

use std::fmt;

use crate::money::{Money, MoneyError};
use crate::rate::{Percentage, Rounding};

named! {
    /// An operation with a fee.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Operation {
        /// A Pix charge that was paid.
        PixIn = "pix_in",
        /// A Pix payout.
        PixOut = "pix_out",
        /// A crypto deposit.
        CryptoIn = "crypto_in",
        /// A crypto withdrawal.
        CryptoOut = "crypto_out",
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The rule that computes the fee of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FeeRule {
    fixed: Money,
    percentage: Percentage,
    min: Option<Money>,
    max: Option<Money>,
}

/// The reason a fee rule is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FeeRuleError {
    /// The fixed part, the minimum or the maximum is below zero.
    #[error("a fee must not be negative")]
    Negative,
    /// The minimum exceeds the maximum.
    #[error("the minimum fee must not be above the maximum fee")]
    MinAboveMax,
}

impl FeeRule {
    /// Creates a rule.
    ///
    /// # Errors
    /// [`FeeRuleError`] if an amount is negative, or if the minimum exceeds the maximum.
    pub fn try_new(
        fixed: Money,
        percentage: Percentage,
        min: Option<Money>,
        max: Option<Money>,
    ) -> Result<Self, FeeRuleError> {
        if [Some(fixed), min, max].into_iter().flatten().any(Money::is_negative) {
            return Err(FeeRuleError::Negative);
        }
        if let (Some(min), Some(max)) = (min, max)
            && min > max
        {
            return Err(FeeRuleError::MinAboveMax);
        }
        Ok(Self { fixed, percentage, min, max })
    }

    /// Returns the rule whose fee is always zero.
    #[must_use]
    pub fn free() -> Self {
        Self { fixed: Money::ZERO, percentage: Percentage::zero(), min: None, max: None }
    }

    /// Returns the part that does not depend on the amount.
    #[must_use]
    pub const fn fixed(&self) -> Money {
        self.fixed
    }

    /// Returns the part that is a percentage of the amount.
    #[must_use]
    pub const fn percentage(&self) -> &Percentage {
        &self.percentage
    }

    /// Returns the minimum fee, if any.
    #[must_use]
    pub const fn min(&self) -> Option<Money> {
        self.min
    }

    /// Returns the maximum fee, if any.
    #[must_use]
    pub const fn max(&self) -> Option<Money> {
        self.max
    }

    /// Returns the fee of an amount: the fixed part plus the percentage, rounded half-even. The sum is raised to the
    /// minimum, then reduced to the maximum. If the result exceeds the amount, the fee is the amount. The fee is never
    /// negative.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`] if the fixed part plus the percentage is out of range.
    pub fn fee(&self, amount: Money) -> Result<Money, MoneyError> {
        let base = self.fixed.checked_add(self.percentage.of(amount, Rounding::HalfEven)?)?;
        let raised = self.min.map_or(base, |min| base.max(min));
        let capped = self.max.map_or(raised, |max| raised.min(max));
        Ok(capped.min(amount).max(Money::ZERO))
    }
}

impl Default for FeeRule {
    fn default() -> Self {
        Self::free()
    }
}

/// The fee rules of an account, by operation. By default all fees are zero.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct FeeSchedule {
    pix_in: FeeRule,
    pix_out: FeeRule,
    crypto_in: FeeRule,
    crypto_out: FeeRule,
}

impl FeeSchedule {
    /// Returns the rule of an operation.
    #[must_use]
    pub const fn get(&self, operation: Operation) -> &FeeRule {
        match operation {
            Operation::PixIn => &self.pix_in,
            Operation::PixOut => &self.pix_out,
            Operation::CryptoIn => &self.crypto_in,
            Operation::CryptoOut => &self.crypto_out,
        }
    }

    /// Returns the schedule with a new rule for one operation.
    #[must_use]
    pub fn with(mut self, operation: Operation, rule: FeeRule) -> Self {
        match operation {
            Operation::PixIn => self.pix_in = rule,
            Operation::PixOut => self.pix_out = rule,
            Operation::CryptoIn => self.crypto_in = rule,
            Operation::CryptoOut => self.crypto_out = rule,
        }
        self
    }
}
