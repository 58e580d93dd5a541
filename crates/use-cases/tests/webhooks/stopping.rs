//! A node stops or crashes.

use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::merchant::webhook::DeliveryStatus;
use cais_use_cases::webhooks::dispatch::{DispatchLimits, Signal};
use futures_util::{StreamExt as _, stream};

use crate::queue::{Failure, Queue, down};
use crate::receivers::{Answer, taken};
use crate::world::{HEALTHY_SLOTS, World, settle, until};

#[tokio::test]
async fn stop_ends_claims_and_waits_for_stored_outcomes() {
    let world = World::new().await;
    let endpoint = world.endpoint().await;
    let dispatcher = world.dispatcher();
    world.prove(&endpoint, &dispatcher).await;
    world.receivers.set(&endpoint.url, Answer::Held);
    world.publish_many(10).await;
    until("some are under way", || world.receivers.held(&endpoint.url) == HEALTHY_SLOTS).await;
    settle().await;
    let claims = Queue::count(&world.queue.claims);
    dispatcher.ask_to_stop();
    world.publish_many(2).await;
    dispatcher.tick();
    settle().await;
    assert!(!dispatcher.is_over(), "receivers are still being called");
    world.receivers.release(&endpoint.url, &taken());
    dispatcher.ends().await;

    assert_eq!(Queue::count(&world.queue.claims), claims);
    let statuses = world.statuses(&endpoint).await;
    assert_eq!(statuses.iter().filter(|status| **status == DeliveryStatus::Succeeded).count(), 1 + HEALTHY_SLOTS);
    assert_eq!(statuses.iter().filter(|status| **status == DeliveryStatus::Pending).count(), 4);
    // The next node takes over at once, because no delivery has a lease.
    world.receivers.set(&endpoint.url, Answer::Now(taken()));
    let next = world.deaf_dispatcher();
    next.tick();
    world.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    next.stop().await;
    assert_eq!(world.receivers.calls().len(), 13);
}

#[tokio::test]
async fn delivery_claimed_before_stop_is_sent() {
    let world = World::new().await;
    let endpoint = world.endpoint().await;
    let dispatcher = world.dispatcher();
    world.queue.hold_replies();
    world.publish(EventType::ChargePaid).await;
    until("a claim", || Queue::count(&world.queue.claims) == 1).await;
    dispatcher.ask_to_stop();
    settle().await;
    world.queue.release_replies(1);
    dispatcher.ends().await;
    assert_eq!(world.statuses(&endpoint).await, [DeliveryStatus::Succeeded]);
}

#[tokio::test]
async fn end_of_signals_stops_the_dispatcher() {
    let world = World::new().await;
    let endpoint = world.endpoint().await;
    world.publish_many(3).await;
    let ports = world.ports.clone();
    let signals = stream::iter([Signal::Tick]).chain(stream::pending().take_until(async {
        while world.statuses(&endpoint).await.contains(&DeliveryStatus::Pending) {
            tokio::task::yield_now().await;
        }
    }));
    let run = cais_use_cases::webhooks::dispatch::run(ports, DispatchLimits::default(), Box::pin(signals));
    tokio::time::timeout(Duration::from_secs(20), run).await.unwrap();
    assert_eq!(world.statuses(&endpoint).await, [DeliveryStatus::Succeeded; 3]);
}

#[tokio::test]
async fn idle_node_stops_at_once() {
    let world = World::new().await;
    world.dispatcher().stop().await;
}

#[tokio::test]
async fn unavailable_store_does_not_prevent_stop() {
    let world = World::new().await;
    let endpoint = world.endpoint().await;
    world.receivers.set(&endpoint.url, Answer::Held);
    let dispatcher = world.dispatcher();
    world.publish(EventType::ChargePaid).await;
    until("it is under way", || world.receivers.held(&endpoint.url) == 1).await;
    world.queue.finishes_fail(|_| Some(Failure::Before(down())));
    dispatcher.ask_to_stop();
    world.receivers.release(&endpoint.url, &taken());
    dispatcher.ends().await;
    assert!((2..10).contains(&Queue::count(&world.queue.finishes)), "a few times and no more");
    assert_eq!(world.statuses(&endpoint).await, [DeliveryStatus::Pending], "the delivery is due again after its lease");
}

#[tokio::test]
async fn deliveries_of_crashed_node_are_sent_by_another() {
    let world = World::new().await;
    let endpoint = world.endpoint().await;
    let dispatcher = world.dispatcher();
    world.prove(&endpoint, &dispatcher).await;
    let before = world.receivers.calls().len();
    world.receivers.set(&endpoint.url, Answer::Held);
    world.publish_many(2).await;
    until("both are under way", || world.receivers.held(&endpoint.url) == 2).await;
    dispatcher.kill().await;
    world.publish_many(3).await;
    world.receivers.set(&endpoint.url, Answer::Now(taken()));
    let next = world.deaf_dispatcher();
    next.tick();
    until("the others", || world.receivers.calls().len() == before + 5).await;
    settle().await;
    next.tick();
    settle().await;
    assert_eq!(world.receivers.calls().len(), before + 5, "leases of the node that went down still hold");
    world.clock.advance(Duration::from_secs(30));
    next.tick();
    world.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    next.stop().await;
    assert_eq!(world.receivers.calls().len(), before + 7);
}
