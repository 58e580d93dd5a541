//! Reading the truth behind the callbacks that wait, and applying it.

use std::time::Duration;

use cais_domain::end_to_end_id::ReturnId;
use cais_domain::payout::PayoutStatus;
use cais_ports::{
    AcquirerError, ChangeSet, CommitError, Notice, NoticeState, Noticed, NoticedInfraction, NoticedPayout, NoticedPix,
    ReservationKey, Write,
};
use futures_util::{StreamExt as _, stream};
use jiff::{SignedDuration, Timestamp};

use crate::charges::sync::SyncError as ChargeSyncError;
use crate::infractions::sync::{Applied, SyncError as InfractionSyncError};
use crate::payouts::sync::{Seen, SyncError as PayoutSyncError};
use crate::ports::Ports;
use crate::trouble::Trouble;
use crate::work::{AT_ONCE, PASS_LIMIT, Pass, WorkError};
use crate::{charges, infractions, payouts};

/// How long the worker waits for upstream.
const READ_BUDGET: Duration = Duration::from_secs(5);
/// The longest pause between two attempts, in seconds.
const MAX_PAUSE_S: i64 = 300;
/// Attempts before an operator has to look: about a day of them.
const MAX_ATTEMPTS: u32 = 300;

/// How many Pix of one notice wait for upstream at the same time.
const NAMED_AT_ONCE: usize = 4;

/// What became of one Pix of a notice; of several, the last in this order counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    /// The truth was read and applied.
    Applied,
    /// It names nothing of ours, or contradicts what we know: an operator should look.
    Unmatched,
    /// The truth was read, and does not show yet what was called for.
    LookAgain,
}

