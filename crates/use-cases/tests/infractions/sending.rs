//! A defense whose arrival is unknown is found or sent again. No defense is lost, and none is accepted twice.

use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::infraction::InfractionStatus;
use cais_ports::UpstreamInfractionStatus;
use cais_testkit::CapturedLogs;
use cais_testkit::psp::{List, ListReply, Moment, OrderKind, OrderReply};
use cais_use_cases::infractions::defend::DefendError;
use jiff::ToSpan as _;

use crate::bed::{LONG, PAST_LAG, TestBed};

const UNKNOWN: DefendError = DefendError::Unknown { retry_after_s: 2 };

/// Creates a dispute with a defense whose arrival is unknown. Also returns the acquirer's id of the dispute.
async fn unknown(taking: OrderReply) -> (TestBed, String) {
    let bed = TestBed::new().await;
    let (_, id) = bed.disputed().await;
    bed.psp.set_for(OrderKind::Defense, taking);
    bed.psp.set_list_reply(List::Infractions, ListReply::Silent);
    assert_eq!(bed.defend("Entregue.").await, Err(UNKNOWN));
    assert!(bed.last().due_at.is_some());
    bed.psp.set_for(OrderKind::Defense, OrderReply::Accepts);
    (bed, id)
}

#[tokio::test]
async fn defense_that_arrived_is_not_sent_again() {
    let (bed, _) = unknown(OrderReply::LosesReplies).await;
    for _ in 0..3 {
        bed.clock.advance(LONG);
        assert_eq!(bed.resume().await, 0, "the acquirer does not answer");
    }
    bed.psp.set_list_reply(List::Infractions, ListReply::Pages(9));
    bed.clock.advance(LONG);
    assert_eq!(bed.resume().await, 1);
    assert_eq!((bed.psp.defenses(), bed.statuses()), ((1, 1), vec![InfractionStatus::UnderReview]));
    assert_eq!(bed.event_types(), [EventType::InfractionOpened, EventType::InfractionUnderReview]);
    bed.check().await;
}

#[tokio::test]
async fn failed_search_for_defense_keeps_shared_limit() {
    let (bed, _) = unknown(OrderReply::LosesReplies).await;
    let limits = format!("{:?}", bed.ports.limits);
    for listing in [ListReply::Endless, ListReply::Down] {
        bed.psp.set_list_reply(List::Infractions, listing);
        bed.clock.advance(LONG);
        assert_eq!(bed.resume().await, 0);
        assert_eq!(format!("{:?}", bed.ports.limits), limits, "payments and payouts keep their limit");
    }
}

#[tokio::test]
async fn poll_finds_arrived_defense() {
    let (bed, _) = unknown(OrderReply::LosesReplies).await;
    bed.psp.set_list_reply(List::Infractions, ListReply::Pages(9));
    assert_eq!(bed.poll().await, 1);
    assert_eq!((bed.statuses(), bed.last().due_at), (vec![InfractionStatus::UnderReview], None));
}

#[tokio::test]
async fn missing_defense_is_sent_again_once_not_in_transit() {
    let (bed, _) = unknown(OrderReply::Silent).await;
    bed.psp.set_list_reply(List::Infractions, ListReply::Pages(9));
    bed.clock.advance(Duration::from_secs(30));
    assert_eq!((bed.resume().await, bed.psp.defenses()), (0, (1, 0)), "the first request may still arrive");
    bed.clock.advance(PAST_LAG);
    assert_eq!((bed.resume().await, bed.psp.defenses()), (1, (2, 1)));
    assert_eq!(bed.statuses(), [InfractionStatus::UnderReview]);
    assert_eq!(bed.last().defense.unwrap().text.unwrap().as_str(), "Entregue.");
    bed.check().await;
}

#[tokio::test]
async fn two_nodes_send_missing_defense_once() {
    let (bed, _) = unknown(OrderReply::Silent).await;
    bed.psp.set_list_reply(List::Infractions, ListReply::Pages(9));
    bed.clock.advance(PAST_LAG);
    let contended = bed.contended();
    futures_util::future::join_all((0..6).map(|_| contended.resume())).await;
    assert_eq!((bed.psp.defenses(), bed.statuses()), ((2, 1), vec![InfractionStatus::UnderReview]));
    bed.check().await;
}

#[tokio::test]
async fn hidden_defense_is_proven_by_duplicate_reply() {
    let (bed, _) = unknown(OrderReply::LosesReplies).await;
    bed.psp.set_list_reply(List::Infractions, ListReply::Pages(9));
    bed.psp.hide_defenses(true);
    bed.clock.advance(PAST_LAG);
    assert_eq!(bed.resume().await, 1);
    assert_eq!((bed.psp.defenses(), bed.statuses()), ((2, 1), vec![InfractionStatus::UnderReview]));
    assert!(bed.last().defense.unwrap().submitted_at.is_some());
    bed.check().await;
}

#[tokio::test]
async fn late_defense_is_withdrawn_by_worker() {
    let (bed, id) = unknown(OrderReply::Silent).await;
    bed.psp.set_list_reply(List::Infractions, ListReply::Pages(9));
    bed.psp.change(&id, |row| row.deadline_at = row.deadline_at.map(|at| at - 168.hours()));
    bed.clock.advance(PAST_LAG);
    assert_eq!(bed.resume().await, 1);
    assert_eq!((bed.last().defense, bed.statuses()), (None, vec![InfractionStatus::Open]));
    assert_eq!((bed.psp.defenses(), bed.defend("Entregue.").await), ((2, 0), Err(DefendError::TooLate)));
    bed.check().await;
}

