//! Disputes that an operator decides. The money stays blocked until the decision, and moves once.

use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::infraction::InfractionStatus::{Cancelled, Lost, Open, UnderReview, Won};
use cais_domain::infraction::ReviewReason::{MissingReturn, ReopenedUnseen, UnexplainedReturn};
use cais_domain::infraction::{InfractionStatus, ReviewReason};
use cais_domain::money::Money;
use cais_ports::UpstreamInfractionStatus::{Accepted, Cancelled as Withdrawn, Rejected};
use cais_ports::{AuditFilter, AuditQueries as _, CallbackState, Clock as _, PageRequest, UpstreamDefense};
use cais_testkit::Crash;
use cais_use_cases::infractions::resolve::{Decision, ResolveError};

use crate::bed::{LONG, PAST_LAG, TestBed};

/// Returns the reason why the newest infraction needs a review.
fn reason(bed: &TestBed) -> Option<ReviewReason> {
    let last = bed.last();
    last.review.filter(|_| last.needs_review()).map(|review| review.reason)
}

const fn lost(centavos: i64) -> Decision {
    Decision::Lost(Some(Money::from_centavos(centavos)))
}

/// Asserts that polls and callbacks do not change an infraction that is marked for review.
async fn stays(bed: &TestBed, id: &str, money: [i64; 3]) {
    let before = bed.all();
    for _ in 0..3 {
        bed.clock.advance(LONG);
        assert_eq!((bed.poll().await, bed.receive_callback(id).await), (0, CallbackState::Done));
        assert_eq!((bed.all(), bed.money()), (before.clone(), money));
    }
    bed.check().await;
}

/// Creates a defended dispute of R$ 6.00 of a Pix of R$ 10.00.
async fn defended() -> (TestBed, cais_domain::end_to_end_id::EndToEndId, String) {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    let id = bed.psp.dispute(&pix, 600);
    bed.poll().await;
    bed.defend("Entregue.").await.unwrap();
    bed.clock.advance(PAST_LAG);
    (bed, pix, id)
}

/// Creates a dispute of R$ 6.00 of a Pix of R$ 10.00. R$ 2.00 was returned, and the dispute was rejected.
async fn unexplained() -> (TestBed, String) {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    let id = bed.psp.dispute(&pix, 600);
    bed.poll().await;
    bed.psp.complete_infraction_return(&pix, 200);
    bed.psp.settle(&id, Rejected);
    assert_eq!((bed.poll().await, reason(&bed)), (1, Some(UnexplainedReturn)));
    (bed, id)
}

#[tokio::test]
async fn acceptance_after_unseen_reopening_is_blocked_for_review() {
    for (first, status) in [(Rejected, Won), (Withdrawn, Cancelled)] {
        let bed = TestBed::new().await;
        let (charge, id) = bed.disputed().await;
        bed.psp.settle(&id, first);
        bed.poll().await;
        bed.clock.advance(PAST_LAG);
        bed.psp.reopen_now(&id);
        bed.psp.accept(&id);
        assert_eq!((bed.poll().await, reason(&bed)), (1, Some(ReopenedUnseen)));
        assert_eq!((bed.statuses(), bed.money()), (vec![status, Open], [0, 0, 1_000]));
        stays(&bed, &id, [0, 0, 1_000]).await;
        assert_eq!(bed.decide(Decision::Lost(None)).await.unwrap().state.status(), Lost);
        let events = [EventType::InfractionOpened, EventType::InfractionLost, EventType::ChargeRefunded];
        assert_eq!((bed.money(), &bed.event_types()[2..]), ([0, 0, 0], &events[..]));
        assert_eq!(bed.charge(charge.id).refunds.done.centavos(), 1_000);
        stays(&bed, &id, [0, 0, 0]).await;
    }
}

#[tokio::test]
async fn decision_against_the_acquirer_opens_nothing_again() {
    for (decision, status) in [(Decision::Won, Won), (Decision::Cancelled, Cancelled), (lost(1), Lost)] {
        let bed = TestBed::new().await;
        let (_, id) = bed.disputed().await;
        bed.psp.settle(&id, Rejected);
        bed.poll().await;
        bed.clock.advance(PAST_LAG);
        bed.psp.settle(&id, Accepted);
        bed.psp.change(&id, |row| row.resolved_at = None);
        bed.poll().await;
        assert_eq!(bed.decide(decision).await.unwrap().state.status(), status);
        let left = if status == Lost { 999 } else { 1_000 };
        stays(&bed, &id, [left, 0, 0]).await;
        bed.psp.reopen(&id);
        assert_eq!(
            (bed.poll().await, bed.statuses()),
            (1, vec![Won, status, Open]),
            "a reopening opens a new infraction"
        );
        bed.check().await;
    }
}

