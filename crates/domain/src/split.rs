//! The split of a charge: the shares of other accounts in its net amount.

use std::fmt;

use crate::ids::AccountId;
use crate::rate::Percentage;

/// The maximum number of shares in a split. The part that stays with the charge's creator is not a share.
pub const MAX_SHARES: usize = 5;

/// An account's share in a charge.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Share {
    /// The account that receives the share.
    pub recipient: AccountId,
    /// The percentage of the charge's net amount. Greater than zero.
    pub percentage: Percentage,
}

/// The shares in a charge. Without shares, the whole net amount is the creator's.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Split(Vec<Share>);

/// The reason a list of shares is invalid. Messages are safe to show to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// The list has more than [`MAX_SHARES`] shares.
    #[error("must have at most 5 items")]
    TooMany,
    /// A share is 0 %. The value is the index of the share.
    #[error("must be greater than 0")]
    NothingShared(usize),
    /// An account occurs twice. The value is the index of the second share.
    #[error("names a recipient twice")]
    Twice(usize),
    /// The sum of the percentages exceeds 100 %.
    #[error("the percentages must sum to at most 100")]
    AboveWhole,
}

impl Split {
    /// A split without shares.
    pub const NONE: Self = Self(Vec::new());

    /// Checks the shares, and creates the split.
    ///
    /// # Errors
    /// [`SplitError`], for the first violated rule.
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

    /// Returns the shares in the order in which they were given.
    #[must_use]
    pub fn shares(&self) -> &[Share] {
        &self.0
    }

    /// Returns whether the split has no shares.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Parses the output of [`Display`](fmt::Display), which is the stored form. An empty text means no shares. Empty
    /// items are skipped. Returns `None` if another item is malformed or the shares are invalid.
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

/// Formats the stored form, `acc_…:12.5,acc_…:3`: the accounts with their percentages.
impl fmt::Display for Split {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Share { recipient, percentage }) in self.0.iter().enumerate() {
            let before = if index == 0 { "" } else { "," };
            write!(formatter, "{before}{recipient}:{percentage}")?;
        }
        Ok(())
    }
}
