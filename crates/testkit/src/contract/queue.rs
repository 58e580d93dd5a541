//! The queue: only due deliveries are claimed, by one node at a time, and their outcomes are stored.

use cais_domain::event::EventType;
use cais_domain::merchant::webhook::{DeliveryStatus, Endpoint, MAX_RETRY_PAUSE};
use cais_ports::{
    AttemptOutcome, CLOCK_DIFFERENCE, ClaimedDelivery, DeliveredEvent, DeliveryAttempt, DeliveryClaim, DeliveryKey,
    FinishedAttempt, Health, NewDelivery, PageRequest,
};

use super::Harness;
use super::attempts::{
    LEASE_S, SLOTS, attempt, claim, claim_at, claim_one, finish, keys, put_one, put_tests, read, status,
};
use super::event_log::stored;
use super::harness::{after_s, walk, walk_deliveries};
use crate::builders::{a_test_delivery, an_event, queue_of, start, steps};

/// A delivery is claimed from its due time on. The claim returns the stored event and everything else that an attempt needs.
pub async fn due_delivery_is_claimed_once(h: &mut Harness) {
    let account = h.account().await.id;
    let endpoint = h.endpoint(account, 0).await;
    let event = an_event(account, EventType::ChargePaid, "chg_1");
    h.commit_ok(steps::publish(vec![event.clone()])).await;
    assert_eq!(claim(h, &[&endpoint], -1).await, []);
    let claimed = claim_one(h, &endpoint, 0).await;
    let stored = h.store.find_event(account, event.id).await.unwrap().unwrap();
    let made = walk_deliveries(&*h.store, account, endpoint.id).await.remove(0);
    let expected = ClaimedDelivery {
        key: DeliveryKey { account, endpoint: endpoint.id, id: made.id },
        fence: 1,
        tries: 1,
        event: DeliveredEvent::Stored(stored),
        endpoint: endpoint.clone().into(),
        failing_since: None,
    };
    assert_eq!(claimed, expected);
    assert_eq!(claim(h, &[&endpoint], 1).await, [], "the delivery is in flight");
    assert_eq!(read(h, claimed.key).await.attempts, []);
    assert_eq!(status(h, claimed.key).await, DeliveryStatus::Pending);
}

/// Test deliveries follow the rules of all deliveries. Their events are not stored.
pub async fn tests_are_delivered_like_events(h: &mut Harness) {
    let account = h.account().await.id;
    let endpoint = h.endpoint(account, 0).await;
    let test = a_test_delivery(&endpoint);
    assert_eq!(h.store.put(vec![test.clone()], None).await.unwrap().unwrap(), [test.id]);
    let claimed = claim_one(h, &endpoint, 0).await;
    let expected = (test.id, DeliveredEvent::Test { id: test.event, at: test.at });
    assert_eq!((claimed.key.id, claimed.event.clone()), expected);
    let done = finish(h, attempt(&claimed, 1, AttemptOutcome::Succeeded)).await;
    assert_eq!((done.status, done.event, done.kind), (DeliveryStatus::Succeeded, test.event, EventType::WebhookTest));
    assert_eq!(walk_deliveries(&*h.store, account, endpoint.id).await, std::slice::from_ref(&done));
    assert_eq!(h.store.list_deliveries_of_event(account, test.event).await.unwrap(), [done]);
    assert_eq!(h.store.find_event(account, test.event).await.unwrap(), None);
    assert_eq!(h.store.last_sequence(account).await.unwrap(), 0);
    assert_eq!(h.store.put(Vec::new(), None).await.unwrap().unwrap(), []);
}

