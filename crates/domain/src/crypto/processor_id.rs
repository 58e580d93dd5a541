//! Identifiers that a crypto processor assigned.

use std::fmt;

/// The maximum length, in characters.
const MAX_LENGTH: usize = 64;

/// The processor's identifier of a payment, of a withdrawal, or of its batch of withdrawals. The identifier has 1 to 64
/// ASCII letters, digits, hyphens and underscores.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessorId(String);

/// The error for a text that does not have the form of a [`ProcessorId`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an identifier of a processor must have 1 to 64 ASCII letters, digits, hyphens and underscores")]
pub struct ProcessorIdError;

impl ProcessorId {
    /// Parses an identifier.
    ///
    /// # Errors
    /// [`ProcessorIdError`].
    pub fn parse(text: &str) -> Result<Self, ProcessorIdError> {
        let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        let valid = plain && (1..=MAX_LENGTH).contains(&text.len());
        if valid { Ok(Self(text.to_owned())) } else { Err(ProcessorIdError) }
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProcessorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_id_has_plain_characters_only() {
        for (text, valid) in [("5745459419", true), ("a-b_C", true), ("", false), ("a/b", false), ("é", false)] {
            assert_eq!(ProcessorId::parse(text).is_ok(), valid, "{text}");
        }
        assert!(ProcessorId::parse(&"1".repeat(65)).is_err());
    }
}
