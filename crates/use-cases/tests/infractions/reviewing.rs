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

use crate::world::{A_WHILE, LONG, World};

/// Returns the reason why the newest infraction needs a review.
fn reason(world: &World) -> Option<ReviewReason> {
    let last = world.last();
    last.review.filter(|_| last.needs_review()).map(|review| review.reason)
}

const fn lost(centavos: i64) -> Decision {
    Decision::Lost(Some(Money::from_centavos(centavos)))
}

/// Asserts that polls and callbacks do not change an infraction that is marked for review.
async fn stays(world: &World, id: &str, money: [i64; 3]) {
    let before = world.all();
    for _ in 0..3 {
        world.clock.advance(LONG);
        assert_eq!((world.poll().await, world.call_back(id).await), (0, CallbackState::Done));
        assert_eq!((world.all(), world.money()), (before.clone(), money));
    }
    world.check().await;
}

/// Creates a defended dispute of R$ 6.00 of a Pix of R$ 10.00.
async fn defended() -> (World, cais_domain::end_to_end_id::EndToEndId, String) {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    let id = world.psp.dispute(&pix, 600);
    world.poll().await;
    world.defend("Entregue.").await.unwrap();
    world.clock.advance(A_WHILE);
    (world, pix, id)
}

/// Creates a dispute of R$ 6.00 of a Pix of R$ 10.00. R$ 2.00 was returned, and the dispute was rejected.
async fn unexplained() -> (World, String) {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    let id = world.psp.dispute(&pix, 600);
    world.poll().await;
    world.psp.take_back(&pix, 200);
    world.psp.settle(&id, Rejected);
    assert_eq!((world.poll().await, reason(&world)), (1, Some(UnexplainedReturn)));
    (world, id)
}

#[tokio::test]
async fn acceptance_after_unseen_reopening_is_blocked_for_review() {
    for (first, status) in [(Rejected, Won), (Withdrawn, Cancelled)] {
        let world = World::new().await;
        let (charge, id) = world.disputed().await;
        world.psp.settle(&id, first);
        world.poll().await;
        world.clock.advance(A_WHILE);
        world.psp.reopen_now(&id);
        world.psp.accept(&id);
        assert_eq!((world.poll().await, reason(&world)), (1, Some(ReopenedUnseen)));
        assert_eq!((world.statuses(), world.money()), (vec![status, Open], [0, 0, 1_000]));
        stays(&world, &id, [0, 0, 1_000]).await;
        assert_eq!(world.decide(Decision::Lost(None)).await.unwrap().state.status(), Lost);
        let events = [EventType::InfractionOpened, EventType::InfractionLost, EventType::ChargeRefunded];
        assert_eq!((world.money(), &world.event_types()[2..]), ([0, 0, 0], &events[..]));
        assert_eq!(world.charge(charge.id).refunds.done.centavos(), 1_000);
        stays(&world, &id, [0, 0, 0]).await;
    }
}

#[tokio::test]
async fn decision_against_the_acquirer_opens_nothing_again() {
    for (decision, status) in [(Decision::Won, Won), (Decision::Cancelled, Cancelled), (lost(1), Lost)] {
        let world = World::new().await;
        let (_, id) = world.disputed().await;
        world.psp.settle(&id, Rejected);
        world.poll().await;
        world.clock.advance(A_WHILE);
        world.psp.settle(&id, Accepted);
        world.psp.change(&id, |row| row.resolved_at = None);
        world.poll().await;
        assert_eq!(world.decide(decision).await.unwrap().state.status(), status);
        let left = if status == Lost { 999 } else { 1_000 };
        stays(&world, &id, [left, 0, 0]).await;
        world.psp.reopen(&id);
        assert_eq!(
            (world.poll().await, world.statuses()),
            (1, vec![Won, status, Open]),
            "a reopening opens a new infraction"
        );
        world.check().await;
    }
}

#[tokio::test]
async fn lost_again_unseen_needs_review_if_more_went_back() {
    for (more, expected) in [(0, None), (250, Some(ReopenedUnseen))] {
        let world = World::new().await;
        let (charge, pix) = world.paid(1_000).await;
        let id = world.psp.dispute(&pix, 400);
        world.poll().await;
        world.psp.accept(&id);
        world.poll().await;
        world.clock.advance(LONG);
        world.psp.reopen_now(&id);
        world.psp.settle(&id, Accepted);
        if more > 0 {
            world.psp.take_back(&pix, more);
        }
        assert_eq!((world.poll().await, reason(&world)), (usize::from(more > 0), expected));
        if more > 0 {
            stays(&world, &id, [200, 0, 400]).await;
            world.decide(lost(more)).await.unwrap();
        }
        stays(&world, &id, [600 - more, 0, 0]).await;
        assert_eq!(world.charge(charge.id).refunds.done.centavos(), 400 + more);
    }
}