/// In each queue the longest overdue deliveries are claimed first, for any order of creation.
pub async fn longest_overdue_deliveries_are_claimed_first(h: &mut Harness) {
    let account = h.account().await.id;
    let [one, two] = [h.endpoint(account, 0).await, h.endpoint(account, 1).await];
    let mut due = Vec::new();
    for first_s in [20, 0, 10] {
        for endpoint in [&one, &two] {
            due.extend((first_s..).zip(put_tests(h, endpoint, 5, first_s).await));
        }
    }
    due.sort_unstable();
    for (round, now_s) in [(0, 100), (1, 200), (2, 300)] {
        let narrow = DeliveryClaim { per_endpoint: 5, ..claim_at(&[queue_of(&one), queue_of(&two)], now_s) };
        let claimed = h.store.claim(narrow).await.unwrap();
        let expected = due.iter().filter(|(due_s, _)| *due_s / 10 == round).map(|(_, key)| *key);
        let mut expected: Vec<DeliveryKey> = expected.collect();
        expected.sort_unstable();
        assert_eq!(keys(&claimed), expected, "round {round}");
        h.store.finish(claimed.iter().map(|one| attempt(one, now_s, AttemptOutcome::Failed)).collect()).await.unwrap();
    }
    assert_eq!(claim(h, &[&one, &two], 1_000).await, []);
}

/// All claims of an endpoint's deliveries share its slots. A finished delivery or an expired lease frees its slot.
pub async fn endpoint_gets_no_more_than_its_slots(h: &mut Harness) {
    let account = h.account().await.id;
    let [busy, calm] = [h.endpoint(account, 0).await, h.endpoint(account, 1).await];
    put_tests(h, &busy, 40, 0).await;
    put_tests(h, &calm, 3, 0).await;
    let one_each = DeliveryClaim { at_once: 1, ..claim_at(&[queue_of(&busy), queue_of(&calm)], 50) };
    let first = h.store.claim(one_each).await.unwrap();
    assert_eq!(first.len(), 2, "no more deliveries of one queue than requested");
    assert!([busy.id, calm.id].iter().all(|id| first.iter().any(|one| one.key.endpoint == *id)));
    h.store.finish(first.iter().map(|one| attempt(one, 51, retry(51))).collect()).await.unwrap();
    let both = [queue_of(&busy), queue_of(&calm)];
    let few = |limit, now_s| DeliveryClaim { limit, ..claim_at(&both, now_s) };
    let first = h.store.claim(few(5, 100)).await.unwrap();
    assert_eq!(first.len(), 5, "never more than the limit, over all queues");
    let rest = h.store.claim(few(1_000, 101)).await.unwrap();
    assert_eq!(rest.len(), usize::try_from(SLOTS).unwrap() + 3 - 5);
    let of_busy: Vec<_> = first.iter().chain(&rest).filter(|one| one.key.endpoint == busy.id).cloned().collect();
    assert_eq!(of_busy.len(), usize::try_from(SLOTS).unwrap());
    assert_eq!(claim(h, &[&busy, &calm], 102).await, []);

    let mut done = of_busy.iter().take(3).map(|one| attempt(one, 102, AttemptOutcome::Succeeded)).collect::<Vec<_>>();
    done.extend(of_busy.iter().skip(3).take(1).map(|one| attempt(one, 102, retry(5_000))));
    h.store.finish(done).await.unwrap();
    let next = claim(h, &[&busy, &calm], 103).await;
    assert_eq!(next.len(), 4);
    assert!(keys(&next).iter().all(|key| !keys(&of_busy).contains(key)));
    let none = DeliveryClaim { limit: 0, ..claim_at(&both, 500) };
    assert_eq!(h.store.claim(none).await.unwrap(), []);
    let after_the_leases = claim(h, &[&busy, &calm], 500).await;
    let again = after_the_leases.iter().filter(|one| one.key.endpoint == busy.id).count();
    assert_eq!(again, usize::try_from(SLOTS).unwrap());
}

