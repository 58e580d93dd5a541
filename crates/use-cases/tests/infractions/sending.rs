//! A defense whose arrival is unknown is found or sent again. No defense is lost, and none is accepted twice.

use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::infraction::InfractionStatus;
use cais_ports::UpstreamInfractionStatus;
use cais_testkit::CapturedLogs;
use cais_testkit::psp::{List, Listing, Moment, OrderKind, Sending};
use cais_use_cases::infractions::defend::DefendError;
use jiff::ToSpan as _;

use crate::world::{A_WHILE, LONG, World};

const UNKNOWN: DefendError = DefendError::Unknown { retry_after_s: 2 };

/// Creates a dispute with a defense whose arrival is unknown. Also returns the acquirer's id of the dispute.
async fn unknown(taking: Sending) -> (World, String) {
    let world = World::new().await;
    let (_, id) = world.disputed().await;
    world.psp.set_for(OrderKind::Defense, taking);
    world.psp.set_list(List::Infractions, Listing::Silent);
    assert_eq!(world.defend("Entregue.").await, Err(UNKNOWN));
    assert!(world.last().due_at.is_some());
    world.psp.set_for(OrderKind::Defense, Sending::Takes);
    (world, id)
}

#[tokio::test]
async fn defense_that_arrived_is_not_sent_again() {
    let (world, _) = unknown(Sending::LosesReplies).await;
    for _ in 0..3 {
        world.clock.advance(LONG);
        assert_eq!(world.resume().await, 0, "the acquirer does not answer");
    }
    world.psp.set_list(List::Infractions, Listing::Pages(9));
    world.clock.advance(LONG);
    assert_eq!(world.resume().await, 1);
    assert_eq!((world.psp.defenses(), world.statuses()), ((1, 1), vec![InfractionStatus::UnderReview]));
    assert_eq!(world.event_types(), [EventType::InfractionOpened, EventType::InfractionUnderReview]);
    world.check().await;
}

#[tokio::test]
async fn failed_search_for_defense_keeps_shared_limit() {
    let (world, _) = unknown(Sending::LosesReplies).await;
    let limits = format!("{:?}", world.ports.limits);
    for listing in [Listing::Endless, Listing::Down] {
        world.psp.set_list(List::Infractions, listing);
        world.clock.advance(LONG);
        assert_eq!(world.resume().await, 0);
        assert_eq!(format!("{:?}", world.ports.limits), limits, "payments and payouts keep their limit");
    }
}

#[tokio::test]
async fn poll_finds_arrived_defense() {
    let (world, _) = unknown(Sending::LosesReplies).await;
    world.psp.set_list(List::Infractions, Listing::Pages(9));
    assert_eq!(world.poll().await, 1);
    assert_eq!((world.statuses(), world.last().due_at), (vec![InfractionStatus::UnderReview], None));
}

#[tokio::test]
async fn missing_defense_is_sent_again_once_not_in_transit() {
    let (world, _) = unknown(Sending::Silent).await;
    world.psp.set_list(List::Infractions, Listing::Pages(9));
    world.clock.advance(Duration::from_secs(30));
    assert_eq!((world.resume().await, world.psp.defenses()), (0, (1, 0)), "the first request may still arrive");
    world.clock.advance(A_WHILE);
    assert_eq!((world.resume().await, world.psp.defenses()), (1, (2, 1)));
    assert_eq!(world.statuses(), [InfractionStatus::UnderReview]);
    assert_eq!(world.last().defense.unwrap().text.unwrap().as_str(), "Entregue.");
    world.check().await;
}

#[tokio::test]
async fn two_nodes_send_missing_defense_once() {
    let (world, _) = unknown(Sending::Silent).await;
    world.psp.set_list(List::Infractions, Listing::Pages(9));
    world.clock.advance(A_WHILE);
    let contended = world.contended();
    futures_util::future::join_all((0..6).map(|_| contended.resume())).await;
    assert_eq!((world.psp.defenses(), world.statuses()), ((2, 1), vec![InfractionStatus::UnderReview]));
    world.check().await;
}

#[tokio::test]
async fn hidden_defense_is_proven_by_duplicate_reply() {
    let (world, _) = unknown(Sending::LosesReplies).await;
    world.psp.set_list(List::Infractions, Listing::Pages(9));
    world.psp.hide_defenses(true);
    world.clock.advance(A_WHILE);
    assert_eq!(world.resume().await, 1);
    assert_eq!((world.psp.defenses(), world.statuses()), ((2, 1), vec![InfractionStatus::UnderReview]));
    assert!(world.last().defense.unwrap().submitted_at.is_some());
    world.check().await;
}

#[tokio::test]
async fn late_defense_is_withdrawn_by_worker() {
    let (world, id) = unknown(Sending::Silent).await;
    world.psp.set_list(List::Infractions, Listing::Pages(9));
    world.psp.change(&id, |row| row.deadline_at = row.deadline_at.map(|at| at - 168.hours()));
    world.clock.advance(A_WHILE);
    assert_eq!(world.resume().await, 1);
    assert_eq!((world.last().defense, world.statuses()), (None, vec![InfractionStatus::Open]));
    assert_eq!((world.psp.defenses(), world.defend("Entregue.").await), ((2, 0), Err(DefendError::TooLate)));
    world.check().await;
}