#[tokio::test]
async fn lost_again_unseen_needs_review_if_more_went_back() {
    for (more, expected) in [(0, None), (250, Some(ReopenedUnseen))] {
        let bed = TestBed::new().await;
        let (charge, pix) = bed.paid(1_000).await;
        let id = bed.psp.dispute(&pix, 400);
        bed.poll().await;
        bed.psp.accept(&id);
        bed.poll().await;
        bed.clock.advance(LONG);
        bed.psp.reopen_now(&id);
        bed.psp.settle(&id, Accepted);
        if more > 0 {
            bed.psp.complete_infraction_return(&pix, more);
        }
        assert_eq!((bed.poll().await, reason(&bed)), (usize::from(more > 0), expected));
        if more > 0 {
            stays(&bed, &id, [200, 0, 400]).await;
            bed.decide(lost(more)).await.unwrap();
        }
        stays(&bed, &id, [600 - more, 0, 0]).await;
        assert_eq!(bed.charge(charge.id).refunds.done.centavos(), 400 + more);
    }
}

#[tokio::test]
async fn other_open_infraction_explains_a_return() {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    let (id, other) = (bed.psp.dispute(&pix, 400), bed.psp.dispute(&pix, 300));
    bed.poll().await;
    // The other dispute was accepted too, but the list does not show this yet.
    bed.psp.complete_infraction_return(&pix, 300);
    bed.psp.settle(&id, Rejected);
    assert_eq!((bed.poll().await, bed.statuses()), (1, vec![Won, Open]));
    bed.psp.settle(&other, Accepted);
    assert_eq!((bed.poll().await, bed.statuses()), (1, vec![Won, Lost]));
    stays(&bed, &id, [700, 0, 0]).await;
}

#[tokio::test]
async fn defended_and_reopened_unseen_is_blocked_for_review() {
    for (back, decision, status) in [(0, Decision::Cancelled, Cancelled), (600, lost(600), Lost)] {
        let (bed, pix, id) = defended().await;
        if back > 0 {
            bed.psp.complete_infraction_return(&pix, back);
        }
        bed.psp.reopen_now(&id);
        assert_eq!((bed.poll().await, reason(&bed)), (1, Some(ReopenedUnseen)));
        assert_eq!(bed.statuses(), [UnderReview]);
        stays(&bed, &id, [400, 0, 600]).await;
        assert_eq!(bed.decide(decision).await.unwrap().state.status(), status);
        bed.clock.advance(PAST_LAG);
        assert_eq!((bed.poll().await, bed.statuses()), (1, vec![status, Open]), "the infraction can be defended again");
        assert_eq!(bed.defend("Entregue outra vez.").await.unwrap().state.status(), UnderReview);
        stays(&bed, &id, if back > 0 { [0, 0, 400] } else { [400, 0, 600] }).await;
    }
}

#[tokio::test]
async fn unexplained_return_keeps_a_won_dispute_blocked() {
    for (decision, status, left) in [(lost(200), Lost, 800), (Decision::Won, Won, 1_000)] {
        let (bed, id) = unexplained().await;
        stays(&bed, &id, [400, 0, 600]).await;
        assert_eq!(bed.decide(decision).await.unwrap().state.status(), status);
        stays(&bed, &id, [left, 0, 0]).await;
    }
}

#[tokio::test]
async fn more_returned_than_disputed_needs_review() {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    let id = bed.psp.dispute(&pix, 400);
    bed.poll().await;
    bed.psp.complete_infraction_return(&pix, 401);
    bed.psp.settle(&id, Accepted);
    assert_eq!((bed.poll().await, reason(&bed)), (1, Some(UnexplainedReturn)));
    stays(&bed, &id, [600, 0, 400]).await;
}

