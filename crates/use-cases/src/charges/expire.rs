//! Expiring charges whose time is over, after one last look upstream.

use std::time::Duration;

use cais_domain::charge::{Charge, ChargeState};
use cais_ports::CommitError;
use futures_util::{StreamExt as _, stream};
use jiff::SignedDuration;

use super::sync::{SyncError, commit_step, refresh};
use crate::ports::Ports;
use crate::trouble::Trouble;
use crate::work::{AT_ONCE, PASS_LIMIT, Pass, WorkError};

/// How long the worker waits for one last look.
const LOOK_BUDGET: Duration = Duration::from_secs(5);
/// How long a charge stays pending whose acquirer does not answer, or calls it completed without a payment that pays it.
///
/// A payment that is proved later still pays it. Without an end, such charges would stand before all others in every pass.
const PATIENCE: SignedDuration = SignedDuration::from_mins(10);

/// Expires what is overdue, a bounded number of charges.
///
/// # Errors
/// [`WorkError`] when the list of them cannot be read; trouble with one of them is logged and does not stop the others.
pub async fn run_once(ports: &Ports) -> Result<Pass, WorkError> {
    let charges = ports.queries.list_overdue_charges(ports.clock.now(), PASS_LIMIT).await?;
    let listed = charges.len();
    let done = stream::iter(charges)
        .map(|charge| async move {
            let id = charge.id;
            match expire(ports, charge).await {
                Ok(closed) => usize::from(closed),
                Err(error @ SyncError::Store(_)) => {
                    tracing::warn!(charge = %id, %error, "an overdue charge could not be changed");
                    0
                }
                Err(error) => {
                    tracing::debug!(charge = %id, %error, "an overdue charge stays pending for now");
                    0
                }
            }
        })
        .buffer_unordered(AT_ONCE)
        .fold(0_usize, |sum, one| async move { sum.saturating_add(one) })
        .await;
    Ok(Pass::of(listed, done))
}

async fn expire(ports: &Ports, charge: Charge) -> Result<bool, SyncError> {
    let ChargeState::Pending(issued) = &charge.state else { return Ok(false) };
    let (acquirer, expires_at) = (issued.acquirer.clone(), issued.expires_at);
    let (charge, unseen) = match refresh(ports, charge.clone(), &acquirer, LOOK_BUDGET).await {
        Ok(after) if matches!(after.state, ChargeState::Pending(_)) => (after, None),
        Ok(_) => return Ok(true),
        Err(error @ SyncError::Store(_)) => return Err(error),
        Err(error) => (charge, Some(error)),
    };
    let now = ports.clock.now();
    if now.duration_since(expires_at) < PATIENCE {
        return unseen.map_or(Ok(false), Err);
    }
    let reason = unseen.map_or_else(|| "completed, but nothing paid it".to_owned(), |error| error.to_string());
    tracing::warn!(charge = %charge.id, %acquirer, reason, "expired without the word of its acquirer");
    match commit_step(ports, charge.expire(expires_at, now).map_err(Trouble::from)?).await {
        Ok(_) => Ok(true),
        Err(CommitError::Stale) => Ok(false),
        Err(error) => Err(Trouble::from(error).into()),
    }
}
