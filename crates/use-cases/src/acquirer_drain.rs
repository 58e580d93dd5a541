//! Drains an acquirer at an operator's request. New charges and payouts go to other acquirers. The drained acquirer
//! finishes its open orders. Refunds of payments that it received are still sent to it.

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{AcquirerDrain, Actor, ChangeSet, CommitError, QueryError, RecordKey, Write};
use jiff::Timestamp;

use crate::Ports;
use crate::audit::{self, AuditedChange, Fields};
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError};

/// Begins the drain of an acquirer. A repeat has no effect.
///
/// # Errors
/// [`StoreError`].
pub async fn begin(ports: &Ports, operator: &Actor, name: &AcquirerName) -> Result<AcquirerDrain, StoreError> {
    let since = Some(ports.clock.now());
    change(ports, (operator, "acquirer.drain"), name, |drain| drain.since.or(since)).await
}

/// Ends the drain of an acquirer. A repeat has no effect.
///
/// # Errors
/// [`StoreError`].
pub async fn end(ports: &Ports, operator: &Actor, name: &AcquirerName) -> Result<AcquirerDrain, StoreError> {
    change(ports, (operator, "acquirer.undrain"), name, |_| None).await
}

/// Returns the drained acquirers.
///
/// # Errors
/// [`QueryError`].
pub async fn drained(ports: &Ports) -> Result<Vec<AcquirerName>, QueryError> {
    let drains = ports.queries.list_drains().await?.into_iter();
    Ok(drains.filter(|drain| drain.since.is_some()).map(|drain| drain.acquirer).collect())
}

/// Sets the beginning of the acquirer's drain to the result of `decide`, and writes a row of the audit log. `None`
/// means that the acquirer is not drained. If nothing changes, nothing is written.
async fn change(
    ports: &Ports,
    (operator, action): (&Actor, &'static str),
    name: &AcquirerName,
    decide: impl Fn(&AcquirerDrain) -> Option<Timestamp>,
) -> Result<AcquirerDrain, StoreError> {
    for _ in 0..MAX_COMMIT_RETRIES {
        let drains = ports.queries.list_drains().await?;
        let stored = drains.into_iter().find(|drain| drain.acquirer == *name);
        let before =
            stored.clone().unwrap_or_else(|| AcquirerDrain { acquirer: name.clone(), since: None, version: 0 });
        let after = AcquirerDrain { since: decide(&before), ..before.clone() };
        if after == before {
            return Ok(before);
        }
        let mut change = ChangeSet::new(ports.clock.now());
        change.writes.push(match stored {
            Some(_) => Write::update(after.clone()),
            None => Write::insert(after.clone()),
        });
        let audited = AuditedChange {
            action,
            subject: name.to_string(),
            account: None,
            before: Some(as_json(&before)),
            after: Some(as_json(&after)),
        };
        change.writes.push(audit::record(ports, operator, change.at, audited));
        match ports.store.commit(change).await {
            Ok(_) => return Ok(AcquirerDrain { version: after.version.saturating_add(1), ..after }),
            // Another process changed the drain, or inserted it first.
            Err(CommitError::Stale | CommitError::Exists(RecordKey::Drain { .. })) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(StoreError::contended())
}

fn as_json(drain: &AcquirerDrain) -> Vec<u8> {
    let since = drain.since.map(|since| format!("{since:.3}"));
    Fields::new().text("acquirer", &drain.acquirer).nullable_text("drained_since", since).into_json()
}
