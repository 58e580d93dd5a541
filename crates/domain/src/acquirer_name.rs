//! The configured name of an acquirer. The ledger, the records and the logs use this name.

use std::fmt;

/// The maximum length, in characters. The name is part of ledger account names and of metric labels.
const MAX_CHARS: usize = 32;

/// A name of 1 to 32 characters of `a-z`, `0-9` and `-`. The first character is a letter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AcquirerName(String);

/// The error for a text that is not a valid name of an acquirer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have 1 to 32 characters of a-z, 0-9 and -, beginning with a letter")]
pub struct AcquirerNameError;

impl AcquirerName {
    /// Parses a name.
    ///
    /// # Errors
    /// [`AcquirerNameError`].
    pub fn parse(text: &str) -> Result<Self, AcquirerNameError> {
        let begins_well = text.bytes().next().is_some_and(|first| first.is_ascii_lowercase());
        let all_allowed = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if begins_well && all_allowed && text.len() <= MAX_CHARS {
            Ok(Self(text.to_owned()))
        } else {
            Err(AcquirerNameError)
        }
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AcquirerName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::AcquirerName;

    #[test]
    fn name_has_only_allowed_characters_and_length() {
        for (text, good) in
            [("main", true), ("efi-2", true), ("", false), ("2efi", false), ("Efi", false), ("a_b", false)]
        {
            assert_eq!(AcquirerName::parse(text).is_ok(), good, "{text}");
        }
        assert!(AcquirerName::parse(&"a".repeat(33)).is_err());
    }
}
