//! Sent events, their retries, and their stored outcomes.

use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::merchant::webhook::{DeliveryStatus, SCHEDULE_S, Subscription};
use cais_ports::{AttemptError, Sent};
use cais_testkit::PlainSecretCipher;
use cais_testkit::builders::a_webhook_url;
use cais_use_cases::Ports;
use cais_use_cases::webhooks::create::{CreateEndpoint, create};
use cais_use_cases::webhooks::dispatch::DispatchLimits;
use cais_use_cases::webhooks::rotate::rotate;
use jiff::SignedDuration;

use crate::bed::{Dispatcher, TestBed, settle, until};
use crate::queue::Queue;
use crate::receivers::{Answer, refused, taken};

#[tokio::test]
async fn event_is_sent_as_stored_with_present_signature() {
    let bed = TestBed::new().await;
    let asked = CreateEndpoint { url: a_webhook_url(), subscription: Subscription::All, description: None };
    let (endpoint, first) = create(&bed.ports, &bed.account, asked).await.unwrap();
    let dispatcher = bed.dispatcher();
    let event = bed.publish(EventType::ChargePaid).await;
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    let (_, second) = rotate(&bed.ports, &bed.account, endpoint.id, 60).await.unwrap();
    bed.publish(EventType::ChargePaid).await;
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    let at = bed.clock.advance(Duration::from_mins(1));
    bed.publish(EventType::ChargePaid).await;
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    dispatcher.stop().await;

    let calls = bed.receivers.calls();
    let kept = bed.ports.queries.find_event(bed.account.id, event.id).await.unwrap().unwrap();
    assert_eq!((calls[0].id, &calls[0].body), (event.id, &bed.ports.representation.event(&kept)));
    assert_eq!(calls[0].secrets, std::slice::from_ref(&first));
    assert_eq!(calls[1].secrets, [second.clone(), first], "both, the current one first");
    assert_eq!((&calls[2].secrets[..], calls[2].at), (&[second][..], at));
    let delivery = bed.deliveries(&endpoint).await.remove(0);
    assert_eq!(delivery.attempts.len(), 1);
    assert_eq!((delivery.attempts[0].status_code, &delivery.attempts[0].error), (Some(200), &None));
    assert_eq!(delivery.attempts[0].response_body.as_deref(), Some("ok"));
}

#[tokio::test]
async fn failing_receiver_is_tried_ten_times_on_schedule() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    bed.receivers.set(&endpoint.url, Answer::Now(refused(500)));
    let dispatcher = bed.dispatcher();
    bed.publish(EventType::ChargePaid).await;
    for (number, pause_s) in (1..).zip(SCHEDULE_S) {
        let due_at = loop {
            let delivery = bed.deliveries(&endpoint).await.remove(0);
            match delivery.next_attempt_at {
                Some(due_at) if delivery.attempts.len() == number && due_at > bed.now() => break due_at,
                _ => tokio::task::yield_now().await,
            }
        };
        let pause = due_at.duration_since(bed.now());
        let around = SignedDuration::from_secs(i64::from(pause_s));
        assert!((pause - around).abs() <= around / 10, "attempt {number}: {pause} and not {around}");
        // Just before that instant, no attempt starts.
        bed.clock.set(due_at - SignedDuration::from_millis(1));
        dispatcher.tick();
        settle().await;
        assert_eq!(bed.receivers.calls().len(), number);
        bed.clock.set(due_at);
        dispatcher.tick();
    }
    bed.until_all(&endpoint, DeliveryStatus::Failed).await;
    dispatcher.stop().await;
    let delivery = bed.deliveries(&endpoint).await.remove(0);
    assert_eq!((delivery.attempts.len(), delivery.next_attempt_at), (10, None));
    let ids: std::collections::HashSet<_> = bed.receivers.calls().iter().map(|call| call.id).collect();
    assert_eq!(ids.len(), 1);
}

