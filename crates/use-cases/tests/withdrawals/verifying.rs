//! A created batch is verified, at the latest by a poll. A failed verification never creates a second batch.

use std::time::Duration;

use cais_ports::{ResponseKind, UpstreamWithdrawalStatus as Upstream};
use cais_testkit::CapturedLogs;
use cais_testkit::psp::Sending;
use cais_use_cases::crypto::withdrawals::review::{Decision, ResolveError};

use crate::world::{AMOUNT, FEE, LONG, PAST_REVIEW, World, a_hundred};

#[tokio::test]
async fn failed_verification_is_repeated_for_the_same_batch() {
    for verifying in [Sending::Down, Sending::Silent, Sending::Refuses] {
        let world = World::new().await;
        world.processor.set_verifying(verifying);
        world.processing().await;
        for _ in 0..5 {
            world.clock.advance(Duration::from_mins(5));
            assert_eq!(world.poll().await, 0);
        }
        assert_eq!((world.processor.batches().len(), world.processor.verifications()), (1, 0), "{verifying:?}");
        world.held().await;
        world.processor.set_verifying(Sending::Takes);
        world.clock.advance(LONG);
        assert_eq!(world.poll().await, 0);
        assert_eq!((world.processor.batches().len(), world.processor.verifications()), (1, 1));
        world.processor.settle_open(Upstream::Finished);
        world.clock.advance(LONG);
        assert_eq!(world.poll().await, 1);
        world.paid().await;
    }
}

#[tokio::test]
async fn lost_reply_to_a_verification_is_not_repeated() {
    for verifying in [Sending::LosesReplies, Sending::TakesAndRefuses] {
        let world = World::new().await;
        world.processor.set_verifying(verifying);
        world.processing().await;
        world.clock.advance(LONG);
        world.poll().await;
        assert_eq!((world.processor.batches().len(), world.processor.verifications()), (1, 1));
        world.held().await;
    }
}

#[tokio::test]
async fn withdrawal_that_is_never_verified_fails_after_an_hour() {
    let world = World::new().await;
    world.processor.set_verifying(Sending::Refuses);
    world.processing().await;
    let logs = CapturedLogs::start();
    world.clock.advance(PAST_REVIEW);
    assert_eq!(world.poll().await, 0);
    assert_eq!(logs.alerts("crypto_withdrawal_unverified").len(), 1);
    world.clock.advance(Duration::from_hours(1));
    assert_eq!(world.poll().await, 1);
    world.given_back().await;
}

#[tokio::test]
async fn each_code_verifies_one_withdrawal() {
    let world = World::new().await;
    for key in ["a", "b"] {
        assert_eq!(world.create(key, a_hundred()).await.unwrap().kind, ResponseKind::Created);
    }
    assert_eq!((world.processor.batches().len(), world.processor.verifications()), (2, 1));
    world.clock.advance(LONG);
    world.poll().await;
    assert_eq!((world.processor.batches().len(), world.processor.verifications()), (2, 2));
    world.check().await;
}

#[tokio::test]
async fn burst_of_withdrawals_is_verified_one_code_each() {
    const BURST: u32 = 24;
    let world = World::new().await;
    world.fund(i64::from(BURST) * (AMOUNT + FEE)).await;
    let logs = CapturedLogs::start();
    for number in 0..BURST {
        world.create(&format!("burst-{number}"), a_hundred()).await.unwrap();
    }
    // Each pass comes a second after the next code becomes valid.
    for _ in 0..=BURST {
        world.clock.advance(Duration::from_secs(31));
        world.poll().await;
    }
    assert_eq!(world.processor.verifications(), BURST);
    assert_eq!(logs.alerts("crypto_withdrawal_unverified").len(), 0);
}

#[tokio::test]
async fn withdrawal_failed_by_an_operator_is_never_verified() {
    let world = World::new().await;
    world.processor.set(Sending::ArrivesLate);
    // The processor hides the batch until the operator has decided.
    world.processor.set_looking(cais_testkit::psp::Looking::Forgets);
    world.processing().await;
    world.clock.advance(PAST_REVIEW);
    world.poll().await;
    world.resolve(Decision::Failed).await.unwrap();
    world.given_back().await;
    world.processor.set_looking(cais_testkit::psp::Looking::Tells);
    let [batch] = &world.processor.batches()[..] else { panic!("one batch") };
    assert_eq!(batch.status, Upstream::Unverified);
    let name = world.processor.name.clone();
    let (order, batch) = (batch.order, batch.batch.clone());
    let applied = cais_use_cases::crypto::withdrawals::callback::apply(&world.ports, &name, &batch, order).await;
    assert_eq!((applied, world.poll().await), (Ok(true), 0));
    assert_eq!(world.processor.verifications(), 0);
    world.given_back().await;
}

#[tokio::test]
async fn operator_cannot_fail_a_batch_that_may_be_verified() {
    let world = World::new().await;
    world.absent().await;
    world.processor.set(Sending::Takes);
    // The batch of the first request appears. No poll has verified it yet.
    let order = cais_ports::CryptoWithdrawalOrder {
        id: world.only().id,
        amount: world.only().price.coins,
        address: world.only().terms.address,
    };
    cais_ports::CryptoProcessor::create_withdrawal(&world.processor, &order, LONG).await.unwrap();
    let refused = world.resolve(Decision::Failed).await;
    assert_eq!(refused, Err(ResolveError::Shown(Upstream::Unverified)));
}
