//! Processes waiting callbacks: reads the acquirer's record of each item, and applies it.

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
use super::received_pix::{self, Judged};
use crate::charges::sync::SyncError as ChargeSyncError;
use crate::crypto::deposits::callback::Processed;
use crate::infractions::sync::Applied;
use crate::payouts::sync::Seen;
use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::upstream::is_overload;
use crate::upstream_order::SyncError;
use crate::work::{COMMITS_AT_ONCE, Pass, WorkError};
use crate::{crypto, infractions, payouts};

/// The time for one read of an acquirer.
pub(super) const READ_BUDGET: Duration = Duration::from_secs(5);
/// The largest number of attempts before an operator must review the callback. These attempts take about one day.
const MAX_ATTEMPTS: u32 = 300;

/// The largest number of attempts if the acquirer answers but does not show an item of the callback, such as the
/// payment. These attempts cover about one hour, because an acquirer's records may lag behind its callbacks for that
/// time. The number also limits the cost of a forged callback.
const MAX_ATTEMPTS_NOT_SHOWN: u32 = 20;
/// The largest number of unmatched callbacks of one acquirer that are kept for an operator. A pass reads the number
/// only once, so its own unmatched callbacks can exceed the limit.
const MAX_UNMATCHED: u64 = 10_000;
/// The largest number of charges of one acquirer that one pass reads one by one. Many of these reads run concurrently,
/// so together they take about a second, at 200 ms each. Without the limit, callbacks whose Pix was not found in the
/// acquirer's list would delay the other callbacks.
///
/// A stored callback has at most this number of received Pix, and the oldest due callback is read first. So each pass
/// completes at least one callback.
pub(super) const CHARGES_PER_PASS: usize = 256;
/// The largest number of infractions of one acquirer that one pass looks up. The limit is low for two reasons. The
/// search for an infraction that the acquirer's list does not contain needs several reads. Besides, the poll of
/// infractions reads the list every minute anyway.
pub(super) const INFRACTIONS_PER_PASS: usize = 16;
/// The largest number of callbacks in one pass. The callbacks of one pass share the pages of the acquirer's list.
const CALLBACKS_PER_PASS: u32 = 2_048;

/// The verdict on one item of a callback. If the items of a callback have different verdicts, the callback gets the one
/// that stands last in this list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// The acquirer's record was read and applied.
    Applied,
    /// The item matches no stored resource, or contradicts stored facts. An operator must review it.
    Unmatched,
    /// The acquirer's record does not show the item yet, or the item's payout or deposit cannot be updated yet. A later
    /// attempt may succeed.
    NotShown,
    /// The item was not read in this pass, because the pass has reached its limit.
    NotRead,
}

