//! The store fails for some time. No delivery is lost, and requests are retried only at ticks.

use cais_domain::event::EventType;
use cais_domain::merchant::webhook::DeliveryStatus;
use cais_ports::QueryError;

use crate::bed::{TestBed, settle, until};
use crate::queue::{Failure, Queue, down};

fn damaged() -> QueryError {
    QueryError::Corrupt("damaged".to_owned())
}

#[tokio::test]
async fn failed_claims_are_retried_only_at_ticks() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    bed.queue.claims_fail(|_| Some(Failure::Before(down())));
    let dispatcher = bed.dispatcher();
    for round in 1..=5 {
        bed.publish_many(2).await;
        until("a claim", || Queue::count(&bed.queue.claims) == round).await;
        settle().await;
        assert_eq!(Queue::count(&bed.queue.claims), round);
        if round == 5 {
            bed.queue.claims_fail(|_| None);
        }
        dispatcher.tick();
    }
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    dispatcher.stop().await;
    assert_eq!(bed.receivers.calls().len(), 10);
}

#[tokio::test]
async fn unwritten_outcomes_wait_without_second_call() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    bed.queue.finishes_fail(|_| Some(Failure::Before(down())));
    let dispatcher = bed.dispatcher();
    bed.publish(EventType::ChargePaid).await;
    until("a write", || Queue::count(&bed.queue.finishes) == 1).await;
    settle().await;
    let claims = Queue::count(&bed.queue.claims);
    bed.publish_many(9).await;
    for round in 2..=6 {
        dispatcher.tick();
        until("a write", || Queue::count(&bed.queue.finishes) >= round).await;
        settle().await;
    }
    let finishes = Queue::count(&bed.queue.finishes);
    assert!(finishes <= 12, "{finishes} in 6 rounds");
    assert!(Queue::count(&bed.queue.claims) <= claims + 6);
    bed.queue.finishes_fail(|_| None);
    dispatcher.tick();
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    dispatcher.stop().await;
    assert_eq!(bed.receivers.calls().len(), 10, "each delivery once");
}

#[tokio::test]
async fn outcome_with_lost_reply_is_written_again_without_effect() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let mut first = true;
    bed.queue.finishes_fail(move |_| std::mem::take(&mut first).then_some(Failure::After));
    let dispatcher = bed.dispatcher();
    bed.publish(EventType::ChargePaid).await;
    until("a write", || Queue::count(&bed.queue.finishes) == 1).await;
    settle().await;
    dispatcher.tick();
    until("another", || Queue::count(&bed.queue.finishes) == 2).await;
    dispatcher.stop().await;
    let delivery = bed.deliveries(&endpoint).await.remove(0);
    assert_eq!((delivery.status, delivery.attempts.len()), (DeliveryStatus::Succeeded, 1));
    assert_eq!(bed.receivers.calls().len(), 1);
}

#[tokio::test]
async fn unavailable_store_loses_no_delivery() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let dispatcher = bed.dispatcher();
    bed.publish_many(3).await;
    bed.store.set_unreachable(true);
    for _ in 0..10 {
        dispatcher.tick();
        settle().await;
    }
    bed.store.set_unreachable(false);
    bed.clock.advance(std::time::Duration::from_secs(31));
    dispatcher.tick();
    settle().await;
    dispatcher.tick();
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    dispatcher.stop().await;
}

#[tokio::test]
async fn unreadable_queue_does_not_stop_others() {
    let bed = TestBed::new().await;
    let broken = bed.endpoint().await;
    let mut fine = Vec::new();
    for _ in 0..9 {
        fine.push(bed.endpoint().await);
    }
    bed.publish_many(3).await;
    let id = broken.id;
    bed.queue.claims_fail(move |claim| {
        claim.queues.iter().any(|queue| queue.endpoint == id).then(|| Failure::Before(damaged()))
    });
    let dispatcher = bed.dispatcher_without_hints();
    dispatcher.tick();
    for endpoint in &fine {
        bed.until_all(endpoint, DeliveryStatus::Succeeded).await;
    }
    settle().await;
    let claims = Queue::count(&bed.queue.claims);
    settle().await;
    assert_eq!(Queue::count(&bed.queue.claims), claims, "the queue is claimed again at the next tick");
    assert_eq!(bed.statuses(&broken).await, [DeliveryStatus::Pending; 3]);
    bed.queue.claims_fail(|_| None);
    dispatcher.tick();
    bed.until_all(&broken, DeliveryStatus::Succeeded).await;
    dispatcher.stop().await;
}

#[tokio::test]
async fn unwritable_outcome_is_dropped_alone() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    bed.publish_many(12).await;
    let poison = bed.deliveries(&endpoint).await[5].id;
    let is_poison = move |batch: &Vec<cais_ports::FinishedAttempt>| batch.iter().any(|one| one.key.id == poison);
    bed.queue.finishes_fail(move |batch| is_poison(batch).then(|| Failure::Before(damaged())));
    let dispatcher = bed.dispatcher_without_hints();
    dispatcher.tick();
    until("all are sent", || bed.receivers.calls().len() == 12).await;
    settle().await;
    let left: Vec<_> =
        bed.deliveries(&endpoint).await.into_iter().filter(|one| one.status == DeliveryStatus::Pending).collect();
    assert_eq!(left.iter().map(|one| one.id).collect::<Vec<_>>(), [poison]);
    bed.queue.finishes_fail(|_| None);
    bed.clock.advance(std::time::Duration::from_secs(31));
    dispatcher.tick();
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    dispatcher.stop().await;
}
