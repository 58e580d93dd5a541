//! Reading what acquirers tell of infractions, and making ours agree with it.

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{Acquirer, CommitError, PollPosition, UpstreamInfraction, Write};
use cais_ports::{ChangeSet, UpstreamPage};
use futures_util::{StreamExt as _, stream};
use jiff::{SignedDuration, Timestamp};

use super::look::{FARTHEST, WIDEST, back, list};
use super::sync::{Applied, SyncError, apply};
use crate::ports::Ports;
use crate::trouble::Trouble;
use crate::work::{AT_ONCE, Pass, WorkError};

/// How long one page may take.
const PAGE_BUDGET: std::time::Duration = std::time::Duration::from_secs(30);
/// How many pages of one acquirer's list are read in one pass.
const MAX_PAGES: u32 = 10_000;
/// How far before its position a list is read again: rows may be shown late, or change.
const OVERLAP: SignedDuration = SignedDuration::from_hours(24);
/// How long before the beginning of the oldest open one a list is read, so that its end is seen.
const BEFORE_OPEN: SignedDuration = SignedDuration::from_hours(1);
/// The longest span of one pass: an infraction that is open for a year is an operator's.
const LONGEST: SignedDuration = SignedDuration::from_hours(365 * 24);
/// How often everything that can still change is read, so that what was reopened is seen: at each full hour.
const SECONDS_BETWEEN_WIDE: i64 = 3_600;
/// For how long after its beginning the Pix of an infraction is waited for, before its row no longer keeps the position back.
const WAITS_FOR_PIX: SignedDuration = SignedDuration::from_hours(8 * 24);

/// What a pass did with one acquirer's list.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    /// How many infractions of ours changed.
    changed: usize,
    /// Whether a row has to be read again.
    unfinished: bool,
}

impl Tally {
    const fn and(self, other: Self) -> Self {
        Self { changed: self.changed.saturating_add(other.changed), unfinished: self.unfinished || other.unfinished }
    }
}

/// Reads the list of every acquirer that tells of infractions, as far back as something may have changed.
///
/// # Errors
/// None: trouble with one acquirer or one infraction is logged and does not stop the others.
pub async fn run_once(ports: &Ports) -> Result<Pass, WorkError> {
    let mut done = 0_usize;
    for name in ports.acquirers.names() {
        let Some(acquirer) = ports.acquirers.named(&name).filter(|acquirer| acquirer.tells_infractions()) else {
            continue;
        };
        match read(ports, &name, &*acquirer).await {
            Ok(changed) => done = done.saturating_add(changed),
            Err(error) => {
                tracing::warn!(acquirer = %name, %error, "an acquirer's infractions could not be read; it is tried again");
            }
        }
    }
    Ok(Pass { done, more: false })
}

/// How many of ours changed.
async fn read(ports: &Ports, name: &AcquirerName, acquirer: &dyn Acquirer) -> Result<usize, SyncError> {
    let now = ports.clock.now();
    let position = ports.queries.find_position(name).await.map_err(Trouble::from)?;
    let from = begins_at(ports, name, position.as_ref(), now).await?;
    let mut tally = Tally::default();
    let mut pages = MAX_PAGES;
    for span in spans(from, now) {
        let mut page = Some(0);
        while let Some(number) = page {
            if pages == 0 {
                tracing::error!(acquirer = %name, "an acquirer's list of infractions has too many pages: the rest was not read");
                return Ok(tally.changed);
            }
            pages = pages.saturating_sub(1);
            let UpstreamPage { rows, next } = list(acquirer, span, number, PAGE_BUDGET).await?;
            tally = tally.and(apply_all(ports, name, rows).await);
            page = next;
        }
    }
    if !tally.unfinished {
        move_on(ports, name, position, now).await?;
    }
    Ok(tally.changed)
}

/// From when on the list is read.
async fn begins_at(
    ports: &Ports,
    name: &AcquirerName,
    position: Option<&PollPosition>,
    now: Timestamp,
) -> Result<Timestamp, Trouble> {
    let widest = back(now, FARTHEST);
    let Some(position) = position else { return Ok(widest) };
    let hour = |at: Timestamp| at.as_second().div_euclid(SECONDS_BETWEEN_WIDE);
    let mut from = back(position.seen_until, OVERLAP);
    if hour(position.seen_until) != hour(now) {
        from = from.min(widest);
    }
    let open = ports.queries.list_open_infractions(name, None, 1).await?;
    if let Some(oldest) = open.first() {
        from = from.min(back(oldest.opened_at, BEFORE_OPEN));
    }
    Ok(from.max(back(now, LONGEST)))
}

/// The span in pieces that an acquirer answers, the oldest first.
fn spans(from: Timestamp, now: Timestamp) -> Vec<(Timestamp, Timestamp)> {
    let (mut spans, mut begin) = (Vec::new(), from);
    while begin < now {
        let end = begin.saturating_add(WIDEST).unwrap_or(now).min(now);
        spans.push((begin, end));
        begin = end;
    }
    spans
}

async fn apply_all(ports: &Ports, name: &AcquirerName, rows: Vec<UpstreamInfraction>) -> Tally {
    stream::iter(rows)
        .map(|row| apply_one(ports, name, row))
        .buffer_unordered(AT_ONCE)
        .fold(Tally::default(), |sum, one| async move { sum.and(one) })
        .await
}

async fn apply_one(ports: &Ports, name: &AcquirerName, row: UpstreamInfraction) -> Tally {
    let (id, opened_at) = (row.id.clone(), row.opened_at);
    match apply(ports, name, row).await {
        Ok(Applied::Stands { changed, .. }) => Tally { changed: usize::from(changed), unfinished: false },
        Ok(Applied::NotYet) => {
            let waits = ports.clock.now().duration_since(opened_at) < WAITS_FOR_PIX;
            Tally { changed: 0, unfinished: waits }
        }
        Ok(Applied::NotOurs | Applied::NotBelieved) => Tally::default(),
        Err(error) => {
            tracing::warn!(acquirer = %name, upstream = id, %error, "an infraction could not be followed; it is read again");
            Tally { changed: 0, unfinished: true }
        }
    }
}

/// Everything that began before `now` was seen.
async fn move_on(
    ports: &Ports,
    name: &AcquirerName,
    position: Option<PollPosition>,
    now: Timestamp,
) -> Result<(), Trouble> {
    let mut change = ChangeSet::new(now);
    change.writes.push(match position {
        None => {
            let first = PollPosition { acquirer: name.clone(), seen_until: now, version: 0 };
            Write::InsertPosition(Box::new(first))
        }
        Some(position) if position.seen_until < now => {
            Write::UpdatePosition(Box::new(PollPosition { seen_until: now, ..position }))
        }
        Some(_) => return Ok(()),
    });
    match ports.store.commit(change).await {
        // Another node has read as far.
        Ok(_) | Err(CommitError::Stale) => Ok(()),
        Err(CommitError::Corrupt(reason)) => {
            let stored = ports.queries.find_position(name).await?;
            // Another node made the first position at the same time.
            if stored.is_some() { Ok(()) } else { Err(Trouble::Internal(reason)) }
        }
        Err(error) => Err(error.into()),
    }
}
