//! The address of a webhook endpoint, as text. Only length and characters are checked here. The port `WebhookSender`
//! decides whether the service may call the address.

use std::fmt;

use super::MAX_URL;
use crate::text::{LineBreaks, TextError, check};

/// An address as the merchant wrote it. Two addresses are equal if their texts are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WebhookUrl(String);

/// The reason why a text is not valid as an address. Messages are safe to show to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WebhookUrlError {
    /// The text is too long or has control characters.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The text is empty or contains blanks.
    #[error("must be a URL without blanks")]
    Blank,
}

impl WebhookUrl {
    /// Parses an address of at most [`MAX_URL`] characters.
    ///
    /// # Errors
    /// [`WebhookUrlError`] if the text is empty or too long, or contains blanks or control characters.
    pub fn parse(text: &str) -> Result<Self, WebhookUrlError> {
        check(text, MAX_URL, LineBreaks::Refused)?;
        if text.is_empty() || text.chars().any(char::is_whitespace) {
            return Err(WebhookUrlError::Blank);
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the address as the merchant wrote it.
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