/// The next claim has the next fence. The earlier claim then has no effect, but its attempt is logged.
pub async fn delivery_with_expired_lease_is_claimed_again(h: &mut Harness) {
    let account = h.account().await.id;
    let endpoint = h.endpoint(account, 0).await;
    let key = put_one(h, &endpoint).await;
    let first = claim_one(h, &endpoint, 1).await;
    assert_eq!(claim(h, &[&endpoint], LEASE_S).await, []);
    let second = claim_one(h, &endpoint, 1 + LEASE_S).await;
    assert_eq!(second.fence, 2);
    assert_eq!(ClaimedDelivery { fence: 1, ..second.clone() }, first);
    for outcome in [AttemptOutcome::Succeeded, AttemptOutcome::Failed, retry(40)] {
        let late = FinishedAttempt { health: Health::Failing, ..attempt(&first, 35, outcome) };
        let after = finish(h, late).await;
        assert_eq!((after.status, after.attempts.len()), (DeliveryStatus::Pending, 1), "logged once");
    }
    assert_eq!(claim(h, &[&endpoint], LEASE_S + 20).await, [], "the second node has the lease");
    let done = finish(h, attempt(&second, 33, AttemptOutcome::Succeeded)).await;
    assert_eq!((done.status, done.next_attempt_at), (DeliveryStatus::Succeeded, None));
    let at: Vec<_> = done.attempts.iter().map(|attempt| attempt.at).collect();
    assert_eq!(at, [after_s(35), after_s(33)], "in the order of their claims");
    finish(h, attempt(&first, 35, retry(40))).await;
    assert_eq!(read(h, key).await, done);
    assert_eq!(claim(h, &[&endpoint], 1_000).await, []);
    put_one(h, &endpoint).await;
    assert_eq!(claim_one(h, &endpoint, 2_000).await.failing_since, None, "late outcomes set no failing period");
}

/// The due time of a retry, or the end of a lease, may be further ahead than a correct clock writes. Then a call of `due_queues` makes
/// the delivery due.
pub async fn deliveries_put_off_by_a_wrong_clock_are_due(h: &mut Harness) {
    let account = h.account().await.id;
    let ahead_s = CLOCK_DIFFERENCE.as_secs();
    let mut endpoints = Vec::new();
    for (slot, too_far_s) in [(0, 0), (1, 1)] {
        let endpoint = h.endpoint(account, slot).await;
        put_one(h, &endpoint).await;
        let claimed = claim_one(h, &endpoint, 0).await;
        finish(h, attempt(&claimed, 0, retry(MAX_RETRY_PAUSE.as_secs() + ahead_s + too_far_s))).await;
        endpoints.push(endpoint);
    }
    for (slot, too_far_s) in [(2, 0), (3, 1)] {
        let endpoint = h.endpoint(account, slot).await;
        put_one(h, &endpoint).await;
        claim_one(h, &endpoint, ahead_s + too_far_s).await;
        endpoints.push(endpoint);
    }
    let [_, far_retry, _, far_lease] = endpoints.as_slice() else { unreachable!("four were made") };
    let mut expected = [queue_of(far_retry), queue_of(far_lease)];
    expected.sort_unstable_by_key(|queue| queue.endpoint);
    assert_eq!(h.store.due_queues(after_s(0), None, 50).await.unwrap().due, expected);
    let all: Vec<&Endpoint> = endpoints.iter().collect();
    let claimed = claim(h, &all, 0).await;
    let mut fences: Vec<_> = claimed.iter().map(|one| (one.endpoint.id, one.fence, one.tries)).collect();
    fences.sort_unstable();
    let mut twice = vec![(far_retry.id, 2, 2), (far_lease.id, 2, 1)];
    twice.sort_unstable();
    assert_eq!(fences, twice);
}

/// If a node fails repeatedly before it reports an attempt, the schedule of retries does not advance.
pub async fn claims_alone_use_up_no_attempts(h: &mut Harness) {
    let account = h.account().await.id;
    let endpoint = h.endpoint(account, 0).await;
    put_one(h, &endpoint).await;
    let (mut now_s, mut fence) = (0, 0);
    for tries in 1..4 {
        for _ in 0..4 {
            fence += 1;
            now_s += LEASE_S;
            let claimed = claim_one(h, &endpoint, now_s).await;
            assert_eq!((claimed.fence, claimed.tries), (fence, tries));
        }
        now_s += LEASE_S;
        fence += 1;
        let claimed = claim_one(h, &endpoint, now_s).await;
        finish(h, attempt(&claimed, now_s, retry(now_s + 1))).await;
    }
}

