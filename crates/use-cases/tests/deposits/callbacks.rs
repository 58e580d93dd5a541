//! Callbacks are hints. They are stored, and applied after a read of the processor.

use cais_domain::crypto::deposit::{DepositStatus, Resolution};
use cais_ports::{CallbackState, UpstreamDepositStatus as Upstream};
use cais_testkit::Crash;
use cais_testkit::builders::a_processor_id;
use cais_testkit::psp::LookupReply;
use cais_use_cases::callbacks::ReceiveError;

use crate::bed::{COINS, LONG, PAST_LEASE, TestBed, id_of, two_hundred};

#[tokio::test]
async fn callback_credits_once_however_often_it_is_replayed() {
    let bed = TestBed::new().await;
    let (id, payment) = bed.pending().await;
    bed.processor.pay(&payment, Upstream::Finished, COINS);
    for _ in 0..3 {
        bed.receive_callback(&payment).await.unwrap();
        bed.process().await;
        bed.paid(id).await;
    }
}

#[tokio::test]
async fn forged_callback_changes_nothing() {
    let bed = TestBed::new().await;
    let (id, payment) = bed.pending().await;
    let forged = bed.receive_signed_callback("forged", &payment).await;
    assert!(matches!(forged, Err(ReceiveError::Malformed(_))), "{forged:?}");
    assert!(bed.store.callbacks().is_empty());
    // The status in a signed callback is ignored. The processor's record still has the status `Waiting`.
    bed.receive_callback(&payment).await.unwrap();
    assert_eq!(bed.process().await, 1);
    bed.check(id, DepositStatus::Pending, None).await;
}

#[tokio::test]
async fn callback_before_our_own_write_waits_for_the_creation() {
    let bed = TestBed::new().await;
    bed.store.crash_at(2, Crash::Before);
    bed.create("one", two_hundred()).await.unwrap_err();
    let payment = bed.processor.state().payments[0].id.clone();
    bed.processor.pay(&payment, Upstream::Finished, COINS);
    bed.receive_callback(&payment).await.unwrap();
    assert_eq!(bed.process().await, 0, "the deposit has no address yet");
    bed.untouched();
    bed.clock.advance(PAST_LEASE);
    let answer = bed.create("one", two_hundred()).await.unwrap();
    assert_eq!(bed.process().await, 1);
    bed.paid(id_of(&answer)).await;
}

#[tokio::test]
async fn later_payment_is_matched_by_its_parent_and_credited() {
    let bed = TestBed::new().await;
    let (id, first) = bed.pending().await;
    bed.processor.pay(&first, Upstream::Finished, COINS);
    bed.receive_callback(&first).await.unwrap();
    bed.process().await;
    let second = bed.processor.pay_again(&first, "10");
    for _ in 0..2 {
        bed.receive_callback(&second).await.unwrap();
        assert_eq!(bed.process().await, 1);
        bed.check(id, DepositStatus::Completed, Some(Resolution::Overpaid)).await;
        assert_eq!(bed.money().2, -25_400);
    }
}

#[tokio::test]
async fn callback_of_another_payment_is_unmatched() {
    let bed = TestBed::new().await;
    let (id, payment) = bed.pending().await;
    let other = bed.processor.pay_again(&payment, "10");
    bed.processor.change_payment(&other, |other| other.parent = Some(a_processor_id()));
    bed.receive_callback(&other).await.unwrap();
    bed.process().await;
    assert_eq!(bed.store.callbacks()[0].state, CallbackState::Unmatched);
    bed.check(id, DepositStatus::Pending, None).await;
}

#[tokio::test]
async fn callback_waits_while_the_processor_does_not_answer() {
    let bed = TestBed::new().await;
    let (id, payment) = bed.pending().await;
    bed.processor.pay(&payment, Upstream::Finished, COINS);
    bed.processor.state().lookup_reply = LookupReply::Silent;
    bed.receive_callback(&payment).await.unwrap();
    assert_eq!(bed.process().await, 0);
    bed.processor.state().lookup_reply = LookupReply::Accurate;
    bed.clock.advance(LONG);
    assert_eq!(bed.process().await, 1);
    bed.paid(id).await;
}
