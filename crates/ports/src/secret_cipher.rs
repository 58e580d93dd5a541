//! Secrets that are stored and read again. Each secret is encrypted under a key derived from the master key, and is
//! bound to the id of its endpoint or user.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cais_domain::merchant::webhook::SealedSecret;

/// The prefix of signing secrets (Standard Webhooks).
pub const SECRET_PREFIX: &str = "whsec_";

/// A secret of 32 random bytes, shown once: the signing secret of an endpoint, or the secret of a user's authenticator.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningSecret(pub [u8; 32]);

impl SigningSecret {
    /// Returns the text of a signing secret, as the merchant receives it: `whsec_` and base64 (Standard Webhooks).
    #[must_use]
    pub fn reveal(&self) -> String {
        format!("{SECRET_PREFIX}{}", STANDARD.encode(self.0))
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SigningSecret(..)")
    }
}

/// The error for a secret that cannot be decrypted. The secret was encrypted with another master key or for another
/// endpoint or user, or its ciphertext is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the secret cannot be decrypted: another master key encrypted it, or it is damaged")]
pub struct DecryptError;

/// The error for a secret that the cipher refused to encrypt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the secret cannot be encrypted")]
pub struct EncryptError;

/// A cipher for stored secrets. Its key is derived from the master key.
pub trait SecretCipher: Send + Sync {
    /// Encrypts the secret and binds it to `bound_to`, the id of its endpoint or user. Each call returns another
    /// ciphertext.
    ///
    /// # Errors
    /// [`EncryptError`].
    fn encrypt(&self, bound_to: &str, secret: &SigningSecret) -> Result<SealedSecret, EncryptError>;

    /// Decrypts a secret that was encrypted for the same `bound_to`.
    ///
    /// # Errors
    /// [`DecryptError`].
    fn decrypt(&self, bound_to: &str, sealed: &SealedSecret) -> Result<SigningSecret, DecryptError>;
}