#[tokio::test]
async fn lower_amount_of_an_ended_dispute_frees_nothing() {
    for is_defended in [false, true] {
        let bed = TestBed::new().await;
        let (_, pix) = bed.paid(1_000).await;
        let id = bed.psp.dispute(&pix, 1_000);
        bed.poll().await;
        bed.psp.complete_infraction_return(&pix, 900);
        bed.psp.settle(&id, Accepted);
        bed.psp.change(&id, |row| {
            row.amount = Money::from_centavos(400);
            row.defense = is_defended.then_some(UpstreamDefense { text: None, received_at: None });
        });
        assert!(bed.poll().await > 0, "{is_defended}");
        assert_eq!((reason(&bed), bed.money()), (Some(UnexplainedReturn), [0, 0, 1_000]), "{is_defended}");
        bed.decide(lost(900)).await.unwrap();
        stays(&bed, &id, [100, 0, 0]).await;
    }
}

#[tokio::test]
async fn unseen_return_is_judged_when_the_open_dispute_ends() {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    let id = bed.psp.dispute(&pix, 400);
    bed.poll().await;
    bed.psp.accept(&id);
    bed.poll().await;
    bed.clock.advance(LONG);
    bed.psp.reopen_now(&id);
    bed.psp.accept(&id);
    bed.clock.advance(LONG);
    bed.psp.reopen(&id);
    bed.poll().await;
    assert_eq!((bed.statuses(), reason(&bed), bed.money()), (vec![Lost, Open], None, [200, 0, 400]));
    bed.clock.advance(LONG);
    bed.psp.settle(&id, Rejected);
    bed.poll().await;
    assert_eq!((reason(&bed), bed.money()), (Some(UnexplainedReturn), [200, 0, 400]));
    bed.decide(lost(400)).await.unwrap();
    stays(&bed, &id, [200, 0, 0]).await;
}

#[tokio::test]
async fn pix_that_is_not_shown_proves_nothing() {
    let (bed, _, id) = defended().await;
    bed.psp.settle(&id, Rejected);
    bed.psp.hide_received(true);
    assert_eq!((bed.poll().await, bed.money()), (0, [400, 0, 600]));
    bed.psp.hide_received(false);
    assert_eq!((bed.poll().await, bed.money()), (1, [1_000, 0, 0]));
}

#[tokio::test]
async fn reopened_and_accepted_is_lost_when_its_return_is_there() {
    for (back, expected) in [(1_000, None), (200, Some(MissingReturn)), (0, Some(MissingReturn))] {
        let bed = TestBed::new().await;
        let (_, pix) = bed.paid(1_000).await;
        let id = bed.psp.dispute(&pix, 1_000);
        bed.poll().await;
        bed.psp.settle(&id, Rejected);
        bed.poll().await;
        bed.clock.advance(LONG);
        bed.psp.reopen(&id);
        assert_eq!((bed.poll().await, bed.statuses()), (1, vec![Won, Open]));
        bed.clock.advance(LONG);
        bed.psp.settle(&id, Accepted);
        if back > 0 {
            bed.psp.complete_infraction_return(&pix, back);
        }
        assert_eq!(bed.poll().await, usize::from(expected.is_none()), "{back}");
        if expected.is_some() {
            assert_eq!(bed.receive_callback(&id).await, CallbackState::Done, "the return is awaited");
            bed.clock.advance(Duration::from_hours(24));
            assert_eq!((bed.poll().await, reason(&bed), bed.money()), (1, expected, [0, 0, 1_000]));
            let decision = if back > 0 { lost(back) } else { Decision::Won };
            bed.decide(decision).await.unwrap();
        }
        stays(&bed, &id, [1_000 - back, 0, 0]).await;
    }
}

#[tokio::test]
async fn lost_decision_uses_blocks_of_older_disputes() {
    let bed = TestBed::new().await;
    let (charge, pix) = bed.paid(1_000).await;
    let (older, younger) = (bed.psp.dispute(&pix, 1_000), bed.psp.dispute(&pix, 600));
    bed.poll().await;
    bed.defend("Entregue.").await.unwrap();
    bed.clock.advance(PAST_LAG);
    bed.psp.reopen_now(&younger);
    bed.poll().await;
    assert_eq!((bed.last().limit, reason(&bed)), (Money::ZERO, Some(ReopenedUnseen)));
    assert!(matches!(bed.decide(lost(601)).await, Err(ResolveError::TooMuch { .. })));
    bed.decide(lost(500)).await.unwrap();
    assert_eq!((bed.statuses(), bed.money()), (vec![Open, Lost], [0, 0, 500]));
    assert_eq!(bed.charge(charge.id).refunds.done.centavos(), 500);
    bed.check().await;
    bed.psp.settle(&older, Withdrawn);
    bed.psp.settle(&younger, Accepted);
    bed.psp.complete_infraction_return(&pix, 500);
    bed.poll().await;
    assert_eq!((bed.statuses(), bed.money()), (vec![Cancelled, Lost], [500, 0, 0]));
    bed.check().await;
}

