//! A payout that waits for an approval at its acquirer. The payout is sent again while its outcome is open, and never
//! afterwards.

use cais_domain::money::Money;
use cais_domain::payout::PayoutStatus;
use cais_ports::{UpstreamPayout, UpstreamProgress};
use cais_testkit::psp::{Moment, OrderKind, OrderReply};

use crate::bed::{FEE, FUNDS, LONG, TestBed, status_of, ten_reais};

fn hold(payout: &mut UpstreamPayout) {
    (payout.awaits_approval, payout.end_to_end_id) = (true, None);
}

/// Creates a payout whose approval was lost.
async fn held() -> TestBed {
    let bed = TestBed::new().await;
    let psp = bed.psp.clone();
    bed.psp.when(Moment::Ordered, move || psp.change_only_payout(hold));
    let answer = bed.create("a", ten_reais()).await.unwrap();
    assert_eq!(status_of(&answer), "processing");
    bed
}

#[tokio::test]
async fn held_payout_is_sent_again_until_approved() {
    let bed = held().await;
    assert_eq!(bed.psp.payout_orders().len(), 1);
    bed.clock.advance(std::time::Duration::from_secs(30));
    assert_eq!((bed.poll().await, bed.psp.payout_orders().len()), (0, 1), "an approval may be in flight");
    for orders in [2, 3] {
        bed.clock.advance(LONG);
        assert_eq!((bed.poll().await, bed.psp.payout_orders().len()), (0, orders));
        assert_eq!((bed.status(), bed.money().1), (PayoutStatus::Processing, 1_000 + FEE));
    }
    let psp = bed.psp.clone();
    bed.psp.when(Moment::Ordered, move || {
        psp.change_only_payout(|payout| payout.awaits_approval = false);
        psp.complete();
    });
    bed.clock.advance(LONG);
    bed.poll().await;
    bed.clock.advance(LONG);
    bed.poll().await;
    assert_eq!((bed.status(), bed.psp.payout_orders().len()), (PayoutStatus::Completed, 4));
    assert_eq!((bed.psp.sent(), bed.money().1), (1, 0));
    bed.check().await;
}

#[tokio::test]
async fn refused_approval_leaves_payout_open() {
    let bed = held().await;
    bed.psp.set(OrderReply::Refuses);
    bed.clock.advance(LONG);
    assert_eq!((bed.poll().await, bed.status()), (0, PayoutStatus::Processing));
    assert_eq!((bed.psp.payout_orders().len(), bed.money().1), (2, 1_000 + FEE));
    bed.psp.change_only_payout(|payout| {
        payout.awaits_approval = false;
        payout.progress = UpstreamProgress::Failed { reason: Some("denied".to_owned()) };
    });
    bed.clock.advance(LONG);
    assert_eq!((bed.poll().await, bed.status(), bed.money()), (1, PayoutStatus::Failed, (FUNDS, 0)));
    bed.check().await;
}

#[tokio::test]
async fn held_payout_of_another_amount_is_not_sent_again() {
    let bed = held().await;
    bed.psp.change_only_payout(|payout| payout.amount = Money::from_centavos(1));
    bed.clock.advance(LONG);
    bed.poll().await;
    assert_eq!((bed.psp.payout_orders().len(), bed.status()), (1, PayoutStatus::Processing));
}

/// The money of the failed payout was returned to the merchant.
#[tokio::test]
async fn failed_payout_is_never_approved() {
    let bed = TestBed::new().await;
    bed.processing().await;
    bed.psp.fail();
    bed.clock.advance(LONG);
    assert_eq!((bed.poll().await, bed.money()), (1, (FUNDS, 0)));
    let payout = bed.only_payout();
    bed.psp.change_only_payout(|payout| {
        hold(payout);
        payout.progress = UpstreamProgress::Processing;
    });
    bed.receive_callback(&payout).await;
    for _ in 0..3 {
        bed.clock.advance(LONG);
        bed.process().await;
        bed.poll().await;
    }
    assert!(bed.psp.finds(OrderKind::Payout) > 0);
    assert_eq!((bed.psp.payout_orders().len(), bed.status()), (1, PayoutStatus::Failed));
}
