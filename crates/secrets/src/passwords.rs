//! Password hashes by Argon2id, computed on blocking threads, at most four at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use argon2::password_hash::phc;
use argon2::password_hash::{Error, PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};
use async_trait::async_trait;
use cais_ports::{PasswordHash, PasswordHashError, Passwords, Secret};
use ring::rand::{SecureRandom, SystemRandom};
use tokio::sync::Semaphore;

/// The memory of a hash, in KiB: OWASP's recommendation for Argon2id with two passes.
const MEMORY_KIB: u32 = 19 * 1_024;
/// The number of passes over the memory.
const PASSES: u32 = 2;
/// The largest number of hashes that are computed at the same time. Together they need 76 MiB. On a machine with more
/// than four processors, the remaining processors stay free for API requests.
const MAX_AT_ONCE: usize = 4;
/// The largest number of callers that wait for a permit. A hash takes about 30 ms. Further callers are refused at once.
const MAX_WAITING: usize = 64;
/// The length of a salt in bytes (RFC 9106, section 4).
const SALT_BYTES: usize = 16;

/// The hash function of passwords: Argon2id with a random salt.
pub struct Argon2Passwords {
    permits: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
    random: SystemRandom,
}

impl Default for Argon2Passwords {
    fn default() -> Self {
        Self { permits: Arc::new(Semaphore::new(MAX_AT_ONCE)), waiting: Arc::default(), random: SystemRandom::new() }
    }
}

impl Argon2Passwords {
    /// Waits for a free permit, then runs `work` on a blocking thread. Fails with `Busy` if too many callers wait.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, PasswordHashError> + Send + 'static,
    ) -> Result<T, PasswordHashError> {
        let slot = WaitingSlot::take(&self.waiting).ok_or(PasswordHashError::Busy)?;
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.map_err(|error| PasswordHashError::Failed(error.to_string()))?;
        drop(slot);
        // The permit moves into the work, because the work continues even if its caller stops waiting.
        let work = tokio::task::spawn_blocking(move || {
            let result = work();
            drop(permit);
            result
        });
        work.await.map_err(|error| PasswordHashError::Failed(error.to_string()))?
    }
}

#[async_trait]
impl Passwords for Argon2Passwords {
    async fn hash(&self, password: &Secret) -> Result<PasswordHash, PasswordHashError> {
        let (password, salt) = (password.clone(), salt(&self.random)?);
        self.run(move || hash(&password, salt)).await
    }

    async fn verify(&self, password: &Secret, stored: Option<&PasswordHash>) -> Result<bool, PasswordHashError> {
        let is_known = stored.is_some();
        let (password, stored) = (password.clone(), stored.cloned().unwrap_or_else(dummy));
        Ok(self.run(move || verify(&password, &stored)).await? && is_known)
    }
}

/// A slot among the waiting callers. Dropping the value frees the slot.
struct WaitingSlot(Arc<AtomicUsize>);

impl WaitingSlot {
    fn take(waiting: &Arc<AtomicUsize>) -> Option<Self> {
        let slot = Self(Arc::clone(waiting));
        // If there is no room, the slot is dropped at once, which reverts the increment.
        (waiting.fetch_add(1, Ordering::SeqCst) < MAX_WAITING).then_some(slot)
    }
}

impl Drop for WaitingSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn failed(error: impl std::fmt::Display) -> PasswordHashError {
    PasswordHashError::Failed(error.to_string())
}

fn salt(random: &SystemRandom) -> Result<[u8; SALT_BYTES], PasswordHashError> {
    let mut salt = [0; SALT_BYTES];
    random.fill(&mut salt).map_err(failed)?;
    Ok(salt)
}

fn hash(password: &Secret, salt: [u8; SALT_BYTES]) -> Result<PasswordHash, PasswordHashError> {
    let params = Params::new(MEMORY_KIB, PASSES, 1, None).map_err(failed)?;
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let hash: phc::PasswordHash =
        argon2.hash_password_with_salt(password.expose().as_bytes(), &salt).map_err(failed)?;
    Ok(PasswordHash(hash.to_string()))
}

/// Returns a constant hash that no known password has. If no hash is stored for a user, the password is compared with
/// this hash. The comparison takes as long as with a real hash, so the duration does not reveal which users exist. The
/// hash is a constant, because its computation at the program's start would leave 19 MiB of memory in use.
fn dummy() -> PasswordHash {
    let (salt, output) = ("A".repeat(22), "A".repeat(43));
    PasswordHash(format!("$argon2id$v=19$m={MEMORY_KIB},t={PASSES},p=1${salt}${output}"))
}

/// Returns `true` if the password matches the stored hash. The parameters of Argon2id are read from that hash.
fn verify(password: &Secret, stored: &PasswordHash) -> Result<bool, PasswordHashError> {
    let hash = phc::PasswordHash::new(&stored.0).map_err(failed)?;
    match Argon2::default().verify_password(password.expose().as_bytes(), &hash) {
        Ok(()) => Ok(true),
        Err(Error::PasswordInvalid) => Ok(false),
        Err(error) => Err(failed(error)),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[tokio::test]
    async fn password_matches_its_own_hash_only() {
        let passwords = Argon2Passwords::default();
        let [right, wrong] = ["correct horse", "correct horsf"].map(Secret::new);
        let [one, other] = [passwords.hash(&right).await.unwrap(), passwords.hash(&right).await.unwrap()];
        assert_ne!(one, other, "salts differ");
        assert!(one.0.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", one.0);
        assert_eq!(passwords.verify(&right, Some(&one)).await, Ok(true));
        assert_eq!(passwords.verify(&right, Some(&other)).await, Ok(true));
        assert_eq!(passwords.verify(&wrong, Some(&one)).await, Ok(false));
        assert_eq!(passwords.verify(&right, None).await, Ok(false));
        let prefix = |hash: &PasswordHash| hash.0.rsplitn(3, '$').last().map(str::to_owned);
        assert_eq!(prefix(&dummy()), prefix(&one), "an unknown user costs as much work");
        let damaged = passwords.verify(&right, Some(&PasswordHash("plain:x".to_owned()))).await;
        assert!(matches!(damaged, Err(PasswordHashError::Failed(_))), "{damaged:?}");
    }

    #[tokio::test]
    async fn callers_above_the_waiting_limit_are_refused() {
        let passwords = Argon2Passwords::default();
        let slots: Vec<_> = (0..MAX_WAITING).map(|_| WaitingSlot::take(&passwords.waiting).unwrap()).collect();
        assert_eq!(passwords.verify(&Secret::new("x"), None).await, Err(PasswordHashError::Busy));
        drop(slots);
        assert_eq!(passwords.verify(&Secret::new("x"), None).await, Ok(false));
    }
}
