//! Returns in the record of a refreshed charge. Returns of this service change their refunds; other returns change
//! none.

use cais_domain::charge::ChargeStatus;
use cais_domain::event::EventType;
use cais_domain::refund::RefundStatus;
use cais_ports::{UpstreamProgress, UpstreamReturn};
use cais_testkit::builders::main_acquirer;
use cais_use_cases::callbacks::{process, receive};

use crate::world::{World, all, part};

/// Processes a callback, which refreshes the charge.
async fn call_back(world: &World, charge: &cais_domain::charge::Charge) {
    receive(&world.ports, &main_acquirer(), charge.txid.as_str().as_bytes().to_vec()).await.unwrap();
    process::run_once(&world.ports).await.unwrap();
}

#[tokio::test]
async fn callback_for_charge_updates_its_refunds() {
    for (progress, status, available) in [
        (UpstreamProgress::Done { at: None }, RefundStatus::Completed, 0),
        (UpstreamProgress::Failed { reason: None }, RefundStatus::Failed, 1_000),
    ] {
        let world = World::new().await;
        let charge = world.paid().await;
        world.refund("a", &charge, all()).await.unwrap();
        world.psp.settle_refunds(&progress);
        for _ in 0..2 {
            call_back(&world, &charge).await;
            assert_eq!((world.status(), world.available(), world.in_transit()), (status, available, 0));
        }
        let events = if status == RefundStatus::Completed {
            vec![EventType::ChargePaid, EventType::RefundCompleted, EventType::ChargeRefunded]
        } else {
            vec![EventType::ChargePaid, EventType::RefundFailed]
        };
        assert_eq!(world.event_types(), events);
        world.check().await;
    }
}

#[tokio::test]
async fn foreign_return_keeps_balance() {
    let world = World::new().await;
    let charge = world.paid().await;
    let pix = charge.state.settlement().unwrap().end_to_end_id.clone();
    world.refund("a", &charge, part(100)).await.unwrap();
    let refund = world.only_refund();
    world.psp.return_unasked(&pix, 400, UpstreamProgress::Done { at: None });
    // The identifier has the form of a refund id of this service, but there is no such refund.
    let name = cais_testkit::builders::fresh::<cais_domain::ids::kind::Refund>().suffix();
    world.psp.change_payment(&pix, |payment| {
        let other = UpstreamReturn { name, ..payment.returns[1].clone() };
        payment.returns.push(other);
    });
    call_back(&world, &charge).await;
    assert_eq!((world.available(), world.in_transit()), (900, 100));
    assert_eq!(world.only_refund(), refund);
    world.check().await;
}

#[tokio::test]
async fn return_with_our_name_at_another_acquirer_is_foreign() {
    let world = World::new().await;
    let charge = world.paid().await;
    world.refund("a", &charge, part(100)).await.unwrap();
    let name = world.only_refund().id.suffix();
    world.second.hold(&charge);
    let duplicate = world.second.pay(&charge.txid, 300);
    world.second.return_unasked(&duplicate, 100, UpstreamProgress::Done { at: None });
    world.second.change_payment(&duplicate, |payment| payment.returns[0].name = name);
    let looked = cais_use_cases::reconcile::run_once(&world.ports).await.unwrap();
    assert_eq!(looked.done, 1, "the second payment is credited");
    assert_eq!((world.status(), world.available(), world.in_transit()), (RefundStatus::Processing, 1_200, 100));
    world.check().await;
}

#[tokio::test]
async fn pix_returned_in_full_before_first_read_is_not_credited() {
    let done = UpstreamProgress::Done { at: None };
    for (returned, progress, available, status) in [
        (1_000, done.clone(), 0, ChargeStatus::Pending),
        (1_000, UpstreamProgress::Processing, 0, ChargeStatus::Pending),
        (1_000, UpstreamProgress::Failed { reason: None }, 1_000, ChargeStatus::Paid),
        (999, done, 1_000, ChargeStatus::Paid),
    ] {
        let world = World::new().await;
        let charge = world.pending().await;
        let pix = world.psp.pay(&charge.txid, 1_000);
        world.psp.return_unasked(&pix, returned, progress);
        assert_eq!(world.read(&charge).await.state.status(), status);
        assert_eq!(world.available(), available);
        world.check().await;
    }
}
