//! The search for queues with due deliveries, for any number of queues and any backlog in one of them. Also the hints of queues
//! with new deliveries.

use std::collections::BTreeSet;
use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::merchant::webhook::{DisabledReason, Endpoint};
use cais_ports::{AttemptOutcome, DueQueues, EndpointQueue, NewDelivery};
use futures_util::FutureExt as _;

use super::Harness;
use super::attempts::{attempt, claim, claim_one, put_one, put_tests};
use super::harness::{after_s, commit_concurrently};
use crate::builders::{a_test_delivery, an_endpoint, an_event, queue_of, start, steps};

/// The longest wait for a hint.
const DEADLINE: Duration = Duration::from_mins(1);
/// The largest backlog that `due_queues` counts, in deliveries.
const MOST_COUNTED: u64 = 10_000;

/// The queues come in the order of their endpoint ids, each once, and never more than the limit. Deliveries that are not due yet do not
/// count.
pub async fn queues_come_in_their_order(h: &mut Harness) {
    assert_eq!(h.store.due_queues(after_s(0), None, 50).await.unwrap(), DueQueues::default());
    let mut queues = Vec::new();
    for (slot, first_s) in (0..).zip([40, 10, 30, 50, 20]) {
        let account = h.account().await.id;
        let endpoint = h.endpoint(account, slot).await;
        put_tests(h, &endpoint, 3, first_s).await;
        queues.push((first_s, queue_of(&endpoint)));
    }
    queues.sort_unstable_by_key(|(_, queue)| queue.endpoint);
    for (now_s, limit, expected, backlog) in
        [(9, 50, 0, 0), (10, 50, 1, 1), (31, 50, 3, 8), (31, 3, 3, 8), (31, 2, 2, 8), (1_000, 4, 4, 15)]
    {
        let found = h.store.due_queues(after_s(now_s), None, limit).await.unwrap();
        let of_all = queues.iter().filter(|(first_s, _)| *first_s <= now_s);
        let due: Vec<EndpointQueue> = of_all.clone().take(expected).map(|(_, queue)| *queue).collect();
        let all = of_all.count();
        let oldest_due_at = (backlog > 0).then(|| after_s(10));
        let next = due.last().copied().filter(|_| all > expected);
        assert_eq!(found, DueQueues { due, next, backlog, oldest_due_at }, "after {now_s} s, {limit}");
    }
}

/// The search continues after any queue, even an unknown one, and wraps around. So queues that stay due do not hide other queues. The
/// backlog and the oldest due time cover all queues, for every cursor.
pub async fn walk_with_cursor_visits_all_queues(h: &mut Harness) {
    let (account, mut queues) = (h.account().await.id, Vec::new());
    for slot in 0..5 {
        let endpoint = h.endpoint(account, slot).await;
        put_tests(h, &endpoint, 2, 10 + i64::from(slot)).await;
        queues.push(queue_of(&endpoint));
    }
    queues.sort_unstable_by_key(|queue| queue.endpoint);
    let all = async |after, limit| h.store.due_queues(after_s(100), after, limit).await.unwrap();
    for limit in [1, 2, 3, 4] {
        let mut after = None;
        let mut expected = queues.iter().cycle();
        for look in 0..7 {
            let found = all(after, limit).await;
            assert!(found.due.iter().eq(expected.by_ref().take(found.due.len())), "{limit}, look {look}: {found:?}");
            assert_eq!(found.due.len(), usize::try_from(limit).unwrap());
            assert_eq!((found.backlog, found.oldest_due_at), (10, Some(after_s(10))));
            assert_eq!(found.next, found.due.last().copied());
            after = found.next;
        }
    }
    for (place, queue) in queues.iter().enumerate() {
        let found = all(Some(*queue), 5).await;
        let around = queues.iter().cycle().skip(place + 1).take(5).copied().collect();
        assert_eq!(found, DueQueues { due: around, next: None, backlog: 10, oldest_due_at: Some(after_s(10)) });
        let earlier = EndpointQueue { epoch: queue.epoch - 1, ..*queue };
        assert_eq!(all(Some(earlier), 1).await.due, [*queue]);
    }
}

