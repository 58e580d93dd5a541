//! Dividing a charge's net value among accounts: who shares in it, and what each gets once it is paid.

use std::fmt;

use crate::ids::AccountId;
use crate::rate::Percentage;

/// The most accounts that share in a charge besides its creator.
pub const MAX_SHARES: usize = 5;

/// One account's share in a charge.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Share {
    /// Who gets it.
    pub recipient: AccountId,
    /// How much of the net value; greater than zero.
    pub percentage: Percentage,
}

/// Who shares in a charge. It may be nobody: then all of the net value is the creator's.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Split(Vec<Share>);

/// Why shares do not make a split. The texts may be shown to the user of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// More than [`MAX_SHARES`].
    #[error("must have at most 5 items")]
    TooMany,
    /// One of them, by its position, is of 0 %.
    #[error("must be greater than 0")]
    NothingShared(usize),
    /// An account twice; the position of the second.
    #[error("names a recipient twice")]
    Twice(usize),
    /// More is given away than there is.
    #[error("the percentages must sum to at most 100")]
    AboveWhole,
}

impl Split {
    /// Nobody shares.
    pub const NONE: Self = Self(Vec::new());

    /// A split of these shares.
    ///
    /// # Errors
    /// [`SplitError`] names the first rule they break.
    pub fn try_new(shares: Vec<Share>) -> Result<Self, SplitError> {
        if shares.len() > MAX_SHARES {
            return Err(SplitError::TooMany);
        }
        if let Some(position) = shares.iter().position(|share| share.percentage.is_zero()) {
            return Err(SplitError::NothingShared(position));
        }
        let named_before = |(position, share): (usize, &Share)| {
            shares.iter().take(position).any(|other| other.recipient == share.recipient)
        };
        if let Some(position) = shares.iter().enumerate().position(named_before) {
            return Err(SplitError::Twice(position));
        }
        let percentages: Vec<Percentage> = shares.iter().map(|share| share.percentage.clone()).collect();
        if !Percentage::fit_in_whole(&percentages) {
            return Err(SplitError::AboveWhole);
        }
        Ok(Self(shares))
    }

    /// The shares, in the order in which they were given.
    #[must_use]
    pub fn shares(&self) -> &[Share] {
        &self.0
    }

    /// Whether nobody shares.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads what [`Display`](fmt::Display) wrote: how the store keeps it. An empty text is nobody.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let share = |item: &str| {
            let (recipient, percentage) = item.split_once(':')?;
            let (recipient, percentage) = (AccountId::parse(recipient).ok()?, Percentage::parse(percentage).ok()?);
            Some(Share { recipient, percentage })
        };
        let shares: Option<Vec<Share>> = text.split(',').filter(|item| !item.is_empty()).map(share).collect();
        Self::try_new(shares?).ok()
    }
}

/// `acc_…:12.5,acc_…:3`: the accounts with their percentages.
impl fmt::Display for Split {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Share { recipient, percentage }) in self.0.iter().enumerate() {
            let before = if index == 0 { "" } else { "," };
            write!(formatter, "{before}{recipient}:{percentage}")?;
        }
        Ok(())
    }
}
