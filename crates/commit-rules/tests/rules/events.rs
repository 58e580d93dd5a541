//! Tests sequence numbers, and deliveries to the endpoints as earlier change sets left them.

use cais_commit_rules::KeySnapshot;
use cais_domain::event::EventType;
use cais_domain::merchant::webhook::{
    DisabledReason, Endpoint, EndpointState, NewEndpoint, Postback, SealedSecret, Subscription, WebhookUrl,
};
use cais_ports::{EndpointQueue, NewDelivery, RecordKey, Write, entry_to_come};
use cais_testkit::builders::{an_account, an_event, fresh};

use super::*;

fn an_endpoint(account: AccountId, events: &[&str]) -> Endpoint {
    let id = fresh();
    let url = WebhookUrl::parse(&format!("https://shop.example/{id}")).unwrap();
    let subscription = Subscription::parse(events.iter().copied()).unwrap();
    let asked = NewEndpoint { id, url, subscription, description: None, secret: SealedSecret(vec![1]) };
    Endpoint { version: 1, ..Endpoint::new(account, 0, asked, start()) }
}

fn subscribed(account: AccountId, endpoints: &[&Endpoint]) -> Snapshot {
    let mut snapshot = snapshot(account, 0);
    snapshot.ledger.endpoints.insert(account, endpoints.iter().map(|one| (one.id, (*one).clone())).collect());
    snapshot
}

fn publish(account: AccountId, kind: EventType) -> ChangeSet {
    ChangeSet { events: vec![an_event(account, kind, "x")], ..ChangeSet::new(start()) }
}

/// Returns the destinations of deliveries, with the sequence number of their event.
fn destinations(judged: &Judged<'_>) -> Vec<(EndpointQueue, Option<i64>)> {
    let deliveries = judged.effects.iter().flat_map(|effects| &effects.deliveries);
    deliveries.map(|delivery| (delivery.queue, delivery.sequence)).collect()
}

fn queue(endpoint: &Endpoint) -> EndpointQueue {
    EndpointQueue { account: endpoint.account, endpoint: endpoint.id, epoch: endpoint.epoch }
}

#[test]
fn each_subscribed_endpoint_gets_one_delivery_per_event() {
    let account = an_account().id;
    let (all, paid) = (an_endpoint(account, &["*"]), an_endpoint(account, &["charge.paid"]));
    let other = an_endpoint(account, &["charge.expired"]);
    let mut named = publish(account, EventType::ChargePaid);
    for event in &mut named.events {
        event.postback = Some(Postback { endpoint: other.id, url: paid.url.clone() });
    }
    let changes = [publish(account, EventType::ChargePaid), publish(account, EventType::RefundFailed), named];
    let judged = judge_all(&changes, subscribed(account, &[&all, &paid, &other]));
    let expected = [(&all, 5), (&paid, 5), (&all, 6), (&all, 7), (&paid, 7), (&other, 7)];
    assert_eq!(destinations(&judged), expected.map(|(endpoint, sequence)| (queue(endpoint), Some(sequence))));
    let first = judged.effects.first().unwrap();
    let NewDelivery { event, kind, at, .. } = first.deliveries.first().unwrap();
    let numbered = first.events.first().unwrap();
    assert_eq!((*event, *kind, *at), (numbered.event.id, EventType::ChargePaid, start()));
}

#[test]
fn endpoint_counts_as_its_change_set_leaves_it() {
    let account = an_account().id;
    let before = an_endpoint(account, &["*"]);
    let state = EndpointState::Disabled { reason: DisabledReason::Gone, at: start() };
    let disabled = Endpoint { state, epoch: 1, ..before.clone() };
    let new = Endpoint { version: 0, ..an_endpoint(account, &["*"]) };
    let key = RecordKey::Endpoint { account, id: before.id };
    let keys = KeySnapshot { versions: [(key, 1)].into(), ..KeySnapshot::default() };
    let write = |write| ChangeSet { writes: vec![write], ..ChangeSet::new(start()) };
    let changes = [
        ChangeSet { writes: vec![Write::update(disabled)], ..publish(account, EventType::WebhookEndpointDisabled) },
        ChangeSet { writes: vec![Write::insert(new.clone())], ..publish(account, EventType::ChargePaid) },
        // A refused update changes no endpoint for later change sets.
        write(Write::update(before.clone())),
        publish(account, EventType::ChargeExpired),
    ];
    let snapshot = Snapshot { keys, ..subscribed(account, &[&before]) };
    let judged = judge_all(&changes, snapshot);
    assert_eq!(judged.verdicts, [accepted(&[5]), accepted(&[6]), Err(CommitError::Stale), accepted(&[7])]);
    assert_eq!(destinations(&judged), [(queue(&new), Some(6)), (queue(&new), Some(7))]);
}

#[test]
fn event_of_a_split_credit_names_its_entry() {
    let account = an_account().id;
    let mut change = publish(account, EventType::SplitReceived);
    for event in &mut change.events {
        event.data = format!(r#"{{"id":"txn_{}"}}"#, entry_to_come().suffix()).into_bytes();
    }
    change.transfers.push(Transfer { kind: EntryKind::Split, ..incoming(account, Bucket::Available, 5) });
    let changes = [change];
    let judged = judge_all(&changes, snapshot(account, 0));
    let effects = judged.effects.first().unwrap();
    let credit = effects.entries.last().unwrap();
    assert_eq!(credit.account(), &merchant(account, Bucket::Available));
    let data = String::from_utf8(effects.events.first().unwrap().event.data.clone()).unwrap();
    assert_eq!(data, format!(r#"{{"id":"txn_{}"}}"#, credit.id.suffix()));
}
