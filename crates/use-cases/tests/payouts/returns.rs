//! Returned payouts. Each part is credited once, and the fee is not returned. A return of the full amount reverses the
//! payout.

use cais_ports::ResponseKind;
use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::money::Money;
use cais_domain::payout::PayoutStatus;
use cais_testkit::Crash;
use cais_testkit::builders::main_acquirer;

use crate::bed::{FEE, FUNDS, LONG, PAST_LEASE, TestBed, id_of, now, reais, status_of, ten_reais};
use cais_testkit::psp::{LookupReply, Moment, OrderReply};

const REVERSED: [EventType; 2] = [EventType::PayoutCompleted, EventType::PayoutReversed];

#[tokio::test]
async fn full_return_credits_amount_without_fee() {
    let bed = TestBed::new().await;
    let payout = bed.completed().await;
    bed.psp.return_payout(1_000);
    for _ in 0..3 {
        let read = bed.read(payout.id).await.unwrap();
        assert_eq!(read.state.status(), PayoutStatus::Reversed);
        bed.receive_callback(&payout).await;
        bed.process().await;
    }
    assert_eq!((bed.money(), bed.fees(), bed.left(&main_acquirer())), ((FUNDS - FEE, 0), FEE, 0));
    assert_eq!((bed.event_types(), bed.only_payout().returned), (REVERSED.to_vec(), Money::from_centavos(1_000)));
    bed.check().await;
}

#[tokio::test]
async fn returned_parts_add_up_to_reversal() {
    let bed = TestBed::new().await;
    let payout = bed.completed().await;
    bed.psp.return_payout(300);
    assert_eq!(bed.read(payout.id).await.unwrap().state.status(), PayoutStatus::Completed);
    assert_eq!(bed.money().0, FUNDS - 1_000 - FEE + 300);
    bed.psp.return_payout(300);
    bed.psp.return_payout(400);
    assert_eq!(bed.read(payout.id).await.unwrap().state.status(), PayoutStatus::Reversed);
    assert_eq!((bed.money(), bed.event_types()), ((FUNDS - FEE, 0), REVERSED.to_vec()));
    bed.check().await;
}

#[tokio::test]
async fn return_above_sent_amount_raises_alert_without_credit() {
    let bed = TestBed::new().await;
    let payout = bed.completed().await;
    bed.psp.return_payout(600);
    bed.psp.return_payout(600);
    bed.psp.return_payout(0);
    for _ in 0..2 {
        assert_eq!(bed.read(payout.id).await.unwrap().returned, Money::from_centavos(600));
    }
    assert_eq!(bed.money().0, FUNDS - 1_000 - FEE + 600);
    bed.check().await;
}

#[tokio::test]
async fn return_is_credited_to_one_payout() {
    let bed = TestBed::new().await;
    let first = bed.completed().await;
    let return_id = bed.psp.return_payout(100);
    bed.read(first.id).await.unwrap();
    bed.psp.set_breaker_open(true);
    let second = id_of(&bed.create("b", reais(5)).await.unwrap());
    bed.second.complete();
    bed.second.return_payout(100);
    bed.second.change_only_payout(|payout| payout.returned[0].return_id = return_id);
    assert_eq!(bed.read(second).await.unwrap().returned, Money::ZERO);
    assert_eq!(bed.payout(second).state.status(), PayoutStatus::Completed);
    assert_eq!(bed.payout(first.id).returned, Money::from_centavos(100));
    bed.check().await;
}

#[tokio::test]
async fn return_before_seen_completion_completes_payout_first() {
    for completed in [true, false] {
        let bed = TestBed::new().await;
        bed.processing().await;
        if completed {
            bed.psp.complete();
        }
        bed.psp.return_payout(1_000);
        bed.clock.advance(Duration::from_secs(2));
        // A second commit would be lost. So the outcome and the parts must be in one commit.
        bed.store.crash_at(2, Crash::Before);
        assert_eq!(bed.poll().await, 1, "{completed}");
        assert_eq!((bed.status(), bed.event_types()), (PayoutStatus::Reversed, REVERSED.to_vec()));
        assert_eq!((bed.money(), bed.fees()), ((FUNDS - FEE, 0), FEE));
        bed.check().await;
    }
}

#[tokio::test]
async fn return_before_creation_reply_is_credited_with_outcome() {
    let bed = TestBed::new().await;
    bed.psp.set(OrderReply::LosesReplies);
    bed.psp.set_lookup_reply(LookupReply::Silent);
    bed.store.crash_at(2, Crash::Before);
    bed.create("a", ten_reais()).await.unwrap_err();
    bed.psp.set_lookup_reply(LookupReply::Accurate);
    bed.psp.complete();
    bed.psp.return_payout(1_000);
    bed.clock.advance(PAST_LEASE);
    let commits = bed.store.commits();
    let answer = bed.create("a", ten_reais()).await.unwrap();
    assert_eq!(bed.store.commits() - commits, 3, "the read of the key, the new lease, and the outcome with its parts");
    assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "reversed"));
    assert_eq!((bed.status(), bed.event_types()), (PayoutStatus::Reversed, REVERSED.to_vec()));
    assert_eq!(bed.create("a", ten_reais()).await.unwrap().body, answer.body);
    assert_eq!(bed.money(), (FUNDS - FEE, 0));
    bed.check().await;
}

#[tokio::test]
async fn interrupted_reads_and_callbacks_credit_return_once() {
    let bed = TestBed::new().await;
    let payout = bed.completed().await;
    bed.psp.return_payout(400);
    bed.psp.return_payout(600);
    bed.receive_callback(&payout).await;
    let other = bed.clone();
    bed.psp.when(Moment::Read, move || {
        now(other.process());
    });
    bed.read(payout.id).await.unwrap();
    assert_eq!(
        (bed.status(), bed.event_types(), bed.money()),
        (PayoutStatus::Reversed, REVERSED.to_vec(), (FUNDS - FEE, 0))
    );
    bed.check().await;

    for crash in [Crash::Before, Crash::After] {
        let bed = TestBed::new().await;
        let payout = bed.completed().await;
        bed.psp.return_payout(400);
        bed.psp.return_payout(600);
        bed.store.crash_at(1, crash);
        bed.read(payout.id).await.unwrap();
        bed.clock.advance(LONG);
        bed.read(payout.id).await.unwrap();
        assert_eq!((bed.event_types(), bed.money()), (REVERSED.to_vec(), (FUNDS - FEE, 0)), "{crash:?}");
        bed.check().await;
    }
}

#[tokio::test]
async fn return_of_failed_payout_raises_alert() {
    let bed = TestBed::new().await;
    let payout = bed.processing().await;
    bed.psp.fail();
    bed.psp.return_payout(1_000);
    bed.clock.advance(Duration::from_secs(2));
    assert_eq!(bed.poll().await, 1);
    bed.receive_callback(&payout).await;
    bed.process().await;
    assert_eq!((bed.status(), bed.money()), (PayoutStatus::Failed, (FUNDS, 0)), "given back once, with the fee");
    bed.check().await;
}
