//! The poller and readers apply the processor's record. Absence is never proof.

use cais_domain::crypto::withdrawal::WithdrawalStatus;
use cais_ports::UpstreamWithdrawalStatus as Upstream;
use cais_testkit::CapturedLogs;
use cais_testkit::psp::{Looking, Sending};

use crate::world::{LONG, PAST_REVIEW, World};

const REVIEW: &str = "crypto_withdrawal_needs_review";
const CONTRADICTED: &str = "crypto_withdrawal_contradicted";

#[tokio::test]
async fn finished_withdrawal_is_paid_once() {
    let world = World::new().await;
    world.processing().await;
    world.processor.set_status(Upstream::Finished);
    world.clock.advance(LONG);
    assert_eq!((world.poll().await, world.poll().await), (1, 0));
    world.paid().await;
    let (withdrawal, batch) = (world.only(), &world.processor.batches()[0]);
    assert_eq!((&withdrawal.tx_hash, withdrawal.network_fee), (&batch.tx_hash, batch.network_fee));
    assert!(withdrawal.tx_hash.is_some() && withdrawal.network_fee.is_some());
}

#[tokio::test]
async fn rejected_withdrawal_fails_and_its_money_returns() {
    let world = World::new().await;
    world.processing().await;
    world.processor.set_status(Upstream::Rejected);
    world.clock.advance(LONG);
    assert_eq!(world.poll().await, 1);
    world.given_back().await;
    assert_eq!(world.only().state.failure(), Some("no funds"));
}

#[tokio::test]
async fn failed_withdrawal_stays_held_for_an_operator() {
    let world = World::new().await;
    world.processing().await;
    world.processor.set_status(Upstream::Failed);
    world.clock.advance(LONG);
    let logs = CapturedLogs::start();
    assert_eq!(world.poll().await, 0);
    world.held().await;
    assert!(world.only().state.review_since().is_some());
    assert_eq!(logs.alerts(REVIEW).len(), 1);
    // The processor may still send the coins.
    world.processor.set_status(Upstream::Finished);
    world.clock.advance(LONG);
    assert_eq!(world.poll().await, 1);
    world.paid().await;
}

#[tokio::test]
async fn late_creation_is_found_and_verified() {
    let world = World::new().await;
    world.processor.set(Sending::ArrivesLate);
    world.processing().await;
    assert_eq!(world.processor.batches().len(), 0);
    world.clock.advance(LONG);
    assert_eq!(world.poll().await, 0);
    assert_eq!((world.processor.batches().len(), world.processor.verifications()), (1, 1));
    world.processor.settle_open(Upstream::Finished);
    world.clock.advance(LONG);
    assert_eq!(world.poll().await, 1);
    world.paid().await;
}

#[tokio::test]
async fn absent_withdrawal_is_reviewed_and_never_sent_again() {
    let world = World::new().await;
    world.processor.set(Sending::Silent);
    world.processing().await;
    let logs = CapturedLogs::start();
    world.clock.advance(LONG);
    world.poll().await;
    assert_eq!((world.only().state.review_since(), logs.alerts(REVIEW).len()), (None, 0));
    for passes in 1..100 {
        world.clock.advance(PAST_REVIEW);
        assert_eq!(world.poll().await, 0);
        assert!(world.only().state.review_since().is_some());
        assert_eq!(logs.alerts(REVIEW).len(), passes, "each poll raises the alert");
    }
    assert_eq!(world.processor.requests(), 1);
    world.held().await;
}

#[tokio::test]
async fn unreadable_processor_is_no_reason_for_review() {
    for looking in [Looking::Silent, Looking::Down] {
        let world = World::new().await;
        world.processor.set(Sending::Silent);
        world.processing().await;
        world.processor.set_looking(looking);
        world.clock.advance(PAST_REVIEW);
        world.poll().await;
        assert_eq!(world.only().state.review_since(), None, "{looking:?}");
        world.held().await;
    }
}

#[tokio::test]
async fn missing_batch_is_reviewed() {
    let world = World::new().await;
    world.processing().await;
    world.processor.forget_batches();
    world.clock.advance(PAST_REVIEW);
    world.poll().await;
    assert!(world.only().state.review_since().is_some());
    world.held().await;
}

#[tokio::test]
async fn reader_applies_the_outcome_and_verifies_nothing() {
    let world = World::new().await;
    world.processor.set_verifying(Sending::Down);
    world.processing().await;
    world.processor.set_verifying(Sending::Takes);
    assert_eq!(world.read().await.unwrap().state.status(), WithdrawalStatus::Processing);
    assert_eq!(world.processor.verifications(), 0);
    world.processor.set_status(Upstream::Finished);
    assert_eq!(world.read().await.unwrap().state.status(), WithdrawalStatus::Completed);
    world.processor.set_looking(Looking::Down);
    assert_eq!(world.read().await.unwrap().state.status(), WithdrawalStatus::Completed);
    world.paid().await;
}

#[tokio::test]
async fn reader_sees_the_stored_state_of_a_silent_processor() {
    let world = World::new().await;
    world.processing().await;
    world.processor.set_looking(Looking::Silent);
    assert_eq!(world.read().await.unwrap().state.status(), WithdrawalStatus::Processing);
}

#[tokio::test]
async fn record_against_an_outcome_changes_nothing_and_alerts() {
    for (outcome, contradiction) in [(Upstream::Finished, Upstream::Rejected), (Upstream::Rejected, Upstream::Finished)]
    {
        let world = World::new().await;
        let batch = world.processing().await.state.sent().unwrap().batch.clone().unwrap();
        world.processor.set_status(outcome);
        world.read().await.unwrap();
        let before = world.only();
        world.processor.set_status(contradiction);
        let logs = CapturedLogs::start();
        let name = world.processor.name.clone();
        let applied = cais_use_cases::crypto::withdrawals::callback::apply(&world.ports, &name, &batch, None).await;
        assert_eq!((applied, world.only()), (Ok(true), before));
        assert_eq!(logs.alerts(CONTRADICTED).len(), 1, "{outcome:?}");
    }
}
