//! Divides a net amount among beneficiaries. The parts and the remainder always sum to the net amount.

use crate::money::{Money, MoneyError};
use crate::rate::{Percentage, Rounding};

/// The division of a net amount. The parts and the remainder always sum to the amount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allocation {
    /// The parts, one per share, in the order of the shares.
    pub parts: Vec<Money>,
    /// The part that belongs to the charge's creator.
    pub remainder: Money,
}

/// The reason a net amount cannot be divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AllocationError {
    /// The shares sum to more than 100 %.
    #[error("the percentages must sum to at most 100")]
    SharesAboveWhole,
    /// The net amount is negative.
    #[error("a negative amount cannot be divided")]
    NegativeNet,
    /// The parts and the remainder do not sum to the amount, or one of them is negative. Only a defect can cause this
    /// error. The check keeps a wrong amount out of the ledger.
    #[error("the parts of a split do not sum to the amount")]
    NotConserved,
    /// An amount is out of range.
    #[error(transparent)]
    Money(#[from] MoneyError),
}

/// Rounds each share of `net` down to the centavo. The remainder belongs to the creator of the charge.
///
/// # Errors
/// [`AllocationError`] for invalid input, or if the parts do not sum to `net`.
pub fn allocate(net: Money, shares: &[Percentage]) -> Result<Allocation, AllocationError> {
    if net.is_negative() {
        return Err(AllocationError::NegativeNet);
    }
    if !Percentage::fit_in_whole(shares) {
        return Err(AllocationError::SharesAboveWhole);
    }
    let parts = shares.iter().map(|share| share.of(net, Rounding::Floor)).collect::<Result<Vec<_>, _>>()?;
    let remainder = net.checked_sub(Money::sum(parts.iter().copied())?)?;
    let allocation = Allocation { parts, remainder };
    if allocation.conserves(net)? { Ok(allocation) } else { Err(AllocationError::NotConserved) }
}

impl Allocation {
    /// Returns `true` if the parts and the remainder sum to `net`, and none of them is negative.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`] if the sum is out of range.
    pub fn conserves(&self, net: Money) -> Result<bool, MoneyError> {
        let amounts = || self.parts.iter().copied().chain([self.remainder]);
        Ok(!amounts().any(Money::is_negative) && Money::sum(amounts())? == net)
    }
}
