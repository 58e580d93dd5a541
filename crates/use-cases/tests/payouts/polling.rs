//! Open payouts are polled at growing intervals. A payout is sent again only if the acquirer does not have it, and ends
//! once.

use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::money::Money;
use cais_domain::payout::PayoutStatus;
use cais_ports::UpstreamProgress;
use cais_testkit::Crash;
use cais_testkit::builders::main_acquirer;
use cais_testkit::hooked::once;
use cais_testkit::psp::{List, LookupReply, Moment, OrderKind, OrderReply};
use cais_use_cases::payouts::create::NewPayout;

use crate::bed::{FEE, FUNDS, LONG, TestBed, id_of, now, reais, status_of, ten_reais};

const HELD: (i64, i64) = (FUNDS - 1_000 - FEE, 1_000 + FEE);
const MOMENT: Duration = Duration::from_secs(2);

#[tokio::test]
async fn poll_applies_payout_outcome() {
    let bed = TestBed::new().await;
    bed.completed().await;
    assert_eq!((bed.status(), bed.event_types()), (PayoutStatus::Completed, vec![EventType::PayoutCompleted]));
    assert_eq!((bed.money().1, bed.fees(), bed.left(&main_acquirer())), (0, FEE, 1_000));
    bed.clock.advance(LONG);
    assert_eq!(bed.poll().await, 0, "an ended payout is not read again");
    bed.check().await;

    let bed = TestBed::new().await;
    bed.processing().await;
    bed.psp.fail();
    bed.clock.advance(MOMENT);
    assert_eq!(bed.poll().await, 1);
    assert_eq!(bed.only_payout().state.failure(), Some("closed account"), "characters that stores refuse are removed");
    assert_eq!((bed.money(), bed.event_types()), ((FUNDS, 0), vec![EventType::PayoutFailed]));
    bed.check().await;
}

#[tokio::test]
async fn poll_pauses_grow_without_outcome() {
    let bed = TestBed::new().await;
    bed.processing().await;
    let mut pauses = Vec::new();
    for _ in 0..11 {
        let due = bed.only_payout().due_at.unwrap();
        pauses.push(due.duration_since(cais_ports::Clock::now(&*bed.clock)).as_secs());
        let finds = bed.psp.finds(OrderKind::Payout);
        assert_eq!((bed.poll().await, bed.psp.finds(OrderKind::Payout)), (0, finds), "the look-up is not due yet");
        bed.clock.set(due);
        assert_eq!((bed.poll().await, bed.psp.finds(OrderKind::Payout)), (0, finds + 1));
    }
    assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
    assert_eq!((bed.psp.payout_orders().len(), bed.money()), (1, HELD), "a timeout is never a failure");
}

#[tokio::test]
async fn silent_acquirer_leaves_payout_unchanged() {
    let bed = TestBed::new().await;
    let payout = bed.processing().await;
    bed.psp.set_lookup_reply(LookupReply::Silent);
    for _ in 0..20 {
        bed.clock.advance(LONG);
        assert_eq!(bed.poll().await, 0);
    }
    assert_eq!((bed.status(), bed.money(), bed.psp.payout_orders().len()), (PayoutStatus::Processing, HELD, 1));
    bed.psp.set_lookup_reply(LookupReply::Accurate);
    bed.psp.complete();
    bed.clock.advance(LONG);
    assert_eq!((bed.poll().await, bed.payout(payout.id).state.status()), (1, PayoutStatus::Completed));
    bed.check().await;
}

#[tokio::test]
async fn missing_payout_is_sent_again_by_same_name_after_a_minute() {
    let bed = TestBed::new().await;
    bed.psp.set(OrderReply::Silent);
    let answer = bed.create("a", ten_reais()).await.unwrap();
    assert_eq!(status_of(&answer), "processing");
    bed.psp.set(OrderReply::Accepts);
    for _ in 0..5 {
        bed.clock.advance(Duration::from_secs(11));
        assert_eq!((bed.poll().await, bed.psp.payout_orders().len()), (0, 1), "the first request may be on its way");
    }
    bed.clock.advance(Duration::from_secs(30));
    assert_eq!((bed.poll().await, bed.psp.payout_orders().len()), (0, 2));
    let orders = bed.psp.payout_orders();
    assert_eq!(orders[0], orders[1]);
    bed.psp.complete();
    bed.clock.advance(LONG);
    assert_eq!((bed.poll().await, bed.psp.sent(), bed.left(&main_acquirer())), (1, 1, 1_000));
    bed.check().await;
}

