//! Tests of an endpoint, and events and deliveries that are sent again.

use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::merchant::account::{Account, AccountStatus, NotPermitted};
use cais_domain::merchant::webhook::{DeliveryStatus, DisabledReason, EndpointChange, EndpointStep, Subscription};
use cais_ports::Store as _;
use cais_testkit::builders::{an_account, fresh, steps, subscribed};
use cais_use_cases::webhooks::deliveries::resend;
use cais_use_cases::webhooks::test::test;
use cais_use_cases::webhooks::{SendAgainError, resend_event};
use futures_util::future::join_all;

use crate::bed::{TestBed, until};
use crate::receivers::{Answer, refused, taken};

#[tokio::test]
async fn test_goes_to_its_endpoint_only_and_is_in_no_list() {
    let bed = TestBed::new().await;
    let (endpoint, other) = (bed.endpoint_without_test_events().await, bed.endpoint().await);
    let dispatcher = bed.dispatcher();
    let put = test(&bed.ports, &bed.account, endpoint.id).await.unwrap();
    assert_eq!((put.kind, put.status), (EventType::WebhookTest, DeliveryStatus::Pending));
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    dispatcher.stop().await;

    assert_eq!(bed.deliveries(&other).await, []);
    assert_eq!(bed.event_types(), []);
    assert_eq!(bed.ports.queries.find_event(bed.account.id, put.event).await.unwrap(), None);
    let calls = bed.receivers.calls();
    assert_eq!(calls.len(), 1);
    let body: serde_json::Value = serde_json::from_slice(&calls[0].body).unwrap();
    assert_eq!(calls[0].id, put.event);
    assert_eq!(body["id"], put.event.to_string());
    assert_eq!((&body["type"], &body["sequence"]), (&"webhook.test".into(), &serde_json::Value::Null));
    assert_eq!(body["data"]["endpoint_id"], endpoint.id.to_string());
    let kept = bed.deliveries(&endpoint).await;
    assert_eq!((kept[0].id, kept[0].event, kept[0].created_at), (put.id, put.event, put.created_at));
}

#[tokio::test]
async fn resent_test_has_same_bytes() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let dispatcher = bed.dispatcher();
    let put = test(&bed.ports, &bed.account, endpoint.id).await.unwrap();
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    bed.clock.advance(std::time::Duration::from_secs(90));
    let again = resend(&bed.ports, &bed.account, endpoint.id, put.id).await.unwrap();
    assert_eq!((again.id, again.status), (put.id, DeliveryStatus::Pending));
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    dispatcher.stop().await;
    let calls = bed.receivers.calls();
    assert_eq!(calls.len(), 2);
    assert_eq!((calls[0].id, &calls[0].body), (calls[1].id, &calls[1].body));
}

#[tokio::test]
async fn resent_failed_delivery_gets_whole_schedule() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    bed.receivers.script(&endpoint.url, [Answer::Now(refused(500))]);
    let dispatcher = bed.dispatcher();
    let event = bed.publish(EventType::ChargePaid).await;
    let calls = || bed.receivers.calls_to(&endpoint.url).len();
    until("the first attempt", || calls() == 1).await;
    let delivery = loop {
        let delivery = bed.deliveries(&endpoint).await.remove(0);
        if delivery.attempts.len() == 1 {
            break delivery;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(delivery.status, DeliveryStatus::Pending);
    assert!(delivery.next_attempt_at.unwrap() > bed.now());
    let again = resend(&bed.ports, &bed.account, endpoint.id, delivery.id).await.unwrap();
    assert_eq!(again.next_attempt_at, Some(bed.now()));
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    dispatcher.stop().await;
    let calls = bed.receivers.calls_to(&endpoint.url);
    assert_eq!(calls.iter().map(|call| call.id).collect::<Vec<_>>(), [event.id, event.id]);
    assert_eq!(calls[0].body, calls[1].body);
}

#[tokio::test]
async fn resend_to_endpoint_that_is_not_active_is_refused() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let event = bed.publish(EventType::ChargePaid).await;
    let delivery = bed.deliveries(&endpoint).await.remove(0);
    bed.set_active(&endpoint, false).await;
    let (ports, account) = (&bed.ports, &bed.account);

    let not_active = SendAgainError::NotActive("inactive");
    assert_eq!(test(ports, account, endpoint.id).await, Err(not_active.clone()));
    assert_eq!(resend(ports, account, endpoint.id, delivery.id).await, Err(not_active));
    assert_eq!(resend_event(ports, account, event.id).await, Err(SendAgainError::NoReceiver));
    assert_eq!(bed.statuses(&endpoint).await, [DeliveryStatus::Pending], "the delivery waits");

    let active = bed.set_active(&endpoint, true).await;
    let EndpointStep::Taken(gone) = active.disable(DisabledReason::Gone, bed.now()).unwrap() else { unreachable!() };
    bed.store.commit(steps::update_endpoint(&gone, bed.now())).await.unwrap();
    let not_active = SendAgainError::NotActive("disabled");
    assert_eq!(resend(ports, account, endpoint.id, delivery.id).await, Err(not_active));
    bed.set_active(&endpoint, true).await;
    assert_eq!(resend(ports, account, endpoint.id, delivery.id).await, Err(SendAgainError::Cancelled));
    assert_eq!(resend_event(ports, account, event.id).await, Err(SendAgainError::NoReceiver));
    assert_eq!(bed.statuses(&endpoint).await, [DeliveryStatus::Cancelled]);
}