/// The outcome of an attempt counts after the end of its lease, unless another claim followed.
pub async fn late_outcome_counts_without_another_claim(h: &mut Harness) {
    let account = h.account().await.id;
    let endpoint = h.endpoint(account, 0).await;
    put_one(h, &endpoint).await;
    let claimed = claim_one(h, &endpoint, 1).await;
    let done = finish(h, attempt(&claimed, 2 * LEASE_S, AttemptOutcome::Succeeded)).await;
    assert_eq!(done.status, DeliveryStatus::Succeeded);
    assert_eq!(claim(h, &[&endpoint], 3 * LEASE_S).await, []);
}

/// A retry follows at its due time and not before. After a final outcome no attempt follows. A repeated report has a single effect.
pub async fn outcomes_are_stored(h: &mut Harness) {
    let account = h.account().await.id;
    let endpoint = h.endpoint(account, 0).await;
    let key = put_one(h, &endpoint).await;
    let mut logged = Vec::new();
    for (round, now_s) in (0_i64..4).zip([0, 100, 200, 300]) {
        let claimed = claim_one(h, &endpoint, now_s).await;
        assert_eq!((claimed.fence, i64::from(claimed.tries)), (round + 1, round + 1));
        let finished = attempt(&claimed, now_s + 1, retry(now_s + 100));
        logged.push(finished.attempt.clone());
        for _ in 0..2 {
            let after = finish(h, finished.clone()).await;
            assert_eq!(after.status, DeliveryStatus::Pending);
            assert_eq!(after.next_attempt_at, Some(after_s(now_s + 100)));
            assert_eq!(after.attempts, logged);
        }
        assert_eq!(claim(h, &[&endpoint], now_s + 99).await, []);
    }
    let last = claim_one(h, &endpoint, 400).await;
    let failed = finish(h, attempt(&last, 401, AttemptOutcome::Failed)).await;
    assert_eq!((failed.status, failed.next_attempt_at), (DeliveryStatus::Failed, None));
    assert_eq!(failed.attempts.len(), 5);

    let other = put_one(h, &endpoint).await;
    let claimed = claim_one(h, &endpoint, 402).await;
    assert_eq!(claimed.key, other);
    let succeeded = finish(h, attempt(&claimed, 403, AttemptOutcome::Succeeded)).await;
    assert_eq!((succeeded.status, succeeded.next_attempt_at), (DeliveryStatus::Succeeded, None));
    assert_eq!(claim(h, &[&endpoint], 1_000_000).await, []);
    assert_eq!(read(h, key).await, failed);
    h.store.finish(Vec::new()).await.unwrap();
}

/// Attempts are read back with all their fields. Only the last fifty are shown.
pub async fn attempts_come_back(h: &mut Harness) {
    let account = h.account().await.id;
    let endpoint = h.endpoint(account, 0).await;
    let key = put_one(h, &endpoint).await;
    let greatest = DeliveryAttempt {
        at: "9999-12-01T23:59:59.999999Z".parse().unwrap(),
        status_code: Some(999),
        duration_ms: 2_000_000_000,
        error: Some("address_not_allowed".to_owned()),
        response_body: Some("\u{1F980} '\" \\ é".repeat(120)),
    };
    let least = DeliveryAttempt {
        at: start(),
        status_code: None,
        duration_ms: 0,
        error: None,
        response_body: Some(String::new()),
    };
    let bare = DeliveryAttempt { status_code: Some(100), response_body: None, ..least.clone() };
    let mut logged = Vec::new();
    for (now_s, tried) in (0..20).flat_map(|_| [&greatest, &least, &bare]).enumerate() {
        let now_s = i64::try_from(now_s).unwrap();
        let claimed = claim_one(h, &endpoint, now_s).await;
        let finished = FinishedAttempt { attempt: tried.clone(), ..attempt(&claimed, now_s, retry(now_s + 1)) };
        logged.push(tried.clone());
        let delivery = finish(h, finished).await;
        let shown = logged.iter().skip(logged.len().saturating_sub(50));
        assert!(delivery.attempts.iter().eq(shown), "after {} attempts", logged.len());
    }
    let listed = walk_deliveries(&*h.store, account, endpoint.id).await.remove(0);
    assert_eq!((listed.attempts.len(), listed), (50, read(h, key).await));
}

