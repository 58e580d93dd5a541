//! Receivers that hang do not delay other receivers.

use std::sync::atomic::Ordering;

use cais_domain::event::EventType;
use cais_domain::merchant::webhook::DeliveryStatus;
use cais_use_cases::webhooks::dispatch::DispatchLimits;

use crate::bed::{FIRST, SLOW_SLOTS, TestBed, settle, until};
use crate::queue::Queue;
use crate::receivers::{Answer, refused, taken};

const SMALL: DispatchLimits =
    DispatchLimits { in_flight: 16, per_endpoint: 8, lease: jiff::SignedDuration::from_secs(30) };

#[tokio::test]
async fn hanging_receivers_delay_no_others() {
    let bed = TestBed::new().await;
    let dispatcher = bed.dispatcher_with(SMALL);
    // Twelve receivers were slow. Now they hang in all their slots.
    let mut hung = Vec::new();
    for _ in 0..12 {
        let endpoint = bed.endpoint().await;
        bed.receivers.set(&endpoint.url, Answer::Held);
        hung.push(endpoint);
    }
    bed.publish(EventType::ChargePaid).await;
    let held = || -> usize { hung.iter().map(|endpoint| bed.receivers.held(&endpoint.url)).sum() };
    for known in [8, 12] {
        until("unknown endpoints have one place each", || held() == known).await;
        bed.clock.advance(std::time::Duration::from_secs(2));
        dispatcher.tick();
    }
    settle().await;
    for endpoint in &hung {
        bed.receivers.release(&endpoint.url, &refused(500));
    }
    settle().await;
    bed.publish_many(10).await;
    settle().await;
    // Other receivers respond. They are always called at once.
    let mut fine = Vec::new();
    for _ in 0..3 {
        fine.push(bed.endpoint().await);
    }
    for _ in 0..40 {
        bed.publish(EventType::ChargePaid).await;
        for endpoint in &fine {
            bed.until_all(endpoint, DeliveryStatus::Succeeded).await;
        }
    }
    assert!(bed.receivers.most_of_all() <= SMALL.in_flight);

    // No delivery to the slow receivers is lost.
    for endpoint in &hung {
        bed.receivers.set(&endpoint.url, Answer::Now(taken()));
    }
    for endpoint in &hung {
        assert!(bed.receivers.held(&endpoint.url) <= SLOW_SLOTS);
        bed.receivers.release(&endpoint.url, &taken());
    }
    bed.clock.advance(std::time::Duration::from_secs(6));
    dispatcher.tick();
    for endpoint in &hung {
        bed.until_all(endpoint, DeliveryStatus::Succeeded).await;
        assert!(bed.receivers.most_at_once(&endpoint.url) <= 8);
    }
    dispatcher.stop().await;
    assert!(bed.receivers.most_of_all() <= SMALL.in_flight);
}

#[tokio::test]
async fn receivers_that_start_to_hang_free_slots_for_others() {
    let bed = TestBed::new().await;
    let dispatcher = bed.dispatcher_with(DispatchLimits { in_flight: 24, ..SMALL });
    let (fine, other) = (bed.endpoint().await, bed.endpoint().await);
    bed.publish(EventType::ChargePaid).await;
    for endpoint in [&fine, &other] {
        bed.until_all(endpoint, DeliveryStatus::Succeeded).await;
    }
    let mut hung = Vec::new();
    for _ in 0..12 {
        let endpoint = bed.endpoint().await;
        bed.receivers.set(&endpoint.url, Answer::Held);
        hung.push(endpoint);
    }
    bed.receivers.set(&other.url, Answer::Held);
    bed.publish_many(20).await;
    settle().await;
    bed.clock.advance(std::time::Duration::from_secs(3));
    dispatcher.tick();
    settle().await;
    let held = || -> usize { hung.iter().chain([&other]).map(|endpoint| bed.receivers.held(&endpoint.url)).sum() };
    let before = held();
    bed.publish_many(20).await;
    bed.until_all(&fine, DeliveryStatus::Succeeded).await;
    assert_eq!(held(), before, "a slow endpoint receives no more calls");
    for endpoint in hung.iter().chain([&other]) {
        bed.receivers.set(&endpoint.url, Answer::Now(taken()));
    }
    for endpoint in hung.iter().chain([&other]) {
        bed.receivers.release(&endpoint.url, &taken());
    }
    for endpoint in hung.iter().chain([&other]) {
        bed.until_all(endpoint, DeliveryStatus::Succeeded).await;
    }
    dispatcher.stop().await;
    assert!(bed.receivers.most_of_all() <= 24);
}

