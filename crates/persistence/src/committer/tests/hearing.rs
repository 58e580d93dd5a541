//! Who hears of an event: the endpoints as they are after whatever came before it.

use cais_domain::webhook::{
    DisabledReason, Endpoint, EndpointState, NewEndpoint, Postback, SealedSecret, Subscription, WebhookUrl,
};
use cais_ports::{Lane, NewDelivery};
use cais_testkit::builders::fresh;

use super::*;

fn an_endpoint(account: AccountId, events: &[&str]) -> Endpoint {
    let id = fresh();
    let url = WebhookUrl::parse(&format!("https://shop.example/{id}")).unwrap();
    let subscription = Subscription::parse(events.iter().copied()).unwrap();
    let asked = NewEndpoint { id, url, subscription, description: None, secret: SealedSecret(vec![1]) };
    Endpoint { version: 1, ..Endpoint::new(account, 0, asked, start()) }
}

fn listening(account: AccountId, endpoints: &[&Endpoint]) -> Books {
    let mut books = books(account, 0);
    books.endpoints.insert(account, endpoints.iter().map(|one| (one.id, (*one).clone())).collect());
    books
}

fn tell(account: AccountId, kind: EventType) -> ChangeSet {
    ChangeSet { events: vec![an_event(account, kind, "x")], ..ChangeSet::new(start()) }
}

/// Where deliveries go, with the sequence number of their event.
fn heard(judged: &Judged<'_>) -> Vec<(Lane, Option<i64>)> {
    judged.plan.deliveries.iter().map(|delivery| (delivery.lane, delivery.sequence)).collect()
}

fn lane(endpoint: &Endpoint) -> Lane {
    Lane { account: endpoint.account, endpoint: endpoint.id, epoch: endpoint.epoch }
}

#[test]
fn each_endpoint_that_wants_it_gets_one_delivery() {
    let account = an_account().id;
    let (all, paid) = (an_endpoint(account, &["*"]), an_endpoint(account, &["charge.paid"]));
    let other = an_endpoint(account, &["charge.expired"]);
    let mut named = tell(account, EventType::ChargePaid);
    for event in &mut named.events {
        event.postback = Some(Postback { endpoint: other.id, url: paid.url.clone() });
    }
    let changes = [tell(account, EventType::ChargePaid), tell(account, EventType::RefundFailed), named];
    let judged = judged(&changes, Observed::default(), listening(account, &[&all, &paid, &other]));
    let expected = [(&all, 5), (&paid, 5), (&all, 6), (&all, 7), (&paid, 7), (&other, 7)];
    assert_eq!(heard(&judged), expected.map(|(endpoint, sequence)| (lane(endpoint), Some(sequence))));
    let NewDelivery { event, kind, body, at, .. } = judged.plan.deliveries.first().unwrap();
    let numbered = judged.plan.events.first().unwrap();
    assert_eq!((*event, *kind, body, *at), (numbered.event.id, EventType::ChargePaid, &None, start()));
    assert_eq!(numbered.body, numbered.event.body(Some(5)));
}

#[test]
fn an_endpoint_hears_as_it_is_after_the_change_set_that_tells() {
    let account = an_account().id;
    let before = an_endpoint(account, &["*"]);
    let state = EndpointState::Disabled { reason: DisabledReason::Gone, at: start() };
    let disabled = Endpoint { state, epoch: 1, ..before.clone() };
    let new = Endpoint { version: 0, ..an_endpoint(account, &["*"]) };
    let mut observed = Observed::default();
    observed.versions.insert(RecordKey::Endpoint(account, before.id), 1);
    let told = tell(account, EventType::WebhookEndpointDisabled);
    let changes = [
        ChangeSet { writes: vec![Write::UpdateEndpoint(Box::new(disabled.clone()))], ..told.clone() },
        ChangeSet {
            writes: vec![Write::InsertEndpoint(Box::new(new.clone()))],
            ..tell(account, EventType::ChargePaid)
        },
        // Somebody else was faster: it changes nothing for those after it.
        ChangeSet { writes: vec![Write::UpdateEndpoint(Box::new(before.clone()))], ..ChangeSet::new(start()) },
        tell(account, EventType::ChargeExpired),
    ];
    let judged = judged(&changes, observed, listening(account, &[&before]));
    assert_eq!(judged.verdicts, [good(&[5]), good(&[6]), Err(CommitError::Stale), good(&[7])]);
    assert_eq!(heard(&judged), [(lane(&new), Some(6)), (lane(&new), Some(7))]);
}
