//! An e-mail address as a Pix key. The API of DICT, the directory of Pix keys, defines the pattern.

use super::{MAX_LENGTH, PixKeyError};

/// The maximum length of a label, in characters (RFC 1035, section 2.3.4). A label is a part of a domain: `example.com`
/// has two labels.
const MAX_LABEL_LENGTH: usize = 63;

/// An e-mail key in lower case, at most 77 characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EmailKey(String);

impl EmailKey {
    /// Parses an address in upper or lower case.
    ///
    /// # Errors
    /// [`PixKeyError::TooLong`] or [`PixKeyError::Email`].
    pub fn parse(text: &str) -> Result<Self, PixKeyError> {
        if text.chars().nth(MAX_LENGTH).is_some() {
            return Err(PixKeyError::TooLong);
        }
        let folded = text.to_ascii_lowercase();
        let (local, domain) = folded.split_once('@').ok_or(PixKeyError::Email)?;
        let valid = !local.is_empty() && local.bytes().all(is_local) && domain.split('.').all(is_label);
        if valid { Ok(Self(folded)) } else { Err(PixKeyError::Email) }
    }

    /// Returns the address.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns whether the byte is permitted before the `@`. Unlike HTML forms, DICT does not permit `%`.
fn is_local(byte: u8) -> bool {
    is_alphanumeric(byte) || b".!#$&'*+/=?^_`{|}~-".contains(&byte)
}

fn is_label(label: &str) -> bool {
    let edges = [label.bytes().next(), label.bytes().next_back()];
    label.len() <= MAX_LABEL_LENGTH
        && edges.into_iter().all(|edge| edge.is_some_and(is_alphanumeric))
        && label.bytes().all(|byte| is_alphanumeric(byte) || byte == b'-')
}

fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}
