//! Tests the queue of deliveries on PostgreSQL: nodes that share the queue, lost connections, and unreadable rows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cais_domain::ids::DeliveryId;
use cais_domain::merchant::webhook::{DeliveryStatus, Endpoint};
use cais_persistence::Persistence;
use cais_ports::{
    AttemptOutcome, ClaimedDelivery, DeliveryAttempt, DeliveryClaim, DeliveryQueries as _, DeliveryQueue as _,
    EndpointQueue, FinishedAttempt, Health, NewDelivery, QueryError, Store as _,
};
use cais_testkit::builders::{a_test_delivery, an_account, an_endpoint, queue_of, start, steps};
use cais_testkit::postgres::Cluster;
use jiff::{SignedDuration, Timestamp};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::postgres::{database, open};
use crate::proxy::{Loss, Proxy};

/// The number of slots of an endpoint.
const SLOTS: usize = 8;
const LEASE_S: i64 = 30;

fn after_s(seconds: i64) -> Timestamp {
    start() + SignedDuration::from_secs(seconds)
}

/// Registers an endpoint and returns it as read back.
async fn endpoint(store: &Persistence) -> Endpoint {
    let endpoint = an_endpoint(an_account().id, 0);
    store.commit(steps::open_endpoint(&endpoint)).await.unwrap();
    Endpoint { version: 1, ..endpoint }
}

/// Puts tests of the endpoint, each due a second after the previous one.
async fn put(store: &Persistence, endpoint: &Endpoint, count: i64) -> Vec<DeliveryId> {
    let due = |at_s| NewDelivery { at: after_s(at_s), ..a_test_delivery(endpoint) };
    store.put((0..count).map(due).collect(), None).await.unwrap().unwrap()
}

async fn claim(store: &Persistence, queues: &[EndpointQueue], now_s: i64) -> Vec<ClaimedDelivery> {
    let claim = DeliveryClaim {
        queues: queues.to_vec(),
        now: after_s(now_s),
        lease_until: after_s(now_s + LEASE_S),
        per_endpoint: u32::try_from(SLOTS).unwrap(),
        at_once: u32::try_from(SLOTS).unwrap(),
        limit: 1_000,
    };
    store.claim(claim).await.unwrap()
}

fn ids(claimed: &[ClaimedDelivery]) -> Vec<DeliveryId> {
    claimed.iter().map(|one| one.key.id).collect()
}

fn attempt(claimed: &ClaimedDelivery, outcome: AttemptOutcome, health: Health) -> FinishedAttempt {
    FinishedAttempt {
        key: claimed.key,
        fence: claimed.fence,
        epoch: claimed.endpoint.epoch,
        tries: claimed.tries,
        attempt: DeliveryAttempt {
            at: start(),
            status_code: Some(500),
            duration_ms: 3,
            error: None,
            // The proxy recognizes an outcome by this text, because an outcome has no COMMIT.
            response_body: Some("committed".to_owned()),
        },
        outcome,
        health,
    }
}

/// Runs a store behind a proxy, with an endpoint and that number of tests for it.
fn proxied(count: i64, case: impl AsyncFnOnce(Persistence, Arc<Proxy>, Endpoint, Vec<DeliveryId>)) {
    let (url, cluster) = (database(), Cluster::shared().unwrap());
    let proxy = Arc::new(Proxy::start(cluster.port()));
    let url = url.replace(&cluster.port().to_string(), &proxy.port().to_string());
    Runtime::new().unwrap().block_on(async {
        let store = open(&url);
        let endpoint = endpoint(&store).await;
        let put = put(&store, &endpoint, count).await;
        case(store.clone(), proxy, endpoint, put).await;
        store.close().await;
    });
}

