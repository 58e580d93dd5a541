//! The identifier of a charge at the acquirer (API Pix 2.9.0: the `txid` of a `cob`, an immediate charge).

use std::fmt;

use crate::ids::ChargeId;

/// The permitted lengths, in characters.
const LENGTHS: std::ops::RangeInclusive<usize> = 26..=35;

/// A txid: 26 to 35 ASCII letters and digits, case-sensitive.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Txid(String);

/// The error for a text that is not 26 to 35 ASCII letters and digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a txid must have 26 to 35 ASCII letters and digits")]
pub struct TxidError;

impl Txid {
    /// Returns the txid of a charge: the charge's id without its prefix.
    #[must_use]
    pub fn of_charge(charge: ChargeId) -> Self {
        Self(charge.suffix())
    }

    /// Parses a txid.
    ///
    /// # Errors
    /// [`TxidError`].
    pub fn parse(text: &str) -> Result<Self, TxidError> {
        let valid = LENGTHS.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if valid { Ok(Self(text.to_owned())) } else { Err(TxidError) }
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Txid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
