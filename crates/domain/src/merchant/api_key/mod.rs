//! The API key of a merchant. The public prefix finds the stored key. The secret proves that the caller has the whole
//! key.

use std::fmt;

mod scope;

pub use scope::{Scope, ScopeError, Scopes};

/// The alphabet: digits, then upper-case, then lower-case letters.
const BASE62: [u8; 62] = *b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// The number of characters in the alphabet.
const BASE: u16 = 62;
/// The number of characters in the public part.
const PREFIX_LENGTH: usize = 12;
/// The number of characters in the secret part. At least 43 base62 characters are needed for 256 bits.
const SECRET_LENGTH: usize = 43;
/// The first part of every key, before the first `_`.
const WORD: &str = "key";

/// The public part of an API key: 12 base62 characters. The key is stored and revoked under this prefix.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyPrefix(String);

/// The secret part of an API key: 43 base62 characters. This part is never logged.
///
/// The type has no equality on purpose: compare keyed hashes in constant time instead.
#[derive(Clone)]
pub struct KeySecret(String);

/// A whole API key, `key_<prefix>_<secret>`.
#[derive(Debug, Clone)]
pub struct ApiKeyToken {
    /// The public part.
    pub prefix: KeyPrefix,
    /// The secret part.
    pub secret: KeySecret,
}

/// The error for a text that does not have the format of an API key or of a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is not an API key")]
pub struct ApiKeyError;

impl KeyPrefix {
    /// Creates a prefix from 96 random bits. All prefixes are almost equally probable: their probabilities differ by
    /// less than one part in 2²⁴.
    #[must_use]
    pub fn from_random(bytes: &[u8; 12]) -> Self {
        Self(base62(bytes, PREFIX_LENGTH))
    }

    /// Parses a prefix.
    ///
    /// # Errors
    /// [`ApiKeyError`].
    pub fn parse(text: &str) -> Result<Self, ApiKeyError> {
        if is_base62(text, PREFIX_LENGTH) { Ok(Self(text.to_owned())) } else { Err(ApiKeyError) }
    }

    /// Returns the 12 characters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl KeySecret {
    /// Creates a secret from 256 random bits. Different bits give different secrets.
    #[must_use]
    pub fn from_random(bytes: &[u8; 32]) -> Self {
        Self(base62(bytes, SECRET_LENGTH))
    }

    /// Returns the 43 characters, to hash them or to show the key once.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for KeySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeySecret(***)")
    }
}

impl ApiKeyToken {
    /// Parses a whole key.
    ///
    /// # Errors
    /// [`ApiKeyError`]. On purpose, the error does not name the wrong part.
    pub fn parse(text: &str) -> Result<Self, ApiKeyError> {
        let rest = text.strip_prefix(WORD).and_then(|rest| rest.strip_prefix('_')).ok_or(ApiKeyError)?;
        let (prefix, secret) = rest.split_once('_').ok_or(ApiKeyError)?;
        if !is_base62(secret, SECRET_LENGTH) {
            return Err(ApiKeyError);
        }
        Ok(Self { prefix: KeyPrefix::parse(prefix)?, secret: KeySecret(secret.to_owned()) })
    }

    /// Returns the whole key as text. The service shows this text only once, when the key is created.
    #[must_use]
    pub fn expose(&self) -> String {
        format!("{WORD}_{}_{}", self.prefix, self.secret.expose())
    }
}

fn is_base62(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Returns the last `length` base62 digits of the big-endian number in `bytes`. The method is repeated long division.
fn base62(bytes: &[u8], length: usize) -> String {
    let mut number = bytes.to_vec();
    let mut digits: Vec<char> = (0..length).map(|_| char::from(divide(&mut number))).collect();
    digits.reverse();
    digits.into_iter().collect()
}

/// Divides `number` by 62 in place and returns the remainder as a base62 digit.
fn divide(number: &mut [u8]) -> u8 {
    let mut remainder: u16 = 0;
    for byte in number {
        let dividend = (remainder << 8) | u16::from(*byte);
        // The remainder is below 62, so the quotient is below 256.
        *byte = u8::try_from(dividend / BASE).unwrap_or(u8::MAX);
        remainder = dividend % BASE;
    }
    BASE62.get(usize::from(remainder)).copied().unwrap_or(b'0')
}
