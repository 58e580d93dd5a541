//! Claims whose leases end before their attempts do.

use std::collections::HashSet;
use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::ids::EventId;
use cais_domain::merchant::webhook::DeliveryStatus;

use crate::queue::Queue;
use crate::receivers::{Answer, refused, taken};
use crate::world::{HEALTHY_SLOTS, World, settle, until};

#[tokio::test]
async fn attempt_of_older_claim_is_logged_without_effect() {
    let world = World::new().await;
    let endpoint = world.endpoint().await;
    world.receivers.script(&endpoint.url, [Answer::Held]);
    let slow = world.dispatcher();
    world.publish(EventType::ChargePaid).await;
    until("it is under way", || world.receivers.held(&endpoint.url) == 1).await;
    world.clock.advance(Duration::from_secs(31));
    let other = world.deaf_dispatcher();
    other.tick();
    world.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    other.stop().await;
    // The first receiver continues and refuses the event. By then the event is delivered.
    world.receivers.release(&endpoint.url, &refused(500));
    slow.stop().await;
    let delivery = world.deliveries(&endpoint).await.remove(0);
    assert_eq!((delivery.status, delivery.next_attempt_at), (DeliveryStatus::Succeeded, None));
    let seen: Vec<_> = delivery.attempts.iter().map(|attempt| attempt.status_code).collect();
    assert_eq!(seen, [Some(500), Some(200)], "by the claims under which they were made");
}

#[tokio::test]
async fn clock_jump_causes_no_concurrent_duplicate_call() {
    let world = World::new().await;
    let endpoint = world.endpoint().await;
    let dispatcher = world.dispatcher();
    world.prove(&endpoint, &dispatcher).await;
    world.receivers.set(&endpoint.url, Answer::Held);
    world.publish_many(2).await;
    until("both are under way", || world.receivers.held(&endpoint.url) == 2).await;
    // The leases have ended. So the store returns the deliveries to the same node again, together with newer ones.
    world.clock.advance(Duration::from_hours(1));
    world.publish(EventType::ChargePaid).await;
    until("the new one", || world.receivers.held(&endpoint.url) == 3).await;
    settle().await;
    let ids: HashSet<EventId> = world.receivers.calls().iter().map(|call| call.id).collect();
    assert_eq!((world.receivers.calls().len(), ids.len()), (4, 4));
    world.receivers.set(&endpoint.url, Answer::Now(taken()));
    world.receivers.release(&endpoint.url, &taken());
    settle().await;
    world.clock.advance(Duration::from_secs(31));
    dispatcher.tick();
    world.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    dispatcher.stop().await;
}

#[tokio::test]
async fn claim_with_late_reply_is_left_to_its_lease() {
    let world = World::new().await;
    let endpoint = world.endpoint().await;
    let dispatcher = world.dispatcher();
    world.queue.hold_replies();
    world.publish(EventType::ChargePaid).await;
    until("a claim", || Queue::count(&world.queue.claims) == 1).await;
    settle().await;
    world.clock.advance(Duration::from_secs(16));
    world.queue.release_replies(100);
    settle().await;
    assert_eq!(world.receivers.calls(), [], "half of the lease is for the attempt");
    dispatcher.tick();
    settle().await;
    assert_eq!(world.receivers.calls(), []);
    world.clock.advance(Duration::from_secs(15));
    dispatcher.tick();
    world.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    dispatcher.stop().await;
    assert_eq!(world.receivers.calls().len(), 1);
}

#[tokio::test]
async fn deliveries_wait_while_endpoint_is_inactive() {
    let world = World::new().await;
    let endpoint = world.endpoint().await;
    let dispatcher = world.dispatcher();
    world.prove(&endpoint, &dispatcher).await;
    world.receivers.set(&endpoint.url, Answer::Held);
    world.publish_many(12).await;
    until("some are under way", || world.receivers.held(&endpoint.url) == HEALTHY_SLOTS).await;
    world.set_active(&endpoint, false).await;
    world.receivers.set(&endpoint.url, Answer::Now(taken()));
    // Attempts in flight fail and are retried later.
    world.receivers.release(&endpoint.url, &refused(500));
    world.publish(EventType::ChargePaid).await;
    for _ in 0..3 {
        world.clock.advance(Duration::from_hours(1));
        dispatcher.tick();
        settle().await;
    }
    assert_eq!(world.receivers.calls().len(), 1 + HEALTHY_SLOTS, "no further delivery is sent");
    let waiting = world.deliveries(&endpoint).await.split_off(1);
    assert_eq!(waiting.len(), 13);
    assert!(waiting.iter().all(|one| (one.status, one.next_attempt_at) == (DeliveryStatus::Pending, None)));

    world.set_active(&endpoint, true).await;
    dispatcher.tick();
    world.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    dispatcher.stop().await;
    assert_eq!(world.receivers.calls().len(), 1 + HEALTHY_SLOTS + 13);
}

#[tokio::test]
async fn two_nodes_deliver_shared_backlog_without_ticks() {
    let world = World::new().await;
    let endpoint = world.endpoint().await;
    let nodes = [world.deaf_dispatcher(), world.deaf_dispatcher()];
    for node in &nodes {
        world.prove(&endpoint, node).await;
    }
    world.receivers.set(&endpoint.url, Answer::Held);
    for (node, under_way) in nodes.iter().zip([2, 4]) {
        world.publish_many(2).await;
        node.tick();
        until("each has some", || world.receivers.held(&endpoint.url) == under_way).await;
    }
    world.publish_many(100).await;
    world.receivers.set(&endpoint.url, Answer::Now(taken()));
    world.receivers.release(&endpoint.url, &taken());
    world.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    for node in nodes {
        node.stop().await;
    }
    assert_eq!(world.receivers.calls().len(), 106);
    assert!(world.receivers.most_at_once(&endpoint.url) <= 8);
}
