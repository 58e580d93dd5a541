//! Following refunds whose outcome is open until their acquirer tells it.

use std::collections::BTreeMap;
use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::pause::MAX_PAUSE;
use cais_domain::refund::{Refund, RefundState, RefundStep};
use cais_ports::{AcquirerError, ChangeSet, CommitError, Due, Write, alerts};
use futures_util::future::join_all;
use jiff::Timestamp;

use super::ROUNDS;
use super::decide::{change_set, charge_of, reread, stored, unless_outdated};
use super::sync::{acquirer, apply, look};
use super::upstream::send;
use crate::ports::Ports;
use crate::trouble::Trouble;
use crate::upstream::is_overload;
use crate::upstream_result::{Earlier, UpstreamResult};
use crate::upstream_text::plain;
use crate::work::{PASS_LIMIT, Pass, RESEND_AFTER, SEND_WITHIN, UNPROVEN_AFTER, WorkError};

/// How long the worker waits for upstream.
const ASK_BUDGET: Duration = Duration::from_secs(5);

/// Asks for a bounded number of the outcomes that are due.
///
/// # Errors
/// [`WorkError`] when the list of them cannot be read; trouble with one of them is logged and does not stop the others.
pub async fn run_once(ports: &Ports) -> Result<Pass, WorkError> {
    let refunds = ports.queries.list_due_refunds(ports.clock.now(), PASS_LIMIT).await?;
    let listed = refunds.len();
    let mut by_acquirer: BTreeMap<AcquirerName, Vec<Refund>> = BTreeMap::new();
    for refund in refunds {
        by_acquirer.entry(refund.acquirer.clone()).or_default().push(refund);
    }
    let follow = |refund: Refund| async move {
        match follow(ports, refund.clone()).await {
            Ok(followed) => followed,
            Err(trouble) => {
                tracing::warn!(refund = %refund.id, %trouble, "an open refund could not be changed");
                put_off(ports, refund).await;
                Followed::default()
            }
        }
    };
    let followed = by_acquirer.into_iter().map(|(acquirer, refunds)| async move {
        ports.limits.run(&acquirer, refunds, follow, |followed| followed.is_overload).await
    });
    let done = join_all(followed).await.into_iter().flatten().filter(|followed| followed.is_known).count();
    Ok(Pass::of(listed, done))
}

/// The result of following a refund.
#[derive(Debug, Clone, Copy, Default)]
struct Followed {
    /// Its outcome is known now.
    is_known: bool,
    /// The acquirer could not answer.
    is_overload: bool,
}

/// Asks for the outcome and applies it.
async fn follow(ports: &Ports, refund: Refund) -> Result<Followed, Trouble> {
    let mut followed = Followed::default();
    let asked = match look(ports, &refund, ASK_BUDGET).await {
        Ok(Some(upstream)) => apply(ports, refund, upstream).await,
        Ok(None) => unknown(ports, refund).await,
        Err(error) => {
            still_open(ports, &refund, &error);
            followed.is_overload = is_overload(&error);
            Ok(refund)
        }
    };
    let refund = asked?;
    if refund.due_at.is_none() {
        return Ok(Followed { is_known: true, ..followed });
    }
    if refund.due_at.is_some_and(|at| Due::new(ports.clock.now(), MAX_PAUSE).is(at)) {
        ask_later(ports, refund).await?;
    }
    Ok(followed)
}

/// What cannot be followed now may not stand before the others for ever.
async fn put_off(ports: &Ports, refund: Refund) {
    let id = refund.id;
    if let Err(trouble) = ask_later(ports, refund).await {
        tracing::warn!(refund = %id, %trouble, "a refund that could not be followed is due still");
    }
}

