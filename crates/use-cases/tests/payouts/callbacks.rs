//! A callback about a payout is a hint that is stored and answered. Its effects are applied only after the acquirer's
//! record was read.

use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::payout::PayoutStatus;
use cais_ports::CallbackState;
use cais_testkit::Crash;
use cais_testkit::builders::main_acquirer;
use cais_testkit::psp::{LookupReply, OrderKind, OrderReply};
use cais_use_cases::callbacks::receive;

use crate::bed::{FEE, FUNDS, LONG, TestBed, ten_reais};

const HELD: (i64, i64) = (FUNDS - 1_000 - FEE, 1_000 + FEE);

#[tokio::test]
async fn repeated_callback_applies_outcome_once() {
    let bed = TestBed::new().await;
    let payout = bed.processing().await;
    bed.psp.complete();
    for _ in 0..3 {
        bed.receive_callback(&payout).await;
    }
    assert_eq!(bed.status(), PayoutStatus::Processing, "kept, not believed yet");
    bed.process().await;
    assert_eq!((bed.status(), bed.event_types()), (PayoutStatus::Completed, vec![EventType::PayoutCompleted]));
    assert_eq!((bed.fees(), bed.left(&main_acquirer())), (FEE, 1_000));
    for _ in 0..10 {
        bed.clock.advance(LONG);
        bed.process().await;
    }
    assert_eq!(bed.callbacks(), [CallbackState::Done], "repeats of an open callback are not stored");
    assert_eq!((bed.event_types().len(), bed.poll().await), (1, 0));
    bed.check().await;
}

#[tokio::test]
async fn forged_callback_moves_no_money() {
    let bed = TestBed::new().await;
    let payout = bed.processing().await;
    bed.receive_callback(&payout).await;
    bed.process().await;
    assert_eq!(
        (bed.status(), bed.money(), bed.callbacks()),
        (PayoutStatus::Processing, HELD, vec![CallbackState::Done])
    );
    let finds = bed.psp.finds(OrderKind::Payout);
    receive(&bed.ports, &main_acquirer(), b"sent:0123456789abcdefghijklmnop".to_vec()).await.unwrap();
    bed.process().await;
    assert_eq!(bed.callbacks()[1..], [CallbackState::Unmatched]);
    assert_eq!(bed.psp.finds(OrderKind::Payout), finds, "only payouts of ours are read from the acquirer");
}

#[tokio::test]
async fn callback_of_another_acquirer_is_ignored() {
    let bed = TestBed::new().await;
    let payout = bed.processing().await;
    let body = format!("sent:{}", payout.instruction_id()).into_bytes();
    receive(&bed.ports, &bed.second.name, body).await.unwrap();
    bed.process().await;
    assert_eq!((bed.callbacks(), bed.second.finds(OrderKind::Payout)), (vec![CallbackState::Unmatched], 0));

    let bed = TestBed::new().await;
    bed.psp.set(OrderReply::Down);
    bed.create("a", ten_reais()).await.unwrap_err();
    bed.receive_callback(&bed.only_payout()).await;
    bed.process().await;
    assert_eq!(bed.callbacks(), [CallbackState::Unmatched], "an operator must review the callback");
    bed.untouched().await;
}

#[tokio::test]
async fn callback_before_outcome_is_followed_by_poller() {
    let bed = TestBed::new().await;
    let payout = bed.processing().await;
    bed.receive_callback(&payout).await;
    bed.process().await;
    bed.psp.complete();
    bed.clock.advance(Duration::from_secs(2));
    assert_eq!((bed.poll().await, bed.status()), (1, PayoutStatus::Completed));
}

#[tokio::test]
async fn callback_waits_while_acquirer_is_silent() {
    for lookup_reply in [LookupReply::Silent, LookupReply::NotFound] {
        let bed = TestBed::new().await;
        let payout = bed.processing().await;
        bed.psp.complete();
        bed.receive_callback(&payout).await;
        bed.psp.set_lookup_reply(lookup_reply);
        for _ in 0..3 {
            assert_eq!(bed.process().await, 0);
            assert_eq!(bed.callbacks(), [CallbackState::Waiting], "{lookup_reply:?}");
            bed.clock.advance(LONG);
        }
        bed.psp.set_lookup_reply(LookupReply::Accurate);
        assert_eq!((bed.process().await, bed.status()), (1, PayoutStatus::Completed));
        bed.check().await;
    }
}

#[tokio::test]
async fn callback_for_return_waits_until_it_is_shown() {
    let bed = TestBed::new().await;
    let payout = bed.completed().await;
    let part = bed.psp.return_payout(1_000);
    let later = bed.psp.take_payout_returns();
    bed.receive_return_callback(&payout, &part).await;
    for _ in 0..10 {
        assert_eq!((bed.process().await, bed.callbacks()), (0, vec![CallbackState::Waiting]), "not shown yet");
        bed.clock.advance(LONG);
    }
    bed.psp.change_only_payout(|payout| payout.returned = later);
    assert_eq!((bed.process().await, bed.callbacks()), (1, vec![CallbackState::Done]));
    assert_eq!((bed.status(), bed.money()), (PayoutStatus::Reversed, (FUNDS - FEE, 0)));
    bed.receive_return_callback(&payout, &part).await;
    assert_eq!(
        (bed.process().await, bed.event_types().len()),
        (1, 2),
        "one change and one event for repeated callbacks"
    );
    bed.check().await;
}

#[tokio::test]
async fn callback_without_return_needs_one_read() {
    let bed = TestBed::new().await;
    let payout = bed.completed().await;
    let finds = bed.psp.finds(OrderKind::Payout);
    bed.receive_callback(&payout).await;
    assert_eq!((bed.process().await, bed.callbacks()), (1, vec![CallbackState::Done]));
    assert_eq!(bed.psp.finds(OrderKind::Payout) - finds, 1);
}

#[tokio::test]
async fn callback_for_uncreditable_return_is_unmatched() {
    let bed = TestBed::new().await;
    let payout = bed.processing().await;
    bed.psp.fail();
    let part = bed.psp.return_payout(1_000);
    bed.receive_return_callback(&payout, &part).await;
    bed.process().await;
    assert_eq!((bed.callbacks(), bed.money()), (vec![CallbackState::Unmatched], (FUNDS, 0)));
    bed.check().await;
}

#[tokio::test]
async fn callback_for_return_waits_while_store_fails() {
    let bed = TestBed::new().await;
    let payout = bed.completed().await;
    let part = bed.psp.return_payout(1_000);
    bed.receive_return_callback(&payout, &part).await;
    bed.store.crash_at(1, Crash::Before);
    assert_eq!((bed.process().await, bed.callbacks()), (0, vec![CallbackState::Waiting]));
    bed.clock.advance(LONG);
    assert_eq!((bed.process().await, bed.status()), (1, PayoutStatus::Reversed));
    bed.check().await;
}
