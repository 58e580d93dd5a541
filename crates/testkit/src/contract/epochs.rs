//! Deliveries by the state of their endpoint. They are sent while the endpoint is active, and wait while it is inactive. They are
//! cancelled when the endpoint ends, that is, when it is disabled or deleted.

use cais_domain::event::EventType;
use cais_domain::ids::AccountId;
use cais_domain::merchant::webhook::{DeliveryStatus, DisabledReason, Endpoint, EndpointChange, EndpointStep};
use cais_ports::{
    AttemptOutcome, DeliveredEvent, DeliveryKey, EndpointQueue, FinishedAttempt, Health, NewDelivery, NewEvent,
};
use futures_util::FutureExt as _;

use super::Harness;
use super::attempts::{attempt, claim, claim_at, claim_first, claim_one, finish, put_one, put_tests, read, status};
use super::event_log::stored;
use super::harness::{after_s, walk_deliveries};
use crate::builders::{a_postback, a_test_delivery, an_event, fresh, queue_of, steps};

/// A queue has no due deliveries if its endpoint is disabled, deleted or unknown, or if its epoch or its account is wrong.
pub async fn queues_of_no_active_endpoint_have_no_deliveries(h: &mut Harness) {
    let (account, other) = (h.account().await.id, h.account().await.id);
    let at = after_s(1);
    let ends: [&dyn Fn(Endpoint) -> EndpointStep; 3] = [
        &|endpoint| endpoint.disable(DisabledReason::Gone, at).unwrap(),
        &|endpoint| endpoint.disable(DisabledReason::Failing, at).unwrap(),
        &|endpoint| endpoint.delete(at),
    ];
    let mut ended = Vec::new();
    for (slot, end) in (0..).zip(ends) {
        let endpoint = h.endpoint(account, slot).await;
        put_one(h, &endpoint).await;
        let after = moved(h, end(endpoint.clone())).await;
        // A caller read the endpoint before its end, another caller afterwards. Both put a delivery, and both are cancelled.
        for key in [put_one(h, &endpoint).await, put_one(h, &after).await] {
            assert_cancelled(h, &[key]).await;
        }
        ended.extend([queue_of(&endpoint), queue_of(&after)]);
    }
    let called = h.endpoint(account, 5).await;
    put_one(h, &called).await;
    let queue = queue_of(&called);
    let wrong = [
        EndpointQueue { epoch: 1, ..queue },
        EndpointQueue { epoch: -1, ..queue },
        EndpointQueue { account: other, ..queue },
        EndpointQueue { endpoint: fresh(), ..queue },
    ];
    let nowhere: Vec<EndpointQueue> = ended.into_iter().chain(wrong).collect();
    assert_eq!(h.store.claim(claim_at(&nowhere, 10)).await.unwrap(), []);
    assert_eq!(h.store.due_queues(after_s(10), None, 50).await.unwrap().due, [queue]);
    assert_eq!(claim(h, &[&called], 10).await.len(), 1);
}

/// Reads show the cancellation at once, and `cancel_stale` stores it later. The deliveries stay cancelled in later epochs.
pub async fn waiting_delivery_is_cancelled_when_endpoint_ends(h: &mut Harness) {
    let account = h.account().await.id;
    let endpoint = h.endpoint(account, 0).await;
    let waiting = put_tests(h, &endpoint, 5, 0).await;
    let claimed = claim_first(h, &endpoint, 10).await;
    let done = finish(h, attempt(&claimed, 1, AttemptOutcome::Succeeded)).await;
    let waiting: Vec<DeliveryKey> = waiting.into_iter().filter(|key| key.id != done.id).collect();
    let disabled = moved(h, endpoint.clone().disable(DisabledReason::Failing, after_s(11)).unwrap()).await;
    assert_cancelled(h, &waiting).await;
    assert_eq!(read(h, claimed.key).await, done, "a succeeded delivery stays succeeded");

    let mut active = moved(h, disabled.change(switched(true)).unwrap()).await;
    assert_eq!(active.epoch, 1);
    assert_cancelled(h, &waiting).await;
    assert_eq!(claim(h, &[&endpoint, &active], 100).await, []);
    for expected in [3, 1, 0] {
        assert_eq!(h.store.cancel_stale(3).await.unwrap(), expected);
        assert_cancelled(h, &waiting).await;
    }
    assert_eq!(claim(h, &[&endpoint, &active], 100).await, []);

    // New deliveries, of the current epoch, are sent.
    for round in 0..2 {
        h.commit_ok(one_event(account)).await;
        let claimed = claim_one(h, &active, 200 + round).await;
        assert_eq!(claimed.endpoint.epoch, 1);
        finish(h, attempt(&claimed, 200, AttemptOutcome::Succeeded)).await;
    }
    active = moved(h, active.delete(after_s(300))).await;
    assert_eq!(h.store.cancel_stale(50).await.unwrap(), 0);
    let deliveries = walk_deliveries(&*h.store, account, active.id).await;
    let count = |status| deliveries.iter().filter(|delivery| delivery.status == status).count();
    assert_eq!((count(DeliveryStatus::Succeeded), count(DeliveryStatus::Cancelled)), (3, 4));
}

