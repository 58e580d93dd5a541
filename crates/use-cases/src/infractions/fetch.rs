//! Finds one infraction in its acquirer's list. Acquirers offer no read by id.

use std::time::Duration;

use cais_ports::{Acquirer, AcquirerError, ListRequest, UpstreamInfraction, UpstreamPage, alerts};
use jiff::{SignedDuration, Timestamp};

/// If the infraction's start is known, the first search covers this time before and after it.
const SEARCH_AROUND_START: SignedDuration = SignedDuration::from_hours(1);
/// The next search covers this time before now. If the start is unknown, this search is the first.
const RECENT_SEARCH: SignedDuration = SignedDuration::from_hours(24);
/// The longest span of one request. Acquirers refuse longer spans.
pub(super) const MAX_REQUEST_SPAN: SignedDuration = SignedDuration::from_hours(30 * 24);
/// All searches together reach back this far from now. A Pix can be disputed for 80 days, and some acquirers report the
/// dispute later.
pub(super) const MAX_SEARCH_AGE: SignedDuration = SignedDuration::from_hours(90 * 24);

/// The limits of one search for an infraction.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadDeadline {
    /// The time for each page.
    pub budget: Duration,
    /// The largest number of pages.
    pub pages: u32,
}

/// The limits while a caller waits. This service answers a POST within 10 s, and the request that sends the defense may
/// use 5 s of them.
pub(super) const REQUEST_DEADLINE: ReadDeadline = ReadDeadline { budget: Duration::from_secs(1), pages: 3 };
/// The limits of a worker.
pub(super) const BACKGROUND_DEADLINE: ReadDeadline = ReadDeadline { budget: Duration::from_secs(10), pages: 300 };

/// Returns the infraction with this id as the acquirer shows it now. Returns `None` if no searched part of the list
/// contains the infraction.
///
/// `opened_at` is the start of the infraction, if known.
pub(super) async fn fetch_upstream(
    acquirer: &dyn Acquirer,
    id: &str,
    opened_at: Option<Timestamp>,
    now: Timestamp,
    deadline: ReadDeadline,
) -> Result<Option<UpstreamInfraction>, AcquirerError> {
    let mut pages = deadline.pages;
    for (from, to) in spans(opened_at, now) {
        let mut page = Some(0);
        while let Some(number) = page {
            if pages == 0 {
                return Err(AcquirerError::OutcomeUnknown("the list has too many pages to search".to_owned()));
            }
            pages = pages.saturating_sub(1);
            let listed = list(acquirer, (from, to), number, deadline.budget).await?;
            if let Some(found) = listed.rows.into_iter().find(|row| row.id == id) {
                return Ok(Some(found));
            }
            page = listed.next;
        }
    }
    Ok(None)
}

/// Reads one page of the infractions that started in a span.
pub(super) async fn list(
    acquirer: &dyn Acquirer,
    (from, to): (Timestamp, Timestamp),
    page: u32,
    budget: Duration,
) -> Result<UpstreamPage<UpstreamInfraction>, AcquirerError> {
    let listed = acquirer.list_infractions(ListRequest { from, to, page }, budget).await?;
    if let Some(row) = listed.unreadable.first() {
        let (acquirer, count) = (acquirer.name(), listed.unreadable.len());
        tracing::error!(alert = alerts::INFRACTION_LIST_INCOMPLETE, %acquirer, count, name = row.name, reason = row.reason, "rows of a list of infractions cannot be read; the rows are skipped");
    }
    match listed.next {
        Some(next) if next <= page => {
            Err(AcquirerError::OutcomeUnknown(format!("page {page} names page {next} as the next page")))
        }
        Some(_) | None => Ok(listed),
    }
}

/// Returns the spans to search. The likeliest span comes first.
fn spans(opened_at: Option<Timestamp>, now: Timestamp) -> Vec<(Timestamp, Timestamp)> {
    let lately = earlier(now, RECENT_SEARCH);
    let mut spans = match opened_at {
        Some(opened_at) => {
            vec![(earlier(opened_at, SEARCH_AROUND_START), later(opened_at, SEARCH_AROUND_START).min(now))]
        }
        None => Vec::new(),
    };
    spans.push((lately, now));
    let mut until = lately;
    let farthest = earlier(now, MAX_SEARCH_AGE);
    while until > farthest {
        let from = earlier(until, MAX_REQUEST_SPAN).max(farthest);
        spans.push((from, until));
        until = from;
    }
    spans.retain(|(from, to)| from < to);
    spans
}

pub(super) fn earlier(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.saturating_sub(by).unwrap_or(Timestamp::MIN)
}

pub(super) fn later(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.saturating_add(by).unwrap_or(Timestamp::MAX)
}
