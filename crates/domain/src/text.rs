//! Free text from a request: bounded in characters and without control characters.

use std::fmt;

/// The rule for line breaks in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineBreaks {
    /// `\n` and `\r` are accepted.
    Allowed,
    /// `\n` and `\r` are control characters like others.
    Refused,
}

/// A text that was within its limits when parsed. The text may be empty.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(String);

/// The reason a text is invalid. Messages are safe to show to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// More characters than allowed.
    #[error("must have at most {max_chars} characters")]
    TooLong {
        /// The limit, in characters.
        max_chars: usize,
    },
    /// NUL or another control character, or a line break in a single-line text.
    #[error("must not contain control characters")]
    ControlCharacter,
}

impl Text {
    /// Parses a text of at most `max_chars` characters (not bytes).
    ///
    /// # Errors
    /// [`TextError`] with the violated rule.
    pub fn parse(text: &str, max_chars: usize, line_breaks: LineBreaks) -> Result<Self, TextError> {
        check(text, max_chars, line_breaks)?;
        Ok(Self(text.to_owned()))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text, owned.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

/// Checks the same rules for texts with their own type.
pub(crate) fn check(text: &str, max_chars: usize, line_breaks: LineBreaks) -> Result<(), TextError> {
    // A single character beyond the limit is an error, so the rest is not counted.
    if text.chars().nth(max_chars).is_some() {
        return Err(TextError::TooLong { max_chars });
    }
    let refused = |character: char| {
        character.is_control() && !(line_breaks == LineBreaks::Allowed && matches!(character, '\n' | '\r'))
    };
    if text.contains(refused) { Err(TextError::ControlCharacter) } else { Ok(()) }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
