//! A refund fails only on proof. The record of a Pix lists its returns, so this record is the list that proof requires
//! in addition to a look-up.

use std::time::Duration;

use cais_domain::refund::RefundStatus;
use cais_ports::UpstreamProgress;
use cais_testkit::CapturedLogs;
use cais_testkit::psp::{ListReply, LookupReply, OrderReply};
use cais_use_cases::refunds::poll::run_once;

use crate::bed::{LONG, TestBed, all};

const ALERT: &str = "refund_outcome_unproven";

/// Creates a refund that gets no reply. From then on the acquirer refuses it, and no look-up shows it.
async fn unanswered(returning: OrderReply) -> TestBed {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    bed.psp.set(returning);
    bed.psp.set_lookup_reply(LookupReply::NotFound);
    bed.refund("a", &charge, all()).await.unwrap();
    bed.psp.set(OrderReply::Refuses);
    bed.clock.advance(LONG);
    bed
}

async fn completes(bed: &TestBed) {
    bed.psp.set_lookup_reply(LookupReply::Accurate);
    bed.psp.set_returns_progress(&UpstreamProgress::Done { at: None });
    bed.clock.advance(LONG);
    bed.poll().await;
    assert_eq!((bed.status(), bed.available()), (RefundStatus::Completed, 0));
    bed.check().await;
}

#[tokio::test]
async fn first_refusal_without_lookup_keeps_refund_processing() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    bed.psp.set(OrderReply::Refuses);
    bed.psp.set_lookup_reply(LookupReply::Silent);
    bed.refund("a", &charge, all()).await.unwrap();
    assert_eq!((bed.status(), bed.in_transit()), (RefundStatus::Processing, 1_000));
    bed.psp.set_lookup_reply(LookupReply::Accurate);
    bed.clock.advance(LONG);
    assert_eq!((bed.poll().await, bed.status()), (1, RefundStatus::Failed));
    assert_eq!((bed.available(), bed.psp.refund_orders().len()), (1_000, 2));
    bed.check().await;
}

#[tokio::test]
async fn refused_repeat_of_listed_return_keeps_refund_processing() {
    let bed = unanswered(OrderReply::LosesReplies).await;
    assert_eq!((bed.poll().await, bed.status()), (0, RefundStatus::Processing));
    assert_eq!((bed.in_transit(), bed.psp.returned()), (1_000, 1_000));
    completes(&bed).await;
}

#[tokio::test]
async fn refused_repeat_without_the_pix_raises_an_alert() {
    for listing in [ListReply::Silent, ListReply::Empty] {
        for returning in [OrderReply::LosesReplies, OrderReply::Silent] {
            let bed = unanswered(returning).await;
            bed.psp.set_list_replies(listing);
            let logs = CapturedLogs::start();
            assert_eq!((bed.poll().await, bed.status()), (0, RefundStatus::Processing), "{listing:?}");
            let alerts = logs.alerts(ALERT);
            assert_eq!(alerts.len(), 1, "{listing:?} {returning:?}: {alerts:?}");
            assert_eq!(alerts[0]["refund"], bed.only_refund().id.to_string());
            assert_eq!(bed.in_transit(), 1_000);
            bed.check().await;
        }
    }
}

#[tokio::test]
async fn return_without_its_name_is_not_absent() {
    let bed = unanswered(OrderReply::LosesReplies).await;
    let pix = bed.psp.refund_orders()[0].end_to_end_id.clone();
    let named = bed.psp.refund_orders()[0].id.suffix();
    bed.psp.change_payment(&pix, |payment| payment.returns[0].name.clear());
    bed.psp.change_payment(&pix, |payment| payment.returns[0].return_id = None);
    let logs = CapturedLogs::start();
    assert_eq!((bed.poll().await, bed.status()), (0, RefundStatus::Processing));
    assert_eq!((bed.in_transit(), logs.alerts(ALERT).len()), (1_000, 1));
    bed.psp.change_payment(&pix, |payment| payment.returns[0].name = named);
    completes(&bed).await;
}

#[tokio::test]
async fn refund_without_proof_for_ten_minutes_raises_an_alert() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    bed.psp.set(OrderReply::LosesReplies);
    bed.psp.set_lookup_reply(LookupReply::Silent);
    bed.refund("a", &charge, all()).await.unwrap();
    let logs = CapturedLogs::start();
    bed.clock.advance(Duration::from_mins(9));
    bed.poll().await;
    assert_eq!(logs.alerts(ALERT).len(), 0);
    bed.clock.advance(Duration::from_mins(1));
    for _ in 0..3 {
        run_once(&bed.ports).await.unwrap();
    }
    assert_eq!(logs.alerts(ALERT).len(), 1, "at most one alert for each poll");
    completes(&bed).await;
}
