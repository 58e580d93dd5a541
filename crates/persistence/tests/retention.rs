//! Tests the limits of one call of housekeeping.

use cais_domain::event::EventType;
use cais_domain::ids::AccountId;
use cais_domain::merchant::webhook::Subscription;
use cais_persistence::Persistence;
use cais_ports::{
    AttemptOutcome, DeliveryAttempt, DeliveryClaim, DeliveryQueries as _, DeliveryQueue as _, EventFilter, EventPage,
    EventQueries as _, FinishedAttempt, Health, Maintenance as _, NewDelivery, NewEvent, PruneBefore, QueryError,
    Store as _,
};
use cais_testkit::builders::{a_test_delivery, an_account, an_endpoint, an_event, queue_of, start, steps};
use jiff::{SignedDuration, Timestamp};
use tokio::runtime::Runtime;

use crate::locks::foreign;
use crate::postgres::{database, open};
use crate::stores::{ids, migrated};

fn later() -> Timestamp {
    start() + SignedDuration::from_hours(1)
}

fn before() -> PruneBefore {
    PruneBefore { idempotency_records: start(), marks: start(), events: later(), requests: later() }
}

fn of_both(case: impl AsyncFn(Persistence)) {
    let folder = tempfile::tempdir().unwrap();
    let file = migrated(&format!("sqlite:{}", folder.path().join("cais.db").display()));
    for store in [Persistence::open(&file, &ids()).unwrap(), open(&database())] {
        Runtime::new().unwrap().block_on(async {
            case(store.clone()).await;
            assert_eq!(store.verify_ledger().await.unwrap().differences, []);
            store.close().await;
        });
    }
}

/// Publishes the oldest possible events of an account.
async fn publish(store: &Persistence, account: AccountId, count: usize) -> Vec<NewEvent> {
    let events: Vec<NewEvent> = (0..count).map(|_| an_event(account, EventType::ChargePaid, "chg_1")).collect();
    for events in events.chunks(500) {
        store.commit(steps::publish(events.to_vec())).await.unwrap();
    }
    events
}

async fn oldest(store: &Persistence, account: AccountId) -> Option<i64> {
    let filter = EventFilter { kind: None, after_sequence: Some(0) };
    let page = store.list_events(account, filter, EventPage { limit: 1, starting_after: None }).await.unwrap();
    page.rows.first().map(|event| event.sequence)
}

#[test]
fn prune_call_removes_a_limit_and_next_call_continues() {
    of_both(async |store| {
        let (one, other) = (an_account().id, an_account().id);
        publish(&store, one, 2_500).await;
        publish(&store, other, 250).await;
        store
            .commit(steps::publish(vec![NewEvent { at: later(), ..an_event(other, EventType::ChargePaid, "chg_1") }]))
            .await
            .unwrap();
        let mut removed = Vec::new();
        for _ in 0..3 {
            removed.push(store.prune(before()).await.unwrap().events);
        }
        assert_eq!(removed, [2_000, 750, 0]);
        assert_eq!([oldest(&store, one).await, oldest(&store, other).await], [None, Some(251)]);
        assert_eq!(store.last_sequence(one).await, Ok(2_500));
        publish(&store, one, 1).await;
        assert_eq!(oldest(&store, one).await, Some(2_501), "numbers go on where they were");
        assert_eq!(store.prune(before()).await.unwrap().events, 1, "every account is checked again");
    });
}

#[test]
fn failed_table_does_not_stop_the_others() {
    let url = database();
    let _holder = foreign(&url, "LOCK TABLE idempotency_records");
    Runtime::new().unwrap().block_on(async {
        let store = open(&url);
        publish(&store, an_account().id, 10).await;
        let before = PruneBefore { idempotency_records: later(), marks: later(), events: later(), requests: later() };
        let pruned = store.prune(before).await.unwrap();
        assert_eq!((pruned.idempotency_records, pruned.batches, pruned.events), (0, 1, 10));
        store.close().await;
    });
}

#[test]
fn event_with_pending_delivery_stays_with_later_ones() {
    of_both(async |store| {
        let account = an_account().id;
        let wants = Subscription::parse(["charge.expired"]).unwrap();
        let endpoint = cais_domain::merchant::webhook::Endpoint { subscription: wants, ..an_endpoint(account, 0) };
        store.commit(steps::open_endpoint(&endpoint)).await.unwrap();
        publish(&store, account, 130).await;
        let waited = an_event(account, EventType::ChargeExpired, "chg_1");
        store.commit(steps::publish(vec![waited.clone()])).await.unwrap();
        publish(&store, account, 20).await;
        assert_eq!(store.prune(before()).await.unwrap().events, 130);
        assert_eq!(oldest(&store, account).await, Some(131));
        let claim = DeliveryClaim {
            queues: vec![queue_of(&endpoint)],
            now: later(),
            lease_until: later() + SignedDuration::from_secs(30),
            per_endpoint: 8,
            at_once: 8,
            limit: 8,
        };
        let claimed = store.claim(claim).await.unwrap();
        assert_eq!(store.prune(before()).await.unwrap().events, 0, "a delivery of the event is in flight");
        let finished = claimed.iter().map(|one| FinishedAttempt {
            key: one.key,
            fence: one.fence,
            epoch: 0,
            tries: one.tries,
            attempt: DeliveryAttempt {
                at: start(),
                status_code: Some(200),
                duration_ms: 1,
                error: None,
                response_body: None,
            },
            outcome: AttemptOutcome::Succeeded,
            health: Health::Unchanged,
        });
        store.finish(finished.collect()).await.unwrap();
        assert_eq!(store.prune(before()).await.unwrap().events, 21);
        assert_eq!(store.list_deliveries_of_event(account, waited.id).await, Ok(Vec::new()));
    });
}

#[test]
fn removed_event_is_not_sent_again() {
    of_both(async |store| {
        let account = an_account().id;
        let endpoint = an_endpoint(account, 0);
        store.commit(steps::open_endpoint(&endpoint)).await.unwrap();
        let gone = an_event(account, EventType::ChargePaid, "chg_1");
        let again = NewDelivery { event: gone.id, kind: gone.kind, sequence: Some(1), ..a_test_delivery(&endpoint) };
        assert!(matches!(store.put(vec![again], None).await, Err(QueryError::Unavailable(_))));
        let claim = DeliveryClaim {
            queues: vec![queue_of(&endpoint)],
            now: later(),
            lease_until: later(),
            per_endpoint: 8,
            at_once: 8,
            limit: 8,
        };
        assert_eq!(store.claim(claim).await, Ok(Vec::new()));
    });
}
