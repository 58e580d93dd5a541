//! Claims whose leases end before their attempts do.

use std::collections::HashSet;
use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::ids::EventId;
use cais_domain::merchant::webhook::DeliveryStatus;

use crate::bed::{HEALTHY_SLOTS, TestBed, settle, until};
use crate::queue::Queue;
use crate::receivers::{Answer, refused, taken};

#[tokio::test]
async fn attempt_of_older_claim_is_logged_without_effect() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    bed.receivers.script(&endpoint.url, [Answer::Held]);
    let slow = bed.dispatcher();
    bed.publish(EventType::ChargePaid).await;
    until("it is under way", || bed.receivers.held(&endpoint.url) == 1).await;
    bed.clock.advance(Duration::from_secs(31));
    let other = bed.dispatcher_without_hints();
    other.tick();
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    other.stop().await;
    // The first receiver continues and refuses the event. By then the event is delivered.
    bed.receivers.release(&endpoint.url, &refused(500));
    slow.stop().await;
    let delivery = bed.deliveries(&endpoint).await.remove(0);
    assert_eq!((delivery.status, delivery.next_attempt_at), (DeliveryStatus::Succeeded, None));
    let seen: Vec<_> = delivery.attempts.iter().map(|attempt| attempt.status_code).collect();
    assert_eq!(seen, [Some(500), Some(200)], "by the claims under which they were made");
}

#[tokio::test]
async fn clock_jump_causes_no_concurrent_duplicate_call() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let dispatcher = bed.dispatcher();
    bed.make_healthy(&endpoint, &dispatcher).await;
    bed.receivers.set(&endpoint.url, Answer::Held);
    bed.publish_many(2).await;
    until("both are under way", || bed.receivers.held(&endpoint.url) == 2).await;
    // The leases have ended. So the store returns the deliveries to the same node again, together with newer ones.
    bed.clock.advance(Duration::from_hours(1));
    bed.publish(EventType::ChargePaid).await;
    until("the new one", || bed.receivers.held(&endpoint.url) == 3).await;
    settle().await;
    let ids: HashSet<EventId> = bed.receivers.calls().iter().map(|call| call.id).collect();
    assert_eq!((bed.receivers.calls().len(), ids.len()), (4, 4));
    bed.receivers.set(&endpoint.url, Answer::Now(taken()));
    bed.receivers.release(&endpoint.url, &taken());
    settle().await;
    bed.clock.advance(Duration::from_secs(31));
    dispatcher.tick();
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    dispatcher.stop().await;
}

#[tokio::test]
async fn claim_with_late_reply_is_left_to_its_lease() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let dispatcher = bed.dispatcher();
    bed.queue.hold_replies();
    bed.publish(EventType::ChargePaid).await;
    until("a claim", || Queue::count(&bed.queue.claims) == 1).await;
    settle().await;
    bed.clock.advance(Duration::from_secs(16));
    bed.queue.release_replies(100);
    settle().await;
    assert_eq!(bed.receivers.calls(), [], "half of the lease is for the attempt");
    dispatcher.tick();
    settle().await;
    assert_eq!(bed.receivers.calls(), []);
    bed.clock.advance(Duration::from_secs(15));
    dispatcher.tick();
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    dispatcher.stop().await;
    assert_eq!(bed.receivers.calls().len(), 1);
}

#[tokio::test]
async fn deliveries_wait_while_endpoint_is_inactive() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let dispatcher = bed.dispatcher();
    bed.make_healthy(&endpoint, &dispatcher).await;
    bed.receivers.set(&endpoint.url, Answer::Held);
    bed.publish_many(12).await;
    until("some are under way", || bed.receivers.held(&endpoint.url) == HEALTHY_SLOTS).await;
    bed.set_active(&endpoint, false).await;
    bed.receivers.set(&endpoint.url, Answer::Now(taken()));
    // Attempts in flight fail and are retried later.
    bed.receivers.release(&endpoint.url, &refused(500));
    bed.publish(EventType::ChargePaid).await;
    for _ in 0..3 {
        bed.clock.advance(Duration::from_hours(1));
        dispatcher.tick();
        settle().await;
    }
    assert_eq!(bed.receivers.calls().len(), 1 + HEALTHY_SLOTS, "no further delivery is sent");
    let waiting = bed.deliveries(&endpoint).await.split_off(1);
    assert_eq!(waiting.len(), 13);
    assert!(waiting.iter().all(|one| (one.status, one.next_attempt_at) == (DeliveryStatus::Pending, None)));

    bed.set_active(&endpoint, true).await;
    dispatcher.tick();
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    dispatcher.stop().await;
    assert_eq!(bed.receivers.calls().len(), 1 + HEALTHY_SLOTS + 13);
}

#[tokio::test]
async fn two_nodes_deliver_shared_backlog_without_ticks() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let nodes = [bed.dispatcher_without_hints(), bed.dispatcher_without_hints()];
    for node in &nodes {
        bed.make_healthy(&endpoint, node).await;
    }
    bed.receivers.set(&endpoint.url, Answer::Held);
    for (node, under_way) in nodes.iter().zip([2, 4]) {
        bed.publish_many(2).await;
        node.tick();
        until("each has some", || bed.receivers.held(&endpoint.url) == under_way).await;
    }
    bed.publish_many(100).await;
    bed.receivers.set(&endpoint.url, Answer::Now(taken()));
    bed.receivers.release(&endpoint.url, &taken());
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    for node in nodes {
        node.stop().await;
    }
    assert_eq!(bed.receivers.calls().len(), 106);
    assert!(bed.receivers.most_at_once(&endpoint.url) <= 8);
}
