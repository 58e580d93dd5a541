//! Checks whether defenses with an unknown outcome have arrived. If necessary, a defense is sent again.

use cais_domain::infraction::Infraction;
use cais_ports::{Acquirer, AcquirerError, CommitError, DefenseReceipt, UpstreamInfraction, alerts};
use futures_util::{StreamExt as _, stream};
use jiff::{SignedDuration, Timestamp};

use super::changes::{reread, update};
use super::defense::{SentDefense, about_to_send, acquirer, note_receipt, send, withdraw};
use super::fetch::{BACKGROUND_DEADLINE, fetch_upstream};
use super::reconcile_status::{awaits_receipt, shows_a_defense};
use super::sync::{SyncError, apply};
use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::upstream_order::resolve;
use crate::upstream_result::{EarlierRequests, SendReply, UpstreamResult};
use crate::work::{AT_ONCE, PASS_LIMIT, Pass, RESEND_AFTER, SEND_WITHIN, WorkError};

/// The smallest result of [`time_to_arrive`]: the longest duration of one request to an acquirer.
const MIN_TIME_TO_ARRIVE: SignedDuration = SignedDuration::from_secs(10);

/// After this number of checks without a result, an operator is alerted. The pauses between checks double, so eight
/// checks take some minutes.
const UNPROVEN_ATTEMPTS: u32 = 8;

/// Checks at most `PASS_LIMIT` defenses whose arrival is unknown.
///
/// # Errors
/// [`WorkError`] if the list cannot be read. A failure of one infraction is logged and does not stop the others.
pub async fn run_once(ports: &Ports) -> Result<Pass, WorkError> {
    let due = ports.queries.list_due_infractions(ports.clock.now(), PASS_LIMIT).await?;
    let listed = due.len();
    let done = stream::iter(due)
        .map(|infraction| async move {
            match follow(ports, infraction.clone()).await {
                Ok(known) => usize::from(known),
                Err(error) => {
                    tracing::warn!(infraction = %infraction.id, %error, "defense could not be checked; the check is tried again");
                    postpone(ports, infraction).await;
                    0
                }
            }
        })
        .buffer_unordered(AT_ONCE)
        .fold(0_usize, |sum, one| async move { sum.saturating_add(one) })
        .await;
    Ok(Pass::of(listed, done))
}

/// Checks one defense. Returns `true` if its outcome is known now.
async fn follow(ports: &Ports, infraction: Infraction) -> Result<bool, StoreError> {
    match resolve_outcome(ports, &infraction).await {
        Ok(()) => {}
        Err(SyncError::Store(error)) => return Err(error),
        Err(SyncError::Upstream(error)) => log_unresolved(&infraction, &error),
    }
    let after = reread(ports, &infraction).await?;
    if after.due_at.is_none() {
        return Ok(true);
    }
    // If the defense was submitted again or checked by another process, its next check is already set.
    if after.due_at == infraction.due_at {
        reschedule(ports, after).await?;
    }
    Ok(false)
}

/// Postpones an infraction that cannot be checked now, so that it does not delay the others permanently.
async fn postpone(ports: &Ports, infraction: Infraction) {
    let id = infraction.id;
    if let Err(error) = reschedule(ports, infraction).await {
        tracing::warn!(infraction = %id, %error, "defense could not be postponed; the defense stays due");
    }
}