#[tokio::test]
async fn late_reply_for_arrived_defense_does_not_withdraw_it() {
    for taking in [OrderReply::TooLate, OrderReply::Refuses] {
        let (bed, _) = unknown(OrderReply::LosesReplies).await;
        bed.psp.set_list_reply(List::Infractions, ListReply::Pages(9));
        bed.psp.hide_defenses(true);
        bed.psp.set_for(OrderKind::Defense, taking);
        let psp = bed.psp.clone();
        bed.psp.when(Moment::Ordered, move || psp.hide_defenses(false));
        bed.clock.advance(PAST_LAG);
        assert_eq!(bed.resume().await, 1);
        assert_eq!(bed.statuses(), [InfractionStatus::UnderReview], "{taking:?}");
        assert_eq!(bed.last().defense.unwrap().text.unwrap().as_str(), "Entregue.");
        bed.check().await;
    }
}

#[tokio::test]
async fn refusal_does_not_withdraw_defense_sent_again_since() {
    let bed = TestBed::new().await;
    bed.disputed().await;
    bed.psp.set_for(OrderKind::Defense, OrderReply::Down);
    bed.psp.set_list_reply(List::Infractions, ListReply::Pages(9));
    let other = bed.clone();
    // The refusal takes so long that a worker has sent the defense again, and that request has no reply.
    bed.psp.when(Moment::Ordered, move || {
        other.psp.set_for(OrderKind::Defense, OrderReply::Silent);
        other.clock.advance(PAST_LAG);
        futures_util::FutureExt::now_or_never(other.resume()).unwrap();
    });
    assert_eq!(bed.defend("Entregue.").await, Err(UNKNOWN));
    assert!(bed.last().defense.is_some());
    bed.psp.set_for(OrderKind::Defense, OrderReply::Accepts);
    bed.clock.advance(LONG);
    assert_eq!(bed.resume().await, 1);
    assert_eq!((bed.psp.defenses(), bed.statuses()), ((3, 1), vec![InfractionStatus::UnderReview]));
    bed.check().await;
}

#[tokio::test]
async fn refused_defense_is_withdrawn_and_unavailable_is_retried() {
    let (bed, _) = unknown(OrderReply::Silent).await;
    bed.psp.set_list_reply(List::Infractions, ListReply::Pages(9));
    bed.psp.set_for(OrderKind::Defense, OrderReply::Down);
    for _ in 0..3 {
        bed.clock.advance(LONG);
        assert_eq!(bed.resume().await, 0);
        assert!(bed.last().defense.is_some());
    }
    bed.psp.set_for(OrderKind::Defense, OrderReply::Refuses);
    bed.clock.advance(LONG);
    assert_eq!(bed.resume().await, 1);
    assert_eq!(bed.last().defense, None);
    bed.psp.set_for(OrderKind::Defense, OrderReply::Accepts);
    assert!(bed.defend("Outra.").await.is_ok(), "the merchant may try again");
    bed.check().await;
}

#[tokio::test]
async fn defense_submitted_elsewhere_meanwhile_replaces_ours() {
    let (bed, id) = unknown(OrderReply::Silent).await;
    bed.psp.receive_defense(&id, "Do portal.");
    bed.psp.set_list_reply(List::Infractions, ListReply::Pages(9));
    bed.clock.advance(PAST_LAG);
    assert_eq!(bed.resume().await, 1);
    assert_eq!(bed.last().defense.unwrap().text.unwrap().as_str(), "Do portal.");
    assert_eq!(bed.psp.defenses(), (1, 0));
    assert_eq!(bed.defend("Entregue.").await, Err(DefendError::Defended(InfractionStatus::UnderReview)));
    bed.check().await;
}

#[tokio::test]
async fn end_of_dispute_ends_defense_checks() {
    let (bed, id) = unknown(OrderReply::Silent).await;
    bed.psp.settle(&id, UpstreamInfractionStatus::Rejected);
    bed.psp.set_list_reply(List::Infractions, ListReply::Pages(9));
    bed.clock.advance(PAST_LAG);
    assert_eq!(bed.resume().await, 1);
    assert_eq!((bed.statuses(), bed.psp.defenses()), (vec![InfractionStatus::Won], (1, 0)));
    assert_eq!((bed.resume().await, bed.last().due_at), (0, None));
    bed.check().await;
}

#[tokio::test]
async fn defense_of_unlisted_infraction_is_sent() {
    let (bed, _) = unknown(OrderReply::Silent).await;
    bed.psp.set_list_reply(List::Infractions, ListReply::Empty);
    bed.clock.advance(PAST_LAG);
    assert_eq!((bed.resume().await, bed.psp.defenses()), (1, (2, 1)));
    bed.check().await;
}

#[tokio::test]
async fn refused_defense_of_an_unlisted_infraction_raises_an_alert() {
    let (bed, _) = unknown(OrderReply::LosesReplies).await;
    bed.psp.set_list_reply(List::Infractions, ListReply::Empty);
    bed.psp.set_for(OrderKind::Defense, OrderReply::Refuses);
    bed.clock.advance(PAST_LAG);
    let logs = CapturedLogs::start();
    assert_eq!((bed.resume().await, bed.psp.defenses()), (0, (2, 1)));
    let alerts = logs.alerts("defense_outcome_unproven");
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    assert_eq!(alerts[0]["infraction"], bed.last().id.to_string());
    assert!(bed.last().defense.is_some(), "the defense is not withdrawn");
    bed.psp.set_list_reply(List::Infractions, ListReply::Pages(9));
    bed.clock.advance(LONG);
    assert_eq!((bed.resume().await, bed.statuses()), (1, vec![InfractionStatus::UnderReview]));
    bed.check().await;
}
