//! Finds many rows in an acquirer's list. A page can contain hundreds of the rows.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::iter;
use std::ops::Range;

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{AcquirerError, ListRequest, UpstreamPage};
use jiff::{SignedDuration, Timestamp};

use super::{UpstreamLimits, is_overload};

/// The smallest number of expected rows for which a span of the list is read. Fewer rows are read one by one.
const MIN_EXPECTED_ROWS: usize = 8;
/// The number of expected rows after which a span ends: about the largest number of rows on a page. Further rows of the
/// span's last second still belong to it.
const FULL_SPAN: usize = 1_000;
/// A larger gap between two expected rows starts a new span, so that a span has few seconds without expected rows.
const MAX_GAP: SignedDuration = SignedDuration::from_secs(2);
/// The number of pages of a span that are always permitted, however few rows are expected.
const FIRST_PAGES: usize = 2;
/// A span may have one further page for each group of this many expected rows, rounded up. Without such a limit, a list
/// with many other rows would be read to its end. A page costs less than this number of single reads.
const EXPECTED_PER_PAGE: usize = 20;

/// A row that the list should contain.
#[derive(Debug, Clone)]
pub(crate) struct ExpectedRow<K> {
    /// The identifier of the row.
    pub key: K,
    /// The instant of the row in the list, as far as it is known. If the list has another instant, the row may not be
    /// found.
    pub at: Timestamp,
}

/// The rows that were found in the list, by identifier.
pub(crate) type Listed<K, R> = HashMap<K, R>;

/// A period of the list, with the rows that are expected in it.
#[derive(Debug)]
struct Span<K> {
    from: Timestamp,
    to: Timestamp,
    keys: HashSet<K>,
}

impl<K> Span<K> {
    /// Returns the largest number of pages of the span that may be read.
    fn max_pages(&self) -> u32 {
        let pages = self.keys.len().div_ceil(EXPECTED_PER_PAGE).saturating_add(FIRST_PAGES);
        u32::try_from(pages).unwrap_or(u32::MAX)
    }
}

/// The rows that were found on consecutive pages of a span.
struct Reading<'s, K, R> {
    span: &'s Span<K>,
    found: Listed<K, R>,
    /// The page after the last one that was read.
    next: Option<u32>,
    /// The number of pages of the span, if the acquirer reports it.
    pages: Option<u32>,
    error: Option<AcquirerError>,
}

impl<K, R> Reading<'_, K, R> {
    /// Returns the ranges of pages to read next. The ranges can be read concurrently; the pages of one range are read
    /// in order. If the number of pages is unknown, there is one range: each page shows whether another page follows.
    fn rest(&self) -> Vec<Range<u32>> {
        let Some(next) = self.next else { return Vec::new() };
        let limit = self.span.max_pages();
        match self.pages {
            Some(pages) => (next..pages.min(limit)).map(|page| page..page.saturating_add(1)).collect(),
            None => iter::once(next..limit).collect(),
        }
    }
}

/// Reads the spans of a list that should contain many rows of `expected`. The first page of each span is read first. If
/// the acquirer reports the number of pages, the other pages are read concurrently, and otherwise one after another.
///
/// A row that is missing in the result must be read individually. Reasons for a missing row:
/// - Fewer than [`MIN_EXPECTED_ROWS`] rows are expected in its span, or its instant is wrong.
/// - The list lags behind, contains too many other rows, or cannot be read.
pub(crate) async fn read_listed<K, R, F>(
    (limits, acquirer): (&UpstreamLimits, &AcquirerName),
    expected: Vec<ExpectedRow<K>>,
    page: impl Fn(ListRequest) -> F,
    key: impl Fn(&R) -> Option<K>,
) -> Listed<K, R>
where
    K: Eq + Hash + Clone,
    F: Future<Output = Result<UpstreamPage<R>, AcquirerError>>,
{
    let spans = spans(expected);
    let read = |(span, pages)| read_pages(span, pages, &page, &key);
    let failed = |reading: &Reading<'_, K, R>| reading.error.as_ref().is_some_and(is_overload);
    let first_pages: Vec<_> = spans.iter().map(|span| (span, 0..1)).collect();
    let mut readings = limits.run(acquirer, first_pages, read, failed).await;
    let rest: Vec<_> =
        readings.iter().flat_map(|first| first.rest().into_iter().map(|pages| (first.span, pages))).collect();
    readings.extend(limits.run(acquirer, rest, read, failed).await);
    if let Some(error) = readings.iter().find_map(|reading| reading.error.as_ref()) {
        tracing::warn!(%acquirer, %error, "acquirer's list could not be read; its rows are read one by one");
    }
    readings.into_iter().flat_map(|reading| reading.found).collect()
}

