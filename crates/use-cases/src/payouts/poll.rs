//! Following payouts whose outcome is open until upstream says how they ended.

use std::collections::BTreeMap;
use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::instruction_id::InstructionId;
use cais_domain::payout::{Payout, PayoutState, PayoutStep};
use cais_ports::{Acquirer, AcquirerError, CommitError, ListRequest, UpstreamPayout, alerts};
use futures_util::future::join_all;
use jiff::{SignedDuration, Timestamp};

use super::sync::{SyncError, apply, commit_step, reread, why};
use super::upstream::{adapter, send};
use crate::ports::Ports;
use crate::trouble::Trouble;
use crate::upstream::{Listed, Wanted, is_overload, read_listed};
use crate::upstream_result::{Earlier, UpstreamResult};
use crate::work::{PASS_LIMIT, Pass, RESEND_AFTER, SEND_WITHIN, UNPROVEN_AFTER, WorkError};

/// How long the worker waits for upstream.
const READ_BUDGET: Duration = Duration::from_secs(5);
/// How far the acquirer's clock may be from ours before its list shows nothing for the time of sending; such a payout is read by
/// itself.
const CLOCKS_DIFFER_BY: SignedDuration = SignedDuration::from_secs(2);

/// Asks for a bounded number of the payouts whose outcome is open.
///
/// # Errors
/// [`WorkError`] when the list of them cannot be read; trouble with one of them is logged and does not stop the others.
pub async fn run_once(ports: &Ports) -> Result<Pass, WorkError> {
    let payouts = ports.queries.list_due_payouts(ports.clock.now(), PASS_LIMIT).await?;
    let listed = payouts.len();
    let mut by_acquirer: BTreeMap<AcquirerName, Vec<Payout>> = BTreeMap::new();
    for payout in payouts {
        by_acquirer.entry(payout.state.acquirer().clone()).or_default().push(payout);
    }
    let done = by_acquirer.into_iter().map(|(acquirer, payouts)| follow_all(ports, acquirer, payouts));
    let done = join_all(done).await.into_iter().fold(0_usize, usize::saturating_add);
    Ok(Pass::of(listed, done))
}

/// Follows the payouts of one acquirer; how many have ended.
async fn follow_all(ports: &Ports, acquirer: AcquirerName, payouts: Vec<Payout>) -> usize {
    let listed = list(ports, &acquirer, &payouts).await;
    let listed = &listed;
    let follow = |payout: Payout| async move {
        let shown = listed.get(&payout.instruction_id());
        match follow(ports, payout.clone(), shown).await {
            Ok(followed) => followed,
            Err(trouble) => {
                tracing::warn!(payout = %payout.id, %trouble, "a payout could not be followed; it is asked for again");
                put_off(ports, payout).await;
                Followed::default()
            }
        }
    };
    let followed = ports.limits.run(&acquirer, payouts, follow, |followed| followed.is_overload).await;
    followed.iter().filter(|followed| followed.has_ended).count()
}

/// Reads the part of the acquirer's list that shows them.
async fn list(ports: &Ports, acquirer: &AcquirerName, payouts: &[Payout]) -> Listed<InstructionId, UpstreamPayout> {
    let Some(adapter) = ports.acquirers.named(acquirer) else { return Listed::new() };
    let hints =
        payouts.iter().filter_map(|payout| Some(Wanted { key: payout.instruction_id(), at: payout.state.sent()?.at }));
    let (adapter, now) = (&*adapter, ports.clock.now());
    let page = |request: ListRequest| async move { adapter.list_sent(around(request, now), READ_BUDGET).await };
    read_listed((&ports.limits, acquirer), hints.collect(), page, |row| Some(row.instruction_id.clone())).await
}

/// The acquirer takes an order a moment after we send it, by its own clock.
fn around(request: ListRequest, now: Timestamp) -> ListRequest {
    let from = request.from.saturating_sub(CLOCKS_DIFFER_BY).unwrap_or(Timestamp::MIN);
    let to = request.to.saturating_add(CLOCKS_DIFFER_BY).unwrap_or(Timestamp::MAX);
    ListRequest { from, to: to.min(now), ..request }
}

/// The result of following a payout.
#[derive(Debug, Clone, Copy, Default)]
struct Followed {
    has_ended: bool,
    /// The acquirer could not answer.
    is_overload: bool,
}

/// Follows one payout. `shown` is its row in the acquirer's list.
async fn follow(ports: &Ports, payout: Payout, shown: Option<&UpstreamPayout>) -> Result<Followed, Trouble> {
    let mut followed = Followed::default();
    let after = match ask(ports, payout.clone(), shown).await {
        Ok(after) => after,
        Err(SyncError::Store(trouble)) => return Err(trouble),
        Err(error) => {
            still_open(ports, &payout, &error);
            followed.is_overload = matches!(&error, SyncError::Upstream(error) if is_overload(error));
            payout.clone()
        }
    };
    if !matches!(after.state, PayoutState::Processing(_)) {
        return Ok(Followed { has_ended: true, ..followed });
    }
    if after.due_at != payout.due_at {
        // It was sent once more, or asked for by somebody else: when to ask next is settled.
        return Ok(followed);
    }
    match commit_step(ports, asked(ports, after)).await {
        // Stale: it moved meanwhile. If it is still open, the next pass asks again.
        Ok(_) | Err(CommitError::Stale) => Ok(followed),
        Err(error) => Err(error.into()),
    }
}

