//! Helpers for tests of deliveries: claims and outcomes, as a node makes them.

use cais_domain::merchant::webhook::{DeliveryStatus, Endpoint};
use cais_ports::{
    AttemptOutcome, ClaimedDelivery, Delivery, DeliveryAttempt, DeliveryClaim, DeliveryKey, EndpointQueue,
    FinishedAttempt, Health, NewDelivery,
};

use super::Harness;
use super::harness::after_s;
use crate::builders::{a_test_delivery, queue_of};

/// The length of the lease of a claim in these tests, in seconds.
pub(super) const LEASE_S: i64 = 30;
/// The number of slots of an endpoint: its largest number of deliveries in flight.
pub(super) const SLOTS: u32 = 8;

/// Returns a node's claim of deliveries in these queues, made `now_s` seconds after the beginning of the test.
pub(super) fn claim_at(queues: &[EndpointQueue], now_s: i64) -> DeliveryClaim {
    DeliveryClaim {
        queues: queues.to_vec(),
        now: after_s(now_s),
        lease_until: after_s(now_s + LEASE_S),
        per_endpoint: SLOTS,
        at_once: SLOTS,
        limit: 1_000,
    }
}

/// Claims the due deliveries of these endpoints.
pub(super) async fn claim(h: &Harness, endpoints: &[&Endpoint], now_s: i64) -> Vec<ClaimedDelivery> {
    let queues: Vec<EndpointQueue> = endpoints.iter().map(|endpoint| queue_of(endpoint)).collect();
    h.store.claim(claim_at(&queues, now_s)).await.unwrap()
}

/// Claims the only due delivery of the endpoint.
pub(super) async fn claim_one(h: &Harness, endpoint: &Endpoint, now_s: i64) -> ClaimedDelivery {
    let claimed = claim(h, &[endpoint], now_s).await;
    let [one] = <[ClaimedDelivery; 1]>::try_from(claimed).unwrap();
    one
}

/// Claims the longest overdue delivery of the endpoint, and no other.
pub(super) async fn claim_first(h: &Harness, endpoint: &Endpoint, now_s: i64) -> ClaimedDelivery {
    let one = DeliveryClaim { limit: 1, ..claim_at(&[queue_of(endpoint)], now_s) };
    let [first] = <[ClaimedDelivery; 1]>::try_from(h.store.claim(one).await.unwrap()).unwrap();
    first
}

/// Puts `count` test deliveries of the endpoint. The first is due at `first_s`, and each of the others a second after
/// the previous one. Returns their keys in this order.
pub(super) async fn put_tests(h: &Harness, endpoint: &Endpoint, count: i64, first_s: i64) -> Vec<DeliveryKey> {
    let due = |place| NewDelivery { at: after_s(first_s + place), ..a_test_delivery(endpoint) };
    let tests: Vec<NewDelivery> = (0..count).map(due).collect();
    let key = |test: &NewDelivery| DeliveryKey { account: endpoint.account, endpoint: endpoint.id, id: test.id };
    let keys: Vec<DeliveryKey> = tests.iter().map(key).collect();
    let put = h.store.put(tests, None).await.unwrap().unwrap();
    assert!(put.into_iter().eq(keys.iter().map(|key| key.id)), "new deliveries keep their identifiers");
    keys
}

/// Returns a finished attempt of the claimed delivery. The attempt began `at_s` seconds after the beginning of the test.
pub(super) fn attempt(claimed: &ClaimedDelivery, at_s: i64, outcome: AttemptOutcome) -> FinishedAttempt {
    let succeeded = outcome == AttemptOutcome::Succeeded;
    FinishedAttempt {
        key: claimed.key,
        fence: claimed.fence,
        epoch: claimed.endpoint.epoch,
        tries: claimed.tries,
        attempt: DeliveryAttempt {
            at: after_s(at_s),
            status_code: Some(if succeeded { 204 } else { 500 }),
            duration_ms: 12,
            error: (!succeeded).then(|| "status_not_2xx".to_owned()),
            response_body: None,
        },
        outcome,
        health: Health::Unchanged,
    }
}

/// Stores a finished attempt, and returns its delivery as read back.
pub(super) async fn finish(h: &Harness, finished: FinishedAttempt) -> Delivery {
    let key = finished.key;
    h.store.finish(vec![finished]).await.unwrap();
    read(h, key).await
}

pub(super) async fn read(h: &Harness, key: DeliveryKey) -> Delivery {
    h.store.find_delivery(key.account, key.endpoint, key.id).await.unwrap().unwrap()
}

pub(super) async fn status(h: &Harness, key: DeliveryKey) -> DeliveryStatus {
    read(h, key).await.status
}

/// Returns the keys of the claimed deliveries, sorted.
pub(super) fn keys(claimed: &[ClaimedDelivery]) -> Vec<DeliveryKey> {
    let mut keys: Vec<DeliveryKey> = claimed.iter().map(|claimed| claimed.key).collect();
    keys.sort_unstable();
    keys
}

/// Puts one test delivery of the endpoint, due at the beginning of the test.
pub(super) async fn put_one(h: &Harness, endpoint: &Endpoint) -> DeliveryKey {
    put_tests(h, endpoint, 1, 0).await.remove(0)
}
