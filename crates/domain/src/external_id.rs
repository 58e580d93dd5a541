//! The caller's own identifier of an order, unique per account and kind of resource.

use std::fmt;

use crate::text::{self, LineBreaks, TextError};

/// Longest external id, in characters.
const MAX_CHARS: usize = 120;

/// 1 to 120 characters without control characters, compared exactly.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExternalId(String);

/// Why an external id was refused. The texts may be shown to the user of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ExternalIdError {
    /// It names nothing.
    #[error("must not be empty")]
    Empty,
    /// Too long, or with control characters.
    #[error(transparent)]
    Text(#[from] TextError),
}

impl ExternalId {
    /// Reads an external id.
    ///
    /// # Errors
    /// [`ExternalIdError`] says which rule the text breaks.
    pub fn parse(text: &str) -> Result<Self, ExternalIdError> {
        if text.is_empty() {
            return Err(ExternalIdError::Empty);
        }
        text::check(text, MAX_CHARS, LineBreaks::Refused)?;
        Ok(Self(text.to_owned()))
    }

    /// The text as the caller wrote it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ExternalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
