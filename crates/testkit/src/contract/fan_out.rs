//! Fan-out: each event creates a delivery for each subscribed endpoint, in the same commit.

use std::collections::BTreeSet;

use cais_domain::event::EventType;
use cais_domain::ids::{AccountId, EventId};
use cais_domain::merchant::webhook::{DeliveryStatus, DisabledReason, Endpoint, EndpointState, Postback};
use cais_ports::{ChangeSet, Delivery, EventFilter, NewEvent};

use super::Harness;
use super::harness::{after_s, commit_concurrently, hold, walk_deliveries, walk_events};
use super::probe::refused_without_a_trace;
use crate::builders::{
    a_payment, a_postback, a_webhook_url, an_endpoint, an_event, fresh, pending_charge, start, steps, subscribed,
};

/// The number of concurrent callers.
const CALLERS: usize = 64;

/// Endpoints that subscribe to the event's type, and endpoints that subscribe to everything, get one delivery each.
pub async fn subscribed_endpoints_get_a_delivery(h: &mut Harness) {
    let account = h.account().await.id;
    let all = h.endpoint(account, 0).await;
    let wants = async |slot, kinds: &[EventType]| {
        h.stored_endpoint(Endpoint { subscription: subscribed(kinds), ..an_endpoint(account, slot) }).await
    };
    let paid = wants(1, &[EventType::ChargePaid]).await;
    let both = wants(2, &[EventType::PayoutFailed, EventType::ChargePaid]).await;
    let every = wants(3, &EventType::ALL).await;
    let other = wants(4, &[EventType::ChargeRefunded]).await;
    for (kind, matching) in [
        (EventType::ChargePaid, vec![&all, &paid, &both, &every]),
        (EventType::PayoutFailed, vec![&all, &both, &every]),
        (EventType::ChargeRefunded, vec![&all, &every, &other]),
        (EventType::WebhookEndpointDisabled, vec![&all, &every]),
    ] {
        let event = an_event(account, kind, "chg_1");
        h.commit_ok(steps::publish(vec![event.clone()])).await;
        assert_deliveries(h, &event, &matching).await;
        for endpoint in matching {
            let newest = deliveries(h, endpoint).await.into_iter().next().unwrap();
            let expected = Delivery {
                id: newest.id,
                endpoint: endpoint.id,
                event: event.id,
                kind,
                status: DeliveryStatus::Pending,
                attempts: Vec::new(),
                next_attempt_at: Some(start()),
                created_at: start(),
            };
            assert_eq!(newest, expected, "due at once");
            let found = h.store.find_delivery(account, endpoint.id, newest.id).await.unwrap();
            assert_eq!(found, Some(expected));
        }
    }
}

/// A disabled or deleted endpoint gets no delivery, even if a charge names the endpoint. An endpoint of another account
/// gets none either.
pub async fn ended_and_foreign_endpoints_get_no_delivery(h: &mut Harness) {
    let (account, other) = (h.account().await.id, h.account().await.id);
    let at = after_s(3);
    let states = [
        EndpointState::Disabled { reason: DisabledReason::Gone, at },
        EndpointState::Disabled { reason: DisabledReason::Failing, at },
        EndpointState::Deleted { at },
    ];
    for (slot, state) in (0..).zip(states) {
        let deaf = h.stored_endpoint(Endpoint { state, epoch: 1, ..an_endpoint(account, slot) }).await;
        let event = NewEvent { postback: Some(a_postback(&deaf)), ..an_event(account, EventType::ChargePaid, "chg_1") };
        h.commit_ok(steps::publish(vec![event.clone()])).await;
        assert_deliveries(h, &event, &[]).await;
    }
    let foreign = h.endpoint(other, 0).await;
    let named = NewEvent { postback: Some(a_postback(&foreign)), ..an_event(account, EventType::ChargePaid, "chg_1") };
    h.commit_ok(steps::publish(vec![named.clone()])).await;
    assert_deliveries(h, &named, &[]).await;
    assert_eq!(deliveries(h, &foreign).await, []);
}

