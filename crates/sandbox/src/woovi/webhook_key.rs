//! The key pair that signs Woovi's webhooks.
//!
//! The pair is a constant, because the crypto library of this project (`ring`) cannot create RSA keys. So the private key is public in the
//! source, and protects nothing.

use base64::{Engine, engine::general_purpose::STANDARD};
use cais_domain::hex;
use ring::{
    digest::{SHA256, digest},
    rand::SystemRandom,
    signature::{RSA_PKCS1_SHA256, RsaKeyPair},
};

/// The private key of the sandbox, 2048 bits, in PKCS #8. The key is public on purpose.
const PRIVATE: &str = include_str!("webhook-key.pem");

/// The public key of the sandbox (SPKI).
pub const PUBLIC: &str = include_str!("webhook-key.pub.pem");

/// The key pair of the sandbox.
pub struct WebhookKey(Option<RsaKeyPair>);

impl WebhookKey {
    /// Loads the pair. If the pair were unreadable, no webhook would be signed; a unit test checks that it is readable.
    #[must_use]
    pub fn load() -> Self {
        Self(der(PRIVATE).and_then(|der| RsaKeyPair::from_pkcs8(&der).ok()))
    }

    /// Returns the signature of a body in base64: RSA, PKCS #1 v1.5 with SHA-256. `None` only if the pair cannot be used.
    #[must_use]
    pub fn sign(&self, body: &[u8]) -> Option<String> {
        let pair = self.0.as_ref()?;
        let mut signature = vec![0; pair.public().modulus_len()];
        pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), body, &mut signature).ok()?;
        Some(STANDARD.encode(signature))
    }
}

/// Returns the public key's `key_identifier`: the SHA-256 of its DER form, as hexadecimal digits.
#[must_use]
pub fn identifier() -> String {
    hex::encode(digest(&SHA256, &der(PUBLIC).unwrap_or_default()).as_ref())
}

/// Returns the DER bytes in a PEM text.
fn der(pem: &str) -> Option<Vec<u8>> {
    let lines = pem.lines().skip_while(|line| !line.starts_with("-----BEGIN")).skip(1);
    STANDARD.decode(lines.take_while(|line| !line.starts_with("-----END")).collect::<String>()).ok()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use ring::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};

    use super::*;

    /// The number of bytes in an SPKI before its RSA public key of 2048 bits.
    const SPKI_PREFIX: usize = 24;

    #[test]
    fn public_key_verifies_signature_of_private_key() {
        let signature = STANDARD.decode(WebhookKey::load().sign(b"body").unwrap()).unwrap();
        let public = der(PUBLIC).unwrap();
        let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, public.get(SPKI_PREFIX..).unwrap());
        key.verify(b"body", &signature).unwrap();
        assert!(key.verify(b"other", &signature).is_err());
        assert_eq!(identifier().len(), 64);
    }
}
