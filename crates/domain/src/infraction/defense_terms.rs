//! The rules for the content of a defense.

use super::{MAX_DEFENSE_TEXT, MAX_EVIDENCE_URL};
use crate::text::{LineBreaks, Text, TextError};

/// The required prefix of the address of evidence.
const HTTPS: &str = "https://";

/// The reason why the text of a defense or the address of its evidence is invalid. Messages are safe to show to
/// clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DefenseTermsError {
    /// The text or the address is too long or has control characters.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The text of the defense is empty.
    #[error("must not be empty")]
    Empty,
    /// The address contains a user name or a password. Every reader of the defense could see them.
    #[error("must not have a user or password")]
    Credentials,
    /// The address does not begin with `https://` and a host, or contains white space.
    #[error("must be an https URL")]
    NotHttps,
}

/// Parses the text of a defense.
///
/// # Errors
/// [`DefenseTermsError`] with the violated rule.
pub fn parse_defense_text(text: &str) -> Result<Text, DefenseTermsError> {
    let parsed = Text::parse(text, MAX_DEFENSE_TEXT, LineBreaks::Allowed)?;
    if text.trim().is_empty() { Err(DefenseTermsError::Empty) } else { Ok(parsed) }
}

/// Parses the address of evidence. A person at the acquirer may open the address; this service never does.
///
/// # Errors
/// [`DefenseTermsError`] with the violated rule.
pub fn parse_evidence_url(text: &str) -> Result<Text, DefenseTermsError> {
    let parsed = Text::parse(text, MAX_EVIDENCE_URL, LineBreaks::Refused)?;
    // A backslash ends the host too, because browsers treat a backslash as a slash.
    let authority = text.strip_prefix(HTTPS).and_then(|rest| rest.split(['/', '\\', '?', '#']).next());
    let host = authority.and_then(|authority| authority.split(':').next());
    let has_host = host.is_some_and(|host| !host.is_empty());
    if authority.is_some_and(|authority| authority.contains('@')) {
        Err(DefenseTermsError::Credentials)
    } else if has_host && !text.contains(char::is_whitespace) {
        Ok(parsed)
    } else {
        Err(DefenseTermsError::NotHttps)
    }
}
