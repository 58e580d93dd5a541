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
use cais_testkit::psp::Sending;
use cais_use_cases::external_id_conflict::ExternalIdConflict;
use cais_use_cases::reconcile::DifferenceKind;
use cais_use_cases::refunds::create::{CreateRefundError, RefundRefusal};

use crate::reconcile_received::{compare, kinds};
use crate::world::{LONG, PAST_LEASE, World, all, id_of, named, part, status_of};

/// Returns a paid charge of R$ 10.00 with a second payment of R$ 7.00.
async fn paid_twice() -> (World, Charge, EndToEndId) {
    let world = World::new().await;
    let charge = world.paid().await;
    let pix = extra(&world, &charge, 700).await;
    (world, charge, pix)
}

/// Adds a credited payment to the charge.
async fn extra(world: &World, charge: &Charge, centavos: i64) -> EndToEndId {
    let pix = world.psp.pay(&charge.txid, centavos);
    world.clock.advance(LONG);
    compare(world, true).await;
    assert!(world.store.payments().iter().any(|paid| paid.payment.end_to_end_id == pix), "the payment was credited");
    pix
}

fn exceeds(rest: i64) -> CreateRefundError {
    CreateRefundError::Refused(RefundRefusal::ExceedsAmount { rest: Money::from_centavos(rest) })
}

#[tokio::test]
async fn second_payment_is_refunded_and_charge_stays_paid() {
    let (world, charge, pix) = paid_twice().await;
    world.psp.set(Sending::Completes);
    let of = (&charge, &pix);
    assert_eq!(world.refund_payment("a", of, part(701)).await, Err(exceeds(700)));
    assert_eq!(world.refund_payment("b", of, part(300)).await.unwrap().kind, ResponseKind::Created);
    assert_eq!(world.refund_payment("c", of, part(401)).await, Err(exceeds(400)));
    let rest = world.refund_payment("d", of, all()).await.unwrap();
    assert_eq!((rest.kind, status_of(&rest).as_str()), (ResponseKind::Created, "completed"));
    assert_eq!(world.refund_payment("e", of, all()).await, Err(exceeds(0)));
    assert!(world.psp.refund_orders().iter().all(|order| order.end_to_end_id == pix));
    assert_eq!((world.available(), world.psp.returned()), (1_000, 700));
    let after = world.charge(charge.id);
    assert_eq!((after.state.status(), after.refunds.done), (ChargeStatus::Paid, Money::ZERO));
    assert!(!world.event_types().contains(&EventType::ChargeRefunded));
    world.refund("f", &charge, all()).await.unwrap();
    assert_eq!(world.charge(charge.id).state.status(), ChargeStatus::Refunded);
    world.check().await;
}

#[tokio::test]
async fn second_payment_of_refunded_charge_is_refunded() {
    let (world, charge, pix) = paid_twice().await;
    world.psp.set(Sending::Completes);
    world.refund("a", &charge, all()).await.unwrap();
    assert_eq!(world.charge(charge.id).state.status(), ChargeStatus::Refunded);
    assert_eq!(world.refund_payment("b", (&charge, &pix), all()).await.unwrap().kind, ResponseKind::Created);
    assert_eq!((world.available(), world.psp.returned()), (0, 1_700));
    world.check().await;
}

#[tokio::test]
async fn overpayment_goes_back_excess_first() {
    let world = World::new().await;
    let charge = world.pending().await;
    let pix = world.psp.pay(&charge.txid, 1_500);
    let charge = world.read(&charge).await;
    world.psp.set(Sending::Completes);
    world.refund_payment("a", (&charge, &pix), part(500)).await.unwrap();
    assert_eq!(world.charge(charge.id).refunds.done, Money::ZERO, "the excess is not the charge's");
    assert_eq!(world.refund_payment("b", (&charge, &pix), part(1_001)).await, Err(exceeds(1_000)));
    world.refund_payment("c", (&charge, &pix), all()).await.unwrap();
    assert_eq!(world.charge(charge.id).state.status(), ChargeStatus::Refunded);
    assert_eq!((world.available(), world.psp.returned()), (0, 1_500));
    world.check().await;
}

#[tokio::test]
async fn payment_below_amount_is_refunded_in_each_status() {
    for status in [ChargeStatus::Pending, ChargeStatus::Expired, ChargeStatus::Cancelled] {
        let world = World::new().await;
        let charge = world.pending().await;
        let pix = world.psp.pay(&charge.txid, 400);
        let charge = world.read(&charge).await;
        let moved = in_status(charge.clone(), status);
        world.store.commit(steps::update_charge(&moved, charge.created_at)).await.unwrap();
        assert_eq!(
            world.refund("a", &charge, all()).await,
            Err(CreateRefundError::Refused(RefundRefusal::InvalidState(status)))
        );
        world.psp.set(Sending::Takes);
        let made = world.refund_payment("b", (&charge, &pix), all()).await.unwrap();
        assert_eq!((made.kind, world.available(), world.in_transit()), (ResponseKind::Created, 0, 400));
        world.psp.settle_refunds(&UpstreamProgress::Done { at: None });
        assert_eq!(world.poll().await, 1);
        assert_eq!((world.status(), world.charge(charge.id).state.status()), (RefundStatus::Completed, status));
        world.check().await;
    }
}

#[tokio::test]
async fn payment_of_abandoned_charge_is_refunded() {
    let world = World::new().await;
    let charge = in_status(pending_charge(world.account.id), ChargeStatus::Abandoned);
    world.store.commit(steps::open_charge(&charge)).await.unwrap();
    world.psp.hold(&charge);
    let pix = extra(&world, &charge, 1_000).await;
    assert_eq!(world.refund("a", &charge, all()).await, Err(CreateRefundError::Refused(RefundRefusal::NotFound)));
    world.psp.set(Sending::Completes);
    assert_eq!(world.refund_payment("b", (&charge, &pix), all()).await.unwrap().kind, ResponseKind::Created);
    assert_eq!((world.available(), world.psp.returned()), (0, 1_000));
    assert_eq!(world.charge(charge.id).state.status(), ChargeStatus::Abandoned);
    world.check().await;
}