#[tokio::test]
async fn late_reply_for_arrived_defense_does_not_withdraw_it() {
    for taking in [Sending::TooLate, Sending::Refuses] {
        let (world, _) = unknown(Sending::LosesReplies).await;
        world.psp.set_list(List::Infractions, Listing::Pages(9));
        world.psp.hide_defenses(true);
        world.psp.set_for(OrderKind::Defense, taking);
        let psp = world.psp.clone();
        world.psp.when(Moment::Ordered, move || psp.hide_defenses(false));
        world.clock.advance(A_WHILE);
        assert_eq!(world.resume().await, 1);
        assert_eq!(world.statuses(), [InfractionStatus::UnderReview], "{taking:?}");
        assert_eq!(world.last().defense.unwrap().text.unwrap().as_str(), "Entregue.");
        world.check().await;
    }
}

#[tokio::test]
async fn refusal_does_not_withdraw_defense_sent_again_since() {
    let world = World::new().await;
    world.disputed().await;
    world.psp.set_for(OrderKind::Defense, Sending::Down);
    world.psp.set_list(List::Infractions, Listing::Pages(9));
    let other = world.clone();
    // The refusal takes so long that a worker has sent the defense again, and that request has no reply.
    world.psp.when(Moment::Ordered, move || {
        other.psp.set_for(OrderKind::Defense, Sending::Silent);
        other.clock.advance(A_WHILE);
        futures_util::FutureExt::now_or_never(other.resume()).unwrap();
    });
    assert_eq!(world.defend("Entregue.").await, Err(UNKNOWN));
    assert!(world.last().defense.is_some());
    world.psp.set_for(OrderKind::Defense, Sending::Takes);
    world.clock.advance(LONG);
    assert_eq!(world.resume().await, 1);
    assert_eq!((world.psp.defenses(), world.statuses()), ((3, 1), vec![InfractionStatus::UnderReview]));
    world.check().await;
}

#[tokio::test]
async fn refused_defense_is_withdrawn_and_unavailable_is_retried() {
    let (world, _) = unknown(Sending::Silent).await;
    world.psp.set_list(List::Infractions, Listing::Pages(9));
    world.psp.set_for(OrderKind::Defense, Sending::Down);
    for _ in 0..3 {
        world.clock.advance(LONG);
        assert_eq!(world.resume().await, 0);
        assert!(world.last().defense.is_some());
    }
    world.psp.set_for(OrderKind::Defense, Sending::Refuses);
    world.clock.advance(LONG);
    assert_eq!(world.resume().await, 1);
    assert_eq!(world.last().defense, None);
    world.psp.set_for(OrderKind::Defense, Sending::Takes);
    assert!(world.defend("Outra.").await.is_ok(), "the merchant may try again");
    world.check().await;
}

#[tokio::test]
async fn defense_submitted_elsewhere_meanwhile_replaces_ours() {
    let (world, id) = unknown(Sending::Silent).await;
    world.psp.receive_defense(&id, "Do portal.");
    world.psp.set_list(List::Infractions, Listing::Pages(9));
    world.clock.advance(A_WHILE);
    assert_eq!(world.resume().await, 1);
    assert_eq!(world.last().defense.unwrap().text.unwrap().as_str(), "Do portal.");
    assert_eq!(world.psp.defenses(), (1, 0));
    assert_eq!(world.defend("Entregue.").await, Err(DefendError::Defended(InfractionStatus::UnderReview)));
    world.check().await;
}

#[tokio::test]
async fn end_of_dispute_ends_defense_checks() {
    let (world, id) = unknown(Sending::Silent).await;
    world.psp.settle(&id, UpstreamInfractionStatus::Rejected);
    world.psp.set_list(List::Infractions, Listing::Pages(9));
    world.clock.advance(A_WHILE);
    assert_eq!(world.resume().await, 1);
    assert_eq!((world.statuses(), world.psp.defenses()), (vec![InfractionStatus::Won], (1, 0)));
    assert_eq!((world.resume().await, world.last().due_at), (0, None));
    world.check().await;
}

#[tokio::test]
async fn defense_of_unlisted_infraction_is_sent() {
    let (world, _) = unknown(Sending::Silent).await;
    world.psp.set_list(List::Infractions, Listing::Empty);
    world.clock.advance(A_WHILE);
    assert_eq!((world.resume().await, world.psp.defenses()), (1, (2, 1)));
    world.check().await;
}

#[tokio::test]
async fn refused_defense_of_an_unlisted_infraction_raises_an_alert() {
    let (world, _) = unknown(Sending::LosesReplies).await;
    world.psp.set_list(List::Infractions, Listing::Empty);
    world.psp.set_for(OrderKind::Defense, Sending::Refuses);
    world.clock.advance(A_WHILE);
    let logs = CapturedLogs::start();
    assert_eq!((world.resume().await, world.psp.defenses()), (0, (2, 1)));
    let alerts = logs.alerts("defense_outcome_unproven");
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    assert_eq!(alerts[0]["infraction"], world.last().id.to_string());
    assert!(world.last().defense.is_some(), "the defense is not withdrawn");
    world.psp.set_list(List::Infractions, Listing::Pages(9));
    world.clock.advance(LONG);
    assert_eq!((world.resume().await, world.statuses()), (1, vec![InfractionStatus::UnderReview]));
    world.check().await;
}