/// The list is newest first, page by page, and has only deliveries of that endpoint and that account.
pub async fn deliveries_are_listed_by_their_endpoint(h: &mut Harness) {
    let (account, other) = (h.account().await.id, h.account().await.id);
    let (one, two) = (h.endpoint(account, 0).await, h.endpoint(account, 1).await);
    let foreign = h.endpoint(other, 0).await;
    let mut keys = Vec::new();
    for round in 0..13 {
        keys.push(put_tests(h, &one, 1, 100 - round).await.remove(0));
        put_one(h, &two).await;
        put_one(h, &foreign).await;
    }
    let read = async |page| h.store.list_deliveries(account, one.id, page).await.unwrap();
    for limit in [1, 5, 12, 13, 14] {
        let walked = walk(limit, |delivery: &cais_ports::Delivery| delivery.id, read).await;
        assert!(walked.iter().map(|delivery| delivery.id).eq(keys.iter().rev().map(|key| key.id)), "limit {limit}");
        assert!(walked.iter().all(|delivery| delivery.endpoint == one.id));
    }
    let first = keys.first().unwrap();
    let page = PageRequest { limit: 5, starting_after: None };
    assert_eq!(h.store.list_deliveries(other, one.id, page).await.unwrap().rows, []);
    for (account, endpoint) in [(other, one.id), (account, two.id), (other, foreign.id)] {
        assert_eq!(h.store.find_delivery(account, endpoint, first.id).await.unwrap(), None);
    }
}

/// A resend is due at once, with a new schedule of retries, after any outcome. For a delivery in flight, the resend follows the attempt.
pub async fn resent_delivery_restarts_its_schedule(h: &mut Harness) {
    let account = h.account().await.id;
    let endpoint: Endpoint = h.endpoint(account, 0).await;
    let event = an_event(account, EventType::ChargePaid, "chg_1");
    h.commit_ok(steps::publish(vec![event.clone()])).await;
    let made = walk_deliveries(&*h.store, account, endpoint.id).await.remove(0);
    let again = |at_s| NewDelivery {
        event: event.id,
        kind: event.kind,
        sequence: Some(1),
        at: after_s(at_s),
        ..a_test_delivery(&endpoint)
    };
    let outcomes = [(retry(90_000), 0), (AttemptOutcome::Succeeded, 100), (AttemptOutcome::Failed, 200)];
    for (fence, (outcome, now_s)) in (1..).step_by(3).zip(outcomes) {
        let claimed = claim_one(h, &endpoint, now_s).await;
        assert_eq!((claimed.key.id, claimed.tries, claimed.fence), (made.id, 1, fence));
        assert_eq!(claimed.event, DeliveredEvent::Stored(stored(&event, 1)), "never another event");
        // For a delivery in flight, another attempt follows after any outcome, and not before.
        assert_eq!(h.store.put(vec![again(now_s + 5)], None).await.unwrap().unwrap(), [made.id]);
        assert_eq!(claim(h, &[&endpoint], now_s + 6).await, [], "the delivery is in flight");
        let ended = attempt(&claimed, now_s + 7, outcome);
        let delivery = finish(h, ended.clone()).await;
        assert_eq!(
            (delivery.status, delivery.next_attempt_at),
            (DeliveryStatus::Pending, Some(ended.attempt.ended_at()))
        );
        let claimed = claim_one(h, &endpoint, now_s + 8).await;
        assert_eq!((claimed.key.id, claimed.tries, claimed.fence), (made.id, 1, fence + 1));
        // Here the node never reports the outcome. The delivery is due once when the lease ends, in spite of the resend.
        assert_eq!(h.store.put(vec![again(now_s + 9)], None).await.unwrap().unwrap(), [made.id]);
        let claimed = claim_one(h, &endpoint, now_s + 8 + LEASE_S).await;
        assert_eq!((claimed.key.id, claimed.tries, claimed.fence), (made.id, 1, fence + 2));
        finish(h, attempt(&claimed, now_s + 9 + LEASE_S, outcome)).await;
        assert_eq!(claim(h, &[&endpoint], now_s + 10 + LEASE_S).await, []);
        let at_s = now_s + 11 + LEASE_S;
        assert_eq!(h.store.put(vec![again(at_s)], None).await.unwrap().unwrap(), [made.id]);
        // A second report of the same attempt has no effect, because its claim is over.
        let delivery = finish(h, attempt(&claimed, now_s + 9 + LEASE_S, outcome)).await;
        assert_eq!((delivery.status, delivery.next_attempt_at), (DeliveryStatus::Pending, Some(after_s(at_s))));
        assert_eq!(delivery.created_at, made.created_at);
    }
    let deliveries = walk_deliveries(&*h.store, account, endpoint.id).await;
    assert_eq!((deliveries.len(), deliveries.first().unwrap().attempts.len()), (1, 6));
    // The resend affects that endpoint alone: another endpoint has its own delivery.
    let other = h.endpoint(account, 1).await;
    let to_other = NewDelivery { queue: queue_of(&other), ..again(300) };
    assert_eq!(h.store.put(vec![again(300), to_other.clone()], None).await.unwrap().unwrap(), [made.id, to_other.id]);
    assert_eq!(claim_one(h, &other, 300).await.event, DeliveredEvent::Stored(stored(&event, 1)));
    assert_eq!(h.store.list_deliveries_of_event(account, event.id).await.unwrap().len(), 2);
}

