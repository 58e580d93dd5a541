//! Revokes an API key permanently.

use cais_domain::merchant::api_key::KeyPrefix;
use cais_ports::{ApiKeyRecord, ChangeSet, CommitError, Operator, QueryError, Write};

use crate::Ports;
use crate::audit::{self, AuditedChange};

/// The largest number of passes of one revocation. A further pass follows a concurrent change.
const MAX_ATTEMPTS: u32 = 5;

/// The reason why a key was not revoked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RevokeKeyError {
    /// No key has this prefix.
    #[error("no key has the prefix {0}")]
    NotFound(KeyPrefix),
    /// Concurrent changes made every attempt fail.
    #[error("other requests change the key at the same time; try again")]
    Contended,
    /// The key could not be read.
    #[error("the key could not be read")]
    Query(#[source] QueryError),
    /// The store failed. If the error is `Unavailable`, the key may be revoked.
    #[error("the key could not be revoked")]
    Store(#[source] CommitError),
}

/// Revokes the key and returns the stored record. If the key is already revoked, it stays unchanged.
///
/// Nodes that have the key in their cache refuse it within 5 s. On this node, `KeyRing::forget` makes the revocation
/// effective at once.
///
/// # Errors
/// [`RevokeKeyError`].
pub async fn revoke(ports: &Ports, operator: &Operator, prefix: &KeyPrefix) -> Result<ApiKeyRecord, RevokeKeyError> {
    for _ in 0..MAX_ATTEMPTS {
        let (key, _) = ports
            .queries
            .find_key(prefix)
            .await
            .map_err(RevokeKeyError::Query)?
            .ok_or_else(|| RevokeKeyError::NotFound(prefix.clone()))?;
        if key.revoked_at.is_some() {
            return Ok(key);
        }
        let (revoked, change) = prepare(ports, operator, &key);
        match ports.store.commit(change).await {
            Ok(_) => {
                let version = revoked.version.saturating_add(1);
                return Ok(ApiKeyRecord { version, ..revoked });
            }
            Err(CommitError::Stale) => {}
            Err(error) => return Err(RevokeKeyError::Store(error)),
        }
    }
    Err(RevokeKeyError::Contended)
}

/// Returns the revoked key, and the changes that revoke it.
pub(crate) fn prepare(ports: &Ports, operator: &Operator, key: &ApiKeyRecord) -> (ApiKeyRecord, ChangeSet) {
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
