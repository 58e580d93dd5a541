//! Refunds of single payments: a second payment, a payment below the amount, an overpayment, and a payment for an
//! abandoned charge.

use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::event::EventType;
use cais_domain::money::Money;
use cais_domain::refund::RefundStatus;
use cais_ports::{ResponseKind, Store as _, UpstreamProgress};
use cais_testkit::Crash;
use cais_testkit::builders::{in_status, pending_charge, steps};
use cais_testkit::psp::OrderReply;
use cais_use_cases::external_id_conflict::ExternalIdConflict;
use cais_use_cases::reconcile::DifferenceKind;
use cais_use_cases::refunds::create::{CreateRefundError, RefundRefusal};

use crate::bed::{LONG, PAST_LEASE, TestBed, all, id_of, named, part, status_of};
use crate::reconcile_received::{compare, kinds};

/// Returns a paid charge of R$ 10.00 with a second payment of R$ 7.00.
async fn paid_twice() -> (TestBed, Charge, EndToEndId) {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    let pix = extra(&bed, &charge, 700).await;
    (bed, charge, pix)
}

/// Adds a credited payment to the charge.
async fn extra(bed: &TestBed, charge: &Charge, centavos: i64) -> EndToEndId {
    let pix = bed.psp.pay(&charge.txid, centavos);
    bed.clock.advance(LONG);
    compare(bed, true).await;
    assert!(bed.store.payments().iter().any(|paid| paid.payment.end_to_end_id == pix), "the payment was credited");
    pix
}

fn exceeds(rest: i64) -> CreateRefundError {
    CreateRefundError::Refused(RefundRefusal::ExceedsAmount { rest: Money::from_centavos(rest) })
}

#[tokio::test]
async fn second_payment_is_refunded_and_charge_stays_paid() {
    let (bed, charge, pix) = paid_twice().await;
    bed.psp.set(OrderReply::Completes);
    let of = (&charge, &pix);
    assert_eq!(bed.refund_payment("a", of, part(701)).await, Err(exceeds(700)));
    assert_eq!(bed.refund_payment("b", of, part(300)).await.unwrap().kind, ResponseKind::Created);
    assert_eq!(bed.refund_payment("c", of, part(401)).await, Err(exceeds(400)));
    let rest = bed.refund_payment("d", of, all()).await.unwrap();
    assert_eq!((rest.kind, status_of(&rest).as_str()), (ResponseKind::Created, "completed"));
    assert_eq!(bed.refund_payment("e", of, all()).await, Err(exceeds(0)));
    assert!(bed.psp.refund_orders().iter().all(|order| order.end_to_end_id == pix));
    assert_eq!((bed.available(), bed.psp.returned()), (1_000, 700));
    let after = bed.charge(charge.id);
    assert_eq!((after.state.status(), after.refunds.done), (ChargeStatus::Paid, Money::ZERO));
    assert!(!bed.event_types().contains(&EventType::ChargeRefunded));
    bed.refund("f", &charge, all()).await.unwrap();
    assert_eq!(bed.charge(charge.id).state.status(), ChargeStatus::Refunded);
    bed.check().await;
}

#[tokio::test]
async fn second_payment_of_refunded_charge_is_refunded() {
    let (bed, charge, pix) = paid_twice().await;
    bed.psp.set(OrderReply::Completes);
    bed.refund("a", &charge, all()).await.unwrap();
    assert_eq!(bed.charge(charge.id).state.status(), ChargeStatus::Refunded);
    assert_eq!(bed.refund_payment("b", (&charge, &pix), all()).await.unwrap().kind, ResponseKind::Created);
    assert_eq!((bed.available(), bed.psp.returned()), (0, 1_700));
    bed.check().await;
}