/// Why the truth behind one Pix of a notice is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Unread {
    /// Of a Pix that was received.
    #[error(transparent)]
    Charge(#[from] ChargeSyncError),
    /// Of a Pix that was sent.
    #[error(transparent)]
    Payout(#[from] PayoutSyncError),
    /// Of an infraction.
    #[error(transparent)]
    Infraction(#[from] InfractionSyncError),
    /// The store has no answer.
    #[error(transparent)]
    Store(#[from] Trouble),
    /// Nobody can be asked.
    #[error(transparent)]
    Upstream(#[from] AcquirerError),
}

/// Looks into a bounded number of the notices that wait.
///
/// # Errors
/// [`WorkError`] when the list of them cannot be read; trouble with one of them is logged and does not stop the others.
pub async fn run_once(ports: &Ports) -> Result<Pass, WorkError> {
    let notices = ports.queries.list_due_notices(ports.clock.now(), PASS_LIMIT).await?;
    let listed = notices.len();
    let done = stream::iter(notices)
        .map(|notice| async move {
            let id = notice.id;
            match look_into(ports, notice).await {
                Ok(finished) => usize::from(finished),
                Err(error) => {
                    tracing::warn!(notice = %id, %error, "a callback could not be marked; it is looked into again");
                    0
                }
            }
        })
        .buffer_unordered(AT_ONCE)
        .fold(0_usize, |sum, one| async move { sum.saturating_add(one) })
        .await;
    Ok(Pass::of(listed, done))
}

async fn look_into(ports: &Ports, notice: Notice) -> Result<bool, CommitError> {
    let state = match judge(ports, &notice).await {
        Ok(state) => state,
        Err(error) => {
            tracing::warn!(notice = %notice.id, acquirer = %notice.acquirer, %error, "the truth behind a callback could not be read");
            NoticeState::Waiting
        }
    };
    let attempts = notice.attempts.saturating_add(1);
    let state = if attempts >= MAX_ATTEMPTS && state == NoticeState::Waiting { NoticeState::Unmatched } else { state };
    if state == NoticeState::Unmatched {
        tracing::error!(notice = %notice.id, acquirer = %notice.acquirer, "a callback cannot be followed, or names nothing of ours: look at it");
    }
    let now = ports.clock.now();
    let due_at = (state == NoticeState::Waiting).then(|| pause(now, attempts));
    let mut change = ChangeSet::new(now);
    change.writes.push(Write::UpdateNotice(Box::new(Notice { state, attempts, due_at, ..notice })));
    match ports.store.commit(change).await {
        Ok(_) => Ok(state != NoticeState::Waiting),
        // Another node looked into it at the same time; every effect happens once all the same.
        Err(CommitError::Stale) => Ok(false),
        Err(error) => Err(error),
    }
}

async fn judge(ports: &Ports, notice: &Notice) -> Result<NoticeState, Unread> {
    let Some(acquirer) = ports.acquirers.named(&notice.acquirer) else {
        return Err(AcquirerError::Unavailable("it is not configured any more".to_owned()).into());
    };
    let named = match acquirer.notices(&notice.body) {
        Ok(named) => named,
        Err(error) => {
            tracing::warn!(notice = %notice.id, %error, "a callback cannot be read");
            return Ok(NoticeState::Unmatched);
        }
    };
    let verdicts: Vec<Result<Verdict, Unread>> = stream::iter(named)
        .map(|named| async move {
            match named {
                Noticed::Received(pix) => received(ports, notice, &pix).await,
                Noticed::Sent(payout) => sent(ports, notice, &payout).await,
                Noticed::Infraction(infraction) => disputed(ports, notice, &infraction).await,
            }
        })
        .buffer_unordered(NAMED_AT_ONCE)
        .collect()
        .await;
    // One that cannot be read now keeps the notice waiting, but never keeps the others from being credited.
    let counts =
        verdicts.into_iter().try_fold(Verdict::Applied, |last, verdict| Ok::<_, Unread>(last.max(verdict?)))?;
    Ok(match counts {
        Verdict::Applied => NoticeState::Done,
        Verdict::LookAgain => NoticeState::Waiting,
        Verdict::Unmatched => NoticeState::Unmatched,
    })
}

/// A Pix that was received, or a return of it: the charge's truth tells both.
async fn received(ports: &Ports, notice: &Notice, pix: &NoticedPix) -> Result<Verdict, Unread> {
    let charge = ports.queries.find_charge_by_txid(&pix.txid).await.map_err(Trouble::from)?;
    let Some(charge) = charge else { return Ok(Verdict::Unmatched) };
    // An acquirer that does not know a charge of ours just yet may know it in a moment: that is an error too, and waits.
    let seen = charges::sync::look(ports, charge, &notice.acquirer, READ_BUDGET).await?;
    let Some(end_to_end_id) = pix.end_to_end_id.clone() else { return Ok(Verdict::Applied) };
    if seen.went_back.contains(&end_to_end_id) {
        return Ok(Verdict::Applied);
    }
    // An acquirer may call before its own charge shows the Pix: done is only what is credited.
    let credited = ports.queries.find_owner(&ReservationKey::EndToEndId(end_to_end_id)).await.map_err(Trouble::from)?;
    Ok(credited.map(|_| Verdict::Applied).ok_or(ChargeSyncError::NotShown)?)
}

/// A Pix that was sent, or came back.
async fn sent(ports: &Ports, notice: &Notice, told: &NoticedPayout) -> Result<Verdict, Unread> {
    let payout = ports.queries.find_payout_by_id_envio(&told.id_envio).await.map_err(Trouble::from)?;
    let Some(payout) = payout else { return Ok(Verdict::Unmatched) };
    if *payout.state.acquirer() != notice.acquirer || payout.state.status() == PayoutStatus::Abandoned {
        tracing::error!(payout = %payout.id, acquirer = %notice.acquirer, "an acquirer calls for a payout that it should not have");
        return Ok(Verdict::Unmatched);
    }
    let seen = payouts::sync::look(ports, payout, READ_BUDGET).await?;
    let mut verdict = Verdict::Applied;
    for return_id in &told.returns {
        verdict = verdict.max(returned(ports, &seen, return_id).await?);
    }
    Ok(verdict)
}

/// An infraction that was opened, or moved: its acquirer's list tells the truth, and may show it later than it calls.
async fn disputed(ports: &Ports, notice: &Notice, told: &NoticedInfraction) -> Result<Verdict, Unread> {
    let shown = infractions::sync::find(ports, &notice.acquirer, &told.id).await?;
    Ok(match shown {
        None | Some(Applied::NotYet) => Verdict::LookAgain,
        Some(Applied::Stands { .. }) => Verdict::Applied,
        Some(Applied::NotOurs | Applied::NotBelieved) => Verdict::Unmatched,
    })
}

/// An acquirer may call before its own payout shows what came back: done is only what is credited.
async fn returned(ports: &Ports, seen: &Seen, return_id: &ReturnId) -> Result<Verdict, Trouble> {
    if seen.refused.contains(return_id) {
        return Ok(Verdict::Unmatched);
    }
    let credited = ports.queries.find_owner(&ReservationKey::ReturnId(return_id.clone())).await?;
    if credited.is_none() {
        tracing::warn!(payout = %seen.payout.id, %return_id, "the acquirer does not show the return that it called for");
    }
    Ok(credited.map_or(Verdict::LookAgain, |_| Verdict::Applied))
}

/// When to look again: after 1 s, then ever later.
fn pause(now: Timestamp, attempts: u32) -> Timestamp {
    let doublings = attempts.saturating_sub(1).min(16);
    let seconds = 1_i64.checked_shl(doublings).unwrap_or(MAX_PAUSE_S).min(MAX_PAUSE_S);
    now.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX)
}