#[tokio::test]
async fn other_open_infraction_explains_a_return() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    let (id, other) = (world.psp.dispute(&pix, 400), world.psp.dispute(&pix, 300));
    world.poll().await;
    // The other dispute was accepted too, but the list does not show this yet.
    world.psp.take_back(&pix, 300);
    world.psp.settle(&id, Rejected);
    assert_eq!((world.poll().await, world.statuses()), (1, vec![Won, Open]));
    world.psp.settle(&other, Accepted);
    assert_eq!((world.poll().await, world.statuses()), (1, vec![Won, Lost]));
    stays(&world, &id, [700, 0, 0]).await;
}

#[tokio::test]
async fn defended_and_reopened_unseen_is_blocked_for_review() {
    for (back, decision, status) in [(0, Decision::Cancelled, Cancelled), (600, lost(600), Lost)] {
        let (world, pix, id) = defended().await;
        if back > 0 {
            world.psp.take_back(&pix, back);
        }
        world.psp.reopen_now(&id);
        assert_eq!((world.poll().await, reason(&world)), (1, Some(ReopenedUnseen)));
        assert_eq!(world.statuses(), [UnderReview]);
        stays(&world, &id, [400, 0, 600]).await;
        assert_eq!(world.decide(decision).await.unwrap().state.status(), status);
        world.clock.advance(A_WHILE);
        assert_eq!(
            (world.poll().await, world.statuses()),
            (1, vec![status, Open]),
            "the infraction can be defended again"
        );
        assert_eq!(world.defend("Entregue outra vez.").await.unwrap().state.status(), UnderReview);
        stays(&world, &id, if back > 0 { [0, 0, 400] } else { [400, 0, 600] }).await;
    }
}

#[tokio::test]
async fn unexplained_return_keeps_a_won_dispute_blocked() {
    for (decision, status, left) in [(lost(200), Lost, 800), (Decision::Won, Won, 1_000)] {
        let (world, id) = unexplained().await;
        stays(&world, &id, [400, 0, 600]).await;
        assert_eq!(world.decide(decision).await.unwrap().state.status(), status);
        stays(&world, &id, [left, 0, 0]).await;
    }
}

#[tokio::test]
async fn more_returned_than_disputed_needs_review() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    let id = world.psp.dispute(&pix, 400);
    world.poll().await;
    world.psp.take_back(&pix, 401);
    world.psp.settle(&id, Accepted);
    assert_eq!((world.poll().await, reason(&world)), (1, Some(UnexplainedReturn)));
    stays(&world, &id, [600, 0, 400]).await;
}

#[tokio::test]
async fn lower_amount_of_an_ended_dispute_frees_nothing() {
    for is_defended in [false, true] {
        let world = World::new().await;
        let (_, pix) = world.paid(1_000).await;
        let id = world.psp.dispute(&pix, 1_000);
        world.poll().await;
        world.psp.take_back(&pix, 900);
        world.psp.settle(&id, Accepted);
        world.psp.change(&id, |row| {
            row.amount = Money::from_centavos(400);
            row.defense = is_defended.then_some(UpstreamDefense { text: None, received_at: None });
        });
        assert!(world.poll().await > 0, "{is_defended}");
        assert_eq!((reason(&world), world.money()), (Some(UnexplainedReturn), [0, 0, 1_000]), "{is_defended}");
        world.decide(lost(900)).await.unwrap();
        stays(&world, &id, [100, 0, 0]).await;
    }
}

#[tokio::test]
async fn unseen_return_is_judged_when_the_open_dispute_ends() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    let id = world.psp.dispute(&pix, 400);
    world.poll().await;
    world.psp.accept(&id);
    world.poll().await;
    world.clock.advance(LONG);
    world.psp.reopen_now(&id);
    world.psp.accept(&id);
    world.clock.advance(LONG);
    world.psp.reopen(&id);
    world.poll().await;
    assert_eq!((world.statuses(), reason(&world), world.money()), (vec![Lost, Open], None, [200, 0, 400]));
    world.clock.advance(LONG);
    world.psp.settle(&id, Rejected);
    world.poll().await;
    assert_eq!((reason(&world), world.money()), (Some(UnexplainedReturn), [200, 0, 400]));
    world.decide(lost(400)).await.unwrap();
    stays(&world, &id, [200, 0, 0]).await;
}

#[tokio::test]
async fn pix_that_is_not_shown_proves_nothing() {
    let (world, _, id) = defended().await;
    world.psp.settle(&id, Rejected);
    world.psp.hide_received(true);
    assert_eq!((world.poll().await, world.money()), (0, [400, 0, 600]));
    world.psp.hide_received(false);
    assert_eq!((world.poll().await, world.money()), (1, [1_000, 0, 0]));
}

