//! A return that a dispute caused is attributed only to this dispute.

use cais_domain::charge::ChargeStatus;
use cais_domain::infraction::InfractionStatus;
use cais_ports::{CallbackState, UpstreamInfractionStatus};

use crate::bed::TestBed;

#[tokio::test]
async fn dispute_return_is_applied_once_in_any_report_order() {
    let bed = TestBed::new().await;
    let (charge, pix) = bed.paid(1_000).await;
    let id = bed.psp.dispute(&pix, 1_000);
    bed.poll().await;
    bed.psp.complete_infraction_return(&pix, 1_000);
    bed.read(&charge).await;
    assert_eq!((bed.money(), bed.statuses()), ([0, 0, 1_000], vec![InfractionStatus::Open]));
    bed.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    bed.poll().await;
    bed.read(&charge).await;
    assert_eq!((bed.money(), bed.statuses()), ([0, 0, 0], vec![InfractionStatus::Lost]));
    assert_eq!(bed.charge(charge.id).refunds.done.centavos(), 1_000);
    bed.check().await;
}

#[tokio::test]
async fn pix_returned_before_first_read_is_not_credited_or_blocked() {
    let bed = TestBed::new().await;
    let charge = bed.pending(1_000).await;
    let pix = bed.psp.pay(&charge.txid, 1_000);
    let id = bed.psp.dispute(&pix, 1_000);
    bed.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    bed.psp.complete_infraction_return(&pix, 1_000);
    assert_eq!(bed.poll().await, 0);
    assert_eq!((bed.all(), bed.money()), (vec![], [0, 0, 0]));
    assert_eq!(bed.charge(charge.id).state.status(), ChargeStatus::Pending);
    assert_eq!(bed.store.positions().len(), 2, "the positions do not wait for the Pix");
    assert_eq!(bed.receive_callback(&id).await, CallbackState::Unmatched);
    bed.check().await;
}

#[tokio::test]
async fn pix_partly_returned_before_first_read_is_resolved() {
    let bed = TestBed::new().await;
    let charge = bed.pending(1_000).await;
    let pix = bed.psp.pay(&charge.txid, 1_000);
    let id = bed.psp.dispute(&pix, 400);
    bed.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    bed.psp.complete_infraction_return(&pix, 400);
    assert_eq!(bed.poll().await, 1);
    assert_eq!((bed.money(), bed.statuses()), ([600, 0, 0], vec![InfractionStatus::Lost]));
    bed.check().await;
}