#[tokio::test]
async fn decision_is_refused_without_a_mark_or_above_the_dispute() {
    let (bed, _) = unexplained().await;
    let too_much = ResolveError::TooMuch { lost: Money::from_centavos(601), contested: Money::from_centavos(600) };
    assert_eq!(bed.decide(lost(601)).await, Err(too_much));
    assert_eq!((bed.statuses(), bed.money()), (vec![Open], [400, 0, 600]));
    bed.decide(lost(600)).await.unwrap();
    assert_eq!(bed.decide(lost(600)).await, Err(ResolveError::NotMarked(Lost)), "a decision is final");
    bed.disputed().await;
    for decision in [Decision::Won, Decision::Lost(None), Decision::Cancelled] {
        assert_eq!(bed.decide(decision).await, Err(ResolveError::NotMarked(Open)));
    }
    assert_eq!(bed.money(), [400, 0, 1_000]);
    bed.check().await;
}

#[tokio::test]
async fn decisions_at_once_are_one_with_one_audit_row() {
    let (bed, _) = unexplained().await;
    let contended = bed.contended();
    let decisions = (0..8).map(|number| contended.decide(if number % 2 == 0 { lost(200) } else { Decision::Won }));
    let outcomes = futures_util::future::join_all(decisions).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    let page = PageRequest { limit: 9, starting_after: None };
    let rows = bed.store.list_audit(AuditFilter::default(), page).await.unwrap().rows;
    let [row] = &rows[..] else { panic!("{rows:?}") };
    let (infraction, subject) = (bed.last(), row.subject.clone());
    assert_eq!((row.action.as_str(), subject), ("infraction.resolve", infraction.id.to_string()));
    assert_eq!((row.account, row.at), (Some(bed.account.id), bed.clock.now()));
    let read = |text: &Option<String>| serde_json::from_str::<serde_json::Value>(text.as_ref().unwrap()).unwrap();
    let (before, after) = (read(&row.before), read(&row.after));
    assert_eq!(
        (before["status"].as_str(), before["review_reason"].as_str()),
        (Some("open"), Some("unexplained_return"))
    );
    assert_eq!(
        (after["status"].as_str(), &after["note"]),
        (Some(infraction.state.status().as_str()), &"a \"b\" \\".into())
    );
    bed.check().await;
}

#[tokio::test]
async fn interrupted_decision_is_whole_or_absent() {
    // The decision first reduces the block of an older dispute.
    for (commit, crash) in [(1, Crash::Before), (1, Crash::After), (2, Crash::Before), (2, Crash::After)] {
        let bed = TestBed::new().await;
        let (charge, pix) = bed.paid(1_000).await;
        let (_, younger) = (bed.psp.dispute(&pix, 1_000), bed.psp.dispute(&pix, 600));
        bed.poll().await;
        bed.defend("Entregue.").await.unwrap();
        bed.clock.advance(PAST_LAG);
        bed.psp.reopen_now(&younger);
        bed.poll().await;
        bed.store.crash_at(commit, crash);
        assert!(matches!(bed.decide(lost(500)).await, Err(ResolveError::Store(_))), "{commit} {crash:?}");
        bed.check().await;
        let again = bed.decide(lost(500)).await;
        let is_decided = (commit, crash) == (2, Crash::After);
        assert_eq!(again.is_ok(), !is_decided, "{commit} {crash:?} {again:?}");
        let statuses: Vec<InfractionStatus> = bed.statuses();
        assert_eq!((statuses, bed.money()), (vec![Open, Lost], [0, 0, 500]), "{commit} {crash:?}");
        assert_eq!(bed.charge(charge.id).refunds.done.centavos(), 500);
        bed.check().await;
    }
}
