//! Tests webhook endpoints: subscriptions, steps, and the schedule of deliveries.

#![expect(clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use cais_domain::event::EventType;
use cais_domain::ids::{AccountId, DeliveryId, EndpointId};
use cais_domain::merchant::webhook::{
    DisabledReason, Endpoint, EndpointChange, EndpointState, EndpointStep, FAILING_AFTER, MAX_RETRY_AFTER,
    MAX_RETRY_PAUSE, NewEndpoint, Postback, SCHEDULE_S, SealedSecret, Subscription, SubscriptionError, WebhookUrl,
    is_failing_for_good, next_attempt,
};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use uuid::Uuid;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_760_000_000 + second).unwrap()
}

fn url(text: &str) -> WebhookUrl {
    WebhookUrl::parse(text).unwrap()
}

fn endpoint(events: &[&str]) -> Endpoint {
    let asked = NewEndpoint {
        id: EndpointId::new(Uuid::from_u128(7)),
        url: url("https://a.example/x"),
        subscription: Subscription::parse(events.iter().copied()).unwrap(),
        description: None,
        secret: SealedSecret(vec![1]),
    };
    Endpoint::new(AccountId::new(Uuid::from_u128(1)), 0, asked, at(0))
}

fn taken(step: EndpointStep) -> Endpoint {
    match step {
        EndpointStep::Taken(endpoint) => *endpoint,
        EndpointStep::AlreadyTaken(endpoint) => panic!("the step was applied before: {endpoint:?}"),
    }
}

fn active(active: bool) -> EndpointChange {
    EndpointChange { active: Some(active), ..EndpointChange::default() }
}

#[test]
fn subscription_is_parsed_from_names() {
    let parse = |names: &[&str]| Subscription::parse(names.iter().copied());
    assert_eq!(parse(&[]), Err(SubscriptionError::Empty));
    assert_eq!(parse(&["charge.paid", "Charge.paid"]), Err(SubscriptionError::Unknown(1)));
    assert_eq!(parse(&["*", "charge.paid"]).unwrap(), Subscription::All);
    let some = parse(&["payout.failed", "charge.paid", "charge.paid"]).unwrap();
    assert_eq!(some.names(), ["charge.paid", "payout.failed"]);
    assert_eq!(parse(&some.names()).unwrap(), some);
    assert!(some.includes(EventType::ChargePaid) && !some.includes(EventType::ChargeExpired));
    for kind in EventType::ALL {
        assert!(Subscription::All.includes(kind) && parse(&[kind.as_str()]).unwrap().includes(kind));
    }
}

#[test]
fn addresses_are_bounded_texts() {
    for refused in ["", " ", "https://a b", "https://a\n", "https://a\u{0}", "https://a\u{a0}b"] {
        assert!(WebhookUrl::parse(refused).is_err(), "{refused:?}");
    }
    assert!(WebhookUrl::parse(&"x".repeat(500)).is_ok());
    assert!(WebhookUrl::parse(&"x".repeat(501)).is_err());
    assert_eq!(url("HTTPS://A").as_str(), "HTTPS://A", "the text is unchanged");
}

#[test]
fn endpoint_subscribes_to_its_types_and_named_charges() {
    let wants = endpoint(&["charge.paid"]);
    let named = |id: u128, at: &str| Postback { endpoint: EndpointId::new(Uuid::from_u128(id)), url: url(at) };
    assert!(wants.subscribes_to(EventType::ChargePaid, None));
    assert!(!wants.subscribes_to(EventType::ChargeExpired, None));
    assert!(
        wants.subscribes_to(EventType::ChargeExpired, Some(&named(7, "https://moved.example"))),
        "the named endpoint at another address"
    );
    assert!(
        wants.subscribes_to(EventType::ChargeExpired, Some(&named(8, "https://a.example/x"))),
        "another endpoint at the named address"
    );
    assert!(!wants.subscribes_to(EventType::ChargeExpired, Some(&named(8, "https://a.example/X"))));
    let inactive = taken(wants.clone().change(active(false)).unwrap());
    assert!(inactive.subscribes_to(EventType::ChargePaid, None), "deliveries of the endpoint wait");
    for stopped in
        [taken(wants.clone().disable(DisabledReason::Gone, at(1)).unwrap()), taken(wants.clone().delete(at(1)))]
    {
        assert!(!stopped.subscribes_to(EventType::ChargePaid, Some(&named(7, "https://a.example/x"))));
    }
}

