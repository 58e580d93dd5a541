//! The address of an endpoint as a text; whether it may be called is judged where it is called.

use std::fmt;

use super::MAX_URL;
use crate::text::{LineBreaks, TextError, check};

/// An address as its merchant wrote it; two are the same when their texts are.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WebhookUrl(String);

/// Why a text is no address. The texts may be shown to the user of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WebhookUrlError {
    /// Too long, or with control characters.
    #[error(transparent)]
    Text(#[from] TextError),
    /// Nothing, or blanks in it.
    #[error("must be a URL without blanks")]
    Blank,
}

impl WebhookUrl {
    /// Reads an address of at most [`MAX_URL`] characters.
    ///
    /// # Errors
    /// [`WebhookUrlError`].
    pub fn parse(text: &str) -> Result<Self, WebhookUrlError> {
        check(text, MAX_URL, LineBreaks::Refused)?;
        if text.is_empty() || text.chars().any(char::is_whitespace) {
            return Err(WebhookUrlError::Blank);
        }
        Ok(Self(text.to_owned()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WebhookUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
