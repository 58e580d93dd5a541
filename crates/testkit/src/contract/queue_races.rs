//! Concurrent nodes share the work: no delivery is claimed twice, and no endpoint gets more than its slots.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::ids::{DeliveryId, EndpointId};
use cais_domain::merchant::webhook::{DeliveryStatus, Endpoint};
use cais_ports::{AttemptOutcome, ChangeSet, ClaimedDelivery, DeliveryClaim, DueQueues, EndpointQueue};
use tokio::task::JoinSet;

use super::attempts::{SLOTS, attempt, claim_at, put_tests};
use super::harness::{after_s, walk_deliveries};
use super::{Harness, WholeStore};
use crate::builders::{an_event, queue_of, steps};

/// The number of concurrent nodes.
const NODES: usize = 8;
/// The number of deliveries of each endpoint.
const OF_EACH: i64 = 40;
/// The time limit of the whole test.
const DEADLINE: Duration = Duration::from_mins(2);

/// Each delivery is claimed once.
pub async fn racing_nodes_claim_each_delivery_once(h: &mut Harness) {
    let endpoints = endpoints(h, 5).await;
    for endpoint in &endpoints {
        put_tests(h, endpoint, OF_EACH, 0).await;
    }
    let tally = Tally::default();
    work(h, &endpoints, endpoints.len() * usize::try_from(OF_EACH).unwrap(), &tally).await;
    assert_each_once(h, &endpoints, &tally).await;
}

/// While the nodes work, the test publishes events and updates the endpoints. Each delivery is still claimed once.
pub async fn racing_nodes_lose_no_delivery_of_new_events(h: &mut Harness) {
    let endpoints = endpoints(h, 3).await;
    let tally = Tally::default();
    let publish = async {
        for _ in 0..OF_EACH {
            for endpoint in &endpoints {
                let event = an_event(endpoint.account, EventType::ChargePaid, "chg_1");
                h.commit_ok(steps::publish(vec![event])).await;
            }
        }
        for endpoint in &endpoints {
            let change: ChangeSet = steps::update_endpoint(endpoint, after_s(1));
            h.commit_ok(change).await;
        }
    };
    let all = endpoints.len() * usize::try_from(OF_EACH).unwrap();
    tokio::join!(publish, work(h, &endpoints, all, &tally));
    assert_each_once(h, &endpoints, &tally).await;
}

/// The record of the nodes' work.
#[derive(Clone, Default)]
struct Tally {
    /// The number of claims of each delivery.
    claimed: Arc<Mutex<BTreeMap<DeliveryId, u32>>>,
    /// The number of deliveries in flight for each endpoint.
    in_flight: Arc<Mutex<BTreeMap<EndpointId, u32>>>,
    /// The number of finished deliveries.
    finished: Arc<AtomicUsize>,
}

/// Stores endpoints, each in a new account.
async fn endpoints(h: &Harness, count: u8) -> Vec<Endpoint> {
    let mut endpoints = Vec::new();
    for slot in 0..count {
        let account = h.account().await.id;
        endpoints.push(h.endpoint(account, slot).await);
    }
    endpoints
}

/// Runs all nodes. They claim and finish deliveries until `all` deliveries are finished.
async fn work(h: &Harness, endpoints: &[Endpoint], all: usize, tally: &Tally) {
    let queues: Vec<EndpointQueue> = endpoints.iter().map(queue_of).collect();
    let mut nodes = JoinSet::new();
    for node in 0..NODES {
        let mut queues = queues.clone();
        queues.rotate_left(node % endpoints.len());
        let (store, tally) = (Arc::clone(&h.store), tally.clone());
        nodes.spawn(async move {
            while tally.finished.load(Ordering::SeqCst) < all {
                deliver_some(&*store, &queues, &tally).await;
                tokio::task::yield_now().await;
            }
        });
    }
    let done = async {
        while let Some(node) = nodes.join_next().await {
            node.unwrap();
        }
    };
    tokio::time::timeout(DEADLINE, done).await.unwrap();
}

async fn deliver_some(store: &dyn WholeStore, queues: &[EndpointQueue], tally: &Tally) {
    let claim = DeliveryClaim { limit: 10, ..claim_at(queues, 100) };
    let claimed: Vec<ClaimedDelivery> = store.claim(claim).await.unwrap();
    assert!(claimed.len() <= 10, "more than the limit");
    for one in &claimed {
        *tally.claimed.lock().unwrap().entry(one.key.id).or_default() += 1;
        let mut in_flight = tally.in_flight.lock().unwrap();
        let slots = in_flight.entry(one.key.endpoint).or_default();
        *slots += 1;
        assert!(*slots <= SLOTS, "an endpoint has {slots} in flight");
    }
    tokio::task::yield_now().await;
    for one in &claimed {
        *tally.in_flight.lock().unwrap().get_mut(&one.key.endpoint).unwrap() -= 1;
    }
    let count = claimed.len();
    store.finish(claimed.iter().map(|one| attempt(one, 101, AttemptOutcome::Succeeded)).collect()).await.unwrap();
    tally.finished.fetch_add(count, Ordering::SeqCst);
}

async fn assert_each_once(h: &Harness, endpoints: &[Endpoint], tally: &Tally) {
    let claimed = tally.claimed.lock().unwrap().clone();
    assert!(claimed.values().all(|times| *times == 1), "{claimed:?}");
    let mut count = 0;
    for endpoint in endpoints {
        for delivery in walk_deliveries(&*h.store, endpoint.account, endpoint.id).await {
            assert_eq!((delivery.status, delivery.attempts.len()), (DeliveryStatus::Succeeded, 1));
            assert!(claimed.contains_key(&delivery.id));
            count += 1;
        }
    }
    assert_eq!(count, claimed.len());
    assert_eq!(h.store.due_queues(after_s(1_000), None, 50).await.unwrap(), DueQueues::default());
}
