//! Returned payouts. Each part is credited once, and the fee is not returned. A return of the full amount reverses the
//! payout.

use cais_ports::ResponseKind;
use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::money::Money;
use cais_domain::payout::PayoutStatus;
use cais_testkit::Crash;
use cais_testkit::builders::main_acquirer;

use crate::world::{FEE, FUNDS, LONG, PAST_LEASE, World, id_of, now, reais, status_of, ten_reais};
use cais_testkit::psp::{Looking, Moment, Sending};

const REVERSED: [EventType; 2] = [EventType::PayoutCompleted, EventType::PayoutReversed];

#[tokio::test]
async fn full_return_credits_amount_without_fee() {
    let world = World::new().await;
    let payout = world.completed().await;
    world.psp.return_payout(1_000);
    for _ in 0..3 {
        let read = world.read(payout.id).await.unwrap();
        assert_eq!(read.state.status(), PayoutStatus::Reversed);
        world.call_back(&payout).await;
        world.process().await;
    }
    assert_eq!((world.money(), world.fees(), world.left(&main_acquirer())), ((FUNDS - FEE, 0), FEE, 0));
    assert_eq!((world.event_types(), world.only_payout().returned), (REVERSED.to_vec(), Money::from_centavos(1_000)));
    world.check().await;
}

#[tokio::test]
async fn returned_parts_add_up_to_reversal() {
    let world = World::new().await;
    let payout = world.completed().await;
    world.psp.return_payout(300);
    assert_eq!(world.read(payout.id).await.unwrap().state.status(), PayoutStatus::Completed);
    assert_eq!(world.money().0, FUNDS - 1_000 - FEE + 300);
    world.psp.return_payout(300);
    world.psp.return_payout(400);
    assert_eq!(world.read(payout.id).await.unwrap().state.status(), PayoutStatus::Reversed);
    assert_eq!((world.money(), world.event_types()), ((FUNDS - FEE, 0), REVERSED.to_vec()));
    world.check().await;
}

#[tokio::test]
async fn return_above_sent_amount_raises_alert_without_credit() {
    let world = World::new().await;
    let payout = world.completed().await;
    world.psp.return_payout(600);
    world.psp.return_payout(600);
    world.psp.return_payout(0);
    for _ in 0..2 {
        assert_eq!(world.read(payout.id).await.unwrap().returned, Money::from_centavos(600));
    }
    assert_eq!(world.money().0, FUNDS - 1_000 - FEE + 600);
    world.check().await;
}

#[tokio::test]
async fn return_is_credited_to_one_payout() {
    let world = World::new().await;
    let first = world.completed().await;
    let return_id = world.psp.return_payout(100);
    world.read(first.id).await.unwrap();
    world.psp.set_resting(true);
    let second = id_of(&world.create("b", reais(5)).await.unwrap());
    world.second.complete();
    world.second.return_payout(100);
    world.second.change_only_payout(|payout| payout.returned[0].return_id = return_id);
    assert_eq!(world.read(second).await.unwrap().returned, Money::ZERO);
    assert_eq!(world.payout(second).state.status(), PayoutStatus::Completed);
    assert_eq!(world.payout(first.id).returned, Money::from_centavos(100));
    world.check().await;
}

#[tokio::test]
async fn return_before_seen_completion_completes_payout_first() {
    for completed in [true, false] {
        let world = World::new().await;
        world.processing().await;
        if completed {
            world.psp.complete();
        }
        world.psp.return_payout(1_000);
        world.clock.advance(Duration::from_secs(2));
        // A second commit would be lost. So the outcome and the parts must be in one commit.
        world.store.crash_at(2, Crash::Before);
        assert_eq!(world.poll().await, 1, "{completed}");
        assert_eq!((world.status(), world.event_types()), (PayoutStatus::Reversed, REVERSED.to_vec()));
        assert_eq!((world.money(), world.fees()), ((FUNDS - FEE, 0), FEE));
        world.check().await;
    }
}

#[tokio::test]
async fn return_before_creation_reply_is_credited_with_outcome() {
    let world = World::new().await;
    world.psp.set(Sending::LosesReplies);
    world.psp.set_looking(Looking::Silent);
    world.store.crash_at(2, Crash::Before);
    world.create("a", ten_reais()).await.unwrap_err();
    world.psp.set_looking(Looking::Tells);
    world.psp.complete();
    world.psp.return_payout(1_000);
    world.clock.advance(PAST_LEASE);
    let commits = world.store.commits();
    let answer = world.create("a", ten_reais()).await.unwrap();
    assert_eq!(
        world.store.commits() - commits,
        3,
        "the read of the key, the new lease, and the outcome with its parts"
    );
    assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "reversed"));
    assert_eq!((world.status(), world.event_types()), (PayoutStatus::Reversed, REVERSED.to_vec()));
    assert_eq!(world.create("a", ten_reais()).await.unwrap().body, answer.body);
    assert_eq!(world.money(), (FUNDS - FEE, 0));
    world.check().await;
}

#[tokio::test]
async fn interrupted_reads_and_callbacks_credit_return_once() {
    let world = World::new().await;
    let payout = world.completed().await;
    world.psp.return_payout(400);
    world.psp.return_payout(600);
    world.call_back(&payout).await;
    let other = world.clone();
    world.psp.when(Moment::Read, move || {
        now(other.process());
    });
    world.read(payout.id).await.unwrap();
    assert_eq!(
        (world.status(), world.event_types(), world.money()),
        (PayoutStatus::Reversed, REVERSED.to_vec(), (FUNDS - FEE, 0))
    );
    world.check().await;

    for crash in [Crash::Before, Crash::After] {
        let world = World::new().await;
        let payout = world.completed().await;
        world.psp.return_payout(400);
        world.psp.return_payout(600);
        world.store.crash_at(1, crash);
        world.read(payout.id).await.unwrap();
        world.clock.advance(LONG);
        world.read(payout.id).await.unwrap();
        assert_eq!((world.event_types(), world.money()), (REVERSED.to_vec(), (FUNDS - FEE, 0)), "{crash:?}");
        world.check().await;
    }
}

#[tokio::test]
async fn return_of_failed_payout_raises_alert() {
    let world = World::new().await;
    let payout = world.processing().await;
    world.psp.fail();
    world.psp.return_payout(1_000);
    world.clock.advance(Duration::from_secs(2));
    assert_eq!(world.poll().await, 1);
    world.call_back(&payout).await;
    world.process().await;
    assert_eq!((world.status(), world.money()), (PayoutStatus::Failed, (FUNDS, 0)), "given back once, with the fee");
    world.check().await;
}
