//! Free text from a request: bounded in characters and without control characters.

use std::fmt;

/// Whether a text may have more than one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineBreaks {
    /// `\n` and `\r` are fine.
    Allowed,
    /// They are control characters like any other.
    Refused,
}

/// A text that kept to its limits when it was read. It may be empty.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(String);

/// Why a text was refused. The texts may be shown to the user of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// More characters than allowed.
    #[error("must have at most {max_chars} characters")]
    TooLong {
        /// The limit, in characters.
        max_chars: usize,
    },
    /// NUL or another control character, or a line break where one line is wanted.
    #[error("must not contain control characters")]
    ControlCharacter,
}

impl Text {
    /// Reads a text of at most `max_chars` characters (not bytes).
    ///
    /// # Errors
    /// [`TextError`] says which rule the text breaks.
    pub fn parse(text: &str, max_chars: usize, line_breaks: LineBreaks) -> Result<Self, TextError> {
        check(text, max_chars, line_breaks)?;
        Ok(Self(text.to_owned()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, owned.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

/// The same judgement for texts that keep their own type.
pub(crate) fn check(text: &str, max_chars: usize, line_breaks: LineBreaks) -> Result<(), TextError> {
    // One character beyond the limit settles it: the rest is not worth counting.
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
