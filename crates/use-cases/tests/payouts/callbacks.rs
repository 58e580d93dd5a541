//! A callback about a payout is a hint that is stored and answered. Its effects are applied only after the acquirer's
//! record was read.

use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::payout::PayoutStatus;
use cais_ports::CallbackState;
use cais_testkit::Crash;
use cais_testkit::builders::main_acquirer;
use cais_testkit::psp::{Looking, OrderKind, Sending};
use cais_use_cases::callbacks::receive;

use crate::world::{FEE, FUNDS, LONG, World, ten_reais};

const HELD: (i64, i64) = (FUNDS - 1_000 - FEE, 1_000 + FEE);

#[tokio::test]
async fn repeated_callback_applies_outcome_once() {
    let world = World::new().await;
    let payout = world.processing().await;
    world.psp.complete();
    for _ in 0..3 {
        world.call_back(&payout).await;
    }
    assert_eq!(world.status(), PayoutStatus::Processing, "kept, not believed yet");
    world.process().await;
    assert_eq!((world.status(), world.event_types()), (PayoutStatus::Completed, vec![EventType::PayoutCompleted]));
    assert_eq!((world.fees(), world.left(&main_acquirer())), (FEE, 1_000));
    for _ in 0..10 {
        world.clock.advance(LONG);
        world.process().await;
    }
    assert_eq!(world.callbacks(), [CallbackState::Done], "repeats of an open callback are not stored");
    assert_eq!((world.event_types().len(), world.poll().await), (1, 0));
    world.check().await;
}

#[tokio::test]
async fn forged_callback_moves_no_money() {
    let world = World::new().await;
    let payout = world.processing().await;
    world.call_back(&payout).await;
    world.process().await;
    assert_eq!(
        (world.status(), world.money(), world.callbacks()),
        (PayoutStatus::Processing, HELD, vec![CallbackState::Done])
    );
    let finds = world.psp.finds(OrderKind::Payout);
    receive(&world.ports, &main_acquirer(), b"sent:0123456789abcdefghijklmnop".to_vec()).await.unwrap();
    world.process().await;
    assert_eq!(world.callbacks()[1..], [CallbackState::Unmatched]);
    assert_eq!(world.psp.finds(OrderKind::Payout), finds, "only payouts of ours are read from the acquirer");
}

#[tokio::test]
async fn callback_of_another_acquirer_is_ignored() {
    let world = World::new().await;
    let payout = world.processing().await;
    let body = format!("sent:{}", payout.instruction_id()).into_bytes();
    receive(&world.ports, &world.second.name, body).await.unwrap();
    world.process().await;
    assert_eq!((world.callbacks(), world.second.finds(OrderKind::Payout)), (vec![CallbackState::Unmatched], 0));

    let world = World::new().await;
    world.psp.set(Sending::Down);
    world.create("a", ten_reais()).await.unwrap_err();
    world.call_back(&world.only_payout()).await;
    world.process().await;
    assert_eq!(world.callbacks(), [CallbackState::Unmatched], "an operator must review the callback");
    world.untouched().await;
}

#[tokio::test]
async fn callback_before_outcome_is_followed_by_poller() {
    let world = World::new().await;
    let payout = world.processing().await;
    world.call_back(&payout).await;
    world.process().await;
    world.psp.complete();
    world.clock.advance(Duration::from_secs(2));
    assert_eq!((world.poll().await, world.status()), (1, PayoutStatus::Completed));
}

#[tokio::test]
async fn callback_waits_while_acquirer_is_silent() {
    for looking in [Looking::Silent, Looking::Forgets] {
        let world = World::new().await;
        let payout = world.processing().await;
        world.psp.complete();
        world.call_back(&payout).await;
        world.psp.set_looking(looking);
        for _ in 0..3 {
            assert_eq!(world.process().await, 0);
            assert_eq!(world.callbacks(), [CallbackState::Waiting], "{looking:?}");
            world.clock.advance(LONG);
        }
        world.psp.set_looking(Looking::Tells);
        assert_eq!((world.process().await, world.status()), (1, PayoutStatus::Completed));
        world.check().await;
    }
}

#[tokio::test]
async fn callback_for_return_waits_until_it_is_shown() {
    let world = World::new().await;
    let payout = world.completed().await;
    let part = world.psp.return_payout(1_000);
    let later = world.psp.withhold_returns();
    world.call_back_for(&payout, &part).await;
    for _ in 0..10 {
        assert_eq!((world.process().await, world.callbacks()), (0, vec![CallbackState::Waiting]), "not shown yet");
        world.clock.advance(LONG);
    }
    world.psp.change_only_payout(|payout| payout.returned = later);
    assert_eq!((world.process().await, world.callbacks()), (1, vec![CallbackState::Done]));
    assert_eq!((world.status(), world.money()), (PayoutStatus::Reversed, (FUNDS - FEE, 0)));
    world.call_back_for(&payout, &part).await;
    assert_eq!(
        (world.process().await, world.event_types().len()),
        (1, 2),
        "one change and one event for repeated callbacks"
    );
    world.check().await;
}

#[tokio::test]
async fn callback_without_return_needs_one_read() {
    let world = World::new().await;
    let payout = world.completed().await;
    let finds = world.psp.finds(OrderKind::Payout);
    world.call_back(&payout).await;
    assert_eq!((world.process().await, world.callbacks()), (1, vec![CallbackState::Done]));
    assert_eq!(world.psp.finds(OrderKind::Payout) - finds, 1);
}

#[tokio::test]
async fn callback_for_uncreditable_return_is_unmatched() {
    let world = World::new().await;
    let payout = world.processing().await;
    world.psp.fail();
    let part = world.psp.return_payout(1_000);
    world.call_back_for(&payout, &part).await;
    world.process().await;
    assert_eq!((world.callbacks(), world.money()), (vec![CallbackState::Unmatched], (FUNDS, 0)));
    world.check().await;
}

#[tokio::test]
async fn callback_for_return_waits_while_store_fails() {
    let world = World::new().await;
    let payout = world.completed().await;
    let part = world.psp.return_payout(1_000);
    world.call_back_for(&payout, &part).await;
    world.store.crash_at(1, Crash::Before);
    assert_eq!((world.process().await, world.callbacks()), (0, vec![CallbackState::Waiting]));
    world.clock.advance(LONG);
    assert_eq!((world.process().await, world.status()), (1, PayoutStatus::Reversed));
    world.check().await;
}
