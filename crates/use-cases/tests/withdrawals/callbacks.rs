//! A callback is a hint to read the processor.

use cais_ports::UpstreamWithdrawalStatus as Upstream;
use cais_testkit::builders::{a_processor_id, fresh, main_acquirer};
use cais_testkit::psp::LookupReply;
use cais_use_cases::crypto::withdrawals::callback::apply;

use crate::bed::TestBed;

#[tokio::test]
async fn callback_applies_the_record_of_its_withdrawal() {
    for by_id in [false, true] {
        let bed = TestBed::new().await;
        let withdrawal = bed.processing().await;
        bed.processor.set_status(Upstream::Finished);
        let batch = withdrawal.state.sent().unwrap().batch.clone().unwrap();
        let (name, order) = (bed.processor.name.clone(), by_id.then_some(withdrawal.id));
        assert_eq!(apply(&bed.ports, &name, &batch, order).await, Ok(true));
        bed.paid().await;
        assert_eq!(apply(&bed.ports, &name, &batch, order).await, Ok(true), "a repeat changes nothing");
        bed.paid().await;
    }
}

#[tokio::test]
async fn callback_without_a_stored_withdrawal_is_unmatched() {
    let bed = TestBed::new().await;
    let withdrawal = bed.processing().await;
    let batch = withdrawal.state.sent().unwrap().batch.clone().unwrap();
    let name = bed.processor.name.clone();
    assert_eq!(apply(&bed.ports, &name, &a_processor_id(), None).await, Ok(false));
    assert_eq!(apply(&bed.ports, &name, &batch, Some(fresh())).await, Ok(false));
    assert_eq!(apply(&bed.ports, &main_acquirer(), &batch, None).await, Ok(false), "another processor");
    bed.held().await;
}

#[tokio::test]
async fn callback_waits_for_a_silent_processor_until_the_poll() {
    let bed = TestBed::new().await;
    let batch = bed.processing().await.state.sent().unwrap().batch.clone().unwrap();
    bed.processor.set_status(Upstream::Finished);
    bed.processor.set_lookup_reply(LookupReply::Silent);
    assert_eq!(apply(&bed.ports, &bed.processor.name, &batch, None).await, Ok(true));
    bed.held().await;
    bed.processor.set_lookup_reply(LookupReply::Accurate);
    bed.clock.advance(crate::bed::LONG);
    assert_eq!(bed.poll().await, 1);
    bed.paid().await;
}

#[tokio::test]
async fn signed_callback_is_applied_and_never_refused() {
    let bed = TestBed::new().await;
    let withdrawal = bed.processing().await;
    let batch = withdrawal.state.sent().unwrap().batch.clone().unwrap();
    bed.processor.set_status(Upstream::Finished);
    let name = bed.processor.name.clone();
    let receive = async |signature: &str, body: String| {
        cais_use_cases::callbacks::receive_crypto(&bed.ports, &name, signature, body).await
    };
    assert!(receive("forged", batch.to_string()).await.is_err());
    bed.held().await;
    assert_eq!(receive("signed", "4711".to_owned()).await, Ok(()));
    assert_eq!(receive("signed", format!("{batch}/{}", withdrawal.id)).await, Ok(()));
    bed.paid().await;
    assert_eq!(bed.store.callbacks().len(), 0);
}
