//! Divides a net amount among beneficiaries without losing or inventing a centavo.

use crate::money::{Money, MoneyError};
use crate::rate::{Percentage, Rounding};

/// Who gets how much of a net amount; the parts and the remainder always sum to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allocation {
    /// One part per share, in the order of the shares.
    pub parts: Vec<Money>,
    /// What stays with the creator.
    pub remainder: Money,
}

/// Why a net amount could not be divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AllocationError {
    /// The shares sum to more than 100 %.
    #[error("the percentages must sum to at most 100")]
    SharesAboveWhole,
    /// There is nothing to divide below zero.
    #[error("a negative amount cannot be divided")]
    NegativeNet,
    /// The result did not sum to the amount: a defect, stopped before it reaches the ledger.
    #[error("the parts of a split do not sum to the amount")]
    NotConserved,
    /// An amount was out of range.
    #[error(transparent)]
    Money(#[from] MoneyError),
}

/// Floors each share of `net` to the centavo; the remainder stays with the creator.
///
/// # Errors
/// [`AllocationError`] when the input makes no sense, or when the result would not conserve `net`.
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
    /// Whether nobody's part is negative and everything together is `net`; to be asked again after reading from storage.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`] when the parts do not even sum to an amount.
    pub fn conserves(&self, net: Money) -> Result<bool, MoneyError> {
        let everyone = || self.parts.iter().copied().chain([self.remainder]);
        Ok(!everyone().any(Money::is_negative) && Money::sum(everyone())? == net)
    }
}
