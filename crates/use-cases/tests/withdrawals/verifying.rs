//! A created batch is verified, at the latest by a poll. A failed verification never creates a second batch.

use std::time::Duration;

use cais_ports::{ResponseKind, UpstreamWithdrawalStatus as Upstream};
use cais_testkit::CapturedLogs;
use cais_testkit::psp::OrderReply;
use cais_use_cases::crypto::withdrawals::review::{Decision, ResolveError};

use crate::bed::{AMOUNT, FEE, LONG, PAST_REVIEW, TestBed, a_hundred};

#[tokio::test]
async fn failed_verification_is_repeated_for_the_same_batch() {
    for verifying in [OrderReply::Down, OrderReply::Silent, OrderReply::Refuses] {
        let bed = TestBed::new().await;
        bed.processor.set_verifying(verifying);
        bed.processing().await;
        for _ in 0..5 {
            bed.clock.advance(Duration::from_mins(5));
            assert_eq!(bed.poll().await, 0);
        }
        assert_eq!((bed.processor.batches().len(), bed.processor.verifications()), (1, 0), "{verifying:?}");
        bed.held().await;
        bed.processor.set_verifying(OrderReply::Accepts);
        bed.clock.advance(LONG);
        assert_eq!(bed.poll().await, 0);
        assert_eq!((bed.processor.batches().len(), bed.processor.verifications()), (1, 1));
        bed.processor.settle_open(Upstream::Finished);
        bed.clock.advance(LONG);
        assert_eq!(bed.poll().await, 1);
        bed.paid().await;
    }
}

#[tokio::test]
async fn lost_reply_to_a_verification_is_not_repeated() {
    for verifying in [OrderReply::LosesReplies, OrderReply::AcceptsAndRefuses] {
        let bed = TestBed::new().await;
        bed.processor.set_verifying(verifying);
        bed.processing().await;
        bed.clock.advance(LONG);
        bed.poll().await;
        assert_eq!((bed.processor.batches().len(), bed.processor.verifications()), (1, 1));
        bed.held().await;
    }
}

#[tokio::test]
async fn withdrawal_that_is_never_verified_fails_after_an_hour() {
    let bed = TestBed::new().await;
    bed.processor.set_verifying(OrderReply::Refuses);
    bed.processing().await;
    let logs = CapturedLogs::start();
    bed.clock.advance(PAST_REVIEW);
    assert_eq!(bed.poll().await, 0);
    assert_eq!(logs.alerts("crypto_withdrawal_unverified").len(), 1);
    bed.clock.advance(Duration::from_hours(1));
    assert_eq!(bed.poll().await, 1);
    bed.money_returned().await;
}

#[tokio::test]
async fn each_code_verifies_one_withdrawal() {
    let bed = TestBed::new().await;
    for key in ["a", "b"] {
        assert_eq!(bed.create(key, a_hundred()).await.unwrap().kind, ResponseKind::Created);
    }
    assert_eq!((bed.processor.batches().len(), bed.processor.verifications()), (2, 1));
    bed.clock.advance(LONG);
    bed.poll().await;
    assert_eq!((bed.processor.batches().len(), bed.processor.verifications()), (2, 2));
    bed.check().await;
}

#[tokio::test]
async fn burst_of_withdrawals_is_verified_one_code_each() {
    const BURST: u32 = 24;
    let bed = TestBed::new().await;
    bed.fund(i64::from(BURST) * (AMOUNT + FEE)).await;
    let logs = CapturedLogs::start();
    for number in 0..BURST {
        bed.create(&format!("burst-{number}"), a_hundred()).await.unwrap();
    }
    // Each pass comes a second after the next code becomes valid.
    for _ in 0..=BURST {
        bed.clock.advance(Duration::from_secs(31));
        bed.poll().await;
    }
    assert_eq!(bed.processor.verifications(), BURST);
    assert_eq!(logs.alerts("crypto_withdrawal_unverified").len(), 0);
}

#[tokio::test]
async fn withdrawal_failed_by_an_operator_is_never_verified() {
    let bed = TestBed::new().await;
    bed.processor.set(OrderReply::ArrivesLate);
    // The processor hides the batch until the operator has decided.
    bed.processor.set_lookup_reply(cais_testkit::psp::LookupReply::NotFound);
    bed.processing().await;
    bed.clock.advance(PAST_REVIEW);
    bed.poll().await;
    bed.resolve(Decision::Failed).await.unwrap();
    bed.money_returned().await;
    bed.processor.set_lookup_reply(cais_testkit::psp::LookupReply::Accurate);
    let [batch] = &bed.processor.batches()[..] else { panic!("one batch") };
    assert_eq!(batch.status, Upstream::Unverified);
    let name = bed.processor.name.clone();
    let (order, batch) = (batch.order, batch.batch.clone());
    let applied = cais_use_cases::crypto::withdrawals::callback::apply(&bed.ports, &name, &batch, order).await;
    assert_eq!((applied, bed.poll().await), (Ok(true), 0));
    assert_eq!(bed.processor.verifications(), 0);
    bed.money_returned().await;
}

#[tokio::test]
async fn operator_cannot_fail_a_batch_that_may_be_verified() {
    let bed = TestBed::new().await;
    bed.absent().await;
    bed.processor.set(OrderReply::Accepts);
    // The batch of the first request appears. No poll has verified it yet.
    let order = cais_ports::CryptoWithdrawalOrder {
        id: bed.only().id,
        amount: bed.only().price.coins,
        address: bed.only().terms.address,
    };
    cais_ports::CryptoProcessor::create_withdrawal(&bed.processor, &order, LONG).await.unwrap();
    let refused = bed.resolve(Decision::Failed).await;
    assert_eq!(refused, Err(ResolveError::Shown(Upstream::Unverified)));
}