#[tokio::test]
async fn payment_of_another_charge_is_not_found() {
    let (world, charge, pix) = paid_twice().await;
    let other = world.paid().await;
    let unknown = EndToEndId::parse("E1234567820260102030400000000099").unwrap();
    for (charge, pix) in [(&other, &pix), (&charge, &unknown)] {
        let refused = world.refund_payment("a", (charge, pix), all()).await;
        assert_eq!(refused, Err(CreateRefundError::Refused(RefundRefusal::NoSuchPayment)));
    }
    assert_eq!((world.store.refunds(), world.psp.refund_orders()), (vec![], vec![]));
}

#[tokio::test]
async fn failed_payment_refund_releases_its_whole_amount() {
    for returning in [Sending::Fails, Sending::Refuses] {
        let (world, charge, pix) = paid_twice().await;
        world.psp.set(returning);
        world.refund_payment("a", (&charge, &pix), all()).await.unwrap();
        world.poll().await;
        assert_eq!((world.status(), world.available(), world.in_transit()), (RefundStatus::Failed, 1_700, 0));
        world.psp.set(Sending::Completes);
        assert_eq!(world.refund_payment("b", (&charge, &pix), all()).await.unwrap().kind, ResponseKind::Created);
        assert_eq!((world.available(), world.psp.returned()), (1_000, 700));
        world.check().await;
    }
}

#[tokio::test]
async fn payment_refund_not_accepted_is_retried_by_its_key() {
    let (world, charge, pix) = paid_twice().await;
    let of = (&charge, &pix);
    world.psp.set(Sending::Down);
    let failed = world.refund_payment("a", of, part(700)).await;
    assert_eq!(failed, Err(CreateRefundError::AcquirerUnavailable));
    assert_eq!((world.status(), world.available()), (RefundStatus::Abandoned, 1_700));
    world.psp.set(Sending::Completes);
    let taken = world.refund_payment("b", of, part(100)).await.unwrap();
    assert_eq!(world.refund_payment("a", of, part(700)).await, Err(exceeds(600)));
    assert_eq!((taken.kind, world.available(), world.psp.returned()), (ResponseKind::Created, 1_600, 100));

    world.psp.set(Sending::Down);
    world.refund_payment("c", of, part(600)).await.unwrap_err();
    world.psp.set(Sending::Completes);
    assert_eq!(world.refund_payment("c", of, part(600)).await.unwrap().kind, ResponseKind::Created);
    assert_eq!((world.available(), world.psp.returned()), (1_000, 700));
    world.check().await;
}

#[tokio::test]
async fn payment_refund_interrupted_anywhere_happens_once() {
    for (nth, crash) in [(1, Crash::Before), (1, Crash::After), (2, Crash::Before), (2, Crash::After)] {
        let (world, charge, pix) = paid_twice().await;
        world.psp.set(Sending::Completes);
        world.store.crash_at(nth, crash);
        world.refund_payment("a", (&charge, &pix), named("back-1", all())).await.unwrap_err();
        world.clock.advance(PAST_LEASE);
        world.resume().await;
        let answer = world.refund_payment("a", (&charge, &pix), named("back-1", all())).await.unwrap();
        assert_eq!((answer.kind, id_of(&answer)), (ResponseKind::Created, world.only_refund().id), "{nth} {crash:?}");
        assert_eq!((world.available(), world.in_transit(), world.psp.returned()), (1_000, 0, 700), "{nth} {crash:?}");
        world.check().await;
    }
}

#[tokio::test]
async fn external_id_of_another_payment_is_a_conflict() {
    let (world, charge, pix) = paid_twice().await;
    let paid_by = charge.state.settlement().unwrap().end_to_end_id.clone();
    let first = world.refund_payment("a", (&charge, &pix), named("back-1", part(100))).await.unwrap();
    let same = world.refund_payment("b", (&charge, &pix), named("back-1", part(100))).await.unwrap();
    assert_eq!((same.kind, id_of(&same)), (ResponseKind::Existing, id_of(&first)));
    let other = world.refund_payment("c", (&charge, &paid_by), named("back-1", part(100))).await;
    let conflict = ExternalIdConflict { owner: id_of(&first).to_string(), fields: vec!["end_to_end_id"] };
    assert_eq!(other, Err(conflict.into()));
}

#[tokio::test]
async fn many_refunds_of_one_payment_never_exceed_it() {
    let (world, charge, pix) = paid_twice().await;
    world.psp.set(Sending::Completes);
    let contended = world.contended();
    let keys: Vec<String> = (0..12).map(|number| number.to_string()).collect();
    let calls = keys.iter().map(|key| contended.refund_payment(key, (&charge, &pix), part(200)));
    let outcomes = futures_util::future::join_all(calls).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 3);
    assert_eq!((world.available(), world.psp.returned()), (1_100, 600));
    world.check().await;
}

#[tokio::test]
async fn completed_payment_refund_unknown_upstream_is_reported() {
    let (world, charge, pix) = paid_twice().await;
    world.psp.set(Sending::Completes);
    world.refund_payment("a", (&charge, &pix), all()).await.unwrap();
    world.clock.advance(LONG);
    assert_eq!(compare(&world, false).await.differences, []);
    world.psp.forget_returns();
    assert_eq!(kinds(&compare(&world, true).await), [(DifferenceKind::RefundOutcome, false)]);
}
