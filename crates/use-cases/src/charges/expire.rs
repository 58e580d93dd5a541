//! Expires overdue charges, after a last read of the acquirer.

use std::time::Duration;

use cais_domain::charge::{Charge, ChargeState};
use cais_ports::{CLOCK_DIFFERENCE, CommitError, alerts};
use futures_util::{StreamExt as _, stream};
use jiff::SignedDuration;

use super::sync::{SyncError, commit_step, refresh_seen};
use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::work::{AT_ONCE, PASS_LIMIT, Pass, WorkError};

/// The time for the last read of one charge.
const LOOK_UP_BUDGET: Duration = Duration::from_secs(5);
/// The longest time after its expiry for which a charge stays pending in two cases: the acquirer does not answer, or it
/// shows the charge as completed without a payment that pays it.
///
/// A payment that is confirmed later still pays the charge. Without the limit, such charges would fill every pass,
/// because a pass begins with the charges that are overdue longest.
const ACQUIRER_WAIT: SignedDuration = SignedDuration::from_mins(10);

/// Expires at most `PASS_LIMIT` overdue charges.
///
/// # Errors
/// [`WorkError`] if the list cannot be read. A failure of one charge is logged and does not stop the others.
pub async fn run_once(ports: &Ports) -> Result<Pass, WorkError> {
    let charges = ports.queries.list_overdue_charges(ports.clock.now(), PASS_LIMIT).await?;
    let listed = charges.len();
    let reading = stream::iter(charges).map(|charge| async move {
        let id = charge.id;
        expire(ports, charge).await.unwrap_or_else(|error| {
            match error {
                SyncError::Store(_) => tracing::warn!(charge = %id, %error, "overdue charge not expired because the store failed; the next run tries again"),
                SyncError::Upstream(_) | SyncError::Unknown | SyncError::NotShown => {
                    tracing::debug!(charge = %id, %error, "overdue charge could not be read at its acquirer; the charge stays pending");
                }
            }
            LastRead::StaysPending
        })
    });
    let reads = reading.buffer_unordered(AT_ONCE).collect::<Vec<LastRead>>().await;
    let count = |result| reads.iter().filter(|read| **read == result).count();
    let charges = count(LastRead::ClocksDiffer);
    if charges > 0 {
        tracing::error!(
            alert = alerts::CLOCK_SKEW,
            charges,
            "node's clock is ahead of an acquirer's clock; overdue charges stay pending, because they can still be paid"
        );
    }
    Ok(Pass::of(listed, count(LastRead::Closed)))
}

/// The result of the last read of an overdue charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastRead {
    /// The charge is no longer pending: it was paid, cancelled or expired.
    Closed,
    /// The charge stays pending for now.
    StaysPending,
    /// The charge stays pending. By the local clock it expired more than [`CLOCK_DIFFERENCE`] ago, but its acquirer
    /// still accepts a payment.
    ClocksDiffer,
}

async fn expire(ports: &Ports, charge: Charge) -> Result<LastRead, SyncError> {
    let ChargeState::Pending(issued) = &charge.state else { return Ok(LastRead::StaysPending) };
    let (acquirer, expires_at) = (issued.acquirer.clone(), issued.expires_at);
    let overdue = ports.clock.now().duration_since(expires_at);
    let (charge, unseen) = match refresh_seen(ports, charge.clone(), &acquirer, LOOK_UP_BUDGET).await {
        Ok(seen) if !matches!(seen.charge.state, ChargeState::Pending(_)) => return Ok(LastRead::Closed),
        Ok(seen) if seen.is_payable && overdue > CLOCK_DIFFERENCE => return Ok(LastRead::ClocksDiffer),
        Ok(seen) if seen.is_payable => return Ok(LastRead::StaysPending),
        Ok(seen) => (seen.charge, None),
        Err(error @ SyncError::Store(_)) => return Err(error),
        Err(error) => (charge, Some(error)),
    };
    let now = ports.clock.now();
    if now.duration_since(expires_at) < ACQUIRER_WAIT {
        return unseen.map_or(Ok(LastRead::StaysPending), Err);
    }
    let reason = unseen.map_or_else(
        || "the acquirer shows the charge as completed without a payment".to_owned(),
        |error| error.to_string(),
    );
    tracing::warn!(charge = %charge.id, %acquirer, reason, "charge not confirmed as unpaid by its acquirer; the charge expires");
    match commit_step(ports, charge.expire(expires_at, now).map_err(StoreError::from)?).await {
        Ok(_) => Ok(LastRead::Closed),
        Err(CommitError::Stale) => Ok(LastRead::StaysPending),
        Err(error) => Err(StoreError::from(error).into()),
    }
}