/// The acquirer does not know it: the order was lost, or is still on its way.
///
/// An order that is old enough is sent again, by one node, under the same name: an acquirer executes a name once.
async fn unknown(ports: &Ports, refund: Refund) -> Result<Refund, Trouble> {
    let now = ports.clock.now();
    let RefundState::Processing { sent_at, return_id } = &refund.state else { return Ok(refund) };
    if now.duration_since(*sent_at) < RESEND_AFTER {
        return Ok(refund);
    }
    // A return id comes from the acquirer alone.
    let earlier = if return_id.is_some() { Earlier::Shown } else { Earlier::Unknown };
    let acquirer = match acquirer(ports, &refund) {
        Ok(acquirer) => acquirer,
        Err(error) => {
            still_open(ports, &refund, &error);
            return Ok(refund);
        }
    };
    tracing::warn!(refund = %refund.id, acquirer = %refund.acquirer, "refund not found at its acquirer; it is sent once more");
    let Some(refund) = mark(ports, &refund).await? else { return Ok(refund) };
    let until = now.saturating_add(SEND_WITHIN).unwrap_or(Timestamp::MAX);
    match send(ports, &*acquirer, &refund, earlier, until).await {
        UpstreamResult::Known(upstream) => apply(ports, refund, upstream).await,
        UpstreamResult::Refused(reason) => end(ports, refund, &reason).await,
        UpstreamResult::NotTaken(reason) | UpstreamResult::Unknown(reason) => {
            still_open(ports, &refund, &AcquirerError::OutcomeUnknown(reason));
            Ok(refund)
        }
        UpstreamResult::Unproven(reason) => {
            unproven(&refund, &reason);
            Ok(refund)
        }
    }
}

/// Notes that it is sent again, before it is; `None` when somebody else changed it meanwhile, and sends it or need not.
async fn mark(ports: &Ports, refund: &Refund) -> Result<Option<Refund>, Trouble> {
    let now = ports.clock.now();
    let step = refund.clone().send_again(now).map_err(|error| Trouble::Internal(error.to_string()))?;
    let RefundStep::Taken(step) = step else { return Ok(None) };
    update(ports, step.refund).await
}

/// Logs that nothing was learned of a refund. An acquirer that cannot be reached is no matter of the refund.
fn still_open(ports: &Ports, refund: &Refund, error: &AcquirerError) {
    let reachable = !matches!(error, AcquirerError::Unavailable(_));
    if reachable && ports.clock.now().duration_since(refund.created_at) >= UNPROVEN_AFTER {
        unproven(refund, &error.to_string());
    } else {
        tracing::warn!(refund = %refund.id, acquirer = %refund.acquirer, %error, "refund outcome still unknown; it stays processing");
    }
}

/// The pauses between two polls of a refund bound how often this is logged.
fn unproven(refund: &Refund, reason: &str) {
    tracing::error!(
        alert = alerts::REFUND_OUTCOME_UNPROVEN, refund = %refund.id, acquirer = %refund.acquirer, reason,
        "refund outcome cannot be proven; it stays processing and its money stays held"
    );
}

/// It will never be made: all is given back, unless somebody learned more of it meanwhile.
async fn end(ports: &Ports, refund: Refund, reason: &str) -> Result<Refund, Trouble> {
    for _ in 0..ROUNDS {
        let charge = charge_of(ports, &refund).await?;
        let now = ports.clock.now();
        let step = match refund.clone().fail(charge, plain(reason), now) {
            Ok(RefundStep::Taken(step)) => step,
            Ok(RefundStep::AlreadyTaken(refund)) => return Ok(*refund),
            Err(error) => {
                unless_outdated(ports, &refund, error).await?;
                return reread(ports, &refund).await;
            }
        };
        match ports.store.commit(change_set(ports, &step, now).await?).await {
            Ok(_) => return Ok(stored(step.refund)),
            Err(CommitError::Stale) => {
                let fresh = reread(ports, &refund).await?;
                if fresh.version != refund.version {
                    return Ok(fresh);
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(Trouble::contended())
}

/// It is asked for again after a pause that grows.
async fn ask_later(ports: &Ports, refund: Refund) -> Result<(), Trouble> {
    let asked = refund.asked(ports.clock.now());
    update(ports, asked).await.map(drop)
}

/// `None` when somebody else changed it meanwhile: what they know is newer.
async fn update(ports: &Ports, refund: Refund) -> Result<Option<Refund>, Trouble> {
    let mut change = ChangeSet::new(ports.clock.now());
    change.writes.push(Write::UpdateRefund(Box::new(refund.clone())));
    match ports.store.commit(change).await {
        Ok(_) => Ok(Some(stored(refund))),
        Err(CommitError::Stale) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
