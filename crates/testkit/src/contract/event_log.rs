//! Events as consumers read them: the published bytes, in the requested order, without gaps.

use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::ids::{AccountId, EventId};
use cais_ports::{EventFilter, EventPage, NewEvent, Page, StoredEvent};

use super::Harness;
use super::harness::{after_s, commit_concurrently, walk_events};
use crate::builders::{an_event, fresh, start, steps};

/// The longest time until the reader has read all events of a round.
const DEADLINE: Duration = Duration::from_mins(1);
/// The types of the events of these tests, in turn.
const KINDS: [EventType; 3] = [EventType::ChargePaid, EventType::PayoutFailed, EventType::InfractionOpened];

/// Event data is read back with the same bytes and the assigned sequence number.
pub async fn event_data_is_read_back_byte_for_byte(h: &mut Harness) {
    let account = h.account().await.id;
    let data = ["{}", "{\"a\":\"\u{1F980} \\u0000 \\\\ '\"}", "{ \"b\" : [1.50, null] }"].map(str::to_owned);
    let long = format!("{{\"text\":\"{}\"}}", "漢".repeat(30_000));
    let mut events = Vec::new();
    for (data, kind) in data.into_iter().chain([long]).zip(EventType::ALL) {
        let event = NewEvent { data: data.into_bytes(), at: after_s(1), ..an_event(account, kind, "chg_1") };
        events.push(event);
    }
    h.commit_ok(steps::publish(events.clone())).await;
    for (sequence, event) in (1..).zip(events) {
        assert_eq!(h.store.find_event(account, event.id).await.unwrap(), Some(stored(&event, sequence)));
    }
}

/// The list is newest first, or oldest first after a sequence number. The pages contain each event once.
pub async fn events_are_listed_in_both_directions(h: &mut Harness) {
    let (account, other) = (h.account().await.id, h.account().await.id);
    let written = fill(h, account, 13).await;
    fill(h, other, 5).await;
    for limit in [1, 3, 12, 13, 14, 200] {
        let newest_first = walk_events(&*h.store, account, EventFilter::default(), limit).await;
        assert!(newest_first.iter().eq(written.iter().rev()), "limit {limit}");
        for after in [0, 1, 6, 12, 13, 14, i64::MAX] {
            let filter = EventFilter { kind: None, after_sequence: Some(after) };
            let following = walk_events(&*h.store, account, filter, limit).await;
            let expected = written.iter().filter(|event| event.sequence > after);
            assert!(following.iter().eq(expected), "after {after}, limit {limit}");
        }
    }
}

/// The filter by type works in both directions, and together with `after_sequence`.
pub async fn events_of_one_type_are_listed(h: &mut Harness) {
    let account = h.account().await.id;
    let written = fill(h, account, 13).await;
    for kind in KINDS.into_iter().chain([EventType::RefundFailed]) {
        for after in [None, Some(0), Some(4), Some(13)] {
            let filter = EventFilter { kind: Some(kind), after_sequence: after };
            let wanted = |event: &&StoredEvent| event.kind == kind && after.is_none_or(|after| event.sequence > after);
            let mut expected: Vec<&StoredEvent> = written.iter().filter(wanted).collect();
            if after.is_none() {
                expected.reverse();
            }
            for limit in [1, 2, 200] {
                let listed = walk_events(&*h.store, account, filter, limit).await;
                assert!(listed.iter().eq(expected.iter().copied()), "{filter:?}, limit {limit}: {listed:?}");
            }
        }
    }
}

/// The list has only the events of that resource and account, oldest first, up to the limit.
pub async fn events_of_one_resource_are_listed(h: &mut Harness) {
    let (account, other) = (h.account().await.id, h.account().await.id);
    let mut written = Vec::new();
    for (owner, resource) in [(account, "chg_1"), (account, "chg_10"), (other, "chg_1"), (account, "chg_1")] {
        let event = an_event(owner, EventType::ChargePaid, resource);
        let committed = h.commit_ok(steps::publish(vec![event.clone()])).await;
        if (owner, resource) == (account, "chg_1") {
            written.push(stored(&event, *committed.sequences.first().unwrap()));
        }
    }
    assert_eq!(h.store.list_events_of(account, "chg_1", 50).await.unwrap(), written);
    assert_eq!(h.store.list_events_of(account, "chg_1", 1).await.unwrap(), written.get(..1).unwrap());
    assert_eq!(h.store.list_events_of(account, "chg_2", 50).await.unwrap(), []);
}