/// The delivery was cancelled when its endpoint ended, and stays cancelled after any outcome of its attempt. The attempt is still logged.
pub async fn delivery_in_flight_ends_with_its_endpoint(h: &mut Harness) {
    let account = h.account().await.id;
    let endpoint = h.endpoint(account, 0).await;
    put_tests(h, &endpoint, 4, 0).await;
    let claimed = claim(h, &[&endpoint], 10).await;
    let [retried, marked, failed, taken] = claimed.try_into().unwrap();
    let disabled = moved(h, endpoint.clone().disable(DisabledReason::Failing, after_s(11)).unwrap()).await;
    let retry = AttemptOutcome::Retry { due_at: after_s(20) };
    for (claimed, outcome) in
        [(&retried, retry), (&failed, AttemptOutcome::Failed), (&taken, AttemptOutcome::Succeeded)]
    {
        assert_cancelled(h, &[claimed.key]).await;
        let after = finish(h, attempt(claimed, 12, outcome)).await;
        assert_eq!((after.status, after.attempts.len(), after.next_attempt_at), (DeliveryStatus::Cancelled, 1, None));
    }
    assert_eq!(h.store.cancel_stale(50).await.unwrap(), 1, "only one is not stored as cancelled yet");
    assert_eq!(status(h, marked.key).await, DeliveryStatus::Cancelled);
    for outcome in [AttemptOutcome::Succeeded, retry, AttemptOutcome::Failed] {
        let after = finish(h, attempt(&marked, 13, outcome)).await;
        assert_eq!((after.status, after.attempts.len()), (DeliveryStatus::Cancelled, 1));
    }
    let active = moved(h, disabled.change(switched(true)).unwrap()).await;
    assert_eq!(claim(h, &[&endpoint, &active], 1_000).await, []);
    assert_cancelled(h, &[retried.key, marked.key, failed.key, taken.key]).await;
}

/// A merchant can request a cancelled delivery again. The delivery is then sent in the endpoint's current epoch.
pub async fn cancelled_delivery_can_be_put_again(h: &mut Harness) {
    let account = h.account().await.id;
    let endpoint = h.endpoint(account, 0).await;
    let event = an_event(account, EventType::ChargePaid, "chg_1");
    h.commit_ok(steps::publish(vec![event.clone()])).await;
    let made = walk_deliveries(&*h.store, account, endpoint.id).await.remove(0);
    let active = restarted(h, endpoint).await;
    for marked in [false, true] {
        if marked {
            h.store.cancel_stale(50).await.unwrap();
        }
        let sequence = Some(1);
        let again = NewDelivery { event: event.id, kind: event.kind, sequence, ..a_test_delivery(&active) };
        assert_eq!(h.store.put(vec![again], None).await.unwrap().unwrap(), [made.id]);
        let claimed = claim_one(h, &active, 10).await;
        let expected = (made.id, 1, DeliveredEvent::Stored(stored(&event, 1)));
        assert_eq!((claimed.key.id, claimed.tries, claimed.event.clone()), expected);
        assert_eq!(status(h, claimed.key).await, DeliveryStatus::Pending);
        finish(h, attempt(&claimed, 11, AttemptOutcome::Failed)).await;
    }
}

/// The delivery is put again while an attempt of the earlier epoch is in flight. That attempt is logged, but its outcome does not end the
/// delivery.
pub async fn delivery_cancelled_in_flight_can_be_put_again(h: &mut Harness) {
    let account = h.account().await.id;
    let endpoint = h.endpoint(account, 0).await;
    let test = a_test_delivery(&endpoint);
    h.store.put(vec![test.clone()], None).await.unwrap();
    let lost = claim_one(h, &endpoint, 10).await;
    let active = restarted(h, endpoint).await;
    assert_cancelled(h, &[lost.key]).await;
    let again = NewDelivery { queue: queue_of(&active), at: after_s(11), ..test };
    assert_eq!(h.store.put(vec![again], None).await.unwrap().unwrap(), [lost.key.id]);
    let after = finish(h, attempt(&lost, 12, AttemptOutcome::Succeeded)).await;
    assert_eq!((after.status, after.next_attempt_at), (DeliveryStatus::Pending, Some(after_s(11))));
    let claimed = claim_one(h, &active, 12).await;
    assert_eq!((claimed.key, claimed.fence, claimed.tries), (lost.key, 2, 1));
    let after = finish(h, attempt(&claimed, 13, AttemptOutcome::Succeeded)).await;
    assert_eq!((after.status, after.attempts.len()), (DeliveryStatus::Succeeded, 2));
}