/// The endpoint that a charge named gets a delivery even after a change of its address. The current endpoint of the old
/// address gets one too.
pub async fn named_endpoint_is_found_by_its_id_and_address(h: &mut Harness) {
    let account = h.account().await.id;
    let deaf = |slot| Endpoint { subscription: subscribed(&[EventType::RefundFailed]), ..an_endpoint(account, slot) };
    let (named, wants_all) = (h.stored_endpoint(deaf(0)).await, h.endpoint(account, 1).await);
    let assert_published = async |postback: Option<Postback>, matching: &[&Endpoint]| {
        let event = NewEvent { postback, ..an_event(account, EventType::ChargePaid, "chg_1") };
        h.commit_ok(steps::publish(vec![event.clone()])).await;
        assert_deliveries(h, &event, matching).await;
    };
    let postback = a_postback(&named);
    assert_published(None, &[&wants_all]).await;
    assert_published(Some(postback.clone()), &[&named, &wants_all]).await;
    assert_published(Some(a_postback(&wants_all)), &[&wants_all]).await;
    assert_published(Some(Postback { endpoint: fresh(), ..postback.clone() }), &[&named, &wants_all]).await;
    assert_published(Some(Postback { url: a_webhook_url(), ..postback.clone() }), &[&named, &wants_all]).await;

    // The endpoint gets a new address, and another endpoint gets the old address. Both get a delivery.
    let moved = Endpoint { url: a_webhook_url(), ..named.clone() };
    let unreserved = steps::move_endpoint(named.clone().delete(start()), start()).unreserve;
    h.commit_ok(ChangeSet { unreserve: unreserved, ..steps::update_endpoint(&moved, start()) }).await;
    let follower = h.stored_endpoint(Endpoint { url: named.url.clone(), ..deaf(2) }).await;
    assert_published(Some(postback), &[&moved, &wants_all, &follower]).await;
    assert_published(Some(Postback { endpoint: fresh(), url: a_webhook_url() }), &[&wants_all]).await;
}

/// The endpoint that a charge names is stored with the charge, and gets the charge's events.
pub async fn charge_events_reach_the_endpoint_that_it_names(h: &mut Harness) {
    let account = h.account().await.id;
    let deaf = Endpoint { subscription: subscribed(&[EventType::RefundFailed]), ..an_endpoint(account, 0) };
    let named = h.stored_endpoint(deaf).await;
    let mut charge = pending_charge(account);
    charge.terms.postback = Some(a_postback(&named));
    let charge = h.charge(charge).await;
    assert_eq!(h.read_charge(&charge).await, charge);
    h.commit_ok(steps::confirm_payment(&charge, a_payment(1_000), after_s(1))).await;
    let kinds: Vec<EventType> = deliveries(h, &named).await.iter().map(|delivery| delivery.kind).collect();
    assert_eq!(kinds, [EventType::ChargePaid]);
}

/// The change set has events of several accounts. Each event has its own deliveries.
pub async fn events_of_a_change_set_have_separate_deliveries(h: &mut Harness) {
    let (account, other) = (h.account().await.id, h.account().await.id);
    let (one, two) = (h.endpoint(account, 0).await, h.endpoint(account, 1).await);
    let foreign = h.endpoint(other, 0).await;
    let kinds = [EventType::ChargePaid, EventType::ChargePaid, EventType::RefundCompleted];
    let events: Vec<NewEvent> = kinds.into_iter().map(|kind| an_event(account, kind, "chg_1")).collect();
    let of_other = an_event(other, EventType::ChargePaid, "chg_2");
    let [first, second, third] = <[NewEvent; 3]>::try_from(events.clone()).unwrap();
    h.commit_ok(steps::publish(vec![first, of_other.clone(), second, third])).await;
    for event in &events {
        assert_deliveries(h, event, &[&one, &two]).await;
    }
    assert_deliveries(h, &of_other, &[&foreign]).await;
    assert_eq!(h.store.list_deliveries_of_event(other, events.first().unwrap().id).await.unwrap(), []);
    for (endpoint, expected) in [(&one, 3), (&two, 3), (&foreign, 1)] {
        assert_eq!(deliveries(h, endpoint).await.len(), expected);
    }
}

/// The change set is refused because its transfer has no cover. Only accepted change sets create deliveries.
pub async fn refused_change_set_leaves_no_delivery(h: &mut Harness) {
    let account = h.account().await.id;
    let endpoint = h.endpoint(account, 0).await;
    for _ in 0..2 {
        let before = deliveries(h, &endpoint).await.len();
        refused_without_a_trace(h, account, |change| change.transfers.push(hold(account, 100_000))).await;
        assert_eq!(
            deliveries(h, &endpoint).await.len(),
            before + 1,
            "only the event of the next good change set is delivered"
        );
    }
}

/// The event about the end of an endpoint is not sent to that endpoint, but to the other endpoints of the account.
pub async fn ended_endpoint_gets_no_event_of_its_end(h: &mut Harness) {
    let account = h.account().await.id;
    let (ending, other) = (h.endpoint(account, 0).await, h.endpoint(account, 1).await);
    let step = ending.clone().disable(DisabledReason::Gone, after_s(1)).unwrap();
    let event = an_event(account, EventType::WebhookEndpointDisabled, &ending.id.to_string());
    h.commit_ok(ChangeSet { events: vec![event.clone()], ..steps::move_endpoint(step, after_s(1)) }).await;
    let made = h.store.list_deliveries_of_event(account, event.id).await.unwrap();
    let (own, others): (Vec<_>, Vec<_>) = made.into_iter().partition(|delivery| delivery.endpoint == ending.id);
    assert!(own.iter().all(|delivery| delivery.status == DeliveryStatus::Cancelled), "{own:?}");
    assert!(others.iter().map(|delivery| delivery.endpoint).eq([other.id]), "{others:?}");
    let queues = h.store.due_queues(after_s(60), None, 50).await.unwrap();
    assert!(queues.due.iter().map(|queue| queue.endpoint).eq([other.id]), "{queues:?}");
}

