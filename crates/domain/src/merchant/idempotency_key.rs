//! The merchant's key by which a repeated request is recognized.

use std::fmt;

/// The permitted lengths, in characters.
const LENGTHS: std::ops::RangeInclusive<usize> = 8..=255;

/// An idempotency key: 8 to 255 visible ASCII characters (0x21 to 0x7e). The comparison is exact.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdempotencyKey(String);

/// The error for a key whose length is not permitted, or that has a character other than visible ASCII.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have 8 to 255 visible ASCII characters")]
pub struct IdempotencyKeyError;

impl IdempotencyKey {
    /// Parses a key.
    ///
    /// # Errors
    /// [`IdempotencyKeyError`].
    pub fn parse(text: &str) -> Result<Self, IdempotencyKeyError> {
        let valid = LENGTHS.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if valid { Ok(Self(text.to_owned())) } else { Err(IdempotencyKeyError) }
    }

    /// Returns the text as the merchant wrote it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
