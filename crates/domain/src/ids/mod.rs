//! Public identifiers, such as `chg_…`: the prefix of a kind of resource, and a UUID in 26 characters (`TypeID`
//! specification 0.3). The UUIDs of this service have version 7, so its identifiers sort by creation time.

mod base32;
pub mod kind;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::str::FromStr;

use uuid::Uuid;

use base32::{SUFFIX_LENGTH, decode, encode};
pub use kind::alias::*;

/// The maximum length of an identifier, in bytes: space for the longest prefix, the separator and the suffix.
const MAX_LENGTH: usize = 36;

/// A kind of resource, with the prefix of its identifiers.
pub trait IdKind: 'static {
    /// The text before the last underscore, in lower case.
    const PREFIX: &'static str;
}

/// The public identifier of a resource of the kind `K`. Identifiers are ordered by creation time.
pub struct Id<K: IdKind> {
    uuid: Uuid,
    kind: PhantomData<fn() -> K>,
}

/// The reason why a text is not an identifier of the expected kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The text does not begin with the expected prefix and an underscore.
    #[error("must begin with `{expected}_`")]
    WrongPrefix {
        /// The expected prefix.
        expected: &'static str,
    },
    /// The text after the prefix does not consist of 26 lower-case base32 digits whose value fits into 128 bits.
    #[error("is not a valid identifier: 26 letters and digits must follow the prefix")]
    WrongSuffix,
}

impl<K: IdKind> Id<K> {
    /// The text before the last underscore.
    pub const PREFIX: &'static str = K::PREFIX;

    /// Returns the identifier with this UUID. The UUID should have version 7, which begins with the creation time.
    #[must_use]
    pub const fn new(uuid: Uuid) -> Self {
        Self { uuid, kind: PhantomData }
    }

    /// Returns the UUID.
    #[must_use]
    pub const fn uuid(self) -> Uuid {
        self.uuid
    }

    /// Returns the 26 characters after the prefix.
    #[must_use]
    pub fn suffix(self) -> String {
        String::from_utf8_lossy(&encode(self.uuid)).into_owned()
    }

    /// Returns the creation time in the identifier, in milliseconds since 1970 (UUID version 7, RFC 9562 section 5.7).
    #[must_use]
    pub const fn timestamp_ms(self) -> u64 {
        self.uuid.as_u64_pair().0 >> 16
    }

    /// Parses an identifier: the exact prefix, an underscore, and 26 lower-case base32 digits whose value fits into 128
    /// bits.
    ///
    /// # Errors
    /// [`IdError`] for a wrong prefix or a wrong suffix.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        let suffix = text
            .strip_prefix(K::PREFIX)
            .and_then(|rest| rest.strip_prefix('_'))
            .ok_or(IdError::WrongPrefix { expected: K::PREFIX })?;
        Self::from_suffix(suffix)
    }

    /// Parses the 26 characters of an identifier without its prefix. Acquirers receive the ids of charges, payouts and
    /// refunds in this form.
    ///
    /// # Errors
    /// [`IdError::WrongSuffix`].
    pub fn from_suffix(suffix: &str) -> Result<Self, IdError> {
        decode(suffix.as_bytes()).map(Self::new).ok_or(IdError::WrongSuffix)
    }
}

// A derived `Clone` would require `K: Clone`.
impl<K: IdKind> Clone for Id<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: IdKind> Copy for Id<K> {}

impl<K: IdKind> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.uuid == other.uuid
    }
}

impl<K: IdKind> Eq for Id<K> {}

impl<K: IdKind> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: IdKind> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.uuid.cmp(&other.uuid)
    }
}

impl<K: IdKind> Hash for Id<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.uuid.hash(state);
    }
}

/// Writes the whole identifier at once, so that `to_string` allocates memory only once.
impl<K: IdKind> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; MAX_LENGTH];
        let length = K::PREFIX.len().saturating_add(SUFFIX_LENGTH).saturating_add(1);
        let bytes = K::PREFIX.bytes().chain([b'_']).chain(encode(self.uuid));
        for (slot, byte) in text.iter_mut().zip(bytes) {
            *slot = byte;
        }
        let written = text.get(..length).and_then(|bytes| str::from_utf8(bytes).ok());
        f.write_str(written.ok_or(fmt::Error)?)
    }
}

impl<K: IdKind> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<K: IdKind> FromStr for Id<K> {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}