async fn reschedule(ports: &Ports, infraction: Infraction) -> Result<(), StoreError> {
    let now = ports.clock.now();
    match update(ports, infraction.asked(now), now).await {
        // `Stale`: the infraction changed meanwhile. If the arrival of its defense is still unknown, the next pass
        // checks it.
        Ok(_) | Err(CommitError::Stale) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

async fn resolve_outcome(ports: &Ports, infraction: &Infraction) -> Result<(), SyncError> {
    let acquirer = acquirer(ports, infraction)?;
    if let Some(upstream) = find_upstream(ports, &*acquirer, infraction).await? {
        apply(ports, &infraction.acquirer, upstream).await?;
    }
    let infraction = reread(ports, infraction).await?;
    if awaits_receipt(&infraction) { send_again(ports, &*acquirer, infraction).await } else { Ok(()) }
}

/// Returns the infraction as its acquirer's list shows it now, if the list contains it.
async fn find_upstream(
    ports: &Ports,
    acquirer: &dyn Acquirer,
    infraction: &Infraction,
) -> Result<Option<UpstreamInfraction>, AcquirerError> {
    let opened_at = Some(infraction.opened_at);
    fetch_upstream(acquirer, &infraction.upstream_id, opened_at, ports.clock.now(), BACKGROUND_DEADLINE).await
}

/// Returns the time in which a defense can still arrive: one minute, or half of the time from sending to the deadline
/// if that is shorter, but at least [`MIN_TIME_TO_ARRIVE`]. So there usually is time for a second attempt.
fn time_to_arrive(deadline: Option<Timestamp>, sent_at: Timestamp) -> SignedDuration {
    let half = deadline.map(|deadline| deadline.duration_since(sent_at) / 2);
    half.unwrap_or(RESEND_AFTER).clamp(MIN_TIME_TO_ARRIVE, RESEND_AFTER)
}

/// Sends the defense again, once its last request can no longer be in transit. Called if the acquirer does not show the
/// defense. Only one node sends.
async fn send_again(ports: &Ports, acquirer: &dyn Acquirer, infraction: Infraction) -> Result<(), SyncError> {
    let now = ports.clock.now();
    let sent_at = infraction.defense.as_ref().map_or(now, |defense| defense.sent_at);
    if now.duration_since(sent_at) < time_to_arrive(infraction.deadline_at, sent_at) {
        return Ok(());
    }
    let step = infraction.send_again(now).map_err(StoreError::from)?;
    // Another node sent the defense, the defense arrived, or the infraction ended.
    let Some(infraction) = about_to_send(ports, step, now).await? else { return Ok(()) };
    tracing::warn!(infraction = %infraction.id, acquirer = %infraction.acquirer, "defense not found at its acquirer; the defense is sent once more");
    let until = now.saturating_add(SEND_WITHIN).unwrap_or(Timestamp::MAX);
    let reply = match send(ports, acquirer, &infraction, until).await {
        Ok(DefenseReceipt::Taken) => return note_receipt(ports, &infraction).await.map(drop).map_err(SyncError::from),
        Ok(DefenseReceipt::AlreadyThere) => {
            if !store_receipt_if_shown(ports, acquirer, &infraction).await? {
                // The acquirer reports that a defense exists and shows no other defense. So the defense is from this
                // service: every request of this service has arrived or failed by now.
                note_receipt(ports, &infraction).await?;
            }
            return Ok(());
        }
        Ok(DefenseReceipt::TooLate) => SendReply::Refused("the deadline has passed".to_owned()),
        Err(error) => SendReply::from(Err(error)),
    };
    let sent =
        SentDefense { ports, acquirer, infraction: &infraction, deadline: BACKGROUND_DEADLINE, may_have_arrived: true };
    match resolve(&sent, EarlierRequests::Unknown, reply).await {
        UpstreamResult::Known(upstream) => Ok(apply(ports, &infraction.acquirer, upstream).await.map(drop)?),
        UpstreamResult::Refused(reason) => abandon_defense(ports, &infraction, &reason).await,
        UpstreamResult::NotAccepted(reason) | UpstreamResult::Unknown(reason) => {
            Err(SyncError::Upstream(AcquirerError::OutcomeUnknown(reason)))
        }
        UpstreamResult::RefusedUnproven(reason) => {
            alert_unproven(&infraction, &reason);
            Ok(())
        }
    }
}

/// Reads the acquirer. If it shows a defense, stores the arrival and returns `true`.
async fn store_receipt_if_shown(
    ports: &Ports,
    acquirer: &dyn Acquirer,
    infraction: &Infraction,
) -> Result<bool, SyncError> {
    match find_upstream(ports, acquirer, infraction).await? {
        Some(upstream) if shows_a_defense(&upstream) => {
            apply(ports, &infraction.acquirer, upstream).await?;
            Ok(true)
        }
        Some(_) | None => Ok(false),
    }
}

/// Withdraws a defense that the acquirer refuses and certainly does not have.
async fn abandon_defense(ports: &Ports, infraction: &Infraction, why: &str) -> Result<(), SyncError> {
    let after = withdraw(ports, infraction).await?;
    if after.defense.is_none() {
        tracing::error!(alert = alerts::DEFENSE_REFUSED, infraction = %infraction.id, acquirer = %infraction.acquirer, why, "defense refused by its acquirer; the infraction is undefended again");
    }
    Ok(())
}

/// Logs a check without a result. After `UNPROVEN_ATTEMPTS` checks, raises the alert instead, unless the acquirer is
/// unavailable.
fn log_unresolved(infraction: &Infraction, error: &AcquirerError) {
    let reachable = !matches!(error, AcquirerError::Unavailable(_));
    if reachable && infraction.attempts >= UNPROVEN_ATTEMPTS {
        alert_unproven(infraction, &error.to_string());
    } else {
        tracing::warn!(infraction = %infraction.id, acquirer = %infraction.acquirer, %error, "defense outcome still unknown; the infraction is read again");
    }
}

/// Raises the alert for an unproven defense. The alert repeats at most once per check.
fn alert_unproven(infraction: &Infraction, reason: &str) {
    tracing::error!(
        alert = alerts::DEFENSE_OUTCOME_UNPROVEN, infraction = %infraction.id, acquirer = %infraction.acquirer, reason,
        "defense outcome cannot be proven; the defense stays unconfirmed"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defense_near_deadline_is_sent_again_in_time() {
        let at = |second: i64| Timestamp::from_second(1_760_000_000 + second).ok();
        let after = |deadline: Option<Timestamp>| time_to_arrive(deadline, at(0).unwrap_or_default()).as_secs();
        assert_eq!([after(None), after(at(86_400)), after(at(120))], [60, 60, 60]);
        assert_eq!([after(at(40)), after(at(20)), after(at(5)), after(at(-5))], [20, 10, 10, 10]);
    }
}
