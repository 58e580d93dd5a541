//! A payout that waits for an approval at its acquirer. The payout is sent again while its outcome is open, and never
//! afterwards.

use cais_domain::money::Money;
use cais_domain::payout::PayoutStatus;
use cais_ports::{UpstreamPayout, UpstreamProgress};
use cais_testkit::psp::{Moment, OrderKind, Sending};

use crate::world::{FEE, FUNDS, LONG, World, status_of, ten_reais};

fn hold(payout: &mut UpstreamPayout) {
    (payout.awaits_approval, payout.end_to_end_id) = (true, None);
}

/// Creates a payout whose approval was lost.
async fn held() -> World {
    let world = World::new().await;
    let psp = world.psp.clone();
    world.psp.when(Moment::Ordered, move || psp.change_only_payout(hold));
    let answer = world.create("a", ten_reais()).await.unwrap();
    assert_eq!(status_of(&answer), "processing");
    world
}

#[tokio::test]
async fn held_payout_is_sent_again_until_approved() {
    let world = held().await;
    assert_eq!(world.psp.payout_orders().len(), 1);
    world.clock.advance(std::time::Duration::from_secs(30));
    assert_eq!((world.poll().await, world.psp.payout_orders().len()), (0, 1), "an approval may be in flight");
    for orders in [2, 3] {
        world.clock.advance(LONG);
        assert_eq!((world.poll().await, world.psp.payout_orders().len()), (0, orders));
        assert_eq!((world.status(), world.money().1), (PayoutStatus::Processing, 1_000 + FEE));
    }
    let psp = world.psp.clone();
    world.psp.when(Moment::Ordered, move || {
        psp.change_only_payout(|payout| payout.awaits_approval = false);
        psp.complete();
    });
    world.clock.advance(LONG);
    world.poll().await;
    world.clock.advance(LONG);
    world.poll().await;
    assert_eq!((world.status(), world.psp.payout_orders().len()), (PayoutStatus::Completed, 4));
    assert_eq!((world.psp.sent(), world.money().1), (1, 0));
    world.check().await;
}

#[tokio::test]
async fn refused_approval_leaves_payout_open() {
    let world = held().await;
    world.psp.set(Sending::Refuses);
    world.clock.advance(LONG);
    assert_eq!((world.poll().await, world.status()), (0, PayoutStatus::Processing));
    assert_eq!((world.psp.payout_orders().len(), world.money().1), (2, 1_000 + FEE));
    world.psp.change_only_payout(|payout| {
        payout.awaits_approval = false;
        payout.progress = UpstreamProgress::Failed { reason: Some("denied".to_owned()) };
    });
    world.clock.advance(LONG);
    assert_eq!((world.poll().await, world.status(), world.money()), (1, PayoutStatus::Failed, (FUNDS, 0)));
    world.check().await;
}

#[tokio::test]
async fn held_payout_of_another_amount_is_not_sent_again() {
    let world = held().await;
    world.psp.change_only_payout(|payout| payout.amount = Money::from_centavos(1));
    world.clock.advance(LONG);
    world.poll().await;
    assert_eq!((world.psp.payout_orders().len(), world.status()), (1, PayoutStatus::Processing));
}

/// The money of the failed payout was returned to the merchant.
#[tokio::test]
async fn failed_payout_is_never_approved() {
    let world = World::new().await;
    world.processing().await;
    world.psp.fail();
    world.clock.advance(LONG);
    assert_eq!((world.poll().await, world.money()), (1, (FUNDS, 0)));
    let payout = world.only_payout();
    world.psp.change_only_payout(|payout| {
        hold(payout);
        payout.progress = UpstreamProgress::Processing;
    });
    world.call_back(&payout).await;
    for _ in 0..3 {
        world.clock.advance(LONG);
        world.process().await;
        world.poll().await;
    }
    assert!(world.psp.finds(OrderKind::Payout) > 0);
    assert_eq!((world.psp.payout_orders().len(), world.status()), (1, PayoutStatus::Failed));
}
