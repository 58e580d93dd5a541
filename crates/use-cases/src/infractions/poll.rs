//! Reads the acquirers' lists of infractions and updates the stored infractions.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::ids::InfractionId;
use cais_ports::{Acquirer, PollPosition, UpstreamInfraction, UpstreamList, UpstreamPage, alerts};
use futures_util::{StreamExt as _, stream};
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use super::fetch::{BACKGROUND_DEADLINE, MAX_REQUEST_SPAN, MAX_SEARCH_AGE, earlier, fetch_upstream, list};
use super::poll_window;
use super::sync::{Applied, apply};
use crate::ports::Ports;
use crate::positions;
use crate::store_error::StoreError;
use crate::work::{AT_ONCE, PASS_LIMIT, Pass, WorkError};

/// The time for one page.
const PAGE_BUDGET: std::time::Duration = std::time::Duration::from_secs(30);
/// The largest number of pages of one list in one pass.
const MAX_PAGES: u32 = 10_000;
/// The stored position of a list is the instant until which the list was read. Each read begins this time before the
/// position, because rows can appear late and listed rows can change.
const OVERLAP: SignedDuration = SignedDuration::from_hours(24);
/// A list is read from this time before the start of the oldest open infraction, so that the end of that infraction is
/// found.
const BEFORE_OPEN: SignedDuration = SignedDuration::from_hours(1);
/// A row whose Pix is not credited yet prevents the position from advancing, until this time has passed since the
/// infraction's start.
const MAX_WAIT_FOR_PIX: SignedDuration = SignedDuration::from_hours(8 * 24);

/// The result of one pass over one acquirer's list.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    /// The number of stored infractions that changed.
    changed: usize,
    /// `true` if a row must be read again.
    unfinished: bool,
}

impl Tally {
    const fn and(self, other: Self) -> Self {
        Self { changed: self.changed.saturating_add(other.changed), unfinished: self.unfinished || other.unfinished }
    }
}

/// Reads the list of every acquirer that reports infractions. A read begins one day before the stored position, or one
/// hour before the start of the oldest open infraction if that is earlier. Once an hour, the read is wide: it covers
/// the rows of 90 days, so that reopened infractions are found.
///
/// # Errors
/// None: a failure of one acquirer or one infraction is logged and does not stop the others.
pub async fn run_once(ports: &Ports) -> Result<Pass, WorkError> {
    let mut done = 0_usize;
    for name in ports.acquirers.names() {
        let Some(acquirer) = ports.acquirers.named(&name).filter(|acquirer| acquirer.reports_infractions()) else {
            continue;
        };
        match read(ports, &name, &*acquirer).await {
            Ok(changed) => done = done.saturating_add(changed),
            Err(error) => {
                tracing::warn!(acquirer = %name, %error, "acquirer's infractions could not be updated; the next run tries again");
            }
        }
    }
    Ok(Pass { done, more: false })
}

/// Reads one acquirer's list. Returns the number of stored infractions that changed.
async fn read(ports: &Ports, name: &AcquirerName, acquirer: &dyn Acquirer) -> Result<usize, StoreError> {
    let now = ports.clock.now();
    let position = ports.queries.find_position(name, UpstreamList::Infractions).await?;
    let wide = is_wide(ports, name, position.as_ref(), now);
    let from = begins_at(ports, name, position.as_ref(), wide, now).await?;
    let (mut tally, mut unread) = (Tally::default(), false);
    let mut pages = MAX_PAGES;
    for span in spans(from, now) {
        let (seen, whole) = read_span(ports, (name, acquirer), span, &mut pages).await;
        tally = tally.and(seen);
        unread |= !whole;
    }
    if wide {
        // Without a stored position, the wide read is repeated until it succeeds, because no earlier read was complete.
        if position.is_some() || !unread {
            poll_window::record_read(ports, name, now);
        }
        tally = tally.and(fetch_older(ports, name, acquirer, now).await?);
    }
    if !tally.unfinished && !unread && (wide || position.is_some()) {
        match position {
            None => drop(positions::first(ports, name, UpstreamList::Infractions, now).await?),
            Some(position) if position.seen_until < now => drop(positions::move_to(ports, position, now).await?),
            Some(_) => {}
        }
    }
    Ok(tally.changed)
}