/// Only test deliveries and resends count towards the limit, not deliveries of new events. A call adds all of its deliveries or none.
pub async fn put_beyond_the_limit_adds_nothing(h: &mut Harness) {
    let account = h.account().await.id;
    let (one, two) = (h.endpoint(account, 0).await, h.endpoint(account, 1).await);
    let event = an_event(account, EventType::ChargePaid, "chg_1");
    h.commit_ok(steps::publish(vec![event.clone()])).await;
    let put = async |new: Vec<NewDelivery>| h.store.put(new, Some(3)).await.unwrap();
    let tests: Vec<NewDelivery> = (0..3).map(|_| a_test_delivery(&one)).collect();
    assert_eq!(put(tests.iter().take(2).cloned().collect()).await.map(|ids| ids.len()), Some(2));
    let resend =
        |to: &Endpoint| NewDelivery { event: event.id, kind: event.kind, sequence: Some(1), ..a_test_delivery(to) };
    // The first endpoint would exceed its limit, so the second endpoint receives no delivery either.
    let both = vec![a_test_delivery(&two), resend(&one), a_test_delivery(&one)];
    assert_eq!(put(both).await, None);
    assert_eq!(walk_deliveries(&*h.store, account, two.id).await.len(), 1, "the delivery of the event");
    assert_eq!(put(vec![resend(&one), resend(&two)]).await.map(|ids| ids.len()), Some(2));
    assert_eq!(put(vec![a_test_delivery(&one)]).await, None);
    assert_eq!(put(vec![resend(&one)]).await.map(|ids| ids.len()), Some(1), "the resend waits already");
    // A finished delivery frees its place; a delivery that waits for a retry does not.
    let claimed = claim(h, &[&one], 10).await;
    let [first, second, _] = <[ClaimedDelivery; 3]>::try_from(claimed).unwrap();
    finish(h, attempt(&first, 11, retry(50))).await;
    assert_eq!(put(vec![a_test_delivery(&one)]).await, None);
    finish(h, attempt(&second, 11, AttemptOutcome::Succeeded)).await;
    assert_eq!(put(vec![a_test_delivery(&one)]).await.map(|ids| ids.len()), Some(1));
}

fn retry(due_s: i64) -> AttemptOutcome {
    AttemptOutcome::Retry { due_at: after_s(due_s) }
}
