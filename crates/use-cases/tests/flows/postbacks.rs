//! The endpoint that a charge's request names for its events. This endpoint must exist when the charge is created, and
//! receives each event once.

use cais_domain::event::EventType;
use cais_domain::ids::EndpointId;
use cais_domain::merchant::account::Limits;
use cais_domain::merchant::webhook::{DisabledReason, Endpoint, EndpointChange, Postback, Subscription};
use cais_domain::money::Money;
use cais_ports::{DeliveryQueries as _, ResponseKind, Store as _};
use cais_testkit::builders::{a_webhook_url, an_account, an_endpoint, steps, subscribed};
use cais_testkit::psp::OrderKind;
use cais_use_cases::charges::create::{ChargeRefusal, CreateChargeError, NewCharge, create};
use cais_use_cases::webhooks::change::change;
use cais_use_cases::webhooks::delete::delete;

use crate::bed::{TestBed, id_of, named, reais, ten_reais};

impl TestBed {
    /// Creates an endpoint of the account.
    async fn endpoint(&self, slot: u8, subscription: Subscription) -> Endpoint {
        let endpoint = Endpoint { subscription, ..an_endpoint(self.account.id, slot) };
        self.store.commit(steps::open_endpoint(&endpoint)).await.unwrap();
        Endpoint { version: 1, ..endpoint }
    }

    /// Creates an endpoint without a subscription to charge events.
    async fn quiet(&self, slot: u8) -> Endpoint {
        self.endpoint(slot, subscribed(&[EventType::PayoutFailed])).await
    }

    async fn change(&self, endpoint: &Endpoint, asked: EndpointChange) {
        change(&self.ports, &self.account, endpoint.id, asked).await.unwrap();
    }

    /// Returns the receivers of the account's last event, in the order of the deliveries.
    async fn receivers(&self) -> Vec<EndpointId> {
        let last = self.store.events(self.account.id).last().unwrap().event.id;
        let deliveries = self.store.list_deliveries_of_event(self.account.id, last).await.unwrap();
        let mut to: Vec<EndpointId> = deliveries.iter().map(|delivery| delivery.endpoint).collect();
        to.sort_unstable();
        to
    }
}

fn to(endpoint: &Endpoint) -> NewCharge {
    NewCharge { postback_url: Some(endpoint.url.to_string()), ..ten_reais() }
}

fn moves() -> EndpointChange {
    EndpointChange { url: Some(a_webhook_url()), ..EndpointChange::default() }
}

fn stops() -> EndpointChange {
    EndpointChange { active: Some(false), ..EndpointChange::default() }
}

#[tokio::test]
async fn charge_stores_its_postback_endpoint() {
    let bed = TestBed::new().await;
    let endpoint = bed.quiet(0).await;
    let answer = bed.create("a", to(&endpoint)).await.unwrap();
    let postback = Postback { endpoint: endpoint.id, url: endpoint.url };
    assert_eq!(bed.charge(id_of(&answer)).terms.postback, Some(postback));
    let answer = bed.create("b", ten_reais()).await.unwrap();
    assert_eq!(bed.charge(id_of(&answer)).terms.postback, None);
}

#[tokio::test]
async fn postback_without_active_endpoint_is_refused() {
    let bed = TestBed::new().await;
    let (stopped, gone) = (bed.quiet(0).await, bed.quiet(1).await);
    bed.change(&stopped, stops()).await;
    delete(&bed.ports, &bed.account, gone.id).await.unwrap();
    let inside = "https://inside.example/hook";
    let url = cais_domain::merchant::webhook::WebhookUrl::parse(inside).unwrap();
    let forbidden = Endpoint { url, ..an_endpoint(bed.account.id, 2) };
    bed.store.commit(steps::open_endpoint(&forbidden)).await.unwrap();
    let other = an_account();
    bed.store.commit(steps::open_account(&other)).await.unwrap();
    let foreign = an_endpoint(other.id, 0);
    bed.store.commit(steps::open_endpoint(&foreign)).await.unwrap();

    let commits = bed.store.commits();
    let urls = [stopped.url.as_str(), gone.url.as_str(), inside, foreign.url.as_str(), "", "no url at all", "http://"];
    for url in urls {
        let terms = NewCharge { postback_url: Some(url.to_owned()), ..ten_reais() };
        assert_eq!(
            bed.create("a", terms).await,
            Err(CreateChargeError::Refused(ChargeRefusal::PostbackUrlNotRegistered)),
            "{url}"
        );
    }
    assert_eq!((bed.store.commits(), bed.psp.ordered(OrderKind::Charge)), (commits, 0));
    // The endpoint is checked before the business rules.
    let mut command = bed.command("a", NewCharge { postback_url: Some(gone.url.to_string()), ..reais(10) });
    command.account.limits = Limits { charge: Money::from_centavos(1), ..command.account.limits };
    let refused = create(&bed.ports, command).await;
    assert_eq!(refused, Err(CreateChargeError::Refused(ChargeRefusal::PostbackUrlNotRegistered)));
}

