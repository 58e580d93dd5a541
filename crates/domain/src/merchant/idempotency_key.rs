//! The client's key for recognizing a repeated request.

use std::fmt;

/// Allowed lengths, in characters.
const LENGTHS: std::ops::RangeInclusive<usize> = 8..=255;

/// 8 to 255 visible ASCII characters (0x21 to 0x7e), compared exactly.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdempotencyKey(String);

/// The text is shorter or longer, or has a character outside visible ASCII.
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

    /// Returns the text as written by the client.
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
