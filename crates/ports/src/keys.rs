//! API keys as they are kept: never the secret, only its code under the master key.

use std::fmt;

use cais_domain::api_key::{KeyPrefix, Scopes};
use cais_domain::ids::{AccountId, KeyId};
use jiff::Timestamp;

/// HMAC-SHA256 of a secret under the master key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SecretMac(pub [u8; 32]);

impl fmt::Debug for SecretMac {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SecretMac(..)")
    }
}

/// Hashes secrets under the master key.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait KeyedHash: Send + Sync {
    /// Returns the hash of `secret` for `purpose`; hashes of different purposes have nothing in common.
    fn hash(&self, purpose: &str, secret: &[u8]) -> SecretMac;

    /// Returns true when `hash` is the hash of `secret`. The comparison takes constant time.
    fn verify(&self, purpose: &str, secret: &[u8], hash: &SecretMac) -> bool;

    /// Fills `bytes` with secure random bytes.
    fn fill_random(&self, bytes: &mut [u8]);
}

/// A key of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKeyRecord {
    /// Its identifier.
    pub id: KeyId,
    /// Its public part, unique.
    pub prefix: KeyPrefix,
    /// Whose it is.
    pub account: AccountId,
    /// What people call it.
    pub name: String,
    /// The code of its secret.
    pub mac: SecretMac,
    /// What it may do.
    pub scopes: Scopes,
    /// From when on it is refused.
    pub expires_at: Option<Timestamp>,
    /// CIDR blocks that it may be used from; empty is everywhere.
    pub allowed_addresses: Vec<String>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// How often it was changed; the store checks it.
    pub version: i64,
}
