//! Who calls: from an API key to the account behind it, remembered for a few seconds.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock};

use cais_domain::account::Account;
use cais_domain::api_key::{ApiKeyToken, KeyPrefix, Scopes};
use cais_ports::{ApiKeyRecord, QueryError};
use ipnet::IpNet;
use jiff::{SignedDuration, Timestamp};

use crate::ports::Ports;

/// What the code of a key's secret is made for.
pub const PURPOSE: &str = "api-key";
/// How long a key is believed without asking the store: a revocation elsewhere takes effect within it.
const REMEMBERED_FOR: SignedDuration = SignedDuration::from_secs(4);
/// How many keys are remembered at most.
const REMEMBERED: usize = 16_384;

/// A caller with a valid key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The public part of the key.
    pub key: KeyPrefix,
    /// What the key may do.
    pub scopes: Scopes,
    /// The account behind it.
    pub account: Account,
}

/// Why a key is not valid. It is for logs and metrics; the caller learns nothing of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyRefusal {
    /// No key has this prefix.
    #[error("unknown")]
    Unknown,
    /// The prefix is that of another secret.
    #[error("wrong_secret")]
    WrongSecret,
    /// The key was revoked.
    #[error("revoked")]
    Revoked,
    /// The key has expired.
    #[error("expired")]
    Expired,
    /// The key may not be used from this address.
    #[error("address_not_allowed")]
    AddressNotAllowed,
}

/// Why nobody was recognised.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthenticateError {
    /// The key is not valid.
    #[error("the API key is not valid")]
    InvalidKey(KeyRefusal),
    /// The store has no answer.
    #[error(transparent)]
    Unavailable(#[from] QueryError),
}

#[derive(Debug)]
struct Known {
    caller: Arc<Caller>,
    record: ApiKeyRecord,
    allowed: Vec<IpNet>,
    read_at: Timestamp,
}

/// Recognises callers. Cloning shares what it remembers.
#[derive(Clone)]
pub struct KeyRing {
    ports: Ports,
    known: Arc<RwLock<HashMap<KeyPrefix, Arc<Known>>>>,
}

impl KeyRing {
    /// A ring that remembers nobody.
    #[must_use]
    pub fn new(ports: Ports) -> Self {
        Self { ports, known: Arc::default() }
    }

    /// The caller behind `token`, calling from `from`.
    ///
    /// # Errors
    /// [`AuthenticateError`].
    pub async fn authenticate(
        &self,
        token: &ApiKeyToken,
        from: Option<IpAddr>,
    ) -> Result<Arc<Caller>, AuthenticateError> {
        let now = self.ports.clock.now();
        let known = match self.remembered(&token.prefix, now) {
            Some(known) => known,
            None => self.read(&token.prefix, now).await?,
        };
        self.judge(&known, token, from, now).map_err(AuthenticateError::InvalidKey)
    }

    /// The caller behind `token` when the key was read within the last seconds and is valid: the store is not asked.
    #[must_use]
    pub fn recognise(&self, token: &ApiKeyToken, from: Option<IpAddr>) -> Option<Arc<Caller>> {
        let now = self.ports.clock.now();
        let known = self.remembered(&token.prefix, now)?;
        self.judge(&known, token, from, now).ok()
    }

    fn judge(
        &self,
        known: &Known,
        token: &ApiKeyToken,
        from: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<Arc<Caller>, KeyRefusal> {
        let record = &known.record;
        if !self.ports.keyed_hash.verify(PURPOSE, token.secret.expose().as_bytes(), &record.mac) {
            return Err(KeyRefusal::WrongSecret);
        }
        if record.revoked_at.is_some() {
            return Err(KeyRefusal::Revoked);
        }
        if record.expires_at.is_some_and(|end| now >= end) {
            return Err(KeyRefusal::Expired);
        }
        let allowed = record.allowed_addresses.is_empty()
            || from.is_some_and(|from| known.allowed.iter().any(|block| block.contains(&from)));
        if allowed { Ok(Arc::clone(&known.caller)) } else { Err(KeyRefusal::AddressNotAllowed) }
    }

    /// Forgets a key, so that its revocation on this node takes effect at once.
    pub fn forget(&self, prefix: &KeyPrefix) {
        self.known.write().unwrap_or_else(PoisonError::into_inner).remove(prefix);
    }

    fn remembered(&self, prefix: &KeyPrefix, now: Timestamp) -> Option<Arc<Known>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        // The clock of a sandbox moves both ways, so it is the distance that counts.
        known.get(prefix).filter(|key| now.duration_since(key.read_at).abs() < REMEMBERED_FOR).cloned()
    }

    async fn read(&self, prefix: &KeyPrefix, now: Timestamp) -> Result<Arc<Known>, AuthenticateError> {
        let found = self.ports.queries.find_key(prefix).await?;
        let (record, account) = found.ok_or(AuthenticateError::InvalidKey(KeyRefusal::Unknown))?;
        // A block that cannot be read allows nothing: the list stays non-empty in the record.
        let allowed = record.allowed_addresses.iter().filter_map(|block| block.parse().ok()).collect();
        let caller = Arc::new(Caller { key: record.prefix.clone(), scopes: record.scopes, account });
        let known = Arc::new(Known { caller, record, allowed, read_at: now });
        let mut all = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= REMEMBERED {
            all.retain(|_, key| now.duration_since(key.read_at).abs() < REMEMBERED_FOR);
        }
        if all.len() < REMEMBERED {
            all.insert(prefix.clone(), Arc::clone(&known));
        }
        Ok(known)
    }
}
