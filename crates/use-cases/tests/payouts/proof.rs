//! A payout fails only on proof. A refusal is no proof if the acquirer has the payout, or may have it.

use cais_ports::ResponseKind;
use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::payout::PayoutStatus;
use cais_testkit::CapturedLogs;
use cais_testkit::builders::main_acquirer;

use crate::bed::{FEE, FUNDS, LONG, TestBed, status_of, ten_reais};
use cais_testkit::psp::{List, ListReply, LookupReply, OrderReply};

const HELD: (i64, i64) = (FUNDS - 1_000 - FEE, 1_000 + FEE);
const ALERT: &str = "payout_outcome_unproven";

/// Creates a payout that gets no reply. The acquirer has the payout, or never received it.
async fn unanswered(sending: OrderReply) -> TestBed {
    let bed = TestBed::new().await;
    bed.psp.set(sending);
    bed.psp.set_lookup_reply(LookupReply::NotFound);
    assert_eq!(status_of(&bed.create("a", ten_reais()).await.unwrap()), "processing");
    bed.psp.set(OrderReply::Refuses);
    bed.clock.advance(LONG);
    bed
}

/// Asserts that the payout was executed once and completes here.
async fn completes(bed: &TestBed) {
    bed.psp.set_lookup_reply(LookupReply::Accurate);
    bed.psp.complete();
    bed.clock.advance(LONG);
    bed.poll().await;
    assert_eq!((bed.status(), bed.psp.sent()), (PayoutStatus::Completed, 1));
    assert_eq!((bed.left(&main_acquirer()), bed.event_types()), (1_000, vec![EventType::PayoutCompleted]));
    bed.check().await;
}

#[tokio::test]
async fn first_refusal_of_existing_payout_keeps_it_processing() {
    let bed = TestBed::new().await;
    bed.psp.set(OrderReply::AcceptsAndRefuses);
    let answer = bed.create("a", ten_reais()).await.unwrap();
    assert_eq!((answer.kind, status_of(&answer).as_str(), bed.money()), (ResponseKind::Created, "processing", HELD));
    completes(&bed).await;
}

#[tokio::test]
async fn first_refusal_without_lookup_keeps_payout_processing() {
    for sending in [OrderReply::AcceptsAndRefuses, OrderReply::Refuses] {
        let bed = TestBed::new().await;
        bed.psp.set(sending);
        bed.psp.set_lookup_reply(LookupReply::Silent);
        let answer = bed.create("a", ten_reais()).await.unwrap();
        assert_eq!((status_of(&answer).as_str(), bed.money()), ("processing", HELD), "{sending:?}");
        // Look-ups work again. The acquirer has the payout, or it refuses the payout again and does not show it.
        bed.psp.set_lookup_reply(LookupReply::Accurate);
        bed.psp.set(OrderReply::Refuses);
        bed.clock.advance(LONG);
        bed.poll().await;
        let expected = if sending == OrderReply::Refuses { PayoutStatus::Failed } else { PayoutStatus::Processing };
        assert_eq!(bed.status(), expected, "{sending:?}");
        bed.check().await;
    }
}

#[tokio::test]
async fn refused_repeat_of_listed_payout_keeps_it_processing() {
    let bed = unanswered(OrderReply::LosesReplies).await;
    assert_eq!((bed.poll().await, bed.status(), bed.money()), (0, PayoutStatus::Processing, HELD));
    assert!(bed.only_payout().state.end_to_end_id().is_some(), "the list shows it");
    completes(&bed).await;
}

#[tokio::test]
async fn refused_repeat_without_a_whole_list_raises_an_alert() {
    for listing in [ListReply::Silent, ListReply::Unreadable, ListReply::Circular, ListReply::Endless] {
        for sending in [OrderReply::LosesReplies, OrderReply::Silent] {
            let bed = unanswered(sending).await;
            bed.psp.set_list_replies(listing);
            let logs = CapturedLogs::start();
            assert_eq!((bed.poll().await, bed.status(), bed.money()), (0, PayoutStatus::Processing, HELD));
            let alerts = logs.alerts(ALERT);
            assert_eq!(alerts.len(), 1, "{listing:?} {sending:?}: {alerts:?}");
            assert_eq!(alerts[0]["payout"], bed.only_payout().id.to_string());
            assert_eq!((alerts[0]["level"].as_str(), bed.event_types().len()), (Some("ERROR"), 0));
            bed.check().await;
        }
    }
}

#[tokio::test]
async fn refused_repeat_that_no_read_shows_ends_the_payout() {
    let bed = unanswered(OrderReply::Silent).await;
    let logs = CapturedLogs::start();
    assert_eq!((bed.poll().await, bed.status(), bed.money()), (1, PayoutStatus::Failed, (FUNDS, 0)));
    assert_eq!((bed.psp.lists(List::Sent), logs.alerts(ALERT).len()), (1, 0));
    bed.check().await;
}

#[tokio::test]
async fn payout_shown_before_is_not_failed_by_absence() {
    let bed = TestBed::new().await;
    bed.processing().await;
    bed.psp.set_lookup_reply(LookupReply::NotFound);
    bed.psp.set_list_replies(ListReply::Empty);
    bed.psp.set(OrderReply::Refuses);
    let logs = CapturedLogs::start();
    for _ in 0..3 {
        bed.clock.advance(LONG);
        assert_eq!((bed.poll().await, bed.status(), bed.money()), (0, PayoutStatus::Processing, HELD));
    }
    assert_eq!(logs.alerts(ALERT).len(), 3, "once for each poll");
    completes(&bed).await;
}

#[tokio::test]
async fn payout_without_proof_for_ten_minutes_raises_an_alert() {
    for (lookup_reply, sending) in
        [(LookupReply::Silent, OrderReply::Accepts), (LookupReply::NotFound, OrderReply::Silent)]
    {
        let bed = TestBed::new().await;
        bed.psp.set(OrderReply::LosesReplies);
        bed.psp.set_lookup_reply(LookupReply::Silent);
        bed.create("a", ten_reais()).await.unwrap();
        bed.psp.set_lookup_reply(lookup_reply);
        bed.psp.set(sending);
        let logs = CapturedLogs::start();
        bed.clock.advance(Duration::from_mins(9));
        bed.poll().await;
        assert_eq!(logs.alerts(ALERT).len(), 0, "{lookup_reply:?}");
        bed.clock.advance(Duration::from_mins(1));
        for _ in 0..3 {
            bed.poll().await;
        }
        assert_eq!(logs.alerts(ALERT).len(), 1, "at most one alert for each poll: {lookup_reply:?}");
        completes(&bed).await;
    }
}
