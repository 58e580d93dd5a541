//! HMAC-SHA256 under the master key.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::hex;
use cais_ports::{KeyedHash, SecretHash};
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

use crate::master_key::MasterKey;

/// The number of characters in the token of a callback address: 128 bits in hex.
const TOKEN_CHARS: usize = 32;

/// HMAC-SHA256 under the master key, with a separate key for each purpose.
pub struct HmacSha256 {
    master: hmac::Key,
    random: SystemRandom,
}

impl HmacSha256 {
    /// Returns the hash function of `master`.
    #[must_use]
    pub fn new(master: &MasterKey) -> Self {
        Self { master: hmac::Key::new(hmac::HMAC_SHA256, &master.0), random: SystemRandom::new() }
    }

    /// Returns the key of a purpose: the HMAC of the purpose's name under the master key. So hashes for different
    /// purposes are unrelated.
    fn key(&self, purpose: &str) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, hmac::sign(&self.master, purpose.as_bytes()).as_ref())
    }
}

impl KeyedHash for HmacSha256 {
    fn hash(&self, purpose: &str, secret: &[u8]) -> SecretHash {
        let tag = hmac::sign(&self.key(purpose), secret);
        let mut hash = [0; 32];
        for (slot, byte) in hash.iter_mut().zip(tag.as_ref()) {
            *slot = *byte;
        }
        SecretHash(hash)
    }

    fn verify(&self, purpose: &str, secret: &[u8], hash: &SecretHash) -> bool {
        hmac::verify(&self.key(purpose), secret, &hash.0).is_ok()
    }

    /// Panics if the system has no random bytes, because a predictable secret must never be created.
    fn fill_random(&self, bytes: &mut [u8]) {
        assert!(self.random.fill(bytes).is_ok(), "the system provides no secure random bytes");
    }
}

/// Returns the secret part of an acquirer's callback address: 32 hex characters, equal on every node. The secret part
/// differs for each `generation`. After a leak, operators raise the setting `callback_generation`.
#[must_use]
pub fn callback_token(keyed_hash: &dyn KeyedHash, acquirer: &AcquirerName, generation: u32) -> String {
    // A name contains no slash, so two different pairs of name and generation never result in the same text.
    let secret = if generation == 0 { acquirer.to_string() } else { format!("{acquirer}/{generation}") };
    let mut token = hex::encode(keyed_hash.hash("callback", secret.as_bytes()).0);
    token.truncate(TOKEN_CHARS);
    token
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn hashes() -> HmacSha256 {
        HmacSha256::new(&MasterKey([7; 32]))
    }

    #[test]
    fn hash_depends_on_key_purpose_and_secret() {
        let hash = hashes().hash("api-key", b"secret");
        assert!(hashes().verify("api-key", b"secret", &hash));
        assert!(!hashes().verify("callback", b"secret", &hash));
        assert!(!hashes().verify("api-key", b"other", &hash));
        assert!(!HmacSha256::new(&MasterKey([8; 32])).verify("api-key", b"secret", &hash));
    }

    #[test]
    fn callback_tokens_differ_by_acquirer_and_generation() {
        let token = |name: &str, generation| callback_token(&hashes(), &AcquirerName::parse(name).unwrap(), generation);
        assert_eq!(token("main", 0), token("main", 0));
        assert_ne!(token("main", 0), token("other", 0));
        assert_ne!(token("main", 0), token("main", 1));
        assert_ne!(token("main", 1), token("main", 2));
        assert_eq!(token("main", 1).len(), TOKEN_CHARS);
    }
}
