//! Callbacks are hints. They are stored, and applied after a read of the processor.

use cais_domain::crypto::deposit::{DepositStatus, Resolution};
use cais_ports::{CallbackState, UpstreamDepositStatus as Upstream};
use cais_testkit::Crash;
use cais_testkit::builders::a_processor_id;
use cais_testkit::psp::Looking;
use cais_use_cases::callbacks::ReceiveError;

use crate::world::{COINS, LONG, PAST_LEASE, World, id_of, two_hundred};

#[tokio::test]
async fn callback_credits_once_however_often_it_is_replayed() {
    let world = World::new().await;
    let (id, payment) = world.pending().await;
    world.processor.pay(&payment, Upstream::Finished, COINS);
    for _ in 0..3 {
        world.call_back(&payment).await.unwrap();
        world.process().await;
        world.paid(id).await;
    }
}

#[tokio::test]
async fn forged_callback_changes_nothing() {
    let world = World::new().await;
    let (id, payment) = world.pending().await;
    let forged = world.call_back_signed("forged", &payment).await;
    assert!(matches!(forged, Err(ReceiveError::Malformed(_))), "{forged:?}");
    assert!(world.store.callbacks().is_empty());
    // The status in a signed callback is ignored. The processor's record still has the status `Waiting`.
    world.call_back(&payment).await.unwrap();
    assert_eq!(world.process().await, 1);
    world.check(id, DepositStatus::Pending, None).await;
}

#[tokio::test]
async fn callback_before_our_own_write_waits_for_the_creation() {
    let world = World::new().await;
    world.store.crash_at(2, Crash::Before);
    world.create("one", two_hundred()).await.unwrap_err();
    let payment = world.processor.state().payments[0].id.clone();
    world.processor.pay(&payment, Upstream::Finished, COINS);
    world.call_back(&payment).await.unwrap();
    assert_eq!(world.process().await, 0, "the deposit has no address yet");
    world.untouched();
    world.clock.advance(PAST_LEASE);
    let answer = world.create("one", two_hundred()).await.unwrap();
    assert_eq!(world.process().await, 1);
    world.paid(id_of(&answer)).await;
}

#[tokio::test]
async fn later_payment_is_matched_by_its_parent_and_credited() {
    let world = World::new().await;
    let (id, first) = world.pending().await;
    world.processor.pay(&first, Upstream::Finished, COINS);
    world.call_back(&first).await.unwrap();
    world.process().await;
    let second = world.processor.pay_again(&first, "10");
    for _ in 0..2 {
        world.call_back(&second).await.unwrap();
        assert_eq!(world.process().await, 1);
        world.check(id, DepositStatus::Completed, Some(Resolution::Overpaid)).await;
        assert_eq!(world.money().2, -25_400);
    }
}

#[tokio::test]
async fn callback_of_another_payment_is_unmatched() {
    let world = World::new().await;
    let (id, payment) = world.pending().await;
    let other = world.processor.pay_again(&payment, "10");
    world.processor.change_payment(&other, |other| other.parent = Some(a_processor_id()));
    world.call_back(&other).await.unwrap();
    world.process().await;
    assert_eq!(world.store.callbacks()[0].state, CallbackState::Unmatched);
    world.check(id, DepositStatus::Pending, None).await;
}

#[tokio::test]
async fn callback_waits_while_the_processor_does_not_answer() {
    let world = World::new().await;
    let (id, payment) = world.pending().await;
    world.processor.pay(&payment, Upstream::Finished, COINS);
    world.processor.state().looking = Looking::Silent;
    world.call_back(&payment).await.unwrap();
    assert_eq!(world.process().await, 0);
    world.processor.state().looking = Looking::Tells;
    world.clock.advance(LONG);
    assert_eq!(world.process().await, 1);
    world.paid(id).await;
}
