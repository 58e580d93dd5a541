//! Compares the returns of received Pix with stored refunds, in both directions.

use cais_domain::money::Money;
use cais_domain::refund::RefundStatus;
use cais_ports::UpstreamProgress;
use cais_testkit::psp::Sending;
use cais_use_cases::reconcile::DifferenceKind;

use crate::reconcile_received::{compare, kinds};
use crate::world::{LONG, World, all, part};

async fn refunded(returning: Sending) -> (World, cais_domain::end_to_end_id::EndToEndId) {
    let world = World::new().await;
    let charge = world.paid().await;
    world.psp.set(returning);
    let _ = world.refund("a", &charge, all()).await;
    world.clock.advance(LONG);
    (world, charge.state.settlement().unwrap().end_to_end_id.clone())
}

#[tokio::test]
async fn matching_refund_is_no_difference() {
    for returning in [Sending::Completes, Sending::Takes, Sending::Fails, Sending::Refuses, Sending::Down] {
        let (world, _) = refunded(returning).await;
        let report = compare(&world, true).await;
        let listed = u64::from(!matches!(returning, Sending::Refuses | Sending::Down));
        assert_eq!((report.differences, report.refunds), (vec![], listed), "{returning:?}");
    }
}

#[tokio::test]
async fn missed_refund_outcome_is_applied() {
    for (progress, status) in [
        (UpstreamProgress::Done { at: None }, RefundStatus::Completed),
        (UpstreamProgress::Failed { reason: None }, RefundStatus::Failed),
    ] {
        let (world, _) = refunded(Sending::Takes).await;
        world.psp.settle_refunds(&progress);
        let report = compare(&world, false).await;
        assert_eq!(kinds(&report), [(DifferenceKind::RefundOutcome, false)]);
        assert_eq!(world.status(), RefundStatus::Processing);
        let report = compare(&world, true).await;
        assert_eq!(kinds(&report), [(DifferenceKind::RefundOutcome, true)]);
        assert_eq!(world.status(), status);
        world.check().await;
    }
}

#[tokio::test]
async fn recent_refund_outcome_is_no_difference_yet() {
    let world = World::new().await;
    let charge = world.paid().await;
    world.refund("a", &charge, all()).await.unwrap();
    world.psp.settle_refunds(&UpstreamProgress::Done { at: None });
    assert_eq!(compare(&world, false).await.differences, []);
}

#[tokio::test]
async fn known_refund_outcome_is_never_reversed() {
    for (returning, progress) in [
        (Sending::Completes, UpstreamProgress::Failed { reason: None }),
        (Sending::Completes, UpstreamProgress::Processing),
        (Sending::Fails, UpstreamProgress::Done { at: None }),
    ] {
        let (world, _) = refunded(returning).await;
        world.psp.settle_refunds(&progress);
        let before = (world.only_refund(), world.available());
        let report = compare(&world, true).await;
        assert_eq!(kinds(&report), [(DifferenceKind::RefundOutcome, false)], "{returning:?} {progress:?}");
        assert_eq!((world.only_refund(), world.available()), before);
        world.check().await;
    }
}

#[tokio::test]
async fn completed_refund_unknown_upstream_is_reported() {
    let (world, _) = refunded(Sending::Completes).await;
    world.psp.forget_returns();
    let report = compare(&world, true).await;
    assert_eq!(kinds(&report), [(DifferenceKind::RefundOutcome, false)]);
    assert_eq!(report.differences[0].theirs, None);
}

#[tokio::test]
async fn refund_with_other_amount_is_reported() {
    let (world, pix) = refunded(Sending::Takes).await;
    world.psp.settle_refunds(&UpstreamProgress::Done { at: None });
    world.psp.change_payment(&pix, |payment| payment.returns[0].amount = Money::from_centavos(1));
    let report = compare(&world, true).await;
    assert_eq!(kinds(&report), [(DifferenceKind::RefundAmount, false)]);
    assert_eq!((world.status(), world.in_transit()), (RefundStatus::Processing, 1_000));
}

#[tokio::test]
async fn return_without_refund_is_reported() {
    let world = World::new().await;
    let charge = world.paid().await;
    let pix = charge.state.settlement().unwrap().end_to_end_id.clone();
    world.refund("a", &charge, part(100)).await.unwrap();
    world.psp.return_unasked(&pix, 200, UpstreamProgress::Failed { reason: None });
    assert_eq!(compare(&world, true).await.differences, [], "a failed return moves no money");
    world.psp.change_payment(&pix, |payment| payment.returns[1].progress = UpstreamProgress::Done { at: None });
    let report = compare(&world, true).await;
    assert_eq!(kinds(&report), [(DifferenceKind::RefundUnknown, false)]);
    assert_eq!(report.differences[0].resource, Some(charge.id.to_string()));
    assert_eq!((world.available(), world.in_transit()), (900, 100));
}

#[tokio::test]
async fn abandoned_refund_found_upstream_is_reported() {
    let (world, pix) = refunded(Sending::Down).await;
    let name = world.only_refund().id.suffix();
    world.psp.return_unasked(&pix, 1_000, UpstreamProgress::Done { at: None });
    world.psp.change_payment(&pix, |payment| payment.returns[0].name = name);
    let report = compare(&world, true).await;
    assert_eq!(kinds(&report), [(DifferenceKind::RefundOutcome, false)]);
    assert_eq!((world.status(), world.available()), (RefundStatus::Abandoned, 1_000));
}
