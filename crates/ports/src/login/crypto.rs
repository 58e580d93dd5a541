//! Password hashes and one-time codes.

use std::fmt;

use async_trait::async_trait;
use cais_domain::login::Code;

use crate::secret::Secret;
use crate::secret_cipher::SigningSecret;

/// The hash of a password by a deliberately slow function, as text in PHC string format. The text contains the salt
/// and the parameters.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(pub String);

impl fmt::Debug for PasswordHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PasswordHash(..)")
    }
}

/// The reason why a password was not hashed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PasswordHashError {
    /// Too many passwords are being hashed at the same time.
    #[error("too many logins at the same time")]
    Busy,
    /// The hash function failed.
    #[error("the password cannot be hashed: {0}")]
    Failed(String),
}

/// The hash function of passwords. Hashing does not block the threads that serve requests. The number of passwords that
/// are hashed at the same time is limited.
#[async_trait]
pub trait Passwords: Send + Sync {
    /// Returns a new hash of the password.
    ///
    /// # Errors
    /// [`PasswordHashError`].
    async fn hash(&self, password: &Secret) -> Result<PasswordHash, PasswordHashError>;

    /// Returns whether the password has the hash `stored`. If `stored` is `None`, returns `false` after the same work.
    /// So the duration does not show whether a user exists.
    ///
    /// # Errors
    /// [`PasswordHashError`].
    async fn verify(&self, password: &Secret, stored: Option<&PasswordHash>) -> Result<bool, PasswordHashError>;
}

/// The algorithm of one-time codes (RFC 6238).
pub trait OneTimeCodes: Send + Sync {
    /// Returns the code of a time step. `step` is the number of whole periods of 30 s since 1970.
    fn code(&self, secret: &SigningSecret, step: i64) -> Code;
}
