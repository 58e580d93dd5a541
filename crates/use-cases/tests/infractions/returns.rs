//! A return that a dispute caused is attributed only to this dispute.

use cais_domain::charge::ChargeStatus;
use cais_domain::infraction::InfractionStatus;
use cais_ports::{CallbackState, UpstreamInfractionStatus};

use crate::world::World;

#[tokio::test]
async fn dispute_return_is_applied_once_in_any_report_order() {
    let world = World::new().await;
    let (charge, pix) = world.paid(1_000).await;
    let id = world.psp.dispute(&pix, 1_000);
    world.poll().await;
    world.psp.take_back(&pix, 1_000);
    world.read(&charge).await;
    assert_eq!((world.money(), world.statuses()), ([0, 0, 1_000], vec![InfractionStatus::Open]));
    world.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    world.poll().await;
    world.read(&charge).await;
    assert_eq!((world.money(), world.statuses()), ([0, 0, 0], vec![InfractionStatus::Lost]));
    assert_eq!(world.charge(charge.id).refunds.done.centavos(), 1_000);
    world.check().await;
}

#[tokio::test]
async fn pix_returned_before_first_read_is_not_credited_or_blocked() {
    let world = World::new().await;
    let charge = world.pending(1_000).await;
    let pix = world.psp.pay(&charge.txid, 1_000);
    let id = world.psp.dispute(&pix, 1_000);
    world.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    world.psp.take_back(&pix, 1_000);
    assert_eq!(world.poll().await, 0);
    assert_eq!((world.all(), world.money()), (vec![], [0, 0, 0]));
    assert_eq!(world.charge(charge.id).state.status(), ChargeStatus::Pending);
    assert_eq!(world.store.positions().len(), 2, "the positions do not wait for the Pix");
    assert_eq!(world.call_back(&id).await, CallbackState::Unmatched);
    world.check().await;
}

#[tokio::test]
async fn pix_partly_returned_before_first_read_is_resolved() {
    let world = World::new().await;
    let charge = world.pending(1_000).await;
    let pix = world.psp.pay(&charge.txid, 1_000);
    let id = world.psp.dispute(&pix, 400);
    world.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    world.psp.take_back(&pix, 400);
    assert_eq!(world.poll().await, 1);
    assert_eq!((world.money(), world.statuses()), ([600, 0, 0], vec![InfractionStatus::Lost]));
    world.check().await;
}
