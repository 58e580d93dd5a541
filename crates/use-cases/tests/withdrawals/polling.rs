//! The poller and readers apply the processor's record. Absence is never proof.

use cais_domain::crypto::withdrawal::WithdrawalStatus;
use cais_ports::UpstreamWithdrawalStatus as Upstream;
use cais_testkit::CapturedLogs;
use cais_testkit::psp::{LookupReply, OrderReply};

use crate::bed::{LONG, PAST_REVIEW, TestBed};

const REVIEW: &str = "crypto_withdrawal_needs_review";
const CONTRADICTED: &str = "crypto_withdrawal_contradicted";

#[tokio::test]
async fn finished_withdrawal_is_paid_once() {
    let bed = TestBed::new().await;
    bed.processing().await;
    bed.processor.set_status(Upstream::Finished);
    bed.clock.advance(LONG);
    assert_eq!((bed.poll().await, bed.poll().await), (1, 0));
    bed.paid().await;
    let (withdrawal, batch) = (bed.only(), &bed.processor.batches()[0]);
    assert_eq!((&withdrawal.tx_hash, withdrawal.network_fee), (&batch.tx_hash, batch.network_fee));
    assert!(withdrawal.tx_hash.is_some() && withdrawal.network_fee.is_some());
}

#[tokio::test]
async fn rejected_withdrawal_fails_and_its_money_returns() {
    let bed = TestBed::new().await;
    bed.processing().await;
    bed.processor.set_status(Upstream::Rejected);
    bed.clock.advance(LONG);
    assert_eq!(bed.poll().await, 1);
    bed.money_returned().await;
    assert_eq!(bed.only().state.failure(), Some("no funds"));
}

#[tokio::test]
async fn failed_withdrawal_stays_held_for_an_operator() {
    let bed = TestBed::new().await;
    bed.processing().await;
    bed.processor.set_status(Upstream::Failed);
    bed.clock.advance(LONG);
    let logs = CapturedLogs::start();
    assert_eq!(bed.poll().await, 0);
    bed.held().await;
    assert!(bed.only().state.review_since().is_some());
    assert_eq!(logs.alerts(REVIEW).len(), 1);
    // The processor may still send the coins.
    bed.processor.set_status(Upstream::Finished);
    bed.clock.advance(LONG);
    assert_eq!(bed.poll().await, 1);
    bed.paid().await;
}

#[tokio::test]
async fn late_creation_is_found_and_verified() {
    let bed = TestBed::new().await;
    bed.processor.set(OrderReply::ArrivesLate);
    bed.processing().await;
    assert_eq!(bed.processor.batches().len(), 0);
    bed.clock.advance(LONG);
    assert_eq!(bed.poll().await, 0);
    assert_eq!((bed.processor.batches().len(), bed.processor.verifications()), (1, 1));
    bed.processor.settle_open(Upstream::Finished);
    bed.clock.advance(LONG);
    assert_eq!(bed.poll().await, 1);
    bed.paid().await;
}

#[tokio::test]
async fn absent_withdrawal_is_reviewed_and_never_sent_again() {
    let bed = TestBed::new().await;
    bed.processor.set(OrderReply::Silent);
    bed.processing().await;
    let logs = CapturedLogs::start();
    bed.clock.advance(LONG);
    bed.poll().await;
    assert_eq!((bed.only().state.review_since(), logs.alerts(REVIEW).len()), (None, 0));
    for passes in 1..100 {
        bed.clock.advance(PAST_REVIEW);
        assert_eq!(bed.poll().await, 0);
        assert!(bed.only().state.review_since().is_some());
        assert_eq!(logs.alerts(REVIEW).len(), passes, "each poll raises the alert");
    }
    assert_eq!(bed.processor.requests(), 1);
    bed.held().await;
}

#[tokio::test]
async fn unreadable_processor_is_no_reason_for_review() {
    for lookup_reply in [LookupReply::Silent, LookupReply::Down] {
        let bed = TestBed::new().await;
        bed.processor.set(OrderReply::Silent);
        bed.processing().await;
        bed.processor.set_lookup_reply(lookup_reply);
        bed.clock.advance(PAST_REVIEW);
        bed.poll().await;
        assert_eq!(bed.only().state.review_since(), None, "{lookup_reply:?}");
        bed.held().await;
    }
}

#[tokio::test]
async fn missing_batch_is_reviewed() {
    let bed = TestBed::new().await;
    bed.processing().await;
    bed.processor.remove_batches();
    bed.clock.advance(PAST_REVIEW);
    bed.poll().await;
    assert!(bed.only().state.review_since().is_some());
    bed.held().await;
}

#[tokio::test]
async fn reader_applies_the_outcome_and_verifies_nothing() {
    let bed = TestBed::new().await;
    bed.processor.set_verifying(OrderReply::Down);
    bed.processing().await;
    bed.processor.set_verifying(OrderReply::Accepts);
    assert_eq!(bed.read().await.unwrap().state.status(), WithdrawalStatus::Processing);
    assert_eq!(bed.processor.verifications(), 0);
    bed.processor.set_status(Upstream::Finished);
    assert_eq!(bed.read().await.unwrap().state.status(), WithdrawalStatus::Completed);
    bed.processor.set_lookup_reply(LookupReply::Down);
    assert_eq!(bed.read().await.unwrap().state.status(), WithdrawalStatus::Completed);
    bed.paid().await;
}

#[tokio::test]
async fn reader_sees_the_stored_state_of_a_silent_processor() {
    let bed = TestBed::new().await;
    bed.processing().await;
    bed.processor.set_lookup_reply(LookupReply::Silent);
    assert_eq!(bed.read().await.unwrap().state.status(), WithdrawalStatus::Processing);
}

#[tokio::test]
async fn record_against_an_outcome_changes_nothing_and_alerts() {
    for (outcome, contradiction) in [(Upstream::Finished, Upstream::Rejected), (Upstream::Rejected, Upstream::Finished)]
    {
        let bed = TestBed::new().await;
        let batch = bed.processing().await.state.sent().unwrap().batch.clone().unwrap();
        bed.processor.set_status(outcome);
        bed.read().await.unwrap();
        let before = bed.only();
        bed.processor.set_status(contradiction);
        let logs = CapturedLogs::start();
        let name = bed.processor.name.clone();
        let applied = cais_use_cases::crypto::withdrawals::callback::apply(&bed.ports, &name, &batch, None).await;
        assert_eq!((applied, bed.only()), (Ok(true), before));
        assert_eq!(logs.alerts(CONTRADICTED).len(), 1, "{outcome:?}");
    }
}
