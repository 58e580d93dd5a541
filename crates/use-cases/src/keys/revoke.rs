//! Revokes an API key permanently.

use cais_domain::merchant::api_key::KeyPrefix;
use cais_ports::{Actor, ApiKeyRecord, ChangeSet, Write};

use crate::Ports;
use crate::audit::{self, AuditedChange};
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError, commit_unless_stale};

/// The reason why a key was not revoked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RevokeKeyError {
    /// No key has this prefix.
    #[error("no key has the prefix {0}")]
    NotFound(KeyPrefix),
    /// The store failed. If the error is `Unavailable`, the key may have been revoked all the same.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Revokes the key and returns the stored record. If the key is already revoked, it stays unchanged.
///
/// Each node caches keys for 4 s, so every node refuses the key within 5 s. On this node, `KeyRing::forget` makes the
/// revocation effective at once.
///
/// # Errors
/// [`RevokeKeyError`].
pub async fn revoke(ports: &Ports, operator: &Actor, prefix: &KeyPrefix) -> Result<ApiKeyRecord, RevokeKeyError> {
    for _ in 0..MAX_COMMIT_RETRIES {
        let found = ports.queries.find_key(prefix).await.map_err(StoreError::from)?;
        let (key, _) = found.ok_or_else(|| RevokeKeyError::NotFound(prefix.clone()))?;
        if key.revoked_at.is_some() {
            return Ok(key);
        }
        let (revoked, change) = prepare(ports, operator, &key);
        if commit_unless_stale(ports, change).await? {
            return Ok(ApiKeyRecord { version: revoked.version.saturating_add(1), ..revoked });
        }
    }
    Err(StoreError::contended().into())
}

/// Returns the revoked key, and the changes that revoke it.
pub(crate) fn prepare(ports: &Ports, operator: &Actor, key: &ApiKeyRecord) -> (ApiKeyRecord, ChangeSet) {
    let now = ports.clock.now();
    let revoked = ApiKeyRecord { revoked_at: Some(now), ..key.clone() };
    let mut change = ChangeSet::new(now);
    change.writes.push(Write::update(revoked.clone()));
    let audited = AuditedChange {
        action: "key.revoke",
        subject: key.prefix.to_string(),
        account: Some(key.account),
        before: Some(ports.representation.key(key)),
        after: Some(ports.representation.key(&revoked)),
    };
    change.writes.push(audit::record(ports, operator, now, audited));
    (revoked, change)
}