/// Of many callers, some are refused. Each endpoint has a single delivery of each stored event, and no other.
pub async fn deliveries_match_events_under_load(h: &mut Harness) {
    let accounts = [h.account().await.id, h.account().await.id];
    let mut endpoints = Vec::new();
    for (account, slot) in accounts.into_iter().flat_map(|account| [(account, 0), (account, 1)]) {
        endpoints.push(h.endpoint(account, slot).await);
    }
    let [a, b] = accounts;
    for _ in 0..4 {
        let change = |caller: usize| {
            let event = |account| an_event(account, EventType::ChargePaid, "chg_1");
            let mut change = steps::publish(vec![event(a), event(b), event(a)]);
            if caller.is_multiple_of(4) {
                change.transfers.push(hold(a, 1));
            }
            change
        };
        let outcomes = commit_concurrently(&h.store, (0..CALLERS).map(change).collect()).await;
        for (caller, outcome) in outcomes.iter().enumerate() {
            assert_eq!(outcome.is_err(), caller.is_multiple_of(4), "{outcome:?}");
        }
    }
    for account in accounts {
        let filter = EventFilter { kind: None, after_sequence: Some(0) };
        let events = walk_events(&*h.store, account, filter, 200).await;
        let last = h.store.last_sequence(account).await.unwrap();
        assert!(events.iter().map(|event| event.sequence).eq(1..=last), "the sequence has a gap");
        let events: BTreeSet<EventId> = events.into_iter().map(|event| event.id).collect();
        for endpoint in endpoints.iter().filter(|endpoint| endpoint.account == account) {
            let made = deliveries(h, endpoint).await;
            assert_eq!(made.len(), events.len());
            assert_eq!(made.into_iter().map(|delivery| delivery.event).collect::<BTreeSet<_>>(), events);
        }
    }
}

/// Events race with the deletion of an endpoint. Afterwards all deliveries of the endpoint are cancelled, and none is due.
pub async fn endpoint_ended_meanwhile_has_no_pending_delivery(h: &mut Harness) {
    let account = h.account().await.id;
    for slot in 0..4 {
        let ending = h.endpoint(account, slot).await;
        let mut changes: Vec<ChangeSet> = (0..CALLERS).map(|_| one_event(account)).collect();
        changes.insert(CALLERS / 2, steps::move_endpoint(ending.clone().delete(after_s(1)), after_s(1)));
        let outcomes = commit_concurrently(&h.store, changes).await;
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        h.commit_ok(one_event(account)).await;
        for delivery in deliveries(h, &ending).await {
            assert_eq!((delivery.status, delivery.next_attempt_at), (DeliveryStatus::Cancelled, None));
        }
    }
    assert_eq!(h.store.due_queues(after_s(60), None, 50).await.unwrap().due, []);
}

fn one_event(account: AccountId) -> ChangeSet {
    steps::publish(vec![an_event(account, EventType::ChargePaid, "chg_1")])
}

/// Asserts that exactly these endpoints have a delivery of the event, one each.
async fn assert_deliveries(h: &Harness, event: &NewEvent, matching: &[&Endpoint]) {
    let made = h.store.list_deliveries_of_event(event.account, event.id).await.unwrap();
    assert!(made.is_sorted_by(|older, newer| older.id < newer.id), "the oldest first");
    let mut endpoints: Vec<_> = made.iter().map(|delivery| delivery.endpoint).collect();
    let mut expected: Vec<_> = matching.iter().map(|endpoint| endpoint.id).collect();
    endpoints.sort_unstable();
    expected.sort_unstable();
    assert_eq!(endpoints, expected);
    for delivery in made {
        let listed = deliveries_to(h, event.account, delivery.endpoint).await;
        assert!(listed.contains(&delivery), "{delivery:?}");
    }
}

async fn deliveries(h: &Harness, endpoint: &Endpoint) -> Vec<Delivery> {
    deliveries_to(h, endpoint.account, endpoint.id).await
}

async fn deliveries_to(h: &Harness, account: AccountId, endpoint: cais_domain::ids::EndpointId) -> Vec<Delivery> {
    walk_deliveries(&*h.store, account, endpoint).await
}