#[tokio::test]
async fn resent_event_goes_to_previous_and_present_receivers() {
    let bed = TestBed::new().await;
    let had = bed.endpoint().await;
    let stopped = bed.endpoint().await;
    let event = bed.publish(EventType::ChargePaid).await;
    // The first endpoint had the event and has unsubscribed. The second is inactive. The others are newer than the
    // event.
    let quiet = Some(subscribed(&[EventType::PayoutFailed]));
    bed.change(&had, EndpointChange { subscription: quiet, ..EndpointChange::default() }).await;
    bed.set_active(&stopped, false).await;
    let new = bed.endpoint_for(subscribed(&[EventType::ChargePaid])).await;
    let other = bed.endpoint_for(subscribed(&[EventType::PayoutFailed])).await;

    let sent = resend_event(&bed.ports, &bed.account, event.id).await.unwrap();
    let mut to: Vec<_> = sent.iter().map(|delivery| delivery.endpoint).collect();
    to.sort_unstable();
    assert_eq!(to, [had.id, new.id]);
    assert!(sent.iter().all(|delivery| delivery.event == event.id && delivery.status == DeliveryStatus::Pending));
    assert_eq!(bed.deliveries(&had).await.len(), 1, "one delivery for each endpoint");
    assert_eq!(bed.deliveries(&other).await, []);

    let dispatcher = bed.dispatcher();
    for endpoint in [&had, &new] {
        bed.until_all(endpoint, DeliveryStatus::Succeeded).await;
    }
    dispatcher.stop().await;
    let stored = bed.ports.queries.find_event(bed.account.id, event.id).await.unwrap().unwrap();
    let body = bed.ports.representation.event(&stored);
    let calls = bed.receivers.calls();
    assert_eq!(calls.len(), 2);
    assert!(calls.iter().all(|call| call.body == body));
}

#[tokio::test]
async fn delivery_in_flight_is_resent_afterwards() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    bed.receivers.set(&endpoint.url, Answer::Held);
    let dispatcher = bed.dispatcher();
    bed.publish(EventType::ChargePaid).await;
    until("the delivery is in flight", || bed.receivers.held(&endpoint.url) == 1).await;
    let delivery = bed.deliveries(&endpoint).await.remove(0);
    resend(&bed.ports, &bed.account, endpoint.id, delivery.id).await.unwrap();
    crate::bed::settle().await;
    assert_eq!(bed.receivers.calls().len(), 1, "not twice at a time");
    bed.receivers.set(&endpoint.url, Answer::Now(taken()));
    assert_eq!(bed.receivers.release(&endpoint.url, &refused(500)), 1);
    crate::bed::settle().await;
    bed.clock.advance(std::time::Duration::from_secs(1));
    dispatcher.tick();
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    dispatcher.stop().await;
    assert_eq!(bed.receivers.calls().len(), 2);
}

#[tokio::test]
async fn resend_of_unknown_or_forbidden_is_refused() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let other = bed.endpoint_for(Subscription::All).await;
    let event = bed.publish(EventType::ChargePaid).await;
    let delivery = bed.deliveries(&endpoint).await.remove(0);
    let ports = &bed.ports;
    let suspended = Account { status: AccountStatus::Suspended, ..bed.account.clone() };
    let may_not = SendAgainError::NotPermitted(NotPermitted::Suspended);
    assert_eq!(test(ports, &suspended, endpoint.id).await, Err(may_not.clone()));
    assert_eq!(resend(ports, &suspended, endpoint.id, delivery.id).await, Err(may_not.clone()));
    assert_eq!(resend_event(ports, &suspended, event.id).await, Err(may_not));
    for account in [&bed.account, &an_account()] {
        assert_eq!(test(ports, account, fresh()).await, Err(SendAgainError::NotFound));
        assert_eq!(resend(ports, account, other.id, delivery.id).await, Err(SendAgainError::NotFound));
        assert_eq!(resend_event(ports, account, fresh()).await, Err(SendAgainError::NotFound));
    }
    assert_eq!(resend_event(ports, &an_account(), event.id).await, Err(SendAgainError::NotFound));
}

#[tokio::test]
async fn waiting_tests_and_resends_stop_at_twenty() {
    let bed = TestBed::new().await;
    let (busy, calm) = (bed.endpoint().await, bed.endpoint().await);
    let event = bed.publish(EventType::ChargePaid).await;
    let (ports, account) = (&bed.ports, &bed.account);
    let calls = join_all((0..40).map(|_| test(ports, account, busy.id))).await;
    assert_eq!(calls.iter().filter(|call| call.is_ok()).count(), 20);
    assert!(calls.iter().all(|call| matches!(call, Ok(_) | Err(SendAgainError::TooMany))), "{calls:?}");
    let delivery = bed.deliveries(&busy).await.remove(0);
    assert_eq!(resend(ports, account, busy.id, delivery.id).await, Err(SendAgainError::TooMany));
    let before = bed.deliveries(&calm).await;
    bed.clock.advance(Duration::from_secs(1));
    assert_eq!(resend_event(ports, account, event.id).await, Err(SendAgainError::TooMany));
    assert_eq!(bed.deliveries(&calm).await, before, "a resend goes to all endpoints or none");
    test(ports, account, calm.id).await.unwrap();
}
