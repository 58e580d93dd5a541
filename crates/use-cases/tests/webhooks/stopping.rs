//! A node stops or crashes.

use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::merchant::webhook::DeliveryStatus;
use cais_use_cases::webhooks::dispatch::{DispatchLimits, Signal};
use futures_util::{StreamExt as _, stream};

use crate::bed::{HEALTHY_SLOTS, TestBed, settle, until};
use crate::queue::{Failure, Queue, down};
use crate::receivers::{Answer, taken};

#[tokio::test]
async fn stop_ends_claims_and_waits_for_stored_outcomes() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let dispatcher = bed.dispatcher();
    bed.make_healthy(&endpoint, &dispatcher).await;
    bed.receivers.set(&endpoint.url, Answer::Held);
    bed.publish_many(10).await;
    until("some are under way", || bed.receivers.held(&endpoint.url) == HEALTHY_SLOTS).await;
    settle().await;
    let claims = Queue::count(&bed.queue.claims);
    dispatcher.request_stop();
    bed.publish_many(2).await;
    dispatcher.tick();
    settle().await;
    assert!(!dispatcher.is_over(), "receivers are still being called");
    bed.receivers.release(&endpoint.url, &taken());
    dispatcher.ends().await;

    assert_eq!(Queue::count(&bed.queue.claims), claims);
    let statuses = bed.statuses(&endpoint).await;
    assert_eq!(statuses.iter().filter(|status| **status == DeliveryStatus::Succeeded).count(), 1 + HEALTHY_SLOTS);
    assert_eq!(statuses.iter().filter(|status| **status == DeliveryStatus::Pending).count(), 4);
    // The next node takes over at once, because no delivery has a lease.
    bed.receivers.set(&endpoint.url, Answer::Now(taken()));
    let next = bed.dispatcher_without_hints();
    next.tick();
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    next.stop().await;
    assert_eq!(bed.receivers.calls().len(), 13);
}

#[tokio::test]
async fn delivery_claimed_before_stop_is_sent() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let dispatcher = bed.dispatcher();
    bed.queue.hold_replies();
    bed.publish(EventType::ChargePaid).await;
    until("a claim", || Queue::count(&bed.queue.claims) == 1).await;
    dispatcher.request_stop();
    settle().await;
    bed.queue.release_replies(1);
    dispatcher.ends().await;
    assert_eq!(bed.statuses(&endpoint).await, [DeliveryStatus::Succeeded]);
}

#[tokio::test]
async fn end_of_signals_stops_the_dispatcher() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    bed.publish_many(3).await;
    let ports = bed.ports.clone();
    let signals = stream::iter([Signal::Tick]).chain(stream::pending().take_until(async {
        while bed.statuses(&endpoint).await.contains(&DeliveryStatus::Pending) {
            tokio::task::yield_now().await;
        }
    }));
    let run = cais_use_cases::webhooks::dispatch::run(ports, DispatchLimits::default(), Box::pin(signals));
    tokio::time::timeout(Duration::from_secs(20), run).await.unwrap();
    assert_eq!(bed.statuses(&endpoint).await, [DeliveryStatus::Succeeded; 3]);
}

#[tokio::test]
async fn idle_node_stops_at_once() {
    let bed = TestBed::new().await;
    bed.dispatcher().stop().await;
}

#[tokio::test]
async fn unavailable_store_does_not_prevent_stop() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    bed.receivers.set(&endpoint.url, Answer::Held);
    let dispatcher = bed.dispatcher();
    bed.publish(EventType::ChargePaid).await;
    until("it is under way", || bed.receivers.held(&endpoint.url) == 1).await;
    bed.queue.finishes_fail(|_| Some(Failure::Before(down())));
    dispatcher.request_stop();
    bed.receivers.release(&endpoint.url, &taken());
    dispatcher.ends().await;
    assert!((2..10).contains(&Queue::count(&bed.queue.finishes)), "a few times and no more");
    assert_eq!(bed.statuses(&endpoint).await, [DeliveryStatus::Pending], "the delivery is due again after its lease");
}

#[tokio::test]
async fn deliveries_of_crashed_node_are_sent_by_another() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let dispatcher = bed.dispatcher();
    bed.make_healthy(&endpoint, &dispatcher).await;
    let before = bed.receivers.calls().len();
    bed.receivers.set(&endpoint.url, Answer::Held);
    bed.publish_many(2).await;
    until("both are under way", || bed.receivers.held(&endpoint.url) == 2).await;
    dispatcher.kill().await;
    bed.publish_many(3).await;
    bed.receivers.set(&endpoint.url, Answer::Now(taken()));
    let next = bed.dispatcher_without_hints();
    next.tick();
    until("the others", || bed.receivers.calls().len() == before + 5).await;
    settle().await;
    next.tick();
    settle().await;
    assert_eq!(bed.receivers.calls().len(), before + 5, "leases of the node that went down still hold");
    bed.clock.advance(Duration::from_secs(30));
    next.tick();
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    next.stop().await;
    assert_eq!(bed.receivers.calls().len(), before + 7);
}
