//! A random key. The directory of Pix keys (DICT) issues it, and every UUID is valid.

use super::PixKeyError;

/// The number of hexadecimal digits in each group of a UUID.
const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];

/// A random key: a UUID of any version with its dashes, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EvpKey(String);

impl EvpKey {
    /// Parses a UUID with its dashes, in upper or lower case.
    ///
    /// # Errors
    /// [`PixKeyError::Evp`].
    pub fn parse(text: &str) -> Result<Self, PixKeyError> {
        let shape = text.split('-').map(str::len).eq(GROUPS);
        let alphabet = text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        if shape && alphabet { Ok(Self(text.to_ascii_lowercase())) } else { Err(PixKeyError::Evp) }
    }

    /// Returns the UUID as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