/// The failing period of an endpoint lasts from the first failed attempt until a success. Each epoch begins without one.
pub async fn endpoint_failure_is_recorded_until_success(h: &mut Harness) {
    let account = h.account().await.id;
    let (endpoint, other) = (h.endpoint(account, 0).await, h.endpoint(account, 1).await);
    for (now_s, (since, health)) in (0..).zip([
        (None, Health::Unchanged),
        (None, Health::Failing),
        (Some(1), Health::Unchanged),
        (Some(1), Health::Failing),
        (Some(1), Health::Healthy),
        (None, Health::Failing),
        (Some(5), Health::Unchanged),
    ]) {
        put_one(h, &endpoint).await;
        let claimed = claim_one(h, &endpoint, now_s).await;
        assert_eq!(claimed.failing_since, since.map(after_s), "before {now_s} s");
        assert_eq!(h.store.failing_since(queue_of(&endpoint)).await.unwrap(), claimed.failing_since);
        let failed = attempt(&claimed, now_s, AttemptOutcome::Failed);
        h.store.finish(vec![FinishedAttempt { health, ..failed }]).await.unwrap();
    }
    // Several failures in one call begin one failing period.
    put_tests(h, &other, 5, 0).await;
    let claimed = claim(h, &[&other], 10).await;
    let failing = |one| FinishedAttempt { health: Health::Failing, ..attempt(one, 11, AttemptOutcome::Failed) };
    h.store.finish(claimed.iter().map(failing).collect()).await.unwrap();
    put_one(h, &other).await;
    let claimed = claim_one(h, &other, 12).await;
    assert_eq!(claimed.failing_since, Some(after_s(11)));
    finish(h, attempt(&claimed, 12, AttemptOutcome::Succeeded)).await;
    // Outcomes apply in their order: a failure after a success begins a new failing period.
    put_tests(h, &other, 2, 13).await;
    let claimed = claim(h, &[&other], 20).await;
    let attempts = claimed.iter().zip([(21, Health::Healthy), (22, Health::Failing)]);
    let attempts =
        attempts.map(|(one, (at_s, health))| FinishedAttempt { health, ..attempt(one, at_s, AttemptOutcome::Failed) });
    h.store.finish(attempts.collect()).await.unwrap();
    assert_eq!(h.store.failing_since(queue_of(&other)).await.unwrap(), Some(after_s(22)));

    let third = h.endpoint(account, 2).await;
    put_one(h, &third).await;
    assert_eq!(claim_one(h, &third, 1_000).await.failing_since, None, "another endpoint has its own failures");
    let active = restarted(h, endpoint).await;
    put_one(h, &active).await;
    assert_eq!(claim_one(h, &active, 1_000).await.failing_since, None);
    assert_eq!(h.store.failing_since(queue_of(&active)).await.unwrap(), None);
    h.store.clear_failures(queue_of(&third)).await.unwrap();
    assert_eq!(
        h.store.failing_since(queue_of(&other)).await.unwrap(),
        Some(after_s(22)),
        "the failures of another queue are kept"
    );
    h.store.clear_failures(queue_of(&other)).await.unwrap();
    assert_eq!(h.store.failing_since(queue_of(&other)).await.unwrap(), None);
}