#[test]
fn nodes_share_the_slots_of_an_endpoint() {
    let url = database();
    Runtime::new().unwrap().block_on(async {
        let nodes = [open(&url), open(&url)];
        let [first, ..] = &nodes;
        let mut queues = Vec::new();
        for _ in 0..3 {
            let endpoint = endpoint(first).await;
            put(first, &endpoint, 40).await;
            queues.push(queue_of(&endpoint));
        }
        let mut delivered = BTreeSet::new();
        while delivered.len() < 120 {
            let mut claims = JoinSet::new();
            for node in nodes.iter().cycle().take(6) {
                let (node, queues) = (node.clone(), queues.clone());
                claims.spawn(async move { claim(&node, &queues, 100).await });
            }
            let claimed: Vec<ClaimedDelivery> = claims.join_all().await.into_iter().flatten().collect();
            let mut in_flight = BTreeMap::<_, usize>::new();
            for one in &claimed {
                *in_flight.entry(one.key.endpoint).or_default() += 1;
                assert!(delivered.insert(one.key), "claimed twice: {one:?}");
                assert_eq!((one.fence, one.tries), (1, 1));
            }
            assert!(in_flight.values().all(|count| *count <= SLOTS), "{in_flight:?}");
            assert!(!claimed.is_empty(), "the first claim of an idle queue is not empty");
            for (node, part) in nodes.iter().zip(claimed.chunks(claimed.len().div_ceil(2))) {
                let finished = part.iter().map(|one| attempt(one, AttemptOutcome::Succeeded, Health::Unchanged));
                node.finish(finished.collect()).await.unwrap();
            }
        }
        for node in &nodes {
            assert_eq!(claim(node, &queues, 1_000).await, []);
        }
    });
}

#[test]
fn claim_lost_before_server_is_repeated() {
    proxied(20, async |store, proxy, endpoint, put| {
        proxy.arm(&[Loss::Request]);
        let claimed = claim(&store, &[queue_of(&endpoint)], 100).await;
        assert!(proxy.fired());
        assert_eq!(Some(ids(&claimed).as_slice()), put.get(..SLOTS));
        assert!(claimed.iter().all(|one| one.fence == 1));
    });
}

#[test]
fn claim_with_lost_reply_keeps_places_until_lease_ends() {
    proxied(20, async |store, proxy, endpoint, put| {
        proxy.arm(&[Loss::Reply]);
        assert_eq!(claim(&store, &[queue_of(&endpoint)], 100).await, []);
        assert!(proxy.fired());
        assert_eq!(claim(&store, &[queue_of(&endpoint)], 100 + LEASE_S - 1).await, []);
        let later = claim(&store, &[queue_of(&endpoint)], 100 + LEASE_S).await;
        assert_eq!(Some(ids(&later).as_slice()), put.get(SLOTS..2 * SLOTS), "the others have waited for longer");
        store
            .finish(later.iter().map(|one| attempt(one, AttemptOutcome::Succeeded, Health::Unchanged)).collect())
            .await
            .unwrap();
        let rest = claim(&store, &[queue_of(&endpoint)], 100 + LEASE_S).await;
        let fences: BTreeMap<DeliveryId, i64> = rest.iter().map(|one| (one.key.id, one.fence)).collect();
        let lost = |id: &DeliveryId| put.iter().take(SLOTS).any(|lost| lost == id);
        assert!(fences.iter().all(|(id, fence)| *fence == if lost(id) { 2 } else { 1 }), "{fences:?}");
        assert_eq!(fences.len(), SLOTS);
    });
}

#[test]
fn outcome_with_lost_reply_is_stored_once() {
    for (health, losses) in
        [(Health::Unchanged, [Loss::AloneReply, Loss::AloneRequest]), (Health::Failing, [Loss::Reply, Loss::Request])]
    {
        for loss in losses {
            proxied(1, async |store, proxy, endpoint, _| {
                let claimed = claim(&store, &[queue_of(&endpoint)], 100).await;
                let [one] = claimed.as_slice() else { unreachable!("{claimed:?}") };
                let due_at = after_s(500);
                proxy.arm(&[loss]);
                store.finish(vec![attempt(one, AttemptOutcome::Retry { due_at }, health)]).await.unwrap();
                assert!(proxy.fired());
                let key = one.key;
                let found = store.find_delivery(key.account, key.endpoint, key.id).await.unwrap().unwrap();
                assert_eq!((found.attempts.len(), found.next_attempt_at), (1, Some(due_at)));
                let again = claim(&store, &[queue_of(&endpoint)], 500).await;
                let failing_since = (health == Health::Failing).then(start);
                assert_eq!(
                    again.iter().map(|one| (one.fence, one.tries, one.failing_since)).collect::<Vec<_>>(),
                    [(2, 2, failing_since)]
                );
            });
        }
    }
}