#[tokio::test]
async fn retry_after_of_receiver_is_respected() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let later = Sent { retry_after: Some(SignedDuration::from_mins(20)), ..refused(429) };
    bed.receivers.script(&endpoint.url, [Answer::Now(later)]);
    let dispatcher = bed.dispatcher();
    bed.publish(EventType::ChargePaid).await;
    until("the first attempt", || bed.receivers.calls().len() == 1).await;
    settle().await;
    let due_at = bed.deliveries(&endpoint).await[0].next_attempt_at.unwrap();
    assert_eq!(due_at.duration_since(bed.now()), SignedDuration::from_mins(20));
    bed.clock.set(due_at);
    dispatcher.tick();
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    dispatcher.stop().await;
}

#[tokio::test]
async fn undecryptable_secret_fails_attempt_without_call() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    bed.publish(EventType::ChargePaid).await;
    let other_key = Ports { secret_cipher: std::sync::Arc::new(PlainSecretCipher::under(7)), ..bed.ports.clone() };
    let wrong = Dispatcher::start(other_key, DispatchLimits::default());
    wrong.tick();
    until("an attempt", || Queue::count(&bed.queue.finishes) == 1).await;
    wrong.stop().await;
    let delivery = bed.deliveries(&endpoint).await.remove(0);
    let word = AttemptError::Unsigned.as_str();
    assert_eq!(delivery.attempts[0].error.as_deref(), Some(word));
    assert_eq!((delivery.status, bed.receivers.calls()), (DeliveryStatus::Pending, Vec::new()));

    bed.clock.set(delivery.next_attempt_at.unwrap());
    let right = bed.dispatcher_without_hints();
    right.tick();
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    right.stop().await;
}

#[tokio::test]
async fn panicking_attempt_does_not_end_others() {
    let bed = TestBed::new().await;
    let (broken, fine) = (bed.endpoint().await, bed.endpoint().await);
    bed.receivers.set(&broken.url, Answer::Broken);
    let dispatcher = bed.dispatcher();
    bed.publish_many(5).await;
    bed.until_all(&fine, DeliveryStatus::Succeeded).await;
    until("every attempt", || bed.receivers.calls_to(&broken.url).len() == 5).await;
    dispatcher.stop().await;
    for delivery in bed.deliveries(&broken).await {
        assert_eq!((delivery.status, delivery.attempts.len()), (DeliveryStatus::Pending, 1));
    }
}

#[tokio::test]
async fn delivery_created_during_claim_needs_no_tick() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let dispatcher = bed.dispatcher();
    bed.queue.hold_replies();
    bed.publish(EventType::ChargePaid).await;
    until("a claim", || Queue::count(&bed.queue.claims) == 1).await;
    settle().await;
    // The claim has read the store. Its reply is in transit.
    bed.publish(EventType::ChargePaid).await;
    settle().await;
    bed.queue.release_replies(100);
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    dispatcher.stop().await;
    assert_eq!(bed.receivers.calls().len(), 2);
    assert_eq!(Queue::count(&bed.queue.looks), 0, "the queues were not read");
}

#[tokio::test]
async fn delivery_without_hint_is_found_at_tick() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    bed.publish_many(30).await;
    let dispatcher = bed.dispatcher_without_hints();
    settle().await;
    assert_eq!(bed.receivers.calls(), []);
    dispatcher.tick();
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    dispatcher.stop().await;
    assert_eq!(bed.receivers.calls().len(), 30);
    assert!(bed.receivers.most_at_once(&endpoint.url) <= 8);
}

#[tokio::test]
async fn success_after_failures_ends_delivery() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    bed.receivers.script(&endpoint.url, [Answer::Now(refused(503)), Answer::Now(taken())]);
    let dispatcher = bed.dispatcher();
    bed.publish(EventType::ChargePaid).await;
    until("the first attempt", || Queue::count(&bed.queue.finishes) == 1).await;
    settle().await;
    bed.clock.advance(Duration::from_secs(6));
    dispatcher.tick();
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    dispatcher.stop().await;
    let attempts = bed.deliveries(&endpoint).await.remove(0).attempts;
    assert_eq!(attempts.iter().map(|attempt| attempt.status_code).collect::<Vec<_>>(), [Some(503), Some(200)]);
}
