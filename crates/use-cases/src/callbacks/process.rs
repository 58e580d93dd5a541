//! Reads the acquirers' records of the items in waiting callbacks and applies them.

use std::collections::BTreeMap;
use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::ProcessorId;
use cais_domain::end_to_end_id::ReturnId;
use cais_domain::ids::InfractionId;
use cais_domain::pause::doubled;
use cais_domain::payout::PayoutStatus;
use cais_ports::{
    AcquirerError, Callback, CallbackCounts, CallbackInfraction, CallbackItem, CallbackPayout, CallbackPix,
    CallbackReturn, CallbackState, ChangeSet, CommitError, ReservationKey, Write, alerts,
};
use futures_util::future::{join, join_all};
use futures_util::{StreamExt as _, stream};
use jiff::Timestamp;

use super::names;
use super::received::{self, Judged};
use crate::charges::sync::SyncError as ChargeSyncError;
use crate::crypto::deposits::callback::Processed;
use crate::infractions::sync::{Applied, SyncError as InfractionSyncError};
use crate::payouts::sync::{Seen, SyncError as PayoutSyncError};
use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::upstream::is_overload;
use crate::work::{COMMITS_AT_ONCE, Pass, WorkError};
use crate::{crypto, infractions, payouts};

/// The time that the worker waits for the acquirer.
pub(super) const READ_BUDGET: Duration = Duration::from_secs(5);
/// The largest number of attempts, about one day, before an operator must review the callback.
const MAX_ATTEMPTS: u32 = 300;

/// Attempts while the acquirer answers and does not show the payment of the callback: about an hour. An acquirer's records may be that
/// far behind its callbacks, and a forged callback costs no more.
const MAX_ATTEMPTS_NOT_SHOWN: u32 = 20;
/// The largest number of unmatched callbacks of one acquirer that are kept for an operator. A pass can exceed it by
/// its own callbacks.
const MAX_UNMATCHED: u64 = 10_000;
/// The largest number of charges of one acquirer that one pass reads one by one: about a second at 200 ms each. The
/// limit keeps callbacks that no page answers from delaying the others.
///
/// A callback has at most as many names. Callbacks are read in order, so each pass reads at least one to its end.
pub(super) const CHARGES_PER_PASS: usize = 256;
/// The largest number of infractions of one acquirer that one pass looks up. An unlisted infraction costs several reads, and a worker
/// reads the list every minute anyway.
pub(super) const INFRACTIONS_PER_PASS: usize = 16;
/// The largest number of callbacks of one pass. More waiting callbacks share their reads.
const CALLBACKS_PER_PASS: u32 = 2_048;

/// The verdict on one item of a callback. Of several verdicts, the last in this order counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// The acquirer's record was read and applied.
    Applied,
    /// The item matches no stored resource, or contradicts stored facts. An operator must review it.
    Unmatched,
    /// The acquirer's record does not show the item of the callback yet.
    NotShown,
    /// The acquirer received no request in this pass, because the pass has reached its limit.
    NotRead,
}