#[tokio::test]
async fn late_request_after_resend_is_same_payout() {
    let bed = TestBed::new().await;
    bed.psp.set(OrderReply::LosesReplies);
    bed.psp.set_lookup_reply(LookupReply::NotFound);
    bed.create("a", ten_reais()).await.unwrap();
    for _ in 0..10 {
        bed.clock.advance(LONG);
        assert_eq!(bed.poll().await, 0);
    }
    assert_eq!((bed.psp.payout_orders().len(), bed.psp.sent()), (11, 1), "an acquirer executes a name once");
    bed.psp.set_lookup_reply(LookupReply::Accurate);
    bed.psp.complete();
    bed.clock.advance(LONG);
    assert_eq!((bed.poll().await, bed.left(&main_acquirer()), bed.fees()), (1, 1_000, FEE));
    bed.check().await;
}

#[tokio::test]
async fn refusal_of_missing_payout_ends_it() {
    let bed = TestBed::new().await;
    bed.psp.set(OrderReply::Silent);
    bed.create("a", ten_reais()).await.unwrap();
    bed.psp.set(OrderReply::Refuses);
    bed.clock.advance(LONG);
    assert_eq!((bed.poll().await, bed.status()), (1, PayoutStatus::Failed));
    assert_eq!((bed.money(), bed.event_types()), ((FUNDS, 0), vec![EventType::PayoutFailed]));
    assert_eq!(bed.only_payout().state.failure(), Some("the key has no owner"));
    bed.check().await;
}

#[tokio::test]
async fn refusal_of_existing_payout_is_ignored() {
    let bed = TestBed::new().await;
    bed.psp.set(OrderReply::LosesReplies);
    bed.psp.set_lookup_reply(LookupReply::NotFound);
    bed.create("a", ten_reais()).await.unwrap();
    bed.psp.set(OrderReply::Refuses);
    let psp = bed.psp.clone();
    bed.psp.when(Moment::Ordered, move || psp.set_lookup_reply(LookupReply::Accurate));
    bed.clock.advance(LONG);
    assert_eq!((bed.poll().await, bed.status(), bed.money()), (0, PayoutStatus::Processing, HELD));

    // If the look-up after a refusal cannot be read, the refusal does not end the payout either.
    let bed = TestBed::new().await;
    bed.psp.set(OrderReply::Silent);
    bed.create("a", ten_reais()).await.unwrap();
    bed.psp.set(OrderReply::Refuses);
    let psp = bed.psp.clone();
    bed.psp.when(Moment::Ordered, move || psp.set_lookup_reply(LookupReply::Silent));
    bed.clock.advance(LONG);
    assert_eq!((bed.poll().await, bed.status(), bed.money()), (0, PayoutStatus::Processing, HELD));
    bed.check().await;
}

#[tokio::test]
async fn payout_that_cannot_be_resent_stays_processing() {
    for sending in [OrderReply::Down, OrderReply::Silent] {
        let bed = TestBed::new().await;
        bed.psp.set(OrderReply::Silent);
        bed.create("a", ten_reais()).await.unwrap();
        bed.psp.set(sending);
        for _ in 0..4 {
            bed.clock.advance(LONG);
            assert_eq!(bed.poll().await, 0);
        }
        assert_eq!((bed.status(), bed.money()), (PayoutStatus::Processing, HELD), "{sending:?}");
        assert_eq!(bed.psp.payout_orders().len(), 5);
        bed.check().await;
    }
}

#[tokio::test]
async fn open_payout_stays_with_its_acquirer() {
    let bed = TestBed::new().await;
    bed.psp.set(OrderReply::Silent);
    let payout = bed.create("a", ten_reais()).await.unwrap();
    bed.psp.set_breaker_open(true);
    for _ in 0..4 {
        bed.clock.advance(LONG);
        assert_eq!(bed.poll().await, 0);
    }
    // A new payout goes to the second acquirer, and the open one does not.
    bed.second.set(OrderReply::Completes);
    bed.create("b", reais(1)).await.unwrap();
    assert_eq!(bed.second.payout_orders().len(), 1);
    bed.psp.set_breaker_open(false);
    bed.psp.set(OrderReply::Completes);
    bed.clock.advance(LONG);
    assert_eq!(bed.poll().await, 1);
    let open = bed.read(id_of(&payout)).await.unwrap();
    assert_eq!((open.state.acquirer(), open.state.status()), (&bed.psp.name, PayoutStatus::Completed));
    assert_eq!((bed.psp.sent(), bed.second.sent()), (1, 1));
    bed.check().await;
}

