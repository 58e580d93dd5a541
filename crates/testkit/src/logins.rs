//! Replacements for password hashes and one-time codes in tests, fast and without secrecy.

use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use cais_domain::login::Code;
use cais_ports::{OneTimeCodes, PasswordHash, PasswordHashError, Passwords, Secret, SigningSecret};

/// Passwords in plain text, with a count of hashed and verified passwords.
#[derive(Debug, Default)]
pub struct PlainPasswords {
    hashed: AtomicU32,
}

impl PlainPasswords {
    /// Returns the number of passwords that were hashed or verified.
    #[must_use]
    pub fn hashed(&self) -> u32 {
        self.hashed.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Passwords for PlainPasswords {
    async fn hash(&self, password: &Secret) -> Result<PasswordHash, PasswordHashError> {
        self.hashed.fetch_add(1, Ordering::SeqCst);
        Ok(PasswordHash(format!("plain:{}", password.expose())))
    }

    async fn verify(&self, password: &Secret, stored: Option<&PasswordHash>) -> Result<bool, PasswordHashError> {
        self.hashed.fetch_add(1, Ordering::SeqCst);
        Ok(stored.is_some_and(|stored| stored.0 == format!("plain:{}", password.expose())))
    }
}

/// Codes that depend on the time step and on the first byte of the secret.
#[derive(Debug, Default, Clone, Copy)]
pub struct PlainCodes;

impl OneTimeCodes for PlainCodes {
    fn code(&self, secret: &SigningSecret, step: i64) -> Code {
        let first = secret.0.first().copied().unwrap_or_default();
        Code(u32::try_from(step.rem_euclid(3_000)).unwrap_or_default() * 256 + u32::from(first))
    }
}
