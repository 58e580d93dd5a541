//! Finding many things in an acquirer's list: one page answers for hundreds of them.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{AcquirerError, ListRequest, UpstreamPage};
use jiff::{SignedDuration, Timestamp};

use super::{UpstreamLimits, is_overload};

/// Rows expected in a span of time before its list is read: below that, single reads cost less.
const WORTH_A_PAGE: usize = 8;
/// Rows expected in one span at most: as many as a page has.
const SPAN_OF: usize = 1_000;
/// The longest time without any of them within one span. Lists go by whole seconds.
const MAX_GAP: SignedDuration = SignedDuration::from_secs(2);
/// Pages of a span that are read whatever is found on them.
const FIRST_PAGES: usize = 2;
/// Further pages of a span: one for so many expected rows. The list may be long and have few of them.
const EXPECTED_PER_PAGE: usize = 100;

/// Something that the list should have.
#[derive(Debug, Clone)]
pub(crate) struct Wanted<K> {
    /// Its name.
    pub key: K,
    /// About when it happened. A hint: where it is wrong the list does not show it.
    pub at: Timestamp,
}

/// The rows that the list showed, by name.
pub(crate) type Listed<K, R> = HashMap<K, R>;

/// A part of the list.
#[derive(Debug)]
struct Span<K> {
    from: Timestamp,
    to: Timestamp,
    keys: HashSet<K>,
}

/// Reads the parts of a list that show many of `wanted`. Whatever is missing in the result has to be read by itself: the hint was
/// wrong, the list is behind, or it cannot be read.
pub(crate) async fn read_listed<K, R, F>(
    (limits, acquirer): (&UpstreamLimits, &AcquirerName),
    wanted: Vec<Wanted<K>>,
    page: impl Fn(ListRequest) -> F,
    key: impl Fn(&R) -> Option<K>,
) -> Listed<K, R>
where
    K: Eq + Hash + Clone,
    F: Future<Output = Result<UpstreamPage<R>, AcquirerError>>,
{
    let read = |span| read_span(span, &page, &key);
    let spans = limits.run(acquirer, spans(wanted), read, |(_, error)| error.as_ref().is_some_and(is_overload)).await;
    let mut listed = Listed::new();
    for (rows, error) in spans {
        if let Some(error) = error {
            tracing::warn!(%acquirer, %error, "a list of the acquirer could not be read; its rows are read one by one");
        }
        listed.extend(rows);
    }
    listed
}

/// Spans that are worth a page.
fn spans<K: Eq + Hash>(mut wanted: Vec<Wanted<K>>) -> Vec<Span<K>> {
    wanted.sort_by_key(|wanted| wanted.at);
    let mut spans: Vec<Span<K>> = Vec::new();
    for Wanted { key, at } in wanted {
        let open = spans.last_mut().filter(|span| {
            let fits = span.keys.len() < SPAN_OF || at.as_second() == span.to.as_second();
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
    spans.retain(|span| span.keys.len() >= WORTH_A_PAGE);
    spans
}

/// Reads pages until everything is found, the list ends, or it shows too little.
async fn read_span<K, R, F>(
    span: Span<K>,
    page: &impl Fn(ListRequest) -> F,
    key: &impl Fn(&R) -> Option<K>,
) -> (Vec<(K, R)>, Option<AcquirerError>)
where
    K: Eq + Hash + Clone,
    F: Future<Output = Result<UpstreamPage<R>, AcquirerError>>,
{
    let Span { from, to, mut keys } = span;
    let pages = keys.len().div_ceil(EXPECTED_PER_PAGE).saturating_add(FIRST_PAGES);
    let (mut found, mut next) = (Vec::new(), Some(0));
    for _ in 0..pages {
        let Some(number) = next else { break };
        let listed = match page(ListRequest { from, to, page: number }).await {
            Ok(listed) => listed,
            Err(error) => return (found, Some(error)),
        };
        for row in listed.rows {
            if let Some(name) = key(&row)
                && keys.remove(&name)
            {
                found.push((name, row));
            }
        }
        next = if keys.is_empty() { None } else { listed.next };
    }
    (found, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_750_000_000_i64.saturating_add(second)).unwrap_or_default()
    }

    /// How many are wanted at each second.
    fn spans_of(seconds: &[(i64, usize)]) -> Vec<(i64, i64, usize)> {
        let mut key = 0_usize;
        let mut wanted = Vec::new();
        for &(second, count) in seconds {
            for _ in 0..count {
                wanted.push(Wanted { key, at: at(second) });
                key = key.saturating_add(1);
            }
        }
        let since = |instant: Timestamp| instant.as_second().saturating_sub(at(0).as_second());
        spans(wanted).iter().map(|span| (since(span.from), since(span.to), span.keys.len())).collect()
    }

    #[test]
    fn spans_cover_what_is_near_and_leave_out_what_is_alone() {
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

    #[tokio::test]
    async fn a_long_list_without_the_wanted_rows_costs_few_pages() {
        let asked = std::cell::Cell::new(0_u32);
        let page = |request: ListRequest| {
            asked.set(asked.get().saturating_add(1));
            async move { Ok(UpstreamPage::new(vec!["other"; 1_000], Some(request.page.saturating_add(1)))) }
        };
        let span = Span { from: at(0), to: at(1), keys: (0..8).map(|_| "wanted").collect() };
        let (found, error) = read_span(span, &page, &|row: &&str| Some(*row)).await;
        assert_eq!((found.len(), error, asked.get()), (0, None, 3));
    }
}
