//! The merchant's own identifier of a resource, unique per account and kind of resource.

use std::fmt;

use crate::text::{self, LineBreaks, TextError};

/// The maximum length of an external id, in characters.
const MAX_CHARS: usize = 120;

/// An external id: 1 to 120 characters without control characters. Ids that differ only in case are different ids.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExternalId(String);

/// The reason an external id is invalid. Messages are safe to show to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ExternalIdError {
    /// The text is empty.
    #[error("must not be empty")]
    Empty,
    /// The text is too long or has control characters.
    #[error(transparent)]
    Text(#[from] TextError),
}

impl ExternalId {
    /// Parses an external id.
    ///
    /// # Errors
    /// [`ExternalIdError`] with the violated rule.
    pub fn parse(text: &str) -> Result<Self, ExternalIdError> {
        if text.is_empty() {
            return Err(ExternalIdError::Empty);
        }
        text::check(text, MAX_CHARS, LineBreaks::Refused)?;
        Ok(Self(text.to_owned()))
    }

    /// Returns the text as the merchant wrote it.
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