#[tokio::test]
async fn endpoint_has_at_most_eight_in_flight_over_two_nodes() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let nodes = [bed.dispatcher(), bed.dispatcher_without_hints()];
    bed.publish_many(4).await;
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    bed.receivers.set(&endpoint.url, Answer::Held);
    bed.publish_many(50).await;
    nodes[1].tick();
    until("all slots are in use", || bed.receivers.held(&endpoint.url) == 8).await;
    settle().await;
    assert_eq!(bed.receivers.held(&endpoint.url), 8);
    bed.receivers.set(&endpoint.url, Answer::Now(taken()));
    bed.receivers.release(&endpoint.url, &taken());
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    for node in nodes {
        node.stop().await;
    }
    assert_eq!(bed.receivers.most_at_once(&endpoint.url), 8);
    assert_eq!(bed.receivers.calls().len(), 54, "no delivery is made twice");
}

#[tokio::test]
async fn single_slot_delivers_all_events() {
    let bed = TestBed::new().await;
    let (endpoint, failing) = (bed.endpoint().await, bed.endpoint().await);
    bed.receivers.set(&failing.url, Answer::Now(refused(500)));
    let limits = DispatchLimits { in_flight: 1, per_endpoint: 1, ..SMALL };
    let dispatcher = bed.dispatcher_with(limits);
    bed.publish_many(20).await;
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    dispatcher.stop().await;
    assert_eq!(bed.receivers.most_of_all(), 1);
}

#[tokio::test]
async fn slow_receiver_gets_no_further_calls() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let dispatcher = bed.dispatcher();
    bed.publish(EventType::ChargePaid).await;
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    bed.receivers.set(&endpoint.url, Answer::Held);
    bed.publish_many(2).await;
    until("both are under way", || bed.receivers.held(&endpoint.url) == 2).await;
    bed.clock.advance(std::time::Duration::from_secs(3));
    dispatcher.tick();
    settle().await;
    bed.publish_many(20).await;
    settle().await;
    assert_eq!(bed.receivers.held(&endpoint.url), SLOW_SLOTS, "the endpoint had eight slots");
    bed.receivers.set(&endpoint.url, Answer::Now(taken()));
    bed.receivers.release(&endpoint.url, &taken());
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    dispatcher.stop().await;
}

#[tokio::test]
async fn queues_that_stay_due_hide_no_others() {
    let bed = TestBed::new().await;
    bed.queue.seen_at_once.store(2, Ordering::Relaxed);
    let mut endpoints = Vec::new();
    for _ in 0..7 {
        let endpoint = bed.endpoint().await;
        bed.receivers.set(&endpoint.url, Answer::Held);
        endpoints.push(endpoint);
    }
    // There are more queues than slots. Each queue stays due while its receiver hangs.
    bed.publish_many(FIRST + 4).await;
    let dispatcher = bed.dispatcher_without_hints();
    for tick in 0..4 {
        bed.clock.advance(std::time::Duration::from_millis(1));
        dispatcher.tick();
        until("the queues are read", || Queue::count(&bed.queue.looks) == tick + 1).await;
        settle().await;
    }
    for endpoint in &endpoints {
        assert_eq!(bed.receivers.held(&endpoint.url), FIRST);
    }
    for endpoint in &endpoints {
        bed.receivers.set(&endpoint.url, Answer::Now(taken()));
        bed.receivers.release(&endpoint.url, &taken());
    }
    for endpoint in &endpoints {
        bed.until_all(endpoint, DeliveryStatus::Succeeded).await;
    }
    dispatcher.stop().await;
}