#[tokio::test]
async fn overpayment_goes_back_excess_first() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    let pix = bed.psp.pay(&charge.txid, 1_500);
    let charge = bed.read(&charge).await;
    bed.psp.set(OrderReply::Completes);
    bed.refund_payment("a", (&charge, &pix), part(500)).await.unwrap();
    assert_eq!(bed.charge(charge.id).refunds.done, Money::ZERO, "the excess is not the charge's");
    assert_eq!(bed.refund_payment("b", (&charge, &pix), part(1_001)).await, Err(exceeds(1_000)));
    bed.refund_payment("c", (&charge, &pix), all()).await.unwrap();
    assert_eq!(bed.charge(charge.id).state.status(), ChargeStatus::Refunded);
    assert_eq!((bed.available(), bed.psp.returned()), (0, 1_500));
    bed.check().await;
}

#[tokio::test]
async fn payment_below_amount_is_refunded_in_each_status() {
    for status in [ChargeStatus::Pending, ChargeStatus::Expired, ChargeStatus::Cancelled] {
        let bed = TestBed::new().await;
        let charge = bed.pending().await;
        let pix = bed.psp.pay(&charge.txid, 400);
        let charge = bed.read(&charge).await;
        let moved = in_status(charge.clone(), status);
        bed.store.commit(steps::update_charge(&moved, charge.created_at)).await.unwrap();
        assert_eq!(
            bed.refund("a", &charge, all()).await,
            Err(CreateRefundError::Refused(RefundRefusal::InvalidState(status)))
        );
        bed.psp.set(OrderReply::Accepts);
        let made = bed.refund_payment("b", (&charge, &pix), all()).await.unwrap();
        assert_eq!((made.kind, bed.available(), bed.in_transit()), (ResponseKind::Created, 0, 400));
        bed.psp.set_returns_progress(&UpstreamProgress::Done { at: None });
        assert_eq!(bed.poll().await, 1);
        assert_eq!((bed.status(), bed.charge(charge.id).state.status()), (RefundStatus::Completed, status));
        bed.check().await;
    }
}

#[tokio::test]
async fn payment_of_abandoned_charge_is_refunded() {
    let bed = TestBed::new().await;
    let charge = in_status(pending_charge(bed.account.id), ChargeStatus::Abandoned);
    bed.store.commit(steps::open_charge(&charge)).await.unwrap();
    bed.psp.store_charge(&charge);
    let pix = extra(&bed, &charge, 1_000).await;
    assert_eq!(bed.refund("a", &charge, all()).await, Err(CreateRefundError::Refused(RefundRefusal::NotFound)));
    bed.psp.set(OrderReply::Completes);
    assert_eq!(bed.refund_payment("b", (&charge, &pix), all()).await.unwrap().kind, ResponseKind::Created);
    assert_eq!((bed.available(), bed.psp.returned()), (0, 1_000));
    assert_eq!(bed.charge(charge.id).state.status(), ChargeStatus::Abandoned);
    bed.check().await;
}

#[tokio::test]
async fn payment_of_another_charge_is_not_found() {
    let (bed, charge, pix) = paid_twice().await;
    let other = bed.paid().await;
    let unknown = EndToEndId::parse("E1234567820260102030400000000099").unwrap();
    for (charge, pix) in [(&other, &pix), (&charge, &unknown)] {
        let refused = bed.refund_payment("a", (charge, pix), all()).await;
        assert_eq!(refused, Err(CreateRefundError::Refused(RefundRefusal::NoSuchPayment)));
    }
    assert_eq!((bed.store.refunds(), bed.psp.refund_orders()), (vec![], vec![]));
}

#[tokio::test]
async fn failed_payment_refund_releases_its_whole_amount() {
    for returning in [OrderReply::Fails, OrderReply::Refuses] {
        let (bed, charge, pix) = paid_twice().await;
        bed.psp.set(returning);
        bed.refund_payment("a", (&charge, &pix), all()).await.unwrap();
        bed.poll().await;
        assert_eq!((bed.status(), bed.available(), bed.in_transit()), (RefundStatus::Failed, 1_700, 0));
        bed.psp.set(OrderReply::Completes);
        assert_eq!(bed.refund_payment("b", (&charge, &pix), all()).await.unwrap().kind, ResponseKind::Created);
        assert_eq!((bed.available(), bed.psp.returned()), (1_000, 700));
        bed.check().await;
    }
}

