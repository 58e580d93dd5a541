//! Free text from a request. The number of characters is limited, and control characters are not permitted.

use std::fmt;

/// The rule for line breaks in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineBreaks {
    /// `\n` and `\r` are accepted.
    Allowed,
    /// `\n` and `\r` are refused, like all other control characters.
    Refused,
}

/// A text that passed the checks of [`Text::parse`]. The text may be empty.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(String);

/// The reason a text is invalid. Messages are safe to show to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// The text has too many characters.
    #[error("must have at most {max_chars} characters")]
    TooLong {
        /// The limit, in characters.
        max_chars: usize,
    },
    /// The text has a control character. With [`LineBreaks::Refused`], a line break counts as a control character.
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

    /// Returns the text as a `String`.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

/// Checks the rules of [`Text`] for a type that stores its text itself, without a [`Text`].
pub(crate) fn check(text: &str, max_chars: usize, line_breaks: LineBreaks) -> Result<(), TextError> {
    // The count stops at the first character beyond the limit, so the cost is limited even for a very long text.
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