#[tokio::test]
async fn payout_outcome_is_never_reversed() {
    // The payout arrived. Afterwards the acquirer reports a failure.
    let bed = TestBed::new().await;
    let payout = bed.completed().await;
    let after = bed.money();
    bed.psp.fail();
    bed.read(payout.id).await.unwrap();
    bed.receive_callback(&payout).await;
    bed.process().await;
    assert_eq!((bed.status(), bed.money(), bed.event_types().len()), (PayoutStatus::Completed, after, 1));
    bed.check().await;

    // The payout failed. Afterwards the acquirer reports an arrival.
    let bed = TestBed::new().await;
    let payout = bed.processing().await;
    bed.psp.fail();
    bed.clock.advance(MOMENT);
    bed.poll().await;
    bed.psp.complete();
    bed.read(payout.id).await.unwrap();
    bed.receive_callback(&payout).await;
    bed.process().await;
    assert_eq!((bed.status(), bed.money(), bed.event_types().len()), (PayoutStatus::Failed, (FUNDS, 0), 1));
    bed.check().await;
}

#[tokio::test]
async fn two_nodes_resend_and_end_payout_once() {
    let bed = TestBed::new().await;
    bed.processing().await;
    bed.psp.complete();
    bed.clock.advance(MOMENT);
    // Both nodes read the acquirer's record before one of them writes.
    let other = bed.clone();
    bed.psp.when(Moment::Read, move || {
        now(other.poll());
    });
    bed.poll().await;
    assert_eq!(
        (bed.event_types(), bed.left(&main_acquirer()), bed.fees()),
        (vec![EventType::PayoutCompleted], 1_000, FEE)
    );
    bed.check().await;

    let bed = TestBed::new().await;
    bed.psp.set(OrderReply::Silent);
    let id = id_of(&bed.create("a", ten_reais()).await.unwrap());
    bed.psp.set(OrderReply::Accepts);
    bed.clock.advance(LONG);
    let other = bed.clone();
    bed.psp.when(Moment::Read, move || {
        now(other.poll());
    });
    bed.poll().await;
    assert_eq!(bed.psp.payout_orders().len(), 2, "one of the two nodes has sent the payout again");
    assert_eq!(bed.payout(id).state.status(), PayoutStatus::Processing);
    bed.check().await;
}

#[tokio::test]
async fn node_with_outdated_decision_sends_nothing() {
    let bed = TestBed::new().await;
    bed.psp.set(OrderReply::Silent);
    bed.create("a", ten_reais()).await.unwrap();
    bed.psp.set(OrderReply::Accepts);
    bed.clock.advance(LONG);
    // The store answers the commit of the decision after one minute.
    let clock = bed.clock.clone();
    let slow = bed.after_commits(once(move || {
        clock.advance(Duration::from_mins(1));
    }));
    assert_eq!(slow.poll().await, 0);
    assert_eq!(bed.psp.payout_orders().len(), 1);
    bed.clock.advance(LONG);
    bed.poll().await;
    assert_eq!((bed.psp.payout_orders().len(), bed.psp.sent()), (2, 1), "another one does it later");
}

#[tokio::test]
async fn payout_that_cannot_be_followed_is_postponed() {
    let bed = TestBed::new().await;
    bed.processing().await;
    bed.psp.complete();
    bed.clock.advance(MOMENT);
    bed.store.crash_at(1, Crash::Before);
    assert_eq!((bed.poll().await, bed.status()), (0, PayoutStatus::Processing));
    let (finds, due) = (bed.psp.finds(OrderKind::Payout), bed.only_payout().due_at.unwrap());
    assert!(due > cais_ports::Clock::now(&*bed.clock), "the next look-up waits");
    assert_eq!((bed.poll().await, bed.psp.finds(OrderKind::Payout)), (0, finds));
    bed.clock.set(due);
    assert_eq!((bed.poll().await, bed.status()), (1, PayoutStatus::Completed));
    bed.check().await;
}

#[tokio::test]
async fn open_payouts_are_read_from_list_and_then_singly() {
    let bed = TestBed::new().await;
    for number in 0..10 {
        let key = number.to_string();
        let answer = bed.create(&key, NewPayout { amount: Money::from_centavos(10), ..ten_reais() }).await;
        assert_eq!(status_of(&answer.unwrap()), "processing");
    }
    bed.psp.settle_open(&UpstreamProgress::Done { at: None });
    bed.clock.advance(MOMENT);
    let (finds, lists) = (bed.psp.finds(OrderKind::Payout), bed.psp.lists(List::Sent));
    assert_eq!(bed.poll().await, 10);
    // Each page has one row, so the worker stops after three pages.
    assert_eq!((bed.psp.finds(OrderKind::Payout) - finds, bed.psp.lists(List::Sent) - lists), (7, 3));
    assert!(bed.store.payouts().iter().all(|payout| payout.state.status() == PayoutStatus::Completed));
    bed.check().await;
}
