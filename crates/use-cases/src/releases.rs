//! Moves money from `pending` to `available` when its delay has passed. Each release happens once.
//!
//! Money that infractions seized meanwhile is not released. Released money tops up the under-funded blocks of its
//! account.

use cais_domain::release::Release;
use cais_ports::{ChangeSet, Write, alerts};
use futures_util::{StreamExt as _, stream};

use crate::ports::Ports;
use crate::store_error::{StoreError, commit_unless_stale};
use crate::work::{AT_ONCE, PASS_LIMIT, Pass, WorkError};

/// Releases at most `PASS_LIMIT` due payments.
///
/// # Errors
/// [`WorkError`] if the due releases cannot be listed. A failure of one release is logged and does not stop the others.
pub async fn run_once(ports: &Ports) -> Result<Pass, WorkError> {
    let due = ports.queries.list_due_releases(ports.clock.now(), PASS_LIMIT).await?;
    let listed = due.len();
    let done = stream::iter(due)
        .map(|release| async move {
            let (charge, end_to_end_id) = (release.charge, release.end_to_end_id.clone());
            match make(ports, release).await {
                Ok(made) => usize::from(made),
                Err(error) => {
                    tracing::error!(alert = alerts::RELEASE_FAILED, %charge, %end_to_end_id, %error, "due release failed; the release is tried again");
                    0
                }
            }
        })
        .buffer_unordered(AT_ONCE)
        .fold(0_usize, |sum, one| async move { sum.saturating_add(one) })
        .await;
    Ok(Pass::of(listed, done))
}

/// Makes one release. Returns `true` if this call made the release. The commit checks the version of the release, so
/// the release happens once even if two nodes have listed it.
async fn make(ports: &Ports, release: Release) -> Result<bool, StoreError> {
    let now = ports.clock.now();
    let Some((released, transfer)) = release.release(now) else { return Ok(false) };
    let mut change = ChangeSet::new(now);
    change.writes.push(Write::update(released));
    change.transfers.push(transfer);
    commit_unless_stale(ports, change).await
}