#[tokio::test]
async fn reopened_and_accepted_is_lost_when_its_return_is_there() {
    for (back, expected) in [(1_000, None), (200, Some(MissingReturn)), (0, Some(MissingReturn))] {
        let world = World::new().await;
        let (_, pix) = world.paid(1_000).await;
        let id = world.psp.dispute(&pix, 1_000);
        world.poll().await;
        world.psp.settle(&id, Rejected);
        world.poll().await;
        world.clock.advance(LONG);
        world.psp.reopen(&id);
        assert_eq!((world.poll().await, world.statuses()), (1, vec![Won, Open]));
        world.clock.advance(LONG);
        world.psp.settle(&id, Accepted);
        if back > 0 {
            world.psp.take_back(&pix, back);
        }
        assert_eq!(world.poll().await, usize::from(expected.is_none()), "{back}");
        if expected.is_some() {
            assert_eq!(world.call_back(&id).await, CallbackState::Done, "the return is awaited");
            world.clock.advance(Duration::from_hours(24));
            assert_eq!((world.poll().await, reason(&world), world.money()), (1, expected, [0, 0, 1_000]));
            let decision = if back > 0 { lost(back) } else { Decision::Won };
            world.decide(decision).await.unwrap();
        }
        stays(&world, &id, [1_000 - back, 0, 0]).await;
    }
}

#[tokio::test]
async fn lost_decision_uses_blocks_of_older_disputes() {
    let world = World::new().await;
    let (charge, pix) = world.paid(1_000).await;
    let (older, younger) = (world.psp.dispute(&pix, 1_000), world.psp.dispute(&pix, 600));
    world.poll().await;
    world.defend("Entregue.").await.unwrap();
    world.clock.advance(A_WHILE);
    world.psp.reopen_now(&younger);
    world.poll().await;
    assert_eq!((world.last().limit, reason(&world)), (Money::ZERO, Some(ReopenedUnseen)));
    assert!(matches!(world.decide(lost(601)).await, Err(ResolveError::TooMuch { .. })));
    world.decide(lost(500)).await.unwrap();
    assert_eq!((world.statuses(), world.money()), (vec![Open, Lost], [0, 0, 500]));
    assert_eq!(world.charge(charge.id).refunds.done.centavos(), 500);
    world.check().await;
    world.psp.settle(&older, Withdrawn);
    world.psp.settle(&younger, Accepted);
    world.psp.take_back(&pix, 500);
    world.poll().await;
    assert_eq!((world.statuses(), world.money()), (vec![Cancelled, Lost], [500, 0, 0]));
    world.check().await;
}

#[tokio::test]
async fn decision_is_refused_without_a_mark_or_above_the_dispute() {
    let (world, _) = unexplained().await;
    let too_much = ResolveError::TooMuch { lost: Money::from_centavos(601), contested: Money::from_centavos(600) };
    assert_eq!(world.decide(lost(601)).await, Err(too_much));
    assert_eq!((world.statuses(), world.money()), (vec![Open], [400, 0, 600]));
    world.decide(lost(600)).await.unwrap();
    assert_eq!(world.decide(lost(600)).await, Err(ResolveError::NotMarked(Lost)), "a decision is final");
    world.disputed().await;
    for decision in [Decision::Won, Decision::Lost(None), Decision::Cancelled] {
        assert_eq!(world.decide(decision).await, Err(ResolveError::NotMarked(Open)));
    }
    assert_eq!(world.money(), [400, 0, 1_000]);
    world.check().await;
}

#[tokio::test]
async fn decisions_at_once_are_one_with_one_audit_row() {
    let (world, _) = unexplained().await;
    let contended = world.contended();
    let decisions = (0..8).map(|number| contended.decide(if number % 2 == 0 { lost(200) } else { Decision::Won }));
    let outcomes = futures_util::future::join_all(decisions).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    let page = PageRequest { limit: 9, starting_after: None };
    let rows = world.store.list_audit(AuditFilter::default(), page).await.unwrap().rows;
    let [row] = &rows[..] else { panic!("{rows:?}") };
    let (infraction, subject) = (world.last(), row.subject.clone());
    assert_eq!((row.action.as_str(), subject), ("infraction.resolve", infraction.id.to_string()));
    assert_eq!((row.account, row.at), (Some(world.account.id), world.clock.now()));
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
    world.check().await;
}

#[tokio::test]
async fn interrupted_decision_is_whole_or_absent() {
    // The decision first reduces the block of an older dispute.
    for (commit, crash) in [(1, Crash::Before), (1, Crash::After), (2, Crash::Before), (2, Crash::After)] {
        let world = World::new().await;
        let (charge, pix) = world.paid(1_000).await;
        let (_, younger) = (world.psp.dispute(&pix, 1_000), world.psp.dispute(&pix, 600));
        world.poll().await;
        world.defend("Entregue.").await.unwrap();
        world.clock.advance(A_WHILE);
        world.psp.reopen_now(&younger);
        world.poll().await;
        world.store.crash_at(commit, crash);
        assert!(matches!(world.decide(lost(500)).await, Err(ResolveError::Store(_))), "{commit} {crash:?}");
        world.check().await;
        let again = world.decide(lost(500)).await;
        let is_decided = (commit, crash) == (2, Crash::After);
        assert_eq!(again.is_ok(), !is_decided, "{commit} {crash:?} {again:?}");
        let statuses: Vec<InfractionStatus> = world.statuses();
        assert_eq!((statuses, world.money()), (vec![Open, Lost], [0, 0, 500]), "{commit} {crash:?}");
        assert_eq!(world.charge(charge.id).refunds.done.centavos(), 500);
        world.check().await;
    }
}
