//! Following refunds whose outcome is open until their acquirer tells it.

use std::collections::BTreeMap;
use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::refund::{Refund, RefundState, RefundStep};
use cais_ports::{AcquirerError, ChangeSet, CommitError, UpstreamReturn, Write};
use futures_util::future::join_all;
use jiff::Timestamp;

use super::ROUNDS;
use super::complete::send;
use super::decide::{change_set, charge_of, reread, stored, unless_outdated};
use super::sync::{acquirer, apply, look};
use crate::ports::Ports;
use crate::trouble::Trouble;
use crate::upstream::is_overload;
use crate::upstream_text::plain;
use crate::work::{PASS_LIMIT, Pass, RESEND_AFTER, SEND_WITHIN, WorkError};

/// How long the worker waits for upstream.
const ASK_BUDGET: Duration = Duration::from_secs(5);

/// What became of an order that was sent again.
enum Sent {
    /// The acquirer has it.
    Stands(UpstreamReturn),
    /// The acquirer refuses it, and does not have it.
    Refused(String),
}

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

/// What following a refund led to.
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
            tracing::warn!(refund = %refund.id, acquirer = %refund.acquirer, %error, "the outcome of a refund could not be asked for");
            followed.is_overload = is_overload(&error);
            Ok(refund)
        }
    };
    let refund = asked?;
    if refund.due_at.is_none() {
        return Ok(Followed { is_known: true, ..followed });
    }
    if refund.due_at.is_some_and(|due| due <= ports.clock.now()) {
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
    let RefundState::Processing { sent_at, .. } = &refund.state else { return Ok(refund) };
    if now.duration_since(*sent_at) < RESEND_AFTER {
        return Ok(refund);
    }
    tracing::warn!(refund = %refund.id, acquirer = %refund.acquirer, "the acquirer does not know a refund: it is sent again under the same name");
    let Some(refund) = mark(ports, &refund).await? else { return Ok(refund) };
    let until = now.saturating_add(SEND_WITHIN).unwrap_or(Timestamp::MAX);
    match send_again(ports, &refund, until).await {
        Ok(Sent::Stands(upstream)) => apply(ports, refund, upstream).await,
        Ok(Sent::Refused(reason)) => end(ports, refund, &reason).await,
        Err(error) => {
            tracing::warn!(refund = %refund.id, %error, "a refund that was sent again was not confirmed");
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

/// A refusal ends it only when the acquirer does not know it even then: some refuse a name that they have, or an amount that
/// the first order used up, and every earlier order has long arrived or never will.
async fn send_again(ports: &Ports, refund: &Refund, until: Timestamp) -> Result<Sent, AcquirerError> {
    let reason = match send(ports, &*acquirer(ports, refund)?, refund, until).await {
        Ok(upstream) => return Ok(Sent::Stands(upstream)),
        Err(AcquirerError::Refused(reason)) => reason,
        Err(error @ (AcquirerError::Unavailable(_) | AcquirerError::OutcomeUnknown(_))) => return Err(error),
    };
    Ok(look(ports, refund, ASK_BUDGET).await?.map_or(Sent::Refused(reason), Sent::Stands))
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