#[tokio::test]
async fn payment_refund_not_accepted_is_retried_by_its_key() {
    let (bed, charge, pix) = paid_twice().await;
    let of = (&charge, &pix);
    bed.psp.set(OrderReply::Down);
    let failed = bed.refund_payment("a", of, part(700)).await;
    assert_eq!(failed, Err(CreateRefundError::AcquirerUnavailable));
    assert_eq!((bed.status(), bed.available()), (RefundStatus::Abandoned, 1_700));
    bed.psp.set(OrderReply::Completes);
    let taken = bed.refund_payment("b", of, part(100)).await.unwrap();
    assert_eq!(bed.refund_payment("a", of, part(700)).await, Err(exceeds(600)));
    assert_eq!((taken.kind, bed.available(), bed.psp.returned()), (ResponseKind::Created, 1_600, 100));

    bed.psp.set(OrderReply::Down);
    bed.refund_payment("c", of, part(600)).await.unwrap_err();
    bed.psp.set(OrderReply::Completes);
    assert_eq!(bed.refund_payment("c", of, part(600)).await.unwrap().kind, ResponseKind::Created);
    assert_eq!((bed.available(), bed.psp.returned()), (1_000, 700));
    bed.check().await;
}

#[tokio::test]
async fn payment_refund_interrupted_anywhere_happens_once() {
    for (nth, crash) in [(1, Crash::Before), (1, Crash::After), (2, Crash::Before), (2, Crash::After)] {
        let (bed, charge, pix) = paid_twice().await;
        bed.psp.set(OrderReply::Completes);
        bed.store.crash_at(nth, crash);
        bed.refund_payment("a", (&charge, &pix), named("back-1", all())).await.unwrap_err();
        bed.clock.advance(PAST_LEASE);
        bed.resume().await;
        let answer = bed.refund_payment("a", (&charge, &pix), named("back-1", all())).await.unwrap();
        assert_eq!((answer.kind, id_of(&answer)), (ResponseKind::Created, bed.only_refund().id), "{nth} {crash:?}");
        assert_eq!((bed.available(), bed.in_transit(), bed.psp.returned()), (1_000, 0, 700), "{nth} {crash:?}");
        bed.check().await;
    }
}

#[tokio::test]
async fn external_id_of_another_payment_is_a_conflict() {
    let (bed, charge, pix) = paid_twice().await;
    let paid_by = charge.state.settlement().unwrap().end_to_end_id.clone();
    let first = bed.refund_payment("a", (&charge, &pix), named("back-1", part(100))).await.unwrap();
    let same = bed.refund_payment("b", (&charge, &pix), named("back-1", part(100))).await.unwrap();
    assert_eq!((same.kind, id_of(&same)), (ResponseKind::Existing, id_of(&first)));
    let other = bed.refund_payment("c", (&charge, &paid_by), named("back-1", part(100))).await;
    let conflict = ExternalIdConflict { owner: id_of(&first).to_string(), fields: vec!["end_to_end_id"] };
    assert_eq!(other, Err(conflict.into()));
}

#[tokio::test]
async fn many_refunds_of_one_payment_never_exceed_it() {
    let (bed, charge, pix) = paid_twice().await;
    bed.psp.set(OrderReply::Completes);
    let contended = bed.contended();
    let keys: Vec<String> = (0..12).map(|number| number.to_string()).collect();
    let calls = keys.iter().map(|key| contended.refund_payment(key, (&charge, &pix), part(200)));
    let outcomes = futures_util::future::join_all(calls).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 3);
    assert_eq!((bed.available(), bed.psp.returned()), (1_100, 600));
    bed.check().await;
}

#[tokio::test]
async fn completed_payment_refund_unknown_upstream_is_reported() {
    let (bed, charge, pix) = paid_twice().await;
    bed.psp.set(OrderReply::Completes);
    bed.refund_payment("a", (&charge, &pix), all()).await.unwrap();
    bed.clock.advance(LONG);
    assert_eq!(compare(&bed, false).await.differences, []);
    bed.psp.remove_returns();
    assert_eq!(kinds(&compare(&bed, true).await), [(DifferenceKind::RefundOutcome, false)]);
}
