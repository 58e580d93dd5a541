//! Encryption of stored secrets: AES-256-GCM under a key derived from the master key.

use std::sync::Arc;

use cais_domain::merchant::webhook::SealedSecret;
use cais_ports::{DecryptError, EncryptError, KeyedHash, SecretCipher, SigningSecret};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

/// The purpose under which [`KeyedHash`] derives the cipher's key. Keys for other purposes are unrelated.
const PURPOSE: &str = "sealed-secrets";
/// The text whose hash for [`PURPOSE`] is the key.
const LABEL: &[u8] = b"aes-256-gcm";

/// AES-256-GCM under a key derived from the master key. An encrypted secret consists of a random nonce of 12 bytes, the
/// ciphertext, and a tag of 16 bytes. The tag also covers the id of the endpoint or user, so a secret opens only for
/// that id.
pub struct Aes256GcmCipher {
    key: [u8; 32],
    /// The source of random nonces.
    random: Arc<dyn KeyedHash>,
}

impl Aes256GcmCipher {
    /// Creates a cipher. `keyed_hash` derives the cipher's key from the master key, and creates the random nonces.
    #[must_use]
    pub fn new(keyed_hash: Arc<dyn KeyedHash>) -> Self {
        Self { key: keyed_hash.hash(PURPOSE, LABEL).0, random: keyed_hash }
    }

    /// Returns the algorithm with its key. Never `None`, because the key has the length that the algorithm requires.
    fn cipher(&self) -> Option<LessSafeKey> {
        UnboundKey::new(&AES_256_GCM, &self.key).ok().map(LessSafeKey::new)
    }

    fn seal(&self, bound_to: &str, secret: &SigningSecret) -> Option<SealedSecret> {
        let mut nonce = [0; NONCE_LEN];
        self.random.fill_random(&mut nonce);
        let mut text = secret.0.to_vec();
        let nonce_of_call = Nonce::assume_unique_for_key(nonce);
        self.cipher()?.seal_in_place_append_tag(nonce_of_call, Aad::from(bound_to.as_bytes()), &mut text).ok()?;
        Some(SealedSecret([nonce.as_slice(), &text].concat()))
    }

    fn open(&self, bound_to: &str, sealed: &SealedSecret) -> Option<SigningSecret> {
        let (nonce, text) = sealed.0.split_first_chunk::<NONCE_LEN>()?;
        let mut text = text.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let plain = self.cipher()?.open_in_place(nonce, Aad::from(bound_to.as_bytes()), &mut text).ok()?;
        <[u8; 32]>::try_from(&*plain).ok().map(SigningSecret)
    }
}

impl SecretCipher for Aes256GcmCipher {
    fn encrypt(&self, bound_to: &str, secret: &SigningSecret) -> Result<SealedSecret, EncryptError> {
        self.seal(bound_to, secret).ok_or(EncryptError)
    }

    fn decrypt(&self, bound_to: &str, sealed: &SealedSecret) -> Result<SigningSecret, DecryptError> {
        self.open(bound_to, sealed).ok_or(DecryptError)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::{HmacSha256, MasterKey};

    fn cipher(byte: char) -> Aes256GcmCipher {
        let key = MasterKey::parse(&byte.to_string().repeat(64)).unwrap();
        Aes256GcmCipher::new(Arc::new(HmacSha256::new(&key)))
    }

    #[test]
    fn sealed_secret_opens_only_for_its_owner_and_key() {
        let secret = SigningSecret([42; 32]);
        let sealed = cipher('a').encrypt("whe_1", &secret).unwrap();
        assert_eq!(cipher('a').decrypt("whe_1", &sealed), Ok(secret));
        assert_eq!(cipher('a').decrypt("whe_2", &sealed), Err(DecryptError));
        assert_eq!(cipher('b').decrypt("whe_1", &sealed), Err(DecryptError));
    }

    #[test]
    fn sealed_secret_differs_each_time_and_hides_the_text() {
        let secret = SigningSecret([42; 32]);
        let [first, second] = [0; 2].map(|_| cipher('a').encrypt("whe_1", &secret).unwrap());
        assert_ne!(first, second);
        assert_eq!(first.0.len(), 12 + 32 + 16);
        assert!(!first.0.windows(4).any(|window| window == [42; 4]));
    }

    #[test]
    fn changed_ciphertext_does_not_open() {
        let cipher = cipher('a');
        let sealed = cipher.encrypt("whe_1", &SigningSecret([42; 32])).unwrap();
        for place in 0..sealed.0.len() {
            let mut damaged = sealed.clone();
            *damaged.0.get_mut(place).unwrap() ^= 1;
            assert_eq!(cipher.decrypt("whe_1", &damaged), Err(DecryptError), "byte {place}");
        }
        for length in [0, 11, 12, 27, 59] {
            let cut = SealedSecret(sealed.0.get(..length).unwrap().to_vec());
            assert_eq!(cipher.decrypt("whe_1", &cut), Err(DecryptError), "{length} bytes");
        }
    }
}