/// While the endpoint is inactive, its deliveries wait, and so do those of new events. When the endpoint is active again, they are sent
/// in the order of their due times.
pub async fn deliveries_of_inactive_endpoint_wait(h: &mut Harness) {
    let account = h.account().await.id;
    let (endpoint, calm) = (h.endpoint(account, 0).await, h.endpoint(account, 1).await);
    let mut waiting = put_tests(h, &endpoint, 3, 5).await;
    let in_flight = [claim_first(h, &endpoint, 10).await, claim_first(h, &endpoint, 11).await];
    let inactive = moved(h, endpoint.change(switched(false)).unwrap()).await;
    assert_eq!(inactive.epoch, 0);
    let named = NewEvent { postback: Some(a_postback(&inactive)), ..an_event(account, EventType::ChargePaid, "chg_1") };
    h.commit_ok(steps::publish(vec![NewEvent { at: after_s(30), ..named }])).await;
    let newest = walk_deliveries(&*h.store, account, inactive.id).await.remove(0);
    waiting.push(DeliveryKey { account, endpoint: inactive.id, id: newest.id });
    put_one(h, &calm).await;

    // Outcomes of attempts in flight still count.
    let [retried, taken] = &in_flight;
    let retry = AttemptOutcome::Retry { due_at: after_s(20) };
    finish(h, attempt(retried, 12, retry)).await;
    let taken = finish(h, attempt(taken, 12, AttemptOutcome::Succeeded)).await;
    assert_eq!(taken.status, DeliveryStatus::Succeeded);
    waiting.retain(|key| key.id != taken.id);
    for now_s in [100, 200, 300] {
        let due = h.store.due_queues(after_s(now_s), None, 50).await.unwrap();
        assert_eq!((due.due, due.backlog), (vec![queue_of(&calm)], 2), "the waiting ones do not count");
        assert_eq!(claim(h, &[&inactive], now_s).await, []);
        assert_eq!(h.store.cancel_stale(50).await.unwrap(), 0);
        for key in &waiting {
            let delivery = read(h, *key).await;
            assert_eq!((delivery.status, delivery.next_attempt_at), (DeliveryStatus::Pending, None));
        }
    }

    let active = moved(h, inactive.change(switched(true)).unwrap()).await;
    assert_eq!(active.epoch, 0);
    for (key, due_s) in waiting.iter().zip([20, 7, 30]) {
        assert_eq!(read(h, *key).await.next_attempt_at, Some(after_s(due_s)));
    }
    h.store.hinted().now_or_never();
    h.store.cancel_stale(50).await.unwrap();
    let mut found = h.store.due_queues(after_s(300), None, 50).await.unwrap().due;
    found.extend(h.store.hinted().now_or_never().unwrap_or_default());
    assert!(found.contains(&queue_of(&active)), "{found:?}");
    for (place, tries) in [(1, 1), (0, 2), (2, 1)] {
        let claimed = claim_first(h, &active, 300).await;
        assert_eq!((Some(&claimed.key), claimed.tries), (waiting.get(place), tries));
        finish(h, attempt(&claimed, 301, AttemptOutcome::Succeeded)).await;
    }
    assert_eq!(claim(h, &[&active], 1_000).await, []);
}

/// Deleting an inactive endpoint cancels its deliveries at once.
pub async fn deliveries_of_inactive_endpoint_end_with_it(h: &mut Harness) {
    let account = h.account().await.id;
    let endpoint = h.endpoint(account, 0).await;
    let waiting = put_tests(h, &endpoint, 3, 0).await;
    let inactive = moved(h, endpoint.change(switched(false)).unwrap()).await;
    h.store.due_queues(after_s(100), None, 50).await.unwrap();
    moved(h, inactive.delete(after_s(101))).await;
    assert_cancelled(h, &waiting).await;
    assert_eq!(h.store.cancel_stale(50).await.unwrap(), 3);
    assert_cancelled(h, &waiting).await;
}

/// Disables the endpoint and enables it again.
async fn restarted(h: &Harness, endpoint: Endpoint) -> Endpoint {
    let disabled = moved(h, endpoint.disable(DisabledReason::Gone, after_s(1)).unwrap()).await;
    moved(h, disabled.change(switched(true)).unwrap()).await
}

fn switched(on: bool) -> EndpointChange {
    EndpointChange { active: Some(on), ..EndpointChange::default() }
}

/// Commits the step. Returns the endpoint as read back.
async fn moved(h: &Harness, step: EndpointStep) -> Endpoint {
    let EndpointStep::Taken(endpoint) = step.clone() else { unreachable!("a step that was taken before") };
    h.commit_ok(steps::move_endpoint(step, after_s(1))).await;
    h.store.find_endpoint(endpoint.account, endpoint.id).await.unwrap().unwrap()
}

async fn assert_cancelled(h: &Harness, keys: &[DeliveryKey]) {
    for key in keys {
        let delivery = read(h, *key).await;
        assert_eq!((delivery.status, delivery.next_attempt_at), (DeliveryStatus::Cancelled, None));
    }
}

fn one_event(account: AccountId) -> cais_ports::ChangeSet {
    steps::publish(vec![an_event(account, EventType::ChargePaid, "chg_1")])
}