/// A cursor may be any event of the account, even of a type that the filter excludes. Its place stays the same while new events arrive.
pub async fn walk_through_events_is_stable_while_events_arrive(h: &mut Harness) {
    let account = h.account().await.id;
    let written = fill(h, account, 9).await;
    let third = written.get(2).unwrap();
    let page = |limit| EventPage { limit, starting_after: Some(third.id) };
    let other_type = EventFilter { kind: Some(EventType::PayoutFailed), after_sequence: None };
    let older = h.store.list_events(account, other_type, page(5)).await.unwrap();
    assert_eq!(older, Page { rows: written.iter().skip(1).take(1).cloned().collect(), has_more: false });
    let after = |after| EventFilter { kind: None, after_sequence: Some(after) };
    for (from, skipped) in [(0, 3), (3, 3), (5, 5)] {
        let newer = h.store.list_events(account, after(from), page(2)).await.unwrap();
        let expected = written.iter().skip(skipped).take(2).cloned().collect();
        assert_eq!(newer, Page { rows: expected, has_more: true }, "after {from}");
    }

    // The forward reader gets all new events. The backward reader gets only the events that existed at its first page.
    let (mut back, mut forth): (Vec<StoredEvent>, Vec<StoredEvent>) = (Vec::new(), Vec::new());
    let mut come = Vec::new();
    for round in 0.. {
        if round < 4 {
            come.extend(fill(h, account, 2).await);
        }
        let page = |walked: &[StoredEvent]| EventPage { limit: 4, starting_after: walked.last().map(|event| event.id) };
        let older = h.store.list_events(account, EventFilter::default(), page(&back)).await.unwrap();
        let newer = h.store.list_events(account, after(0), page(&forth)).await.unwrap();
        back.extend(older.rows);
        forth.extend(newer.rows);
        if !older.has_more && !newer.has_more {
            break;
        }
    }
    assert!(forth.into_iter().eq(written.iter().chain(&come).cloned()));
    assert!(back.into_iter().eq(written.iter().chain(come.iter().take(2)).rev().cloned()));
}

/// Events of other accounts are not found by id, and are not listed.
pub async fn foreign_events_are_not_found(h: &mut Harness) {
    let (account, other) = (h.account().await.id, h.account().await.id);
    let own = fill(h, account, 3).await;
    let foreign = fill(h, other, 1).await.remove(0);
    assert_eq!(h.store.find_event(account, foreign.id).await.unwrap(), None);
    assert_eq!(h.store.find_event(account, fresh()).await.unwrap(), None);
    assert_eq!(h.store.find_event(other, foreign.id).await.unwrap(), Some(foreign));
    assert_eq!(walk_events(&*h.store, account, EventFilter::default(), 50).await.len(), own.len());
}

/// A forward reader among many concurrent writers reads each event once, and skips none.
pub async fn forward_reader_misses_no_event_under_load(h: &mut Harness) {
    let account = h.account().await.id;
    let (rounds, callers) = (4, 32);
    let mut read = Vec::new();
    let mut last = 0;
    for _ in 0..rounds {
        let change = || steps::publish(vec![event(account, 0), event(account, 1)]);
        let writers = commit_concurrently(&h.store, (0..callers).map(|_| change()).collect());
        let reader = async {
            let mut seen: Vec<StoredEvent> = Vec::new();
            while seen.len() < 2 * callers {
                let filter = EventFilter { kind: None, after_sequence: Some(last) };
                let page = EventPage { limit: 7, starting_after: None };
                let rows = h.store.list_events(account, filter, page).await.unwrap().rows;
                last = rows.last().map_or(last, |event| event.sequence);
                seen.extend(rows);
                tokio::task::yield_now().await;
            }
            seen
        };
        let both = async { tokio::join!(writers, reader) };
        let (outcomes, seen) = tokio::time::timeout(DEADLINE, both).await.unwrap();
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        read.extend(seen);
    }
    let sequences: Vec<i64> = read.iter().map(|event| event.sequence).collect();
    assert!(sequences.iter().copied().eq(1..=i64::try_from(2 * callers * rounds).unwrap()), "{sequences:?}");
}

/// Publishes further events. Returns them as read back, oldest first.
async fn fill(h: &Harness, account: AccountId, count: usize) -> Vec<StoredEvent> {
    let mut written = Vec::new();
    for place in 0..count {
        let event = event(account, place);
        let committed = h.commit_ok(steps::publish(vec![event.clone()])).await;
        written.push(stored(&event, *committed.sequences.first().unwrap()));
    }
    written
}

fn event(account: AccountId, place: usize) -> NewEvent {
    let kind = *KINDS.get(place % KINDS.len()).unwrap();
    let id: EventId = fresh();
    NewEvent { id, at: start(), ..an_event(account, kind, &id.to_string()) }
}

/// Returns the event as it is read back.
pub(super) fn stored(event: &NewEvent, sequence: i64) -> StoredEvent {
    let data = event.data.clone();
    StoredEvent { id: event.id, sequence, kind: event.kind, data, created_at: event.at }
}
