//! Expiring charges whose time is over, after one last look upstream.

use std::time::Duration;

use cais_domain::charge::{Charge, ChargeState};
use cais_ports::{CLOCK_DIFFERENCE, CommitError, alerts};
use futures_util::{StreamExt as _, stream};
use jiff::SignedDuration;

use super::sync::{SyncError, commit_step, look};
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
    let looked = stream::iter(charges).map(|charge| async move {
        let id = charge.id;
        expire(ports, charge).await.unwrap_or_else(|error| {
            match error {
                SyncError::Store(_) => tracing::warn!(charge = %id, %error, "an overdue charge could not be changed"),
                SyncError::Upstream(_) | SyncError::Unknown | SyncError::NotShown => {
                    tracing::debug!(charge = %id, %error, "an overdue charge stays pending for now");
                }
            }
            Look::StaysPending
        })
    });
    let looks = looked.buffer_unordered(AT_ONCE).collect::<Vec<Look>>().await;
    let count = |wanted| looks.iter().filter(|look| **look == wanted).count();
    let charges = count(Look::ClocksDiffer);
    if charges > 0 {
        tracing::error!(
            alert = alerts::CLOCK_SKEW,
            charges,
            "the node's clock is ahead of an acquirer's; overdue charges can still be paid there and stay pending"
        );
    }
    Ok(Pass::of(listed, count(Look::Closed)))
}

/// The result of the last look at an overdue charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// The charge is not pending any more.
    Closed,
    /// The charge stays pending for now.
    StaysPending,
    /// The same: its acquirer still takes a payment, long after the charge is over by our clock.
    ClocksDiffer,
}

async fn expire(ports: &Ports, charge: Charge) -> Result<Look, SyncError> {
    let ChargeState::Pending(issued) = &charge.state else { return Ok(Look::StaysPending) };
    let (acquirer, expires_at) = (issued.acquirer.clone(), issued.expires_at);
    let overdue = ports.clock.now().duration_since(expires_at);
    let (charge, unseen) = match look(ports, charge.clone(), &acquirer, LOOK_BUDGET).await {
        Ok(seen) if !matches!(seen.charge.state, ChargeState::Pending(_)) => return Ok(Look::Closed),
        Ok(seen) if seen.is_payable && overdue > CLOCK_DIFFERENCE => return Ok(Look::ClocksDiffer),
        Ok(seen) if seen.is_payable => return Ok(Look::StaysPending),
        Ok(seen) => (seen.charge, None),
        Err(error @ SyncError::Store(_)) => return Err(error),
        Err(error) => (charge, Some(error)),
    };
    let now = ports.clock.now();
    if now.duration_since(expires_at) < PATIENCE {
        return unseen.map_or(Ok(Look::StaysPending), Err);
    }
    let reason = unseen.map_or_else(|| "completed, but nothing paid it".to_owned(), |error| error.to_string());
    tracing::warn!(charge = %charge.id, %acquirer, reason, "expired without the word of its acquirer");
    match commit_step(ports, charge.expire(expires_at, now).map_err(Trouble::from)?).await {
        Ok(_) => Ok(Look::Closed),
        Err(CommitError::Stale) => Ok(Look::StaysPending),
        Err(error) => Err(Trouble::from(error).into()),
    }
}