/// The reason for which the acquirer's record of one item could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unread {
    /// A received Pix.
    #[error(transparent)]
    Charge(#[from] ChargeSyncError),
    /// A sent Pix, or a payment at a crypto processor.
    #[error(transparent)]
    Payout(#[from] PayoutSyncError),
    /// An infraction.
    #[error(transparent)]
    Infraction(#[from] InfractionSyncError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The acquirer is not configured, or gave no answer.
    #[error(transparent)]
    Upstream(#[from] AcquirerError),
}

/// Processes a bounded number of waiting callbacks.
///
/// # Errors
/// [`WorkError`] if the list cannot be read. A failure of one callback is logged and does not stop the others.
pub async fn run_once(ports: &Ports) -> Result<Pass, WorkError> {
    let callbacks = ports.queries.list_due_callbacks(ports.clock.now(), CALLBACKS_PER_PASS).await?;
    let listed = callbacks.len();
    let verdicts = judge_all(ports, &callbacks).await;
    // Nearly always all callbacks match, so the count is not read.
    let counts = if verdicts.contains(&Ok(Verdict::Unmatched)) {
        ports.queries.count_callbacks().await?
    } else {
        CallbackCounts::default()
    };
    let counts = &counts;
    let done = stream::iter(callbacks.into_iter().zip(verdicts))
        .map(|(callback, verdict)| async move {
            let id = callback.id;
            let is_full = counts.unmatched.get(&callback.acquirer).is_some_and(|count| *count >= MAX_UNMATCHED);
            match mark(ports, callback, verdict, is_full).await {
                Ok(finished) => usize::from(finished),
                Err(error) => {
                    tracing::warn!(callback = %id, %error, "result of a callback could not be stored; the callback is processed again");
                    0
                }
            }
        })
        .buffer_unordered(COMMITS_AT_ONCE)
        .fold(0_usize, |sum, one| async move { sum.saturating_add(one) })
        .await;
    Ok(Pass::of_limit(CALLBACKS_PER_PASS, listed, done))
}

/// Returns the verdict on each callback from all of its items, in the order of the callbacks.
async fn judge_all(ports: &Ports, callbacks: &[Callback]) -> Vec<Result<Verdict, Unread>> {
    let mut verdicts = vec![Ok(Verdict::Applied); callbacks.len()];
    let mut by_acquirer: BTreeMap<&AcquirerName, Named> = BTreeMap::new();
    for ((place, callback), verdict) in callbacks.iter().enumerate().zip(&mut verdicts) {
        match names(ports, callback) {
            Ok(items) => by_acquirer.entry(&callback.acquirer).or_default().add(place, items),
            Err(known) => *verdict = known,
        }
    }
    // Acquirers are read side by side, so that a slow acquirer delays only its own callbacks.
    let judged = by_acquirer.into_iter().map(|(acquirer, named)| named.judge(ports, acquirer));
    for (place, judged) in join_all(judged).await.into_iter().flatten() {
        if let Some(verdict) = verdicts.get_mut(place) {
            // An item that cannot be read now delays its callback, but not the credits of the other items.
            *verdict = match (verdict.clone(), judged) {
                (Ok(one), Ok(other)) => Ok(one.max(other)),
                (Err(error), _) | (Ok(_), Err(error)) => Err(error),
            };
        }
    }
    verdicts
}

/// Reads the names in a callback.
fn names(ports: &Ports, callback: &Callback) -> Result<Vec<CallbackItem>, Result<Verdict, Unread>> {
    if ports.acquirers.named(&callback.acquirer).is_none() && ports.crypto_processor(&callback.acquirer).is_err() {
        return Err(Err(AcquirerError::Unavailable("the acquirer is no longer configured".to_owned()).into()));
    }
    names::read(&callback.body).ok_or(Ok(Verdict::Unmatched))
}

/// Marks a callback for review by an operator, unless the acquirer has reached its bound of unmatched callbacks.
fn unmatched(callback: &Callback, attempts: u32, is_full: bool) -> CallbackState {
    let names = String::from_utf8_lossy(&callback.body);
    if let Some(items) = names::read(&callback.body) {
        for item in items {
            alert_uncredited(callback, &item);
        }
    }
    tracing::error!(
        alert = alerts::CALLBACK_UNMATCHED, callback = %callback.id, acquirer = %callback.acquirer, received_at = %callback.received_at,
        attempts, names = names.lines().next(), more = names.lines().count().saturating_sub(1), kept = !is_full,
        "callback could not be matched to a charge, payout, infraction or crypto deposit; manual review needed"
    );
    if is_full { CallbackState::Done } else { CallbackState::Unmatched }
}

/// Raises the alert for the return of a payout that the acquirer does not confirm.
fn alert_uncredited(callback: &Callback, item: &CallbackItem) {
    if let CallbackItem::PayoutReturn(CallbackReturn { end_to_end_id, return_id }) = item {
        tracing::error!(
            alert = alerts::PAYOUT_RETURN_UNCREDITED, callback = %callback.id, acquirer = %callback.acquirer, %end_to_end_id, %return_id,
            "return of a payout is not confirmed by its acquirer; `cais payout credit-return` credits it"
        );
    }
}

/// The items of one acquirer's callbacks by kind, each with the index of its callback.
#[derive(Default)]
struct Named {
    received: Vec<(usize, CallbackPix)>,
    others: Vec<(usize, CallbackItem)>,
    infractions: usize,
    /// The indexes of callbacks with infractions for a later pass.
    later: Vec<usize>,
}

impl Named {
    fn add(&mut self, place: usize, items: Vec<CallbackItem>) {
        for item in items {
            match item {
                CallbackItem::Received(pix) => self.received.push((place, pix)),
                CallbackItem::Sent(_) | CallbackItem::PayoutReturn(_) | CallbackItem::CryptoPayment(_) => {
                    self.others.push((place, item));
                }
                CallbackItem::Infraction(_) if self.infractions < INFRACTIONS_PER_PASS => {
                    self.infractions = self.infractions.saturating_add(1);
                    self.others.push((place, item));
                }
                CallbackItem::Infraction(_) => self.later.push(place),
            }
        }
    }

    async fn judge(self, ports: &Ports, acquirer: &AcquirerName) -> Vec<Judged> {
        let judge_item = |(place, item): (usize, CallbackItem)| async move {
            let verdict = match item {
                CallbackItem::Received(_) => Ok(Verdict::NotRead),
                CallbackItem::Sent(payout) => sent(ports, acquirer, &payout).await,
                CallbackItem::PayoutReturn(back) => came_back(ports, acquirer, &back).await,
                CallbackItem::Infraction(infraction) => disputed(ports, acquirer, &infraction).await,
                CallbackItem::CryptoPayment(payment) => coins(ports, acquirer, &payment).await,
            };
            (place, verdict)
        };
        let is_overload = |(_, verdict): &Judged| {
            let Err(Unread::Payout(PayoutSyncError::Upstream(error)) | Unread::Upstream(error)) = verdict else {
                return false;
            };
            is_overload(error)
        };
        let others = ports.limits.run(acquirer, self.others, judge_item, is_overload);
        let (mut judged, others) = join(received::judge(ports, acquirer, self.received), others).await;
        judged.extend(others);
        judged.extend(self.later.into_iter().map(|place| (place, Ok(Verdict::NotRead))));
        judged
    }
}

/// Stores the result of a callback. If `is_full`, an unmatched callback is logged and not kept for an operator.
async fn mark(
    ports: &Ports,
    callback: Callback,
    verdict: Result<Verdict, Unread>,
    is_full: bool,
) -> Result<bool, CommitError> {
    let now = ports.clock.now();
    let attempts = callback.attempts.saturating_add(1);
    let (state, attempts, due_at) = match verdict {
        Ok(Verdict::Applied) => (CallbackState::Done, attempts, None),
        Ok(Verdict::NotRead) => (CallbackState::Waiting, callback.attempts, Some(pause(now, 1))),
        Ok(Verdict::NotShown) if attempts < MAX_ATTEMPTS_NOT_SHOWN => {
            (CallbackState::Waiting, attempts, Some(pause(now, attempts)))
        }
        Ok(Verdict::NotShown | Verdict::Unmatched) => (CallbackState::Unmatched, attempts, None),
        Err(error) => {
            tracing::warn!(callback = %callback.id, acquirer = %callback.acquirer, %error, "record of a callback's item could not be read at the acquirer; the item is not applied");
            let is_shown = error != Unread::Charge(ChargeSyncError::NotShown);
            let most = if is_shown { MAX_ATTEMPTS } else { MAX_ATTEMPTS_NOT_SHOWN };
            if attempts < most {
                (CallbackState::Waiting, attempts, Some(pause(now, attempts)))
            } else {
                (CallbackState::Unmatched, attempts, None)
            }
        }
    };
    let state = if state == CallbackState::Unmatched { unmatched(&callback, attempts, is_full) } else { state };
    let mut change = ChangeSet::new(now);
    change.writes.push(Write::update(Callback { state, attempts, due_at, ..callback }));
    match ports.store.commit(change).await {
        Ok(_) => Ok(state != CallbackState::Waiting),
        // Another node processed the callback at the same time. Every effect still happens once.
        Err(CommitError::Stale) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Processes a Pix that was sent or came back.
async fn sent(ports: &Ports, acquirer: &AcquirerName, item: &CallbackPayout) -> Result<Verdict, Unread> {
    let payout = ports.queries.find_payout_by_instruction_id(&item.instruction_id).await.map_err(StoreError::from)?;
    let Some(payout) = payout else { return Ok(Verdict::Unmatched) };
    if payout.state.acquirer() != acquirer || payout.state.status() == PayoutStatus::Abandoned {
        tracing::error!(payout = %payout.id, %acquirer, "callback names a payout that this acquirer cannot have; the item is unmatched");
        return Ok(Verdict::Unmatched);
    }
    let seen = payouts::sync::refresh_seen(ports, payout, READ_BUDGET).await?;
    let mut verdict = Verdict::Applied;
    for return_id in &item.returns {
        verdict = verdict.max(returned(ports, &seen, return_id).await?);
    }
    Ok(verdict)
}

/// Processes the return of a sent Pix that the acquirer does not show with its payout. A payout may not have the end-to-end
/// id of its Pix yet, so an unknown Pix is looked up again.
async fn came_back(ports: &Ports, acquirer: &AcquirerName, item: &CallbackReturn) -> Result<Verdict, Unread> {
    let payout = ports.queries.find_payout_by_pix(&item.end_to_end_id).await.map_err(StoreError::from)?;
    let Some(payout) = payout.filter(|payout| payout.state.acquirer() == acquirer) else {
        return Ok(Verdict::NotShown);
    };
    let seen = payouts::sync::refresh_with_return(ports, payout, &item.return_id, READ_BUDGET).await?;
    Ok(returned(ports, &seen, &item.return_id).await?)
}

/// Processes a payment at a crypto processor.
async fn coins(ports: &Ports, processor: &AcquirerName, payment: &ProcessorId) -> Result<Verdict, Unread> {
    Ok(match crypto::deposits::callback::process(ports, processor, payment, READ_BUDGET).await? {
        Processed::Applied => Verdict::Applied,
        Processed::InCreation => Verdict::NotShown,
        Processed::Unmatched => Verdict::Unmatched,
    })
}

/// Processes an infraction that was opened or changed. The record is read from the acquirer's list, which may show the
/// change later than the callback.
async fn disputed(ports: &Ports, acquirer: &AcquirerName, item: &CallbackInfraction) -> Result<Verdict, Unread> {
    let applied = infractions::sync::find(ports, acquirer, &item.id).await?;
    Ok(match applied {
        Some(Applied::Stands { .. }) => Verdict::Applied,
        // An open infraction is read every minute anyway. Its return may be awaited for a day.
        Some(Applied::Deferred) if is_open(ports, acquirer, &item.id).await? => Verdict::Applied,
        None | Some(Applied::Deferred) => Verdict::NotShown,
        Some(Applied::UnknownPix | Applied::Rejected) => Verdict::Unmatched,
    })
}

/// Returns whether the acquirer's infraction is known here and open. After a reopening the open infraction is another one on the same Pix.
async fn is_open(ports: &Ports, acquirer: &AcquirerName, id: &str) -> Result<bool, StoreError> {
    let first = ReservationKey::Infraction(format!("{acquirer}/{id}"));
    let Some(owner) = ports.queries.find_owner(&first).await? else { return Ok(false) };
    let owner = InfractionId::parse(&owner).map_err(|error| StoreError::Internal(format!("{owner}: {error}")))?;
    let Some(first) = ports.queries.find_infraction_of_any(owner).await? else { return Ok(false) };
    let all = ports.queries.list_infractions_of_pix(first.account, &first.end_to_end_id).await?;
    let mut named = all.iter().filter(|other| other.acquirer == *acquirer && other.upstream_id == id);
    Ok(named.any(|other| other.state.status().is_open()))
}

/// Returns the verdict on a returned payout. A callback can precede the acquirer's record, so only a credited return is
/// done.
async fn returned(ports: &Ports, seen: &Seen, return_id: &ReturnId) -> Result<Verdict, StoreError> {
    if seen.refused.contains(return_id) {
        return Ok(Verdict::Unmatched);
    }
    let credited = ports.queries.find_owner(&ReservationKey::ReturnId(return_id.clone())).await?;
    if credited.is_none() {
        tracing::warn!(payout = %seen.payout.id, %return_id, "return in a callback not shown by its acquirer; it is read again");
    }
    Ok(credited.map_or(Verdict::NotShown, |_| Verdict::Applied))
}

/// Returns the instant of the next attempt: after 1 s, then after growing pauses.
fn pause(now: Timestamp, attempts: u32) -> Timestamp {
    now.saturating_add(doubled(attempts.saturating_sub(1))).unwrap_or(Timestamp::MAX)
}