/// What cannot be followed now may not stand before the others for ever.
async fn put_off(ports: &Ports, payout: Payout) {
    let id = payout.id;
    if let Err(error) = commit_step(ports, asked(ports, payout)).await {
        tracing::warn!(payout = %id, %error, "a payout that could not be followed is due still");
    }
}

fn asked(ports: &Ports, payout: Payout) -> PayoutStep {
    PayoutStep::Taken { payout: payout.asked(ports.clock.now()), transfers: Vec::new(), event: None }
}

async fn ask(ports: &Ports, payout: Payout, shown: Option<&UpstreamPayout>) -> Result<Payout, SyncError> {
    if let Some(upstream) = shown {
        return Ok(apply(ports, payout, upstream).await?);
    }
    let acquirer = adapter(ports, &payout)?;
    match acquirer.find_payout(&payout.instruction_id(), READ_BUDGET).await? {
        Some(upstream) => Ok(apply(ports, payout, &upstream).await?),
        None => send_again(ports, &*acquirer, payout).await,
    }
}

/// Sends a payout that its acquirer does not know, if it may be done already; by the same name, and by one node alone.
async fn send_again(ports: &Ports, acquirer: &dyn Acquirer, payout: Payout) -> Result<Payout, SyncError> {
    let now = ports.clock.now();
    let PayoutState::Processing(sent) = &payout.state else { return Ok(payout) };
    if now.duration_since(sent.at) < RESEND_AFTER {
        return Err(SyncError::Unknown);
    }
    let step = payout.clone().send_again(now).map_err(Trouble::from)?;
    let payout = match commit_step(ports, step).await {
        Ok(payout) => payout,
        // Another node sends it, or it has ended.
        Err(CommitError::Stale) => return Ok(reread(ports, &payout).await?),
        Err(error) => return Err(Trouble::from(error).into()),
    };
    tracing::warn!(payout = %payout.id, acquirer = %payout.state.acquirer(), "payout not found at its acquirer; it is sent once more");
    // An end-to-end id comes from the acquirer alone.
    let earlier = if payout.state.end_to_end_id().is_some() { Earlier::Shown } else { Earlier::Unknown };
    match send(ports, acquirer, &payout, earlier, until(now)).await {
        UpstreamResult::Known(upstream) => Ok(apply(ports, payout, &upstream).await?),
        UpstreamResult::Refused(reason) => fail(ports, payout, &reason).await,
        UpstreamResult::NotTaken(reason) | UpstreamResult::Unknown(reason) => {
            still_open(ports, &payout, &SyncError::Upstream(AcquirerError::OutcomeUnknown(reason)));
            Ok(payout)
        }
        UpstreamResult::Unproven(reason) => {
            unproven(&payout, &reason);
            Ok(payout)
        }
    }
}

async fn fail(ports: &Ports, payout: Payout, reason: &str) -> Result<Payout, SyncError> {
    let step = payout.clone().fail(why(Some(reason)), ports.clock.now()).map_err(Trouble::from)?;
    match commit_step(ports, step).await {
        Ok(failed) => Ok(failed),
        // Another node has learned more at this moment.
        Err(CommitError::Stale) => Ok(reread(ports, &payout).await?),
        Err(error) => Err(Trouble::from(error).into()),
    }
}

/// Logs that nothing was learned of a payout. An acquirer that cannot be reached is no matter of the payout.
fn still_open(ports: &Ports, payout: &Payout, error: &SyncError) {
    let reachable = !matches!(error, SyncError::Upstream(AcquirerError::Unavailable(_)));
    if reachable && ports.clock.now().duration_since(payout.created_at) >= UNPROVEN_AFTER {
        unproven(payout, &error.to_string());
    } else {
        tracing::warn!(payout = %payout.id, acquirer = %payout.state.acquirer(), %error, "payout outcome still unknown; it stays processing");
    }
}

/// The pauses between two polls of a payout bound how often this is logged.
fn unproven(payout: &Payout, reason: &str) {
    tracing::error!(
        alert = alerts::PAYOUT_OUTCOME_UNPROVEN, payout = %payout.id, acquirer = %payout.state.acquirer(), reason,
        "payout outcome cannot be proven; it stays processing and its money stays held"
    );
}

fn until(now: Timestamp) -> Timestamp {
    now.saturating_add(SEND_WITHIN).unwrap_or(Timestamp::MAX)
}