/// The reason why the acquirer's record of an item could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unread {
    /// The charge of a received Pix could not be read.
    #[error(transparent)]
    Charge(#[from] ChargeSyncError),
    /// A sent Pix, or a payment at a crypto processor, could not be read.
    #[error(transparent)]
    Payout(#[from] SyncError),
    /// An infraction could not be read.
    #[error(transparent)]
    Infraction(SyncError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The acquirer is not configured, or gave no answer.
    #[error(transparent)]
    Upstream(#[from] AcquirerError),
}

/// Processes at most `CALLBACKS_PER_PASS` due callbacks.
///
/// # Errors
/// [`WorkError`] if the store cannot list or count callbacks. A failure of one callback is logged and does not stop the
/// others.
pub async fn run_once(ports: &Ports) -> Result<Pass, WorkError> {
    let callbacks = ports.queries.list_due_callbacks(ports.clock.now(), CALLBACKS_PER_PASS).await?;
    let listed = callbacks.len();
    let verdicts = judge_all(ports, &callbacks).await;
    let judged: Vec<_> = callbacks.into_iter().zip(verdicts).map(|(one, verdict)| next(ports, one, verdict)).collect();
    // Almost all callbacks match, so the counts are read only if a callback becomes unmatched.
    let counts = if judged.iter().any(|callback| callback.state == CallbackState::Unmatched) {
        ports.queries.count_callbacks().await?
    } else {
        CallbackCounts::default()
    };
    let counts = &counts;
    let done = stream::iter(judged)
        .map(|callback| async move {
            let id = callback.id;
            let is_full = counts.unmatched.get(&callback.acquirer).is_some_and(|count| *count >= MAX_UNMATCHED);
            match store(ports, callback, is_full).await {
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

/// Returns the results of the callbacks, in the same order. The result of a callback is the greatest verdict on its
/// items. If an item has an error, the result is this error.
async fn judge_all(ports: &Ports, callbacks: &[Callback]) -> Vec<Result<Verdict, Unread>> {
    let mut verdicts = vec![Ok(Verdict::Applied); callbacks.len()];
    let mut by_acquirer: BTreeMap<&AcquirerName, Named> = BTreeMap::new();
    for ((place, callback), verdict) in callbacks.iter().enumerate().zip(&mut verdicts) {
        match names(ports, callback) {
            Ok(items) => by_acquirer.entry(&callback.acquirer).or_default().add(place, items),
            Err(known) => *verdict = known,
        }
    }
    // The acquirers are read concurrently, so that a slow acquirer delays only its own callbacks.
    let judged = by_acquirer.into_iter().map(|(acquirer, named)| named.judge(ports, acquirer));
    for (place, judged) in join_all(judged).await.into_iter().flatten() {
        if let Some(verdict) = verdicts.get_mut(place) {
            // If one item cannot be read now, its callback stays open. The other items are still applied.
            *verdict = match (verdict.clone(), judged) {
                (Ok(one), Ok(other)) => Ok(one.max(other)),
                (Err(error), _) | (Ok(_), Err(error)) => Err(error),
            };
        }
    }
    verdicts
}

/// Returns the items of a callback. The error is the result of a callback whose items are not processed, because its
/// acquirer is not configured or its text is unreadable.
fn names(ports: &Ports, callback: &Callback) -> Result<Vec<CallbackItem>, Result<Verdict, Unread>> {
    if ports.acquirers.named(&callback.acquirer).is_none() && ports.crypto_processor(&callback.acquirer).is_err() {
        return Err(Err(AcquirerError::Unavailable("the acquirer is no longer configured".to_owned()).into()));
    }
    names::read(&callback.body).ok_or(Ok(Verdict::Unmatched))
}

/// Raises the alert for a callback that could not be matched, and returns its new state. With `is_full`, the acquirer
/// has too many unmatched callbacks, so the callback is done instead of kept for an operator.
fn unmatched(callback: &Callback, is_full: bool) -> CallbackState {
    let names = String::from_utf8_lossy(&callback.body);
    if let Some(items) = names::read(&callback.body) {
        for item in items {
            alert_uncredited(callback, &item);
        }
    }
    tracing::error!(
        alert = alerts::CALLBACK_UNMATCHED, callback = %callback.id, acquirer = %callback.acquirer, received_at = %callback.received_at,
        attempts = callback.attempts, names = names.lines().next(), more = names.lines().count().saturating_sub(1), kept = !is_full,
        "callback could not be matched to a charge, payout, infraction or crypto deposit; manual review needed"
    );
    if is_full { CallbackState::Done } else { CallbackState::Unmatched }
}

/// If the item is the return of a payout, raises an alert: the acquirer does not confirm the return. Other items raise
/// no alert here.
fn alert_uncredited(callback: &Callback, item: &CallbackItem) {
    if let CallbackItem::PayoutReturn(CallbackReturn { end_to_end_id, return_id }) = item {
        tracing::error!(
            alert = alerts::PAYOUT_RETURN_UNCREDITED, callback = %callback.id, acquirer = %callback.acquirer, %end_to_end_id, %return_id,
            "return of a payout is not confirmed by its acquirer; `cais payout credit-return` credits it"
        );
    }
}

/// The items of one acquirer's callbacks, by kind. Each item has the index of its callback.
#[derive(Default)]
struct Named {
    received: Vec<(usize, CallbackPix)>,
    others: Vec<(usize, CallbackItem)>,
    infractions: usize,
    /// The indexes of the callbacks whose infractions are left to a later pass.
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
                CallbackItem::Sent(payout) => process_payout(ports, acquirer, &payout).await,
                CallbackItem::PayoutReturn(payout_return) => {
                    process_payout_return(ports, acquirer, &payout_return).await
                }
                CallbackItem::Infraction(infraction) => process_infraction(ports, acquirer, &infraction).await,
                CallbackItem::CryptoPayment(payment) => process_crypto_payment(ports, acquirer, &payment).await,
            };
            (place, verdict)
        };
        let is_overload = |(_, verdict): &Judged| {
            let Err(Unread::Payout(SyncError::Upstream(error)) | Unread::Upstream(error)) = verdict else {
                return false;
            };
            is_overload(error)
        };
        let others = ports.limits.run(acquirer, self.others, judge_item, is_overload);
        let (mut judged, others) = join(received_pix::judge(ports, acquirer, self.received), others).await;
        judged.extend(others);
        judged.extend(self.later.into_iter().map(|place| (place, Ok(Verdict::NotRead))));
        judged
    }
}

/// Returns the callback with the state, the attempts and the due time that follow from its verdict.
fn next(ports: &Ports, callback: Callback, verdict: Result<Verdict, Unread>) -> Callback {
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
    Callback { state, attempts, due_at, ..callback }
}

/// Stores the result of a callback. If `is_full`, an unmatched callback is only logged and is not kept for an operator.
/// Returns `true` if the callback needs no further attempt.
async fn store(ports: &Ports, mut callback: Callback, is_full: bool) -> Result<bool, CommitError> {
    if callback.state == CallbackState::Unmatched {
        callback.state = unmatched(&callback, is_full);
    }
    let is_finished = callback.state != CallbackState::Waiting;
    let mut change = ChangeSet::new(ports.clock.now());
    change.writes.push(Write::update(callback));
    match ports.store.commit(change).await {
        Ok(_) => Ok(is_finished),
        // Another node processed the same callback, or the acquirer sent it again. Neither is a failure: each effect
        // happens only once.
        Err(CommitError::Stale) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Processes an item about a payout: applies the acquirer's record of the payout, and checks the returns that the item
/// names.
async fn process_payout(ports: &Ports, acquirer: &AcquirerName, item: &CallbackPayout) -> Result<Verdict, Unread> {
    let payout = ports.queries.find_payout_by_instruction_id(&item.instruction_id).await.map_err(StoreError::from)?;
    let Some(payout) = payout else { return Ok(Verdict::Unmatched) };
    if payout.state.acquirer() != acquirer || payout.state.status() == PayoutStatus::Abandoned {
        tracing::error!(payout = %payout.id, %acquirer, "callback is about a payout that this acquirer cannot have; the item is unmatched");
        return Ok(Verdict::Unmatched);
    }
    let seen = payouts::sync::refresh_seen(ports, payout, READ_BUDGET).await?;
    let mut verdict = Verdict::Applied;
    for return_id in &item.returns {
        verdict = verdict.max(return_verdict(ports, &seen, return_id).await?);
    }
    Ok(verdict)
}

/// Processes an item about the return of a payout. The return is read by its own id, because the acquirer does not show
/// it with the payout. A stored payout may still lack the end-to-end id of its Pix, so an unknown Pix is looked up
/// again later.
async fn process_payout_return(
    ports: &Ports,
    acquirer: &AcquirerName,
    item: &CallbackReturn,
) -> Result<Verdict, Unread> {
    let payout = ports.queries.find_payout_by_pix(&item.end_to_end_id).await.map_err(StoreError::from)?;
    let Some(payout) = payout.filter(|payout| payout.state.acquirer() == acquirer) else {
        return Ok(Verdict::NotShown);
    };
    let seen = payouts::sync::refresh_with_return(ports, payout, &item.return_id, READ_BUDGET).await?;
    Ok(return_verdict(ports, &seen, &item.return_id).await?)
}

/// Processes an item about a payment of coins at a crypto processor.
async fn process_crypto_payment(
    ports: &Ports,
    processor: &AcquirerName,
    payment: &ProcessorId,
) -> Result<Verdict, Unread> {
    Ok(match crypto::deposits::callback::process(ports, processor, payment, READ_BUDGET).await? {
        Processed::Applied => Verdict::Applied,
        Processed::InCreation => Verdict::NotShown,
        Processed::Unmatched => Verdict::Unmatched,
    })
}

/// Processes an item about an infraction that was opened or changed. The record is read from the acquirer's list. The
/// list may not show the change yet.
async fn process_infraction(
    ports: &Ports,
    acquirer: &AcquirerName,
    item: &CallbackInfraction,
) -> Result<Verdict, Unread> {
    let applied = infractions::sync::find(ports, acquirer, &item.id).await.map_err(Unread::Infraction)?;
    Ok(match applied {
        Some(Applied::Stands { .. }) => Verdict::Applied,
        // After an accepted dispute, the infraction can stay open for up to a day, until the acquirer returns the
        // money. The poll reads the infraction every minute until then, so the callback is done.
        Some(Applied::Deferred) if is_open(ports, acquirer, &item.id).await? => Verdict::Applied,
        None | Some(Applied::Deferred) => Verdict::NotShown,
        Some(Applied::UnknownPix | Applied::Rejected) => Verdict::Unmatched,
    })
}

/// Returns whether the acquirer's infraction `id` is stored and open. Each reopening at the acquirer is stored as a
/// further infraction with the same `id`, so one open infraction among them is enough.
async fn is_open(ports: &Ports, acquirer: &AcquirerName, id: &str) -> Result<bool, StoreError> {
    let first = ReservationKey::Infraction(format!("{acquirer}/{id}"));
    let Some(owner) = ports.queries.find_owner(&first).await? else { return Ok(false) };
    let owner = InfractionId::parse(&owner).map_err(|error| StoreError::Internal(format!("{owner}: {error}")))?;
    let Some(first) = ports.queries.find_infraction_of_any(owner).await? else { return Ok(false) };
    let all = ports.queries.list_infractions_of_pix(first.account, &first.end_to_end_id).await?;
    let mut named = all.iter().filter(|other| other.acquirer == *acquirer && other.upstream_id == id);
    Ok(named.any(|other| other.state.status().is_open()))
}

/// Returns the verdict on the return of a payout. The callback may come before the acquirer's record, so the verdict is
/// `Applied` only if the return is credited.
async fn return_verdict(ports: &Ports, seen: &Seen, return_id: &ReturnId) -> Result<Verdict, StoreError> {
    if seen.refused.contains(return_id) {
        return Ok(Verdict::Unmatched);
    }
    let credited = ports.queries.find_owner(&ReservationKey::ReturnId(return_id.clone())).await?;
    if credited.is_none() {
        tracing::warn!(payout = %seen.payout.id, %return_id, "acquirer does not show the return of its callback yet; the return is read again");
    }
    Ok(credited.map_or(Verdict::NotShown, |_| Verdict::Applied))
}

/// Returns the instant of the next attempt, if `attempts` were made. The first pause is 1 s. Each further pause is
/// twice as long, up to 5 minutes.
fn pause(now: Timestamp, attempts: u32) -> Timestamp {
    now.saturating_add(doubled(attempts.saturating_sub(1))).unwrap_or(Timestamp::MAX)
}
