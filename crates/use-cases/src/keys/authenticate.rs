//! Authenticates API keys. Each node caches keys for 4 s.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use cais_domain::merchant::account::Account;
use cais_domain::merchant::api_key::{ApiKeyToken, KeyPrefix, Scopes};
use cais_ports::{ApiKeyRecord, KeyUse, QueryError};
use ipnet::IpNet;
use jiff::{SignedDuration, Timestamp};

use crate::ports::Ports;
use crate::work::{Pass, WorkError};

/// The purpose of the hashes of key secrets. Hashes for different purposes are unrelated.
pub const PURPOSE: &str = "api-key";
/// The time for which a cached key is valid. A revocation on another node takes effect within this time.
const CACHED_FOR: SignedDuration = SignedDuration::from_secs(4);
/// The largest number of cached keys. Also the largest number of key uses that wait to be stored.
const MAX_KEYS: usize = 16_384;

/// A caller with a valid key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The public part of the key.
    pub key: KeyPrefix,
    /// The scopes of the key.
    pub scopes: Scopes,
    /// The account of the key.
    pub account: Account,
}

/// The reason why a key is not valid, for logs and metrics only. The caller does not receive this reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyRefusal {
    /// No key has this prefix.
    #[error("unknown")]
    Unknown,
    /// The secret does not match the prefix.
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

/// The reason why a caller was not authenticated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthenticateError {
    /// The key is not valid, for this reason.
    #[error("the API key is not valid")]
    InvalidKey(KeyRefusal),
    /// The store failed.
    #[error(transparent)]
    Unavailable(#[from] QueryError),
}

#[derive(Debug)]
struct CachedKey {
    caller: Arc<Caller>,
    record: ApiKeyRecord,
    allowed: Vec<IpNet>,
    read_at: Timestamp,
    /// `true` after the first use of this cached copy. So the use of a busy key is recorded once per cached copy, not
    /// at each request.
    is_noted: AtomicBool,
}

/// The authenticator of callers, with its cache of keys. Clones share the cache.
#[derive(Clone)]
pub struct KeyRing {
    ports: Ports,
    known: Arc<RwLock<HashMap<KeyPrefix, Arc<CachedKey>>>>,
    /// The last recorded use of each key since the previous [`KeyRing::store_uses`].
    uses: Arc<Mutex<HashMap<KeyPrefix, KeyUse>>>,
}

impl KeyRing {
    /// Returns a key ring with an empty cache.
    #[must_use]
    pub fn new(ports: Ports) -> Self {
        Self { ports, known: Arc::default(), uses: Arc::default() }
    }

    /// Returns the caller with the key `token`, at the address `from`. Without an address, a key that is restricted to
    /// addresses is refused.
    ///
    /// # Errors
    /// [`AuthenticateError`].
    pub async fn authenticate(
        &self,
        token: &ApiKeyToken,
        from: Option<IpAddr>,
    ) -> Result<Arc<Caller>, AuthenticateError> {
        let now = self.ports.clock.now();
        let known = match self.cached(&token.prefix, now) {
            Some(known) => known,
            None => self.read(&token.prefix, now).await?,
        };
        self.judge(&known, token, from, now).map_err(AuthenticateError::InvalidKey)
    }

    /// Returns the caller from the cache, without a read of the store. Returns `None` if the key is not cached or not
    /// valid.
    #[must_use]
    pub fn recognize(&self, token: &ApiKeyToken, from: Option<IpAddr>) -> Option<Arc<Caller>> {
        let now = self.ports.clock.now();
        let known = self.cached(&token.prefix, now)?;
        self.judge(&known, token, from, now).ok()
    }

    fn judge(
        &self,
        known: &CachedKey,
        token: &ApiKeyToken,
        from: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<Arc<Caller>, KeyRefusal> {
        let record = &known.record;
        if !self.ports.keyed_hash.verify(PURPOSE, token.secret.expose().as_bytes(), &record.keyed_hash) {
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
        if !allowed {
            return Err(KeyRefusal::AddressNotAllowed);
        }
        if !known.is_noted.load(Ordering::Relaxed) && !known.is_noted.swap(true, Ordering::Relaxed) {
            self.note(&record.prefix, from, now);
        }
        Ok(Arc::clone(&known.caller))
    }

    fn note(&self, key: &KeyPrefix, from: Option<IpAddr>, at: Timestamp) {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        if uses.len() < MAX_KEYS || uses.contains_key(key) {
            let address = from.map(|from| from.to_string()).unwrap_or_default();
            uses.insert(key.clone(), KeyUse { key: key.clone(), at, address });
        }
    }

    /// Stores the last recorded use of each key since the previous call. If this fails, these uses are lost, but the
    /// next recorded use of each key is stored.
    ///
    /// # Errors
    /// [`WorkError`] if the store does not answer.
    pub async fn store_uses(&self) -> Result<Pass, WorkError> {
        let uses = std::mem::take(&mut *self.uses.lock().unwrap_or_else(PoisonError::into_inner));
        let done = uses.len();
        if done > 0 {
            self.ports.maintenance.record_key_uses(uses.into_values().collect()).await?;
        }
        Ok(Pass { done, more: false })
    }

    /// Removes a key from the cache. Its revocation then takes effect on this node at once.
    pub fn forget(&self, prefix: &KeyPrefix) {
        self.known.write().unwrap_or_else(PoisonError::into_inner).remove(prefix);
    }

    fn cached(&self, prefix: &KeyPrefix, now: Timestamp) -> Option<Arc<CachedKey>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        // The clock of a sandbox can move backwards, so the absolute difference counts.
        known.get(prefix).filter(|key| now.duration_since(key.read_at).abs() < CACHED_FOR).cloned()
    }

    async fn read(&self, prefix: &KeyPrefix, now: Timestamp) -> Result<Arc<CachedKey>, AuthenticateError> {
        let found = self.ports.queries.find_key(prefix).await?;
        let (record, account) = found.ok_or(AuthenticateError::InvalidKey(KeyRefusal::Unknown))?;
        // An invalid address block permits no address. The list in `record` still has the block, so the key stays
        // restricted.
        let allowed = record.allowed_addresses.iter().filter_map(|block| block.parse().ok()).collect();
        let caller = Arc::new(Caller { key: record.prefix.clone(), scopes: record.scopes, account });
        let known = Arc::new(CachedKey { caller, record, allowed, read_at: now, is_noted: AtomicBool::new(false) });
        let mut all = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_KEYS {
            all.retain(|_, key| now.duration_since(key.read_at).abs() < CACHED_FOR);
        }
        if all.len() < MAX_KEYS {
            all.insert(prefix.clone(), Arc::clone(&known));
        }
        Ok(known)
    }
}
