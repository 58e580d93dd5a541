//! A dispute is resolved once, with its whole block. Later reports do not matter.

use std::time::Duration;

use cais_domain::charge::{ChargeStatus, ChargeTerms};
use cais_domain::event::EventType;
use cais_domain::infraction::{InfractionState, InfractionStatus};
use cais_domain::ledger::{LedgerAccount, SystemAccount};
use cais_domain::money::Money;
use cais_ports::{Clock as _, UpstreamInfractionStatus};
use cais_testkit::builders::{a_postback, an_endpoint, main_acquirer, terms};

use crate::world::World;

/// Returns the amount that left through the main acquirer, minus the amount that arrived.
fn left(world: &World) -> i64 {
    let account = LedgerAccount::system(SystemAccount::Settlement(main_acquirer()), world.account.id);
    world.store.balance(&account).centavos()
}

#[tokio::test]
async fn won_or_cancelled_dispute_releases_its_block() {
    for (upstream, event) in [
        (UpstreamInfractionStatus::Rejected, EventType::InfractionWon),
        (UpstreamInfractionStatus::Cancelled, EventType::InfractionCancelled),
    ] {
        let world = World::new().await;
        let (charge, id) = world.disputed().await;
        world.psp.settle(&id, upstream);
        assert_eq!(world.poll().await, 1);
        assert_eq!((world.money(), world.event_types()), ([1_000, 0, 0], vec![EventType::InfractionOpened, event]));
        assert_eq!(world.charge(charge.id).open_infractions, 0);
        assert!(world.refund("now", charge.id, 1_000).await.is_ok(), "the charge can be refunded again");
        world.check().await;
    }
}

#[tokio::test]
async fn lost_dispute_is_returned_and_counts_as_refund() {
    let world = World::new().await;
    let (charge, id) = world.disputed().await;
    world.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    world.clock.advance(Duration::from_secs(5));
    let settled_at = world.clock.now();
    world.poll().await;
    assert_eq!((world.money(), left(&world)), ([0, 0, 0], 0));
    let expected = [EventType::InfractionOpened, EventType::InfractionLost, EventType::ChargeRefunded];
    assert_eq!(world.event_types(), expected);
    assert_eq!(world.charge(charge.id).state.status(), ChargeStatus::Refunded);
    let (returned, refunded) = (Money::from_centavos(1_000), Money::from_centavos(1_000));
    assert_eq!(world.last().state, InfractionState::Lost { returned, refunded, at: settled_at });
    world.check().await;
}

#[tokio::test]
async fn postback_gets_charge_events_and_no_infraction_events() {
    let world = World::new().await;
    let postback = Some(a_postback(&an_endpoint(world.account.id, 0)));
    let charge = world.waiting(ChargeTerms { fee: Money::ZERO, postback: postback.clone(), ..terms() }).await;
    let pix = world.psp.pay(&charge.txid, 1_000);
    let id = world.psp.dispute(&pix, 1_000);
    world.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    world.poll().await;
    for stored in world.store.events(world.account.id) {
        let of_the_charge = stored.event.resource == charge.id.to_string();
        assert_eq!(stored.event.postback, postback.clone().filter(|_| of_the_charge), "{:?}", stored.event.kind);
    }
    assert_eq!(world.event_types().last(), Some(&EventType::ChargeRefunded));
}

#[tokio::test]
async fn shortfall_ends_with_its_infraction() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    world.spend_all_but(300).await;
    let id = world.psp.dispute(&pix, 1_000);
    world.poll().await;
    world.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    world.poll().await;
    assert_eq!((world.money(), left(&world)), ([0, 0, 0], -700));
    world.paid(500).await;
    assert_eq!(world.money(), [500, 0, 0], "no later credit is blocked");
    world.check().await;
}

#[tokio::test]
async fn infraction_first_seen_ended_is_opened_and_resolved() {
    for (upstream, money) in [
        (UpstreamInfractionStatus::Accepted, [0, 0, 0]),
        (UpstreamInfractionStatus::Rejected, [1_000, 0, 0]),
        (UpstreamInfractionStatus::Cancelled, [1_000, 0, 0]),
    ] {
        let world = World::new().await;
        let (_, pix) = world.paid(1_000).await;
        let id = world.psp.dispute(&pix, 1_000);
        world.psp.settle(&id, upstream);
        assert_eq!(world.poll().await, 1);
        assert_eq!(world.money(), money);
        assert_eq!(world.event_types()[0], EventType::InfractionOpened);
        assert_eq!(world.poll().await, 0);
        world.check().await;
    }
}

#[tokio::test]
async fn infraction_defended_and_ended_between_polls_is_defended() {
    let world = World::new().await;
    let (_, id) = world.disputed().await;
    world.psp.receive_defense(&id, "Entregue.");
    world.psp.settle(&id, UpstreamInfractionStatus::Rejected);
    world.poll().await;
    let expected = [EventType::InfractionOpened, EventType::InfractionUnderReview, EventType::InfractionWon];
    assert_eq!(world.event_types(), expected);
    assert_eq!(world.last().defense.unwrap().text.unwrap().as_str(), "Entregue.");
    world.check().await;
}

#[tokio::test]
async fn first_outcome_stays_after_later_reports() {
    use UpstreamInfractionStatus::{Accepted, Cancelled, Rejected};
    for (first, others, ours) in [
        (Rejected, [Accepted, Cancelled], InfractionStatus::Won),
        (Accepted, [Rejected, Cancelled], InfractionStatus::Lost),
        (Cancelled, [Accepted, Rejected], InfractionStatus::Cancelled),
    ] {
        let world = World::new().await;
        let (_, id) = world.disputed().await;
        world.psp.settle(&id, first);
        world.poll().await;
        let (money, events) = (world.money(), world.event_types());
        for other in others {
            world.psp.settle(&id, other);
            assert_eq!(world.poll().await, 0);
        }
        assert_eq!((world.statuses(), world.money(), world.event_types()), (vec![ours], money, events));
        world.check().await;
    }
}
