//! Housekeeping of events: the oldest are removed with their deliveries. The sequences of the remaining events have no gap.

use cais_domain::event::EventType;
use cais_domain::ids::{AccountId, EventId};
use cais_domain::merchant::webhook::EndpointChange;
use cais_ports::{AttemptOutcome, CommitError, EventFilter, NewEvent, PruneBefore};

use super::Harness;
use super::attempts::{attempt, claim, claim_at, put_one};
use super::harness::{after_s, walk_deliveries, walk_events};
use crate::builders::{an_endpoint, an_event, queue_of, start, steps};

/// Removal stops at the first event that is too young to be removed. All later events stay, even those with an old instant,
/// because clocks can be set back.
pub async fn pruning_leaves_a_sequence_without_a_gap(h: &mut Harness) {
    let (account, other) = (h.account().await.id, h.account().await.id);
    let mut events = Vec::new();
    for at_s in [0, 1, 100, 2, 101] {
        events.push(publish(h, account, at_s).await);
    }
    let foreign = [publish(h, other, 0).await, publish(h, other, 1).await];
    assert_eq!(prune(h, 0).await, 0);
    assert_eq!(prune(h, 50).await, 2 + 2);
    let listed = walk_events(&*h.store, account, EventFilter::default(), 2).await;
    assert!(listed.iter().map(|event| event.id).eq(events.iter().skip(2).rev().copied()));
    assert!(listed.iter().rev().map(|event| event.sequence).eq(3..=5));
    for gone in events.iter().take(2) {
        assert_eq!(h.store.find_event(account, *gone).await.unwrap(), None);
    }
    for gone in foreign {
        assert_eq!(h.store.find_event(other, gone).await.unwrap(), None);
    }
    h.audit().await;
    for (account, next) in [(account, 6), (other, 3)] {
        assert_eq!(h.store.last_sequence(account).await.unwrap(), next - 1);
        let event = an_event(account, EventType::ChargePaid, "chg_1");
        assert_eq!(h.commit_ok(steps::publish(vec![event])).await.sequences, [next]);
    }
}

/// Deliveries and attempts are removed with their events. An event with a pending delivery stays, and so do all later events.
pub async fn deliveries_go_with_their_events(h: &mut Harness) {
    let account = h.account().await.id;
    let endpoint = h.endpoint(account, 0).await;
    let mut events = Vec::new();
    for at_s in 0..5 {
        events.push(publish(h, account, at_s).await);
    }
    let claimed = claim(h, &[&endpoint], 10).await;
    let waited_for = events.get(3).copied().unwrap();
    let retry = AttemptOutcome::Retry { due_at: after_s(10_000) };
    let outcome = |id: EventId| if id == waited_for { retry } else { AttemptOutcome::Failed };
    h.store.finish(claimed.iter().map(|one| attempt(one, 11, outcome(one.event.id()))).collect()).await.unwrap();
    assert_eq!(prune(h, 1_000).await, 3);
    let left = walk_deliveries(&*h.store, account, endpoint.id).await;
    assert!(left.iter().map(|delivery| delivery.event).eq(events.iter().skip(3).rev().copied()));
    for gone in events.iter().take(3) {
        assert_eq!(h.store.list_deliveries_of_event(account, *gone).await.unwrap(), []);
    }
    let last = h.store.claim(claim_at(&[queue_of(&endpoint)], 20_000)).await.unwrap();
    assert!(last.iter().map(|one| one.event.id()).eq([waited_for]));
    h.store.finish(last.iter().map(|one| attempt(one, 20_001, AttemptOutcome::Succeeded)).collect()).await.unwrap();
    assert_eq!(prune(h, 1_000).await, 2);
    assert_eq!(walk_deliveries(&*h.store, account, endpoint.id).await, []);
    // A late outcome of a removed delivery has no effect.
    h.store.finish(claimed.iter().map(|one| attempt(one, 11, AttemptOutcome::Succeeded)).collect()).await.unwrap();
    assert_eq!(walk_deliveries(&*h.store, account, endpoint.id).await, []);
}

/// Deliveries of an inactive endpoint do not prevent the removal of their events: both are removed together.
pub async fn events_go_although_inactive_endpoint_waits(h: &mut Harness) {
    let account = h.account().await.id;
    let endpoint = h.endpoint(account, 0).await;
    publish(h, account, 0).await;
    let inactive = EndpointChange { active: Some(false), ..EndpointChange::default() };
    h.commit_ok(steps::move_endpoint(endpoint.clone().change(inactive).unwrap(), after_s(1))).await;
    publish(h, account, 2_000).await;
    assert_eq!(prune(h, 1_000).await, 1);
    assert_eq!(walk_deliveries(&*h.store, account, endpoint.id).await.len(), 1, "the young delivery waits");
}

/// A deleted endpoint is removed once all of its deliveries are removed. An endpoint that is not deleted stays.
pub async fn deleted_endpoints_go_last(h: &mut Harness) {
    let account = h.account().await.id;
    let (kept, deleted, unused) =
        (h.endpoint(account, 0).await, h.endpoint(account, 1).await, h.endpoint(account, 2).await);
    publish(h, account, 0).await;
    publish(h, account, 2_000).await;
    put_one(h, &kept).await;
    for endpoint in [&deleted, &unused] {
        h.commit_ok(steps::move_endpoint(endpoint.clone().delete(after_s(1)), after_s(1))).await;
    }
    h.store.cancel_stale(50).await.unwrap();
    let claimed = claim(h, &[&kept], 2_000).await;
    h.store.finish(claimed.iter().map(|one| attempt(one, 2_001, AttemptOutcome::Succeeded)).collect()).await.unwrap();
    prune(h, 1_000).await;
    let there = async |id| h.store.find_endpoint(account, id).await.unwrap().is_some();
    assert!(there(deleted.id).await, "a young delivery refers to it");
    prune(h, 3_000).await;
    assert!(!there(deleted.id).await);
    assert!(there(kept.id).await);
    assert!(!there(unused.id).await);
    let again = steps::update_endpoint(&an_endpoint(account, 3), start());
    assert_eq!(h.commit(again).await, Err(CommitError::Stale));
}

async fn publish(h: &Harness, account: AccountId, at_s: i64) -> EventId {
    let event = NewEvent { at: after_s(at_s), ..an_event(account, EventType::ChargePaid, "chg_1") };
    h.commit_ok(steps::publish(vec![event.clone()])).await;
    event.id
}

/// Removes the events from before second `before_s` of the test, in as many passes as needed. Returns the number of removed events.
async fn prune(h: &Harness, before_s: i64) -> u64 {
    let before = PruneBefore {
        idempotency_records: after_s(0),
        marks: after_s(0),
        events: after_s(before_s),
        requests: after_s(0),
    };
    let mut events = 0;
    loop {
        let pruned = h.store.prune(before).await.unwrap();
        events += pruned.events;
        if pruned.events == 0 {
            return events;
        }
    }
}
