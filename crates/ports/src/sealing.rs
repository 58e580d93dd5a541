//! Keeping secrets that have to be read again: encrypted under the master key, bound to what they belong to.

use std::fmt;

use cais_domain::webhook::SealedSecret;

/// The secret that signs for an endpoint: 32 random bytes, shown once.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningSecret(pub [u8; 32]);

impl fmt::Debug for SigningSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SigningSecret(..)")
    }
}

/// Why a secret cannot be read: it was sealed under another master key, for something else, or is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a sealed secret cannot be opened: is this the master key it was made under?")]
pub struct Unsealed;

/// Why a secret cannot be kept: the cipher refuses it. What cannot be read again must never be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a secret cannot be sealed")]
pub struct Unsealable;

/// Encrypts and decrypts under the master key.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait Sealing: Send + Sync {
    /// The secret, encrypted and bound to `owner`; different every time.
    ///
    /// # Errors
    /// [`Unsealable`].
    fn seal(&self, owner: &str, secret: &SigningSecret) -> Result<SealedSecret, Unsealable>;

    /// The secret that was sealed for `owner`.
    ///
    /// # Errors
    /// [`Unsealed`].
    fn open(&self, owner: &str, sealed: &SealedSecret) -> Result<SigningSecret, Unsealed>;
}
