//! The common parts of lists: the bounds of a page, spans of time as ranges of ids, and unreadable rows. A work list is the list of the due
//! records of a worker.

use cais_domain::ids::{Id, IdKind};
use cais_ports::{Due, Page, PageRequest, Span, alerts};
use jiff::{SignedDuration, Timestamp};
use uuid::{Builder, Uuid};

use crate::error::Fault;

/// Pages have 1 to 200 rows.
const MAX_PAGE: u32 = 200;
/// The number of additional rows that a work list reads, as a replacement for invalid ones.
const SPARE: u32 = 32;
/// A text greater than every id: ids do not contain `~`, the greatest printable ASCII character.
const BEYOND: &str = "~";
/// The SQL of an entry's holder in the indexes of rare entries. No other index contains this expression, so a query with it reads one of
/// these indexes. Rare are all kinds of entries except `charge`, and the buckets `pending` and `blocked`.
pub(super) const RARE_HOLDER: &str = "holder || ''";
/// The largest assumed difference between the instant in an id and the instant in its row. An id is created a moment before or after the
/// row's instant, possibly by another node's clock.
const SLACK: SignedDuration = SignedDuration::from_mins(1);

pub(super) fn with_spare(limit: u32) -> i64 {
    i64::from(limit.saturating_add(SPARE))
}

/// Returns the records of a work list, at most `limit`. Invalid rows are logged and skipped, so that the work behind them is done.
///
/// Invalid rows stay at the head of their list until an operator repairs them. Up to `SPARE` invalid rows have no effect on the result.
/// With `limit + SPARE` invalid rows, the valid ones behind them would not be read.
pub(super) fn work<R, T>(
    rows: Vec<R>,
    limit: u32,
    name: impl Fn(&R) -> String,
    read: impl Fn(R) -> Result<T, Fault>,
) -> Vec<T> {
    let legible = rows.into_iter().filter_map(|row| {
        let row_name = name(&row);
        read(row)
            .inspect_err(|fault| tracing::error!(alert = alerts::RECORD_UNREADABLE, row = row_name, %fault, "row of due work cannot be read; it is skipped"))
            .ok()
    });
    legible.take(usize::try_from(limit).unwrap_or(usize::MAX)).collect()
}

/// Returns the rows of a work list: first the due rows, then rows whose due time is later than a correct clock can have written. Each part
/// is read along the index of `due_at`. `load` reads one part. Its parameters are the part's first and last due time, in microseconds,
/// and a limit.
pub(super) fn due<R>(
    due: Due,
    limit: u32,
    mut load: impl FnMut(i64, i64, i64) -> Result<Vec<R>, Fault>,
) -> Result<Vec<R>, Fault> {
    let most = with_spare(limit);
    let mut rows = load(i64::MIN, due.now().as_microsecond(), most)?;
    let left = most.saturating_sub(i64::try_from(rows.len()).unwrap_or(i64::MAX));
    if left > 0 {
        rows.extend(load(due.beyond().as_microsecond().saturating_add(1), i64::MAX, left)?);
    }
    Ok(rows)
}

/// Returns the request for the first page of any list.
#[cfg(test)]
pub(super) const fn first<I>() -> PageRequest<I> {
    PageRequest { limit: 50, starting_after: None }
}

pub(super) fn after<K: IdKind>(page: PageRequest<Id<K>>) -> String {
    page.starting_after.map_or_else(|| BEYOND.to_owned(), |id| id.to_string())
}

/// Returns the limit plus one. The additional row shows whether another page follows.
pub(super) fn one_more<I: Copy>(page: PageRequest<I>) -> i64 {
    i64::from(page.limit.clamp(1, MAX_PAGE)).saturating_add(1)
}

pub(super) fn cut<T, I: Copy>(mut rows: Vec<T>, page: PageRequest<I>) -> Page<T> {
    let limit = usize::try_from(page.limit.clamp(1, MAX_PAGE)).unwrap_or(usize::MAX);
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    Page { rows, has_more }
}