#[test]
fn put_with_lost_reply_is_stored_once() {
    proxied(0, async |store, proxy, endpoint, _| {
        let new = NewDelivery { at: start(), ..a_test_delivery(&endpoint) };
        for loss in [Loss::Request, Loss::Reply] {
            proxy.arm(&[loss]);
            assert_eq!(store.put(vec![new.clone()], Some(1)).await, Ok(Some(vec![new.id])));
            assert!(proxy.fired());
        }
        assert_eq!(ids(&claim(&store, &[queue_of(&endpoint)], 100).await), [new.id]);
    });
}

#[test]
fn connections_that_were_ended_are_replaced() {
    let url = database();
    Runtime::new().unwrap().block_on(async {
        let store = open(&url);
        let endpoint = endpoint(&store).await;
        let queue = queue_of(&endpoint);
        for _ in 0..2 {
            put(&store, &endpoint, 1).await;
            assert_eq!(store.due_queues(after_s(100), None, 10).await.unwrap().due, [queue]);
            let claimed = claim(&store, &[queue], 100).await;
            let finished = claimed.iter().map(|one| attempt(one, AttemptOutcome::Succeeded, Health::Unchanged));
            store.finish(finished.collect()).await.unwrap();
            assert_eq!((claimed.len(), store.cancel_stale(10).await), (1, Ok(0)));
            let end_all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
            Cluster::shared().unwrap().sql(&url, end_all).unwrap();
        }
        store.close().await;
        assert!(matches!(store.due_queues(after_s(100), None, 10).await, Err(QueryError::Unavailable(_))));
    });
}

#[test]
fn late_older_delivery_is_found_after_younger_claims() {
    let url = database();
    Runtime::new().unwrap().block_on(async {
        let store = open(&url);
        let endpoint = endpoint(&store).await;
        let young = NewDelivery { at: after_s(50), ..a_test_delivery(&endpoint) };
        let many = (0..8).map(|_| NewDelivery { at: after_s(50), ..a_test_delivery(&endpoint) });
        store.put(many.collect(), None).await.unwrap();
        let claimed = claim(&store, &[queue_of(&endpoint)], 100).await;
        let finished = claimed.iter().map(|one| attempt(one, AttemptOutcome::Succeeded, Health::Unchanged));
        store.finish(finished.collect()).await.unwrap();
        let old = NewDelivery { at: after_s(1), ..a_test_delivery(&endpoint) };
        store.put(vec![young.clone(), old.clone()], None).await.unwrap();
        let found: BTreeSet<DeliveryId> = ids(&claim(&store, &[queue_of(&endpoint)], 100).await).into_iter().collect();
        assert_eq!(found, BTreeSet::from([young.id, old.id]));
    });
}

#[test]
fn invalid_delivery_or_outcome_affects_no_other() {
    let url = database();
    Runtime::new().unwrap().block_on(async {
        let store = open(&url);
        let endpoint = endpoint(&store).await;
        let put = put(&store, &endpoint, 4).await;
        let [spoilt, poisoned, good, better] = put.as_slice() else { unreachable!("{put:?}") };
        let spoil =
            format!("UPDATE deliveries SET event_type = 'charge.forgotten', sequence = 1 WHERE id = '{spoilt}'");
        Cluster::shared().unwrap().sql(&url, &spoil).unwrap();
        let claimed = claim(&store, &[queue_of(&endpoint)], 100).await;
        assert_eq!(ids(&claimed), [*poisoned, *good, *better]);
        let mut finished: Vec<FinishedAttempt> =
            claimed.iter().map(|one| attempt(one, AttemptOutcome::Succeeded, Health::Unchanged)).collect();
        // PostgreSQL accepts no NUL in a text.
        finished.iter_mut().take(1).for_each(|one| one.attempt.response_body = Some("\0".to_owned()));
        store.finish(finished).await.unwrap();
        for (id, status) in [
            (poisoned, DeliveryStatus::Pending),
            (good, DeliveryStatus::Succeeded),
            (better, DeliveryStatus::Succeeded),
        ] {
            let found = store.find_delivery(endpoint.account, endpoint.id, *id).await.unwrap().unwrap();
            assert_eq!(found.status, status);
        }
        let spoil = format!("UPDATE webhook_endpoints SET events = 'charge.forgotten' WHERE id = '{}'", endpoint.id);
        Cluster::shared().unwrap().sql(&url, &spoil).unwrap();
        assert_eq!(claim(&store, &[queue_of(&endpoint)], 1_000).await, []);
    });
}
