//! A replacement for the encryption of secrets in tests. Its output is not secret: anyone can decrypt it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicU64, Ordering};

use cais_domain::merchant::webhook::SealedSecret;
use cais_ports::{DecryptError, EncryptError, SecretCipher, SigningSecret};

/// The size in bytes of the nonce at the beginning of a ciphertext. Each ciphertext has another nonce.
const NONCE: usize = 8;
/// The size in bytes of the check value at the end of a ciphertext.
const CHECK: usize = 8;
/// The size in bytes of an encrypted secret.
const SECRET: usize = 32;

/// A test cipher. A ciphertext can be decrypted only with the same key and the same id of an endpoint or user.
/// Equal secrets have different ciphertexts.
#[derive(Debug, Default)]
pub struct PlainSecretCipher {
    key: u64,
    sealed: AtomicU64,
}

impl PlainSecretCipher {
    /// Creates a cipher with this master key. Key 0 equals the default.
    #[must_use]
    pub const fn under(key: u64) -> Self {
        Self { key, sealed: AtomicU64::new(0) }
    }

    /// Returns bytes that depend on the key, the id and everything in `from`.
    fn bytes<const N: usize>(&self, bound_to: &str, from: &[u8]) -> [u8; N] {
        let mut bytes = [0; N];
        for (block, chunk) in bytes.chunks_mut(8).enumerate() {
            let mut hasher = DefaultHasher::new();
            (self.key, bound_to, from, block).hash(&mut hasher);
            for (slot, byte) in chunk.iter_mut().zip(hasher.finish().to_be_bytes()) {
                *slot = byte;
            }
        }
        bytes
    }

    /// Encrypts or decrypts the secret with bytes that depend on the nonce.
    fn mix(&self, bound_to: &str, nonce: &[u8], secret: [u8; SECRET]) -> [u8; SECRET] {
        let mut mixed = secret;
        for (slot, byte) in mixed.iter_mut().zip(self.bytes::<SECRET>(bound_to, nonce)) {
            *slot ^= byte;
        }
        mixed
    }
}

impl SecretCipher for PlainSecretCipher {
    fn encrypt(&self, bound_to: &str, secret: &SigningSecret) -> Result<SealedSecret, EncryptError> {
        let nonce = self.sealed.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let mut sealed = nonce.to_vec();
        sealed.extend(self.mix(bound_to, &nonce, secret.0));
        let check: [u8; CHECK] = self.bytes(bound_to, &sealed);
        sealed.extend(check);
        Ok(SealedSecret(sealed))
    }

    fn decrypt(&self, bound_to: &str, sealed: &SealedSecret) -> Result<SigningSecret, DecryptError> {
        let (body, check) = sealed.0.split_last_chunk::<CHECK>().ok_or(DecryptError)?;
        let (nonce, mixed) = body.split_first_chunk::<NONCE>().ok_or(DecryptError)?;
        let mixed: [u8; SECRET] = mixed.try_into().map_err(|_| DecryptError)?;
        if self.bytes::<CHECK>(bound_to, body) != *check {
            return Err(DecryptError);
        }
        Ok(SigningSecret(self.mix(bound_to, nonce, mixed)))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn sealed_secret_opens_only_for_owner_under_its_key() {
        let cipher = PlainSecretCipher::default();
        let secret = SigningSecret(std::array::from_fn(|place| u8::try_from(place).unwrap_or_default()));
        let [one, other] = [0; 2].map(|_| cipher.encrypt("whe_1", &secret).unwrap());
        assert_ne!(one, other);
        for sealed in [&one, &other] {
            assert_eq!(cipher.decrypt("whe_1", sealed), Ok(secret.clone()));
            assert_eq!(cipher.decrypt("whe_2", sealed), Err(DecryptError));
            assert_eq!(PlainSecretCipher::under(1).decrypt("whe_1", sealed), Err(DecryptError));
        }
        for place in 0..one.0.len() {
            let mut damaged = one.clone();
            damaged.0.iter_mut().skip(place).take(1).for_each(|byte| *byte ^= 1);
            assert_eq!(cipher.decrypt("whe_1", &damaged), Err(DecryptError), "byte {place}");
        }
        assert_eq!(cipher.decrypt("whe_1", &SealedSecret(Vec::new())), Err(DecryptError));
    }
}
