//! Secrets that have to be read again: AES-256-GCM under a key that follows from the master key.

use std::sync::Arc;

use cais_domain::webhook::SealedSecret;
use cais_ports::{Mac, Sealing, SigningSecret, Unsealable, Unsealed};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

/// What the key is derived for: no code of another purpose is the same.
const PURPOSE: &str = "sealed-secrets";
/// What is coded to make the key.
const LABEL: &[u8] = b"aes-256-gcm";

/// Seals under one master key. A sealed secret is a random nonce of 12 bytes, the ciphertext, and the tag of 16.
pub struct AesSealing {
    key: [u8; 32],
    random: Arc<dyn Mac>,
}

impl AesSealing {
    /// Under the key that `mac` codes for this purpose.
    #[must_use]
    pub fn new(mac: Arc<dyn Mac>) -> Self {
        Self { key: mac.code(PURPOSE, LABEL).0, random: mac }
    }

    /// `None` never: the key has the algorithm's length.
    fn cipher(&self) -> Option<LessSafeKey> {
        UnboundKey::new(&AES_256_GCM, &self.key).ok().map(LessSafeKey::new)
    }

    fn encrypt(&self, owner: &str, secret: &SigningSecret) -> Option<SealedSecret> {
        let mut nonce = [0; NONCE_LEN];
        self.random.fill_random(&mut nonce);
        let mut text = secret.0.to_vec();
        let nonce_of_call = Nonce::assume_unique_for_key(nonce);
        self.cipher()?.seal_in_place_append_tag(nonce_of_call, Aad::from(owner.as_bytes()), &mut text).ok()?;
        Some(SealedSecret([nonce.as_slice(), &text].concat()))
    }

    fn decrypt(&self, owner: &str, sealed: &SealedSecret) -> Option<SigningSecret> {
        let (nonce, text) = sealed.0.split_first_chunk::<NONCE_LEN>()?;
        let mut text = text.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let plain = self.cipher()?.open_in_place(nonce, Aad::from(owner.as_bytes()), &mut text).ok()?;
        <[u8; 32]>::try_from(&*plain).ok().map(SigningSecret)
    }
}

impl Sealing for AesSealing {
    fn seal(&self, owner: &str, secret: &SigningSecret) -> Result<SealedSecret, Unsealable> {
        self.encrypt(owner, secret).ok_or(Unsealable)
    }

    fn open(&self, owner: &str, sealed: &SealedSecret) -> Result<SigningSecret, Unsealed> {
        self.decrypt(owner, sealed).ok_or(Unsealed)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::secrets::{HmacCodes, MasterKey};

    fn sealing(byte: char) -> AesSealing {
        let key = MasterKey::parse(&byte.to_string().repeat(64)).unwrap();
        AesSealing::new(Arc::new(HmacCodes::new(&key)))
    }

    #[test]
    fn what_is_sealed_is_read_again_by_its_owner_under_the_same_key_alone() {
        let secret = SigningSecret([42; 32]);
        let sealed = sealing('a').seal("whe_1", &secret).unwrap();
        assert_eq!(sealing('a').open("whe_1", &sealed), Ok(secret));
        assert_eq!(sealing('a').open("whe_2", &sealed), Err(Unsealed));
        assert_eq!(sealing('b').open("whe_1", &sealed), Err(Unsealed));
    }

    #[test]
    fn it_is_different_every_time_and_hides_the_secret() {
        let secret = SigningSecret([42; 32]);
        let [first, second] = [0; 2].map(|_| sealing('a').seal("whe_1", &secret).unwrap());
        assert_ne!(first, second);
        assert_eq!(first.0.len(), 12 + 32 + 16);
        assert!(!first.0.windows(4).any(|window| window == [42; 4]));
    }

    #[test]
    fn whatever_was_changed_is_not_opened() {
        let sealing = sealing('a');
        let sealed = sealing.seal("whe_1", &SigningSecret([42; 32])).unwrap();
        for place in 0..sealed.0.len() {
            let mut damaged = sealed.clone();
            *damaged.0.get_mut(place).unwrap() ^= 1;
            assert_eq!(sealing.open("whe_1", &damaged), Err(Unsealed), "byte {place}");
        }
        for length in [0, 11, 12, 27, 59] {
            let cut = SealedSecret(sealed.0.get(..length).unwrap().to_vec());
            assert_eq!(sealing.open("whe_1", &cut), Err(Unsealed), "{length} bytes");
        }
    }
}