#[test]
fn epoch_begins_when_endpoint_ends() {
    let first = endpoint(&["*"]);
    assert_eq!(first.change(active(true)).unwrap(), EndpointStep::AlreadyTaken(Box::new(endpoint(&["*"]))));
    let stopped = taken(endpoint(&["*"]).change(active(false)).unwrap());
    assert_eq!((stopped.state, stopped.epoch), (EndpointState::Inactive, 0), "deliveries of the endpoint wait");
    assert!(matches!(stopped.clone().change(active(false)).unwrap(), EndpointStep::AlreadyTaken(_)));
    assert!(matches!(stopped.clone().disable(DisabledReason::Gone, at(1)).unwrap(), EndpointStep::AlreadyTaken(_)));
    let again = taken(stopped.change(active(true)).unwrap());
    assert_eq!((again.state, again.epoch), (EndpointState::Active, 0));
    let disabled = taken(again.disable(DisabledReason::Failing, at(2)).unwrap());
    assert_eq!(disabled.state, EndpointState::Disabled { reason: DisabledReason::Failing, at: at(2) });
    assert_eq!(disabled.epoch, 1);
    // A merchant's change keeps the reason. Another address does not activate the endpoint.
    assert!(matches!(disabled.clone().change(active(false)).unwrap(), EndpointStep::AlreadyTaken(_)));
    let moved = EndpointChange { url: Some(url("https://b.example")), ..EndpointChange::default() };
    assert_eq!(taken(disabled.clone().change(moved).unwrap()).state, disabled.state);
    let deleted = taken(disabled.delete(at(3)));
    assert_eq!(deleted.epoch, 1, "the endpoint had ended before");
    let paused = taken(endpoint(&["*"]).change(active(false)).unwrap());
    assert_eq!(taken(paused.delete(at(3))).epoch, 1);
    assert!(!deleted.is_visible());
    assert!(deleted.clone().change(active(true)).is_err());
    assert!(deleted.clone().rotate(SealedSecret(vec![2]), 5, at(4)).is_err());
    assert!(matches!(deleted.delete(at(4)), EndpointStep::AlreadyTaken(_)));
}

#[test]
fn previous_secret_also_signs_during_grace() {
    let secrets = |endpoint: &Endpoint, second| -> Vec<u8> {
        endpoint.signing(at(second)).iter().map(|secret| secret.0[0]).collect()
    };
    let first = endpoint(&["*"]);
    assert_eq!(secrets(&first, 0), [1]);
    let second = taken(first.rotate(SealedSecret(vec![2]), 60, at(0)).unwrap());
    assert_eq!((secrets(&second, 59), secrets(&second, 60)), (vec![2, 1], vec![2]));
    let third = taken(second.rotate(SealedSecret(vec![3]), 60, at(10)).unwrap());
    assert_eq!(secrets(&third, 11), [3, 2], "never more than two");
    let fourth = taken(third.rotate(SealedSecret(vec![4]), 0, at(11)).unwrap());
    assert_eq!(secrets(&fourth, 11), [4]);
    assert!(!format!("{fourth:?}").contains("[4]"), "{fourth:?}");
}

#[test]
fn five_days_of_failures_disable_an_endpoint() {
    assert!(!is_failing_for_good(None, at(0)));
    let days = FAILING_AFTER.as_secs();
    assert!(!is_failing_for_good(Some(at(0)), at(days - 1)));
    assert!(is_failing_for_good(Some(at(0)), at(days)));
}

proptest! {
    #[test]
    fn delivery_is_retried_by_the_schedule(
        random in any::<u128>(), tries in 0_u32..14, asked_s in prop::option::of(0_i64..200_000),
    ) {
        let id = DeliveryId::new(Uuid::from_u128(random));
        let asked = asked_s.map(SignedDuration::from_secs);
        let next = next_attempt(id, tries, at(0), asked);
        let place = usize::try_from(tries).unwrap().checked_sub(1);
        let Some(pause_s) = place.and_then(|place| SCHEDULE_S.get(place)) else {
            prop_assert_eq!(next, None);
            return Ok(());
        };
        let waits_ms = next.unwrap().duration_since(at(0)).as_millis();
        let asked_ms = asked.map_or(0, |asked| asked.min(MAX_RETRY_AFTER).as_millis());
        let pause_ms = i128::from(*pause_s) * 1_000;
        prop_assert!(waits_ms >= (pause_ms * 9 / 10).max(asked_ms));
        prop_assert!(waits_ms <= (pause_ms * 11 / 10).max(asked_ms));
        prop_assert!(waits_ms <= MAX_RETRY_PAUSE.as_millis());
        // Without a requested delay, the schedule applies. With one, the pause is never shorter than without it.
        prop_assert!(next_attempt(id, tries, at(0), None) <= next);
    }

    #[test]
    fn deliveries_that_failed_together_are_spread(ids in prop::collection::hash_set(any::<u128>(), 64)) {
        let dues: std::collections::BTreeSet<_> =
            ids.iter().map(|id| next_attempt(DeliveryId::new(Uuid::from_u128(*id)), 2, at(0), None).unwrap()).collect();
        prop_assert!(dues.len() > 50, "{} of 64", dues.len());
    }
}
