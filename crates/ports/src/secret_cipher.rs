//! Stored secrets that are read again: encrypted under the master key, bound to what they belong to.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cais_domain::webhook::SealedSecret;

/// The beginning of the text of a signing secret (Standard Webhooks).
pub const SECRET_PREFIX: &str = "whsec_";

/// The secret that signs for an endpoint: 32 random bytes, shown once.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningSecret(pub [u8; 32]);

impl SigningSecret {
    /// Returns the text that the merchant is shown: `whsec_` and base64 (Standard Webhooks).
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

/// A secret was encrypted under another master key or for another owner, or is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a sealed secret cannot be opened: is this the master key it was made under?")]
pub struct DecryptError;

/// A secret cannot be stored because the cipher refuses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a secret cannot be sealed")]
pub struct EncryptError;

/// Encrypts and decrypts under the master key.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait SecretCipher: Send + Sync {
    /// The secret, encrypted and bound to `owner`; different every time.
    ///
    /// # Errors
    /// [`EncryptError`].
    fn encrypt(&self, owner: &str, secret: &SigningSecret) -> Result<SealedSecret, EncryptError>;

    /// The secret that was sealed for `owner`.
    ///
    /// # Errors
    /// [`DecryptError`].
    fn decrypt(&self, owner: &str, sealed: &SealedSecret) -> Result<SigningSecret, DecryptError>;
}
