//! Reading the truth behind the callbacks that wait, and applying it.

use std::time::Duration;

use cais_domain::txid::Txid;
use cais_ports::{AcquirerError, ChangeSet, CommitError, Notice, NoticeState, Write};
use futures_util::{StreamExt as _, stream};
use jiff::{SignedDuration, Timestamp};

use crate::charges::sync::{SyncError, refresh};
use crate::ports::Ports;
use crate::trouble::Trouble;
use crate::work::{AT_ONCE, PASS_LIMIT, Pass, WorkError};

/// How long the worker waits for upstream.
const READ_BUDGET: Duration = Duration::from_secs(5);
/// The longest pause between two attempts, in seconds.
const MAX_PAUSE_S: i64 = 300;
/// Attempts before an operator has to look: about a week of them.
const MAX_ATTEMPTS: u32 = 2_000;

/// What became of one txid of a notice.
enum Verdict {
    /// The truth was read and applied.
    Applied,
    /// It names nothing of ours, or nothing that its acquirer knows.
    Unmatched,
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
        tracing::error!(notice = %notice.id, acquirer = %notice.acquirer, "a callback names nothing of ours: look at it");
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

async fn judge(ports: &Ports, notice: &Notice) -> Result<NoticeState, SyncError> {
    let Some(acquirer) = ports.acquirers.named(&notice.acquirer) else {
        return Err(AcquirerError::Unavailable("it is not configured any more".to_owned()).into());
    };
    let txids = match acquirer.notice_txids(&notice.body) {
        Ok(txids) => txids,
        Err(error) => {
            tracing::warn!(notice = %notice.id, %error, "a callback cannot be read");
            return Ok(NoticeState::Unmatched);
        }
    };
    let mut state = NoticeState::Done;
    for txid in txids {
        match look_up(ports, notice, &txid).await? {
            Verdict::Applied => {}
            Verdict::Unmatched => state = NoticeState::Unmatched,
        }
    }
    Ok(state)
}

async fn look_up(ports: &Ports, notice: &Notice, txid: &Txid) -> Result<Verdict, SyncError> {
    let charge = ports.queries.find_charge_by_txid(txid).await.map_err(Trouble::from)?;
    let Some(charge) = charge else { return Ok(Verdict::Unmatched) };
    match refresh(ports, charge, &notice.acquirer, READ_BUDGET).await {
        Ok(_) => Ok(Verdict::Applied),
        Err(SyncError::Unknown) => Ok(Verdict::Unmatched),
        Err(error) => Err(error),
    }
}

/// When to look again: after 1 s, then ever later.
fn pause(now: Timestamp, attempts: u32) -> Timestamp {
    let doublings = attempts.saturating_sub(1).min(16);
    let seconds = 1_i64.checked_shl(doublings).unwrap_or(MAX_PAUSE_S).min(MAX_PAUSE_S);
    now.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX)
}
