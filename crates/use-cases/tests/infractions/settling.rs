//! A dispute is resolved once, with its whole block. Later reports do not matter.

use std::time::Duration;

use cais_domain::charge::{ChargeStatus, ChargeTerms};
use cais_domain::event::EventType;
use cais_domain::infraction::{InfractionState, InfractionStatus};
use cais_domain::ledger::{LedgerAccount, SystemAccount};
use cais_domain::money::Money;
use cais_ports::{Clock as _, UpstreamInfractionStatus};
use cais_testkit::builders::{a_postback, an_endpoint, main_acquirer, terms};

use crate::bed::TestBed;

/// Returns the amount that left through the main acquirer, minus the amount that arrived.
fn left(bed: &TestBed) -> i64 {
    let account = LedgerAccount::system(SystemAccount::Settlement(main_acquirer()), bed.account.id);
    bed.store.balance(&account).centavos()
}

#[tokio::test]
async fn won_or_cancelled_dispute_releases_its_block() {
    for (upstream, event) in [
        (UpstreamInfractionStatus::Rejected, EventType::InfractionWon),
        (UpstreamInfractionStatus::Cancelled, EventType::InfractionCancelled),
    ] {
        let bed = TestBed::new().await;
        let (charge, id) = bed.disputed().await;
        bed.psp.settle(&id, upstream);
        assert_eq!(bed.poll().await, 1);
        assert_eq!((bed.money(), bed.event_types()), ([1_000, 0, 0], vec![EventType::InfractionOpened, event]));
        assert_eq!(bed.charge(charge.id).open_infractions, 0);
        assert!(bed.refund("now", charge.id, 1_000).await.is_ok(), "the charge can be refunded again");
        bed.check().await;
    }
}

#[tokio::test]
async fn lost_dispute_is_returned_and_counts_as_refund() {
    let bed = TestBed::new().await;
    let (charge, id) = bed.disputed().await;
    bed.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    bed.clock.advance(Duration::from_secs(5));
    let settled_at = bed.clock.now();
    bed.poll().await;
    assert_eq!((bed.money(), left(&bed)), ([0, 0, 0], 0));
    let expected = [EventType::InfractionOpened, EventType::InfractionLost, EventType::ChargeRefunded];
    assert_eq!(bed.event_types(), expected);
    assert_eq!(bed.charge(charge.id).state.status(), ChargeStatus::Refunded);
    let (returned, refunded) = (Money::from_centavos(1_000), Money::from_centavos(1_000));
    assert_eq!(bed.last().state, InfractionState::Lost { returned, refunded, at: settled_at });
    bed.check().await;
}

#[tokio::test]
async fn postback_gets_charge_events_and_no_infraction_events() {
    let bed = TestBed::new().await;
    let postback = Some(a_postback(&an_endpoint(bed.account.id, 0)));
    let charge = bed.pending_with(ChargeTerms { fee: Money::ZERO, postback: postback.clone(), ..terms() }).await;
    let pix = bed.psp.pay(&charge.txid, 1_000);
    let id = bed.psp.dispute(&pix, 1_000);
    bed.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    bed.poll().await;
    for stored in bed.store.events(bed.account.id) {
        let of_the_charge = stored.event.resource == charge.id.to_string();
        assert_eq!(stored.event.postback, postback.clone().filter(|_| of_the_charge), "{:?}", stored.event.kind);
    }
    assert_eq!(bed.event_types().last(), Some(&EventType::ChargeRefunded));
}

#[tokio::test]
async fn shortfall_ends_with_its_infraction() {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    bed.set_available(300).await;
    let id = bed.psp.dispute(&pix, 1_000);
    bed.poll().await;
    bed.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    bed.poll().await;
    assert_eq!((bed.money(), left(&bed)), ([0, 0, 0], -700));
    bed.paid(500).await;
    assert_eq!(bed.money(), [500, 0, 0], "no later credit is blocked");
    bed.check().await;
}

#[tokio::test]
async fn infraction_first_seen_ended_is_opened_and_resolved() {
    for (upstream, money) in [
        (UpstreamInfractionStatus::Accepted, [0, 0, 0]),
        (UpstreamInfractionStatus::Rejected, [1_000, 0, 0]),
        (UpstreamInfractionStatus::Cancelled, [1_000, 0, 0]),
    ] {
        let bed = TestBed::new().await;
        let (_, pix) = bed.paid(1_000).await;
        let id = bed.psp.dispute(&pix, 1_000);
        bed.psp.settle(&id, upstream);
        assert_eq!(bed.poll().await, 1);
        assert_eq!(bed.money(), money);
        assert_eq!(bed.event_types()[0], EventType::InfractionOpened);
        assert_eq!(bed.poll().await, 0);
        bed.check().await;
    }
}

#[tokio::test]
async fn infraction_defended_and_ended_between_polls_is_defended() {
    let bed = TestBed::new().await;
    let (_, id) = bed.disputed().await;
    bed.psp.receive_defense(&id, "Entregue.");
    bed.psp.settle(&id, UpstreamInfractionStatus::Rejected);
    bed.poll().await;
    let expected = [EventType::InfractionOpened, EventType::InfractionUnderReview, EventType::InfractionWon];
    assert_eq!(bed.event_types(), expected);
    assert_eq!(bed.last().defense.unwrap().text.unwrap().as_str(), "Entregue.");
    bed.check().await;
}

#[tokio::test]
async fn first_outcome_stays_after_later_reports() {
    use UpstreamInfractionStatus::{Accepted, Cancelled, Rejected};
    for (first, others, ours) in [
        (Rejected, [Accepted, Cancelled], InfractionStatus::Won),
        (Accepted, [Rejected, Cancelled], InfractionStatus::Lost),
        (Cancelled, [Accepted, Rejected], InfractionStatus::Cancelled),
    ] {
        let bed = TestBed::new().await;
        let (_, id) = bed.disputed().await;
        bed.psp.settle(&id, first);
        bed.poll().await;
        let (money, events) = (bed.money(), bed.event_types());
        for other in others {
            bed.psp.settle(&id, other);
            assert_eq!(bed.poll().await, 0);
        }
        assert_eq!((bed.statuses(), bed.money(), bed.event_types()), (vec![ours], money, events));
        bed.check().await;
    }
}
