//! Returns in the record of a refreshed charge. Returns of this service change their refunds; other returns change
//! none.

use cais_domain::charge::ChargeStatus;
use cais_domain::event::EventType;
use cais_domain::refund::RefundStatus;
use cais_ports::{UpstreamProgress, UpstreamReturn};
use cais_testkit::builders::main_acquirer;
use cais_use_cases::callbacks::{process, receive};

use crate::bed::{TestBed, all, part};

/// Processes a callback, which refreshes the charge.
async fn receive_callback(bed: &TestBed, charge: &cais_domain::charge::Charge) {
    receive(&bed.ports, &main_acquirer(), charge.txid.as_str().as_bytes().to_vec()).await.unwrap();
    process::run_once(&bed.ports).await.unwrap();
}

#[tokio::test]
async fn callback_for_charge_updates_its_refunds() {
    for (progress, status, available) in [
        (UpstreamProgress::Done { at: None }, RefundStatus::Completed, 0),
        (UpstreamProgress::Failed { reason: None }, RefundStatus::Failed, 1_000),
    ] {
        let bed = TestBed::new().await;
        let charge = bed.paid().await;
        bed.refund("a", &charge, all()).await.unwrap();
        bed.psp.set_returns_progress(&progress);
        for _ in 0..2 {
            receive_callback(&bed, &charge).await;
            assert_eq!((bed.status(), bed.available(), bed.in_transit()), (status, available, 0));
        }
        let events = if status == RefundStatus::Completed {
            vec![EventType::ChargePaid, EventType::RefundCompleted, EventType::ChargeRefunded]
        } else {
            vec![EventType::ChargePaid, EventType::RefundFailed]
        };
        assert_eq!(bed.event_types(), events);
        bed.check().await;
    }
}

#[tokio::test]
async fn foreign_return_keeps_balance() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    let pix = charge.state.settlement().unwrap().end_to_end_id.clone();
    bed.refund("a", &charge, part(100)).await.unwrap();
    let refund = bed.only_refund();
    bed.psp.add_unrequested_return(&pix, 400, UpstreamProgress::Done { at: None });
    // The identifier has the form of a refund id of this service, but there is no such refund.
    let name = cais_testkit::builders::fresh::<cais_domain::ids::kind::Refund>().suffix();
    bed.psp.change_payment(&pix, |payment| {
        let other = UpstreamReturn { name, ..payment.returns[1].clone() };
        payment.returns.push(other);
    });
    receive_callback(&bed, &charge).await;
    assert_eq!((bed.available(), bed.in_transit()), (900, 100));
    assert_eq!(bed.only_refund(), refund);
    bed.check().await;
}

#[tokio::test]
async fn return_with_our_name_at_another_acquirer_is_foreign() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    bed.refund("a", &charge, part(100)).await.unwrap();
    let name = bed.only_refund().id.suffix();
    bed.second.store_charge(&charge);
    let duplicate = bed.second.pay(&charge.txid, 300);
    bed.second.add_unrequested_return(&duplicate, 100, UpstreamProgress::Done { at: None });
    bed.second.change_payment(&duplicate, |payment| payment.returns[0].name = name);
    let looked = cais_use_cases::reconcile::run_once(&bed.ports).await.unwrap();
    assert_eq!(looked.done, 1, "the second payment is credited");
    assert_eq!((bed.status(), bed.available(), bed.in_transit()), (RefundStatus::Processing, 1_200, 100));
    bed.check().await;
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
        let bed = TestBed::new().await;
        let charge = bed.pending().await;
        let pix = bed.psp.pay(&charge.txid, 1_000);
        bed.psp.add_unrequested_return(&pix, returned, progress);
        assert_eq!(bed.read(&charge).await.state.status(), status);
        assert_eq!(bed.available(), available);
        bed.check().await;
    }
}
