//! Compares the returns of received Pix with stored refunds, in both directions.

use cais_domain::money::Money;
use cais_domain::refund::RefundStatus;
use cais_ports::UpstreamProgress;
use cais_testkit::psp::OrderReply;
use cais_use_cases::reconcile::DifferenceKind;

use crate::bed::{LONG, TestBed, all, part};
use crate::reconcile_received::{compare, kinds};

async fn refunded(returning: OrderReply) -> (TestBed, cais_domain::end_to_end_id::EndToEndId) {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    bed.psp.set(returning);
    let _ = bed.refund("a", &charge, all()).await;
    bed.clock.advance(LONG);
    (bed, charge.state.settlement().unwrap().end_to_end_id.clone())
}

#[tokio::test]
async fn matching_refund_is_no_difference() {
    for returning in
        [OrderReply::Completes, OrderReply::Accepts, OrderReply::Fails, OrderReply::Refuses, OrderReply::Down]
    {
        let (bed, _) = refunded(returning).await;
        let report = compare(&bed, true).await;
        let listed = u64::from(!matches!(returning, OrderReply::Refuses | OrderReply::Down));
        assert_eq!((report.differences, report.refunds), (vec![], listed), "{returning:?}");
    }
}

#[tokio::test]
async fn missed_refund_outcome_is_applied() {
    for (progress, status) in [
        (UpstreamProgress::Done { at: None }, RefundStatus::Completed),
        (UpstreamProgress::Failed { reason: None }, RefundStatus::Failed),
    ] {
        let (bed, _) = refunded(OrderReply::Accepts).await;
        bed.psp.set_returns_progress(&progress);
        let report = compare(&bed, false).await;
        assert_eq!(kinds(&report), [(DifferenceKind::RefundOutcome, false)]);
        assert_eq!(bed.status(), RefundStatus::Processing);
        let report = compare(&bed, true).await;
        assert_eq!(kinds(&report), [(DifferenceKind::RefundOutcome, true)]);
        assert_eq!(bed.status(), status);
        bed.check().await;
    }
}

#[tokio::test]
async fn recent_refund_outcome_is_no_difference_yet() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    bed.refund("a", &charge, all()).await.unwrap();
    bed.psp.set_returns_progress(&UpstreamProgress::Done { at: None });
    assert_eq!(compare(&bed, false).await.differences, []);
}

#[tokio::test]
async fn known_refund_outcome_is_never_reversed() {
    for (returning, progress) in [
        (OrderReply::Completes, UpstreamProgress::Failed { reason: None }),
        (OrderReply::Completes, UpstreamProgress::Processing),
        (OrderReply::Fails, UpstreamProgress::Done { at: None }),
    ] {
        let (bed, _) = refunded(returning).await;
        bed.psp.set_returns_progress(&progress);
        let before = (bed.only_refund(), bed.available());
        let report = compare(&bed, true).await;
        assert_eq!(kinds(&report), [(DifferenceKind::RefundOutcome, false)], "{returning:?} {progress:?}");
        assert_eq!((bed.only_refund(), bed.available()), before);
        bed.check().await;
    }
}

#[tokio::test]
async fn completed_refund_unknown_upstream_is_reported() {
    let (bed, _) = refunded(OrderReply::Completes).await;
    bed.psp.remove_returns();
    let report = compare(&bed, true).await;
    assert_eq!(kinds(&report), [(DifferenceKind::RefundOutcome, false)]);
    assert_eq!(report.differences[0].theirs, None);
}

#[tokio::test]
async fn refund_with_other_amount_is_reported() {
    let (bed, pix) = refunded(OrderReply::Accepts).await;
    bed.psp.set_returns_progress(&UpstreamProgress::Done { at: None });
    bed.psp.change_payment(&pix, |payment| payment.returns[0].amount = Money::from_centavos(1));
    let report = compare(&bed, true).await;
    assert_eq!(kinds(&report), [(DifferenceKind::RefundAmount, false)]);
    assert_eq!((bed.status(), bed.in_transit()), (RefundStatus::Processing, 1_000));
}

#[tokio::test]
async fn return_without_refund_is_reported() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    let pix = charge.state.settlement().unwrap().end_to_end_id.clone();
    bed.refund("a", &charge, part(100)).await.unwrap();
    bed.psp.add_unrequested_return(&pix, 200, UpstreamProgress::Failed { reason: None });
    assert_eq!(compare(&bed, true).await.differences, [], "a failed return moves no money");
    bed.psp.change_payment(&pix, |payment| payment.returns[1].progress = UpstreamProgress::Done { at: None });
    let report = compare(&bed, true).await;
    assert_eq!(kinds(&report), [(DifferenceKind::RefundUnknown, false)]);
    assert_eq!(report.differences[0].resource, Some(charge.id.to_string()));
    assert_eq!((bed.available(), bed.in_transit()), (900, 100));
}

#[tokio::test]
async fn abandoned_refund_found_upstream_is_reported() {
    let (bed, pix) = refunded(OrderReply::Down).await;
    let name = bed.only_refund().id.suffix();
    bed.psp.add_unrequested_return(&pix, 1_000, UpstreamProgress::Done { at: None });
    bed.psp.change_payment(&pix, |payment| payment.returns[0].name = name);
    let report = compare(&bed, true).await;
    assert_eq!(kinds(&report), [(DifferenceKind::RefundOutcome, false)]);
    assert_eq!((bed.status(), bed.available()), (RefundStatus::Abandoned, 1_000));
}