/// A span of time in two forms: a range of ids, and exact instants. Ids are ordered by the instant of their creation, so a query reads only
/// the rows of the range. An old page costs no more than the newest. The range is wider than the span by [`SLACK`] at both ends. Therefore
/// the query compares the instants too.
pub(super) struct Reach {
    /// The least id of the range.
    pub(super) least: String,
    /// The least id beyond the range.
    pub(super) below: String,
    /// The first instant of the span, in microseconds.
    pub(super) from: i64,
    /// The first instant after the span, in microseconds.
    pub(super) until: i64,
}

impl Reach {
    /// Returns the reach of a span. `after` is the last id of the previous page. Lists begin with the newest id, so the range ends before
    /// `after`.
    pub(super) fn new<K: IdKind>(span: Span, after: Option<Id<K>>) -> Self {
        let bound = |at: Timestamp| Id::<K>::new(first_uuid(at)).to_string();
        let least = span.from.map(|from| bound(from.saturating_sub(SLACK).unwrap_or(Timestamp::MIN)));
        let end = span.until.map(|until| bound(until.saturating_add(SLACK).unwrap_or(Timestamp::MAX)));
        let after = after.map(|id| id.to_string());
        let below = match (end, after) {
            (Some(end), Some(after)) => Some(end.min(after)),
            (end, after) => end.or(after),
        };
        Self {
            least: least.unwrap_or_default(),
            below: below.unwrap_or_else(|| BEYOND.to_owned()),
            from: span.from.map_or(i64::MIN, Timestamp::as_microsecond),
            until: span.until.map_or(i64::MAX, Timestamp::as_microsecond),
        }
    }
}

/// Returns the least UUID of version 7 with that instant.
fn first_uuid(at: Timestamp) -> Uuid {
    let at_ms = u64::try_from(at.as_millisecond()).unwrap_or_default();
    Builder::from_unix_timestamp_millis(at_ms, &[0; 10]).into_uuid()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use cais_domain::ids::ChargeId;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    fn id(at: Timestamp) -> ChargeId {
        ChargeId::new(first_uuid(at))
    }

    #[test]
    fn span_is_a_range_of_ids_with_a_minute_at_both_ends() {
        let span = Span { from: Some(at(1_000_000)), until: Some(at(2_000_000)) };
        let reach = Reach::new::<cais_domain::ids::kind::Charge>(span, None);
        assert_eq!(reach.least, id(at(999_940)).to_string());
        assert_eq!(reach.below, id(at(2_000_060)).to_string());
        assert_eq!((reach.from, reach.until), (1_000_000_000_000, 2_000_000_000_000));
    }

    #[test]
    fn previous_page_inside_span_ends_the_range() {
        let span = Span { from: None, until: Some(at(2_000_000)) };
        let (inside, outside) = (id(at(1_500_000)), id(at(3_000_000)));
        assert_eq!(Reach::new(span, Some(inside)).below, inside.to_string());
        assert_eq!(Reach::new(span, Some(outside)).below, id(at(2_000_060)).to_string());
        assert_eq!(Reach::new(Span::default(), Some(outside)).below, outside.to_string());
    }

    #[test]
    fn missing_span_includes_every_id() {
        let reach = Reach::new::<cais_domain::ids::kind::Charge>(Span::default(), None);
        let greatest = ChargeId::new(Uuid::from_u128(u128::MAX)).to_string();
        assert!(reach.least.as_str() <= "chg_" && reach.below > greatest);
        assert_eq!((reach.from, reach.until), (i64::MIN, i64::MAX));
        let all = Span { from: Some(Timestamp::MIN), until: Some(Timestamp::MAX) };
        let reach = Reach::new::<cais_domain::ids::kind::Charge>(all, None);
        assert!(reach.least < id(at(0)).to_string() || reach.least == id(at(0)).to_string());
        assert!(reach.below > id(at(1)).to_string());
    }
}