/// Applies the infractions that started in a span. The second value is `true` if all rows were read.
async fn read_span(
    ports: &Ports,
    (name, acquirer): (&AcquirerName, &dyn Acquirer),
    span: (Timestamp, Timestamp),
    pages: &mut u32,
) -> (Tally, bool) {
    let mut tally = Tally::default();
    let mut page = Some(0);
    while let Some(number) = page {
        if *pages == 0 {
            tracing::error!(alert = alerts::INFRACTION_LIST_INCOMPLETE, acquirer = %name, "acquirer's list of infractions has too many pages; the further pages are not read");
            return (tally, false);
        }
        *pages = pages.saturating_sub(1);
        match list(acquirer, span, number, PAGE_BUDGET).await {
            Ok(UpstreamPage { rows, next, .. }) => {
                tally = tally.and(apply_all(ports, name, rows).await);
                page = next;
            }
            Err(error) => {
                let (from, to) = span;
                tracing::warn!(acquirer = %name, %from, %to, %error, "acquirer's list of infractions could not be read; the next run tries again");
                return (tally, false);
            }
        }
    }
    (tally, true)
}

/// Returns whether the next read is wide. A wide read covers all rows that can still change.
fn is_wide(ports: &Ports, name: &AcquirerName, position: Option<&PollPosition>, now: Timestamp) -> bool {
    let due = position.is_none_or(|position| poll_window::hour(position.seen_until) != poll_window::hour(now));
    due && !poll_window::was_read(ports, name, now)
}

/// Returns the start of the span that is read.
async fn begins_at(
    ports: &Ports,
    name: &AcquirerName,
    position: Option<&PollPosition>,
    wide: bool,
    now: Timestamp,
) -> Result<Timestamp, StoreError> {
    let farthest = earlier(now, MAX_SEARCH_AGE);
    if wide {
        return Ok(farthest);
    }
    let from = earlier(position.map_or(now, |position| position.seen_until), OVERLAP);
    // Open infractions that started before `farthest` are searched for by id.
    let after = Some((farthest, InfractionId::new(Uuid::nil())));
    let open = ports.queries.list_open_infractions(name, after, 1).await?;
    let oldest = open.first().map_or(from, |oldest| earlier(oldest.opened_at, BEFORE_OPEN));
    Ok(from.min(oldest).max(farthest))
}

/// Searches for the open infractions that started before the list's span. Each search begins with the time around the
/// infraction's start.
async fn fetch_older(
    ports: &Ports,
    name: &AcquirerName,
    acquirer: &dyn Acquirer,
    now: Timestamp,
) -> Result<Tally, StoreError> {
    let farthest = earlier(now, MAX_SEARCH_AGE);
    let open = ports.queries.list_open_infractions(name, None, PASS_LIMIT).await?;
    let mut tally = Tally::default();
    for ours in open.into_iter().take_while(|ours| ours.opened_at < farthest) {
        match fetch_upstream(acquirer, &ours.upstream_id, Some(ours.opened_at), now, BACKGROUND_DEADLINE).await {
            // The result does not affect the position, because each search is repeated after an hour.
            Ok(Some(upstream)) => {
                tally.changed = tally.changed.saturating_add(apply_one(ports, name, upstream).await.changed);
            }
            Ok(None) => {
                tracing::warn!(alert = alerts::INFRACTION_NOT_SHOWN, infraction = %ours.id, acquirer = %name, "old open infraction not listed by its acquirer; the infraction's money stays blocked");
            }
            Err(error) => {
                tracing::warn!(infraction = %ours.id, acquirer = %name, %error, "old open infraction could not be read at its acquirer; the next hourly read tries again");
            }
        }
    }
    Ok(tally)
}

/// Splits the span into parts that an acquirer accepts. The newest part comes first, so that failures on old rows do
/// not delay new rows.
fn spans(from: Timestamp, now: Timestamp) -> Vec<(Timestamp, Timestamp)> {
    let (mut spans, mut end) = (Vec::new(), now);
    while from < end {
        let begin = earlier(end, MAX_REQUEST_SPAN).max(from);
        spans.push((begin, end));
        end = begin;
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
        Ok(Applied::Deferred) => {
            let waits = ports.clock.now().duration_since(opened_at) < MAX_WAIT_FOR_PIX;
            Tally { changed: 0, unfinished: waits }
        }
        Ok(Applied::UnknownPix | Applied::Rejected) => Tally::default(),
        Err(error) => {
            tracing::warn!(acquirer = %name, upstream = id, %error, "infraction could not be updated from its acquirer's record; the record is read again");
            Tally { changed: 0, unfinished: true }
        }
    }
}