/// Groups the rows into spans. Only spans with at least [`MIN_EXPECTED_ROWS`] rows are returned.
fn spans<K: Eq + Hash>(mut expected: Vec<ExpectedRow<K>>) -> Vec<Span<K>> {
    expected.sort_by_key(|row| row.at);
    let mut spans: Vec<Span<K>> = Vec::new();
    for ExpectedRow { key, at } in expected {
        let open = spans.last_mut().filter(|span| {
            let fits = span.keys.len() < FULL_SPAN || at.as_second() == span.to.as_second();
            fits && at.duration_since(span.to) <= MAX_GAP
        });
        match open {
            Some(span) => {
                span.to = at;
                span.keys.insert(key);
            }
            None => spans.push(Span { from: at, to: at, keys: HashSet::from([key]) }),
        }
    }
    spans.retain(|span| span.keys.len() >= MIN_EXPECTED_ROWS);
    spans
}

/// Reads the pages of the range in order. Stops early when all rows of the span are found, or the list ends.
async fn read_pages<'s, K, R, F>(
    span: &'s Span<K>,
    pages: Range<u32>,
    page: &impl Fn(ListRequest) -> F,
    key: &impl Fn(&R) -> Option<K>,
) -> Reading<'s, K, R>
where
    K: Eq + Hash,
    F: Future<Output = Result<UpstreamPage<R>, AcquirerError>>,
{
    let mut reading = Reading { span, found: Listed::new(), next: Some(pages.start), pages: None, error: None };
    while let Some(number) = reading.next.filter(|number| pages.contains(number)) {
        let listed = match page(ListRequest { from: span.from, to: span.to, page: number }).await {
            Ok(listed) => listed,
            Err(error) => return Reading { next: None, error: Some(error), ..reading },
        };
        let rows = listed.rows.into_iter().filter_map(|row| Some((key(&row)?, row)));
        reading.found.extend(rows.filter(|(name, _)| span.keys.contains(name)));
        // The reading ends at a page that gives itself or an earlier page as the next page. Otherwise the loop would
        // never end.
        reading.next = listed.next.filter(|next| *next > number && reading.found.len() < span.keys.len());
        reading.pages = listed.pages;
    }
    reading
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::cell::{Cell, RefCell};

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_750_000_000_i64.saturating_add(second)).unwrap_or_default()
    }

    /// Returns each span as its first second, its last second and its number of rows. `seconds` contains each second
    /// with its number of expected rows.
    fn spans_of(seconds: &[(i64, usize)]) -> Vec<(i64, i64, usize)> {
        let mut key = 0_usize;
        let mut expected = Vec::new();
        for &(second, count) in seconds {
            for _ in 0..count {
                expected.push(ExpectedRow { key, at: at(second) });
                key = key.saturating_add(1);
            }
        }
        let since = |instant: Timestamp| instant.as_second().saturating_sub(at(0).as_second());
        spans(expected).iter().map(|span| (since(span.from), since(span.to), span.keys.len())).collect()
    }

    #[test]
    fn rows_close_in_time_share_a_span_and_lone_rows_have_none() {
        for (seconds, expected) in [
            (vec![], vec![]),
            (vec![(0, 7)], vec![]),
            (vec![(0, 8)], vec![(0, 0, 8)]),
            (vec![(0, 4), (2, 4)], vec![(0, 2, 8)]),
            (vec![(0, 8), (3, 8)], vec![(0, 0, 8), (3, 3, 8)]),
            (vec![(0, 8), (9_000, 1)], vec![(0, 0, 8)]),
            (vec![(0, 999), (1, 2), (2, 9)], vec![(0, 1, 1_001), (2, 2, 9)]),
            (vec![(0, 3_000)], vec![(0, 0, 3_000)]),
        ] {
            assert_eq!(spans_of(&seconds), expected, "{seconds:?}");
        }
    }

    /// A list with `rows` numbered rows. The list records the requested pages and the number of concurrent requests.
    struct Book {
        rows: u32,
        per_page: u32,
        reports_pages: bool,
        requested: RefCell<Vec<u32>>,
        in_flight: Cell<usize>,
        most_in_flight: Cell<usize>,
    }

    impl Book {
        fn of(rows: u32, per_page: u32, reports_pages: bool) -> Self {
            let (requested, in_flight, most_in_flight) = Default::default();
            Self { rows, per_page, reports_pages, requested, in_flight, most_in_flight }
        }

        async fn page(&self, request: ListRequest) -> Result<UpstreamPage<u32>, AcquirerError> {
            self.requested.borrow_mut().push(request.page);
            self.in_flight.set(self.in_flight.get() + 1);
            self.most_in_flight.set(self.most_in_flight.get().max(self.in_flight.get()));
            tokio::task::yield_now().await;
            self.in_flight.set(self.in_flight.get() - 1);
            let first = request.page.saturating_mul(self.per_page).min(self.rows);
            let end = first.saturating_add(self.per_page).min(self.rows);
            let next = (end < self.rows).then(|| request.page + 1);
            let pages = self.reports_pages.then(|| self.rows.div_ceil(self.per_page));
            Ok(UpstreamPage { pages, ..UpstreamPage::new((first..end).collect(), next) })
        }

        /// Reads the rows `expected`. Returns the number of rows that were found.
        async fn read(&self, expected: impl Iterator<Item = u32>) -> usize {
            let name = AcquirerName::parse("main").unwrap();
            let expected = expected.map(|key| ExpectedRow { key, at: at(0) }).collect();
            let limits = UpstreamLimits::default();
            read_listed((&limits, &name), expected, |request| self.page(request), |row| Some(*row)).await.len()
        }
    }

    #[tokio::test]
    async fn pages_of_a_known_number_are_read_concurrently() {
        // Columns: rows, rows per page, requests, concurrent requests.
        for (rows, per_page, requests, at_once) in [
            (100, 1_000, 1, 1),
            (3_000, 1_000, 3, 2),
            (3_000, 100, 30, 29),
            (10_000, 1_000, 10, 9),
            (5_000, 100, 50, 32),
        ] {
            let book = Book::of(rows, per_page, true);
            assert_eq!(book.read(0..rows).await, usize::try_from(rows).unwrap());
            let mut requested = book.requested.borrow().clone();
            requested.sort_unstable();
            assert_eq!(requested, (0..requests).collect::<Vec<_>>());
            assert_eq!(book.most_in_flight.get(), at_once, "{rows} rows of {per_page}");
        }
    }

    #[tokio::test]
    async fn pages_without_a_number_of_pages_are_read_in_order() {
        let book = Book::of(3_000, 100, false);
        assert_eq!(book.read(0..3_000).await, 3_000);
        assert_eq!(*book.requested.borrow(), (0..30).collect::<Vec<_>>());
        assert_eq!(book.most_in_flight.get(), 1);
    }

    #[tokio::test]
    async fn first_page_with_all_rows_costs_one_request() {
        let book = Book::of(10_000, 1_000, true);
        assert_eq!(book.read(0..500).await, 500);
        assert_eq!(*book.requested.borrow(), [0]);
    }

    #[tokio::test]
    async fn wanted_rows_on_the_last_page_of_a_busy_second_are_found() {
        let book = Book::of(10_000, 1_000, true);
        assert_eq!(book.read(9_800..10_000).await, 200);
        assert_eq!(book.requested.borrow().len(), 10);
    }

    #[tokio::test]
    async fn long_list_without_the_wanted_rows_costs_few_pages() {
        for reports_pages in [true, false] {
            let book = Book::of(1_000_000, 1_000, reports_pages);
            assert_eq!(book.read(2_000_000..2_000_008).await, 0);
            assert_eq!(*book.requested.borrow(), [0, 1, 2], "{reports_pages}");
        }
    }

    #[tokio::test]
    async fn pages_that_do_not_advance_are_read_once() {
        // Columns: the next page that each page gives, the pages that are read.
        for (next, requested) in [([0, 0], vec![0]), ([1, 1], vec![0, 1]), ([1, 0], vec![0, 1])] {
            let (reads, name) = (RefCell::new(Vec::new()), AcquirerName::parse("main").unwrap());
            let page = |request: ListRequest| {
                reads.borrow_mut().push(request.page);
                let next = next.get(usize::try_from(request.page).unwrap()).copied();
                async move { Ok(UpstreamPage::new(Vec::new(), next)) }
            };
            let expected = (0..500).map(|key| ExpectedRow { key, at: at(0) }).collect();
            let found = read_listed((&UpstreamLimits::default(), &name), expected, page, |row: &u32| Some(*row)).await;
            assert!(found.is_empty());
            assert_eq!(*reads.borrow(), requested, "{next:?}");
        }
    }

    #[tokio::test]
    async fn failed_page_leaves_the_rows_of_the_others() {
        let (book, name) = (Book::of(3_000, 1_000, true), AcquirerName::parse("main").unwrap());
        let page = |request: ListRequest| {
            let book = &book;
            async move {
                match request.page {
                    1 => Err(AcquirerError::OutcomeUnknown("the page could not be read".to_owned())),
                    _ => book.page(request).await,
                }
            }
        };
        let expected = (0..3_000).map(|key| ExpectedRow { key, at: at(0) }).collect();
        let listed = read_listed((&UpstreamLimits::default(), &name), expected, page, |row| Some(*row)).await;
        let missing: Vec<u32> = (0..3_000).filter(|row| !listed.contains_key(row)).collect();
        assert_eq!(missing, (1_000..2_000).collect::<Vec<_>>());
    }
}