#[tokio::test]
async fn stored_response_is_replayed_without_endpoint() {
    let bed = TestBed::new().await;
    let endpoint = bed.quiet(0).await;
    let first = bed.create("a", named("order-1", to(&endpoint))).await.unwrap();
    delete(&bed.ports, &bed.account, endpoint.id).await.unwrap();
    let repeat = bed.create("a", named("order-1", to(&endpoint))).await.unwrap();
    assert_eq!((repeat.kind, repeat.body), (ResponseKind::Created, first.body));
    let by_name = bed.create("b", named("order-1", to(&endpoint))).await.unwrap();
    assert_eq!(
        (by_name.kind, id_of(&by_name)),
        (ResponseKind::Existing, bed.only_charge().id),
        "the charge is found by its external id"
    );
    let new = bed.create("c", to(&endpoint)).await;
    assert_eq!(new, Err(CreateChargeError::Refused(ChargeRefusal::PostbackUrlNotRegistered)));
}

/// Changes the endpoint between the creation of the charge and its payment. Then checks the receivers of the payment's
/// event.
#[tokio::test]
async fn event_reaches_each_receiver_once_after_endpoint_change() {
    #[derive(Debug, Clone, Copy)]
    enum Then {
        Nothing,
        Subscribes,
        Moves,
        Stops,
        StopsAndStarts,
        IsDisabled,
        IsDeleted,
        IsDeletedAndRegisteredAgain,
        MovesAndAnotherTakesItsAddress,
        MovesAndASubscribedOneTakesItsAddress,
    }
    let cases = [
        // (change; `true` if the endpoint receives the event; `true` if the other endpoint receives it)
        (Then::Nothing, true, false),
        (Then::Subscribes, true, false),
        (Then::Moves, true, false),
        (Then::Stops, true, false),
        (Then::StopsAndStarts, true, false),
        (Then::IsDisabled, false, false),
        (Then::IsDeleted, false, false),
        (Then::IsDeletedAndRegisteredAgain, false, true),
        (Then::MovesAndAnotherTakesItsAddress, true, true),
        (Then::MovesAndASubscribedOneTakesItsAddress, true, true),
    ];
    for (then, receives, other_receives) in cases {
        let bed = TestBed::new().await;
        let (endpoint, other) = (bed.quiet(0).await, bed.quiet(1).await);
        let answer = bed.create("a", to(&endpoint)).await.unwrap();
        let charge = bed.charge(id_of(&answer));
        let takes_over = EndpointChange { url: Some(endpoint.url.clone()), ..EndpointChange::default() };
        match then {
            Then::Nothing => {}
            Then::Subscribes => {
                let all = EndpointChange { subscription: Some(Subscription::All), ..EndpointChange::default() };
                bed.change(&endpoint, all).await;
            }
            Then::Moves => bed.change(&endpoint, moves()).await,
            Then::Stops => bed.change(&endpoint, stops()).await,
            Then::StopsAndStarts => {
                bed.change(&endpoint, stops()).await;
                let starts = EndpointChange { active: Some(true), ..EndpointChange::default() };
                bed.change(&endpoint, starts).await;
            }
            Then::IsDisabled => {
                let at = charge.created_at;
                let step = endpoint.clone().disable(DisabledReason::Gone, at).unwrap();
                bed.store.commit(steps::move_endpoint(step, at)).await.unwrap();
            }
            Then::IsDeleted => delete(&bed.ports, &bed.account, endpoint.id).await.unwrap(),
            Then::IsDeletedAndRegisteredAgain => {
                delete(&bed.ports, &bed.account, endpoint.id).await.unwrap();
                bed.change(&other, takes_over).await;
            }
            Then::MovesAndAnotherTakesItsAddress => {
                bed.change(&endpoint, moves()).await;
                bed.change(&other, takes_over).await;
            }
            Then::MovesAndASubscribedOneTakesItsAddress => {
                bed.change(&endpoint, moves()).await;
                let all = EndpointChange { subscription: Some(Subscription::All), ..takes_over };
                bed.change(&other, all).await;
            }
        }
        bed.psp.pay(&charge.txid, 1_000);
        bed.read(charge.id).await.unwrap();
        assert_eq!(bed.event_types(), [EventType::ChargePaid], "{then:?}");
        let mut expected: Vec<EndpointId> = Vec::new();
        expected.extend(receives.then_some(endpoint.id));
        expected.extend(other_receives.then_some(other.id));
        assert_eq!(bed.receivers().await, expected, "{then:?}");
    }
}

#[tokio::test]
async fn postback_gets_all_events_of_its_charge_only() {
    let bed = TestBed::new().await;
    let endpoint = bed.quiet(0).await;
    let answer = bed.create("a", to(&endpoint)).await.unwrap();
    let other = bed.pending().await;
    bed.psp.pay(&other.txid, 1_000);
    bed.read(other.id).await.unwrap();
    assert_eq!(bed.receivers().await, []);
    let id = id_of(&answer);
    cais_use_cases::charges::cancel::cancel(&bed.ports, &bed.account, &cais_use_cases::charges::ChargeName::Id(id))
        .await
        .unwrap();
    assert_eq!(bed.event_types(), [EventType::ChargePaid, EventType::ChargeCancelled]);
    assert_eq!(bed.receivers().await, [endpoint.id]);
}