/// Deliveries in flight, finished deliveries, and deliveries of a disabled endpoint do not count. A retry counts from its due time on.
pub async fn queues_exclude_deliveries_in_flight_or_ended(h: &mut Harness) {
    let account = h.account().await.id;
    let (endpoint, ending) = (h.endpoint(account, 0).await, h.endpoint(account, 1).await);
    put_tests(h, &ending, 3, 0).await;
    let key = put_one(h, &endpoint).await;
    let step = ending.clone().disable(DisabledReason::Failing, after_s(1)).unwrap();
    h.commit_ok(steps::move_endpoint(step, after_s(1))).await;
    let only = |backlog, due_s| DueQueues {
        due: vec![queue_of(&endpoint)],
        next: None,
        backlog,
        oldest_due_at: Some(after_s(due_s)),
    };
    let due_at = async |now_s| h.store.due_queues(after_s(now_s), None, 50).await.unwrap();
    assert_eq!(due_at(2).await, only(1, 0));
    let claimed = claim_one(h, &endpoint, 2).await;
    assert_eq!(due_at(3).await, DueQueues::default());
    assert_eq!(due_at(32).await, only(1, 32), "the lease is over");
    let retry = attempt(&claimed, 4, AttemptOutcome::Retry { due_at: after_s(50) });
    h.store.finish(vec![retry]).await.unwrap();
    assert_eq!(due_at(49).await, DueQueues::default());
    assert_eq!(due_at(50).await, only(1, 50));
    let claimed = claim_one(h, &endpoint, 50).await;
    assert_eq!(claimed.key, key);
    h.store.finish(vec![attempt(&claimed, 51, AttemptOutcome::Succeeded)]).await.unwrap();
    h.store.cancel_stale(50).await.unwrap();
    assert_eq!(due_at(1_000_000).await, DueQueues::default());
}

/// An endpoint has more due deliveries than `due_queues` counts. Many other endpoints have one each. All queues are found, and the
/// deliveries of the others are claimed too.
pub async fn large_backlog_hides_no_queue(h: &mut Harness) {
    let account = h.account().await.id;
    let busy = h.endpoint(account, 0).await;
    let mut calm = Vec::new();
    for _ in 0..8 {
        let account = h.account().await.id;
        let endpoints: Vec<Endpoint> = (0..15).map(|slot| an_endpoint(account, slot)).collect();
        let opened = commit_concurrently(&h.store, endpoints.iter().map(steps::open_endpoint).collect()).await;
        assert!(opened.iter().all(Result::is_ok), "{opened:?}");
        calm.extend(endpoints);
    }
    let tests = calm.iter().map(|endpoint| NewDelivery { at: after_s(100), ..a_test_delivery(endpoint) });
    h.store.put(tests.collect(), None).await.unwrap();
    for _ in 0..21 {
        put_tests(h, &busy, 500, 0).await;
    }
    let found = h.store.due_queues(after_s(1_000), None, 500).await.unwrap();
    assert_eq!((found.next, found.backlog, found.oldest_due_at), (None, MOST_COUNTED, Some(start())));
    let queues: BTreeSet<EndpointQueue> = found.due.iter().copied().collect();
    let expected: BTreeSet<EndpointQueue> = calm.iter().chain([&busy]).map(queue_of).collect();
    assert_eq!((found.due.len(), queues), (expected.len(), expected));
    let some = h.store.due_queues(after_s(1_000), None, 7).await.unwrap();
    assert_eq!((some.due.len(), some.next, some.oldest_due_at), (7, some.due.last().copied(), Some(start())));

    let claimed = claim(h, &calm.iter().chain([&busy]).collect::<Vec<_>>(), 1_000).await;
    let of_busy = claimed.iter().filter(|one| one.key.endpoint == busy.id).count();
    assert_eq!((of_busy, claimed.len()), (8, 8 + calm.len()));
}

/// New deliveries cause one hint for each of their queues. Without a hint, `hinted` waits.
pub async fn new_deliveries_are_hinted_once(h: &mut Harness) {
    let account = h.account().await.id;
    let (one, two) = (h.endpoint(account, 0).await, h.endpoint(account, 1).await);
    let other = h.account().await.id;
    assert_eq!(h.store.hinted().now_or_never(), None);
    h.commit_ok(event(other)).await;
    assert_eq!(h.store.hinted().now_or_never(), None, "no hint, because no endpoint matches");

    let both = BTreeSet::from([queue_of(&one), queue_of(&two)]);
    h.commit_ok(event(account)).await;
    assert_eq!(collect_hints(h, 2).await, both);
    assert_eq!(h.store.hinted().now_or_never(), None);
    h.commit_ok(steps::publish(vec![charge_paid(account), charge_paid(account)])).await;
    assert_eq!(collect_hints(h, 2).await, both);
    put_one(h, &one).await;
    assert_eq!(collect_hints(h, 1).await, BTreeSet::from([queue_of(&one)]));

    let waiting = tokio::time::timeout(DEADLINE, h.store.hinted());
    let (hints, _) = tokio::join!(waiting, h.commit_ok(event(account)));
    assert!(!hints.unwrap().is_empty());
}

/// Collects hints until that number of queues was returned.
async fn collect_hints(h: &Harness, queues: usize) -> BTreeSet<EndpointQueue> {
    let mut hints = BTreeSet::new();
    while hints.len() < queues {
        let hinted = tokio::time::timeout(DEADLINE, h.store.hinted()).await.unwrap();
        let count = hints.len() + hinted.len();
        hints.extend(hinted);
        assert_eq!(hints.len(), count, "each queue once");
    }
    hints
}

fn event(account: cais_domain::ids::AccountId) -> cais_ports::ChangeSet {
    steps::publish(vec![charge_paid(account)])
}

fn charge_paid(account: cais_domain::ids::AccountId) -> cais_ports::NewEvent {
    an_event(account, EventType::ChargePaid, "chg_1")
}
