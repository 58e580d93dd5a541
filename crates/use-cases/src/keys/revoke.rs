//! Revokes an API key permanently.

use cais_domain::merchant::api_key::KeyPrefix;
use cais_ports::{ApiKeyRecord, ChangeSet, CommitError, Operator, QueryError, Write};

use crate::Ports;
use crate::audit::{self, AuditedChange};

/// The largest number of attempts of one revocation after concurrent changes.
const MAX_ATTEMPTS: u32 = 5;

/// The reason for which a key was not revoked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RevokeKeyError {
    /// No key has that prefix.
    #[error("no key has the prefix {0}")]
    NotFound(KeyPrefix),
    /// Concurrent changes prevented every attempt.
    #[error("other requests change the key at the same time; try again")]
    Contended,
    /// The key could not be read.
    #[error("the key could not be read")]
    Query(#[source] QueryError),
    /// The store failed. After `Unavailable` the key may be revoked.
    #[error("the key could not be revoked")]
    Store(#[source] CommitError),
}

/// Revokes the key and returns the stored record. A key that is revoked already stays unchanged.
///
/// Nodes that cache the key refuse it within 5 s. For immediate effect on this node, call `KeyRing::forget`.
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

/// Returns the revoked key, and the change that revokes it.
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
