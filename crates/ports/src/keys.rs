//! API keys in their stored form: with a hash of the secret instead of the secret. The hash is keyed with the master
//! key.

use std::fmt;

use cais_domain::ids::{AccountId, KeyId};
use cais_domain::merchant::api_key::{KeyPrefix, Scopes};
use jiff::Timestamp;

/// The HMAC-SHA256 of a secret, keyed with the master key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SecretHash(pub [u8; 32]);

impl fmt::Debug for SecretHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SecretHash(..)")
    }
}

/// A hash function for secrets, keyed with the master key.
pub trait KeyedHash: Send + Sync {
    /// Returns the hash of `secret`. `purpose` is the use of the hash, such as `api-key`. The hashes of one secret for
    /// different purposes are unrelated.
    fn hash(&self, purpose: &str, secret: &[u8]) -> SecretHash;

    /// Returns `true` if `hash` is the hash of `secret` for `purpose`. The comparison takes constant time.
    fn verify(&self, purpose: &str, secret: &[u8], hash: &SecretHash) -> bool;

    /// Fills `bytes` with secure random bytes.
    fn fill_random(&self, bytes: &mut [u8]);
}

/// An API key of an account, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKeyRecord {
    /// The public identifier.
    pub id: KeyId,
    /// The public part of the key, unique among all keys. The key of a request is found by this part.
    pub prefix: KeyPrefix,
    /// The owning account.
    pub account: AccountId,
    /// The display name.
    pub name: String,
    /// The hash of the secret.
    pub keyed_hash: SecretHash,
    /// The permissions of the key.
    pub scopes: Scopes,
    /// The instant of expiry. `None` if the key does not expire.
    pub expires_at: Option<Timestamp>,
    /// The CIDR blocks from which requests may use the key. If the list is empty, every address may use the key.
    pub allowed_addresses: Vec<String>,
    /// The instant of revocation. `None` if the key is not revoked.
    pub revoked_at: Option<Timestamp>,
    /// The instant of creation.
    pub created_at: Timestamp,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}
