//! A callback is a hint to read the processor.

use cais_ports::UpstreamWithdrawalStatus as Upstream;
use cais_testkit::builders::{a_processor_id, fresh, main_acquirer};
use cais_testkit::psp::Looking;
use cais_use_cases::crypto::withdrawals::callback::apply;

use crate::world::World;

#[tokio::test]
async fn callback_applies_the_record_of_its_withdrawal() {
    for by_id in [false, true] {
        let world = World::new().await;
        let withdrawal = world.processing().await;
        world.processor.set_status(Upstream::Finished);
        let batch = withdrawal.state.sent().unwrap().batch.clone().unwrap();
        let (name, order) = (world.processor.name.clone(), by_id.then_some(withdrawal.id));
        assert_eq!(apply(&world.ports, &name, &batch, order).await, Ok(true));
        world.paid().await;
        assert_eq!(apply(&world.ports, &name, &batch, order).await, Ok(true), "a repeat changes nothing");
        world.paid().await;
    }
}

#[tokio::test]
async fn callback_without_a_stored_withdrawal_is_unmatched() {
    let world = World::new().await;
    let withdrawal = world.processing().await;
    let batch = withdrawal.state.sent().unwrap().batch.clone().unwrap();
    let name = world.processor.name.clone();
    assert_eq!(apply(&world.ports, &name, &a_processor_id(), None).await, Ok(false));
    assert_eq!(apply(&world.ports, &name, &batch, Some(fresh())).await, Ok(false));
    assert_eq!(apply(&world.ports, &main_acquirer(), &batch, None).await, Ok(false), "another processor");
    world.held().await;
}

#[tokio::test]
async fn callback_waits_for_a_silent_processor_until_the_poll() {
    let world = World::new().await;
    let batch = world.processing().await.state.sent().unwrap().batch.clone().unwrap();
    world.processor.set_status(Upstream::Finished);
    world.processor.set_looking(Looking::Silent);
    assert_eq!(apply(&world.ports, &world.processor.name, &batch, None).await, Ok(true));
    world.held().await;
    world.processor.set_looking(Looking::Tells);
    world.clock.advance(crate::world::LONG);
    assert_eq!(world.poll().await, 1);
    world.paid().await;
}

#[tokio::test]
async fn signed_callback_is_applied_and_never_refused() {
    let world = World::new().await;
    let withdrawal = world.processing().await;
    let batch = withdrawal.state.sent().unwrap().batch.clone().unwrap();
    world.processor.set_status(Upstream::Finished);
    let name = world.processor.name.clone();
    let receive = async |signature: &str, body: String| {
        cais_use_cases::callbacks::receive_crypto(&world.ports, &name, signature, body).await
    };
    assert!(receive("forged", batch.to_string()).await.is_err());
    world.held().await;
    assert_eq!(receive("signed", "4711".to_owned()).await, Ok(()));
    assert_eq!(receive("signed", format!("{batch}/{}", withdrawal.id)).await, Ok(()));
    world.paid().await;
    assert_eq!(world.store.callbacks().len(), 0);
}
