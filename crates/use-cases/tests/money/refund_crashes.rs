//! A process crashes, or the store's reply is lost, before or after each commit of a refund. The money is returned
//! once.

use std::time::Duration;

use cais_domain::charge::ChargeStatus;
use cais_domain::event::EventType;
use cais_domain::refund::RefundStatus;
use cais_ports::{Acquirers as _, ResponseKind, UpstreamProgress};
use cais_testkit::Crash;
use cais_testkit::psp::{Looking, Moment, Sending};
use cais_use_cases::refunds::create::CreateRefundError;

use crate::world::{LONG, PAST_LEASE, World, all, id_of, named, status_of};

/// Commit 1 holds the money, and commit 2 stores the outcome. The request to the acquirer is between them.
const ALL: [(u64, Crash); 4] = [(1, Crash::Before), (1, Crash::After), (2, Crash::Before), (2, Crash::After)];
/// The reactions of the acquirer to an order that arrives.
const RETURNINGS: [Sending; 4] = [Sending::Takes, Sending::Completes, Sending::Fails, Sending::LosesReplies];

async fn interrupted(nth: u64, crash: Crash, returning: Sending) -> (World, cais_domain::charge::Charge) {
    let world = World::new().await;
    let charge = world.paid().await;
    world.psp.set(returning);
    world.store.crash_at(nth, crash);
    let lost = world.refund("a", &charge, named("back-1", all())).await;
    assert!(matches!(lost, Err(CreateRefundError::Unavailable { .. })), "{nth} {crash:?}: {lost:?}");
    (world, charge)
}

/// Asserts that there is one refund here, at most one at the acquirer, and one response for all repeats. The balances
/// must match the outcome.
async fn exactly_one(world: &World, charge: &cais_domain::charge::Charge, returning: Sending) {
    let answer = world.refund("a", charge, named("back-1", all())).await.unwrap();
    let again = world.refund("a", charge, named("back-1", all())).await.unwrap();
    let refund = world.only_refund();
    assert_eq!((answer.kind, id_of(&answer)), (ResponseKind::Created, refund.id));
    assert_eq!((again.kind, &again.body), (ResponseKind::Created, &answer.body));
    assert!(world.psp.refund_orders().iter().all(|order| order.id == refund.id));
    if returning == Sending::Fails {
        world.clock.advance(LONG);
        world.poll().await;
        assert_eq!((world.status(), world.available(), world.in_transit()), (RefundStatus::Failed, 1_000, 0));
        assert_eq!(
            (world.event_types(), world.psp.returned()),
            (vec![EventType::ChargePaid, EventType::RefundFailed], 0)
        );
    } else {
        world.psp.settle_refunds(&UpstreamProgress::Done { at: None });
        world.clock.advance(LONG);
        world.poll().await;
        assert_eq!((world.status(), world.available(), world.in_transit()), (RefundStatus::Completed, 0, 0));
        let events = [EventType::ChargePaid, EventType::RefundCompleted, EventType::ChargeRefunded];
        assert_eq!((world.event_types(), world.psp.returned()), (events.to_vec(), 1_000));
        assert_eq!(world.charge(charge.id).state.status(), ChargeStatus::Refunded);
    }
    assert_eq!(world.resume().await, 0, "no creation is unfinished");
    world.check().await;
}

#[tokio::test]
async fn repeat_after_lease_makes_exactly_one_refund() {
    for returning in RETURNINGS {
        for (nth, crash) in ALL {
            let (world, charge) = interrupted(nth, crash, returning).await;
            let begun = world.store.refunds();
            world.clock.advance(PAST_LEASE);
            let answer = world.refund("a", &charge, named("back-1", all())).await.unwrap();
            assert_eq!(answer.kind, ResponseKind::Created, "{nth} {crash:?} {returning:?}");
            assert!(begun.iter().all(|refund| refund.id == id_of(&answer)), "the first creation is resumed");
            exactly_one(&world, &charge, returning).await;
        }
    }
}

#[tokio::test]
async fn worker_after_lease_makes_exactly_one_refund() {
    for returning in RETURNINGS {
        for (nth, crash) in ALL {
            let (world, charge) = interrupted(nth, crash, returning).await;
            assert_eq!(world.resume().await, 0, "not before the lease is over");
            world.clock.advance(PAST_LEASE);
            let expected = usize::from(matches!((nth, crash), (1, Crash::After) | (2, Crash::Before)));
            assert_eq!(world.resume().await, expected, "{nth} {crash:?} {returning:?}");
            exactly_one(&world, &charge, returning).await;
        }
    }
}

#[tokio::test]
async fn interrupted_resumption_is_resumed() {
    for (nth, crash) in ALL {
        for first in [(1, Crash::After), (2, Crash::Before)] {
            let (world, charge) = interrupted(first.0, first.1, Sending::Takes).await;
            world.clock.advance(PAST_LEASE);
            world.store.crash_at(nth, crash);
            assert_eq!(world.resume().await, 0);
            world.clock.advance(PAST_LEASE);
            world.resume().await;
            exactly_one(&world, &charge, Sending::Takes).await;
        }
    }
}

#[tokio::test]
async fn refund_that_may_have_been_sent_is_never_abandoned() {
    for (nth, crash) in [(1, Crash::After), (2, Crash::Before)] {
        for returning in [Sending::Down, Sending::Refuses, Sending::Silent] {
            for looking in [Looking::Tells, Looking::Silent, Looking::Forgets] {
                let (world, charge) = interrupted(nth, crash, Sending::Takes).await;
                world.psp.set(returning);
                world.psp.set_looking(looking);
                world.clock.advance(PAST_LEASE);
                let answer = world.refund("a", &charge, named("back-1", all())).await.unwrap();
                assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "processing"));
                assert_eq!((world.available(), world.in_transit()), (0, 1_000), "{returning:?} {looking:?}");
                world.check().await;
            }
        }
    }
}

#[tokio::test]
async fn interrupted_abandonment_ends_in_one_refund() {
    for crash in [Crash::Before, Crash::After] {
        let (world, charge) = interrupted(2, crash, Sending::Down).await;
        world.psp.set(Sending::Takes);
        world.clock.advance(PAST_LEASE);
        let finished = world.resume().await;
        assert_eq!(finished, usize::from(crash == Crash::Before), "an abandoned refund waits for its caller");
        exactly_one(&world, &charge, Sending::Takes).await;
    }
}

#[tokio::test]
async fn late_process_neither_abandons_nor_answers() {
    for returning in [Sending::Down, Sending::Refuses, Sending::Takes] {
        let world = World::new().await;
        let charge = world.paid().await;
        world.psp.set(returning);
        let other = world.clone();
        // While the reply is in transit, the lease ends. A worker takes over, and the acquirer is available again.
        world.psp.when(Moment::Ordered, move || {
            other.clock.advance(PAST_LEASE);
            other.psp.set(Sending::Takes);
            assert_eq!(futures_util::future::FutureExt::now_or_never(other.resume()), Some(1));
        });
        let answer = world.refund("a", &charge, named("back-1", all())).await.unwrap();
        assert_eq!((answer.kind, answer.replay_of.is_some()), (ResponseKind::Created, true), "{returning:?}");
        assert_eq!(world.in_transit(), 1_000);
        exactly_one(&world, &charge, Sending::Takes).await;
    }
}

#[tokio::test]
async fn process_without_lease_sends_nothing() {
    let world = World::new().await;
    let charge = world.paid().await;
    // The clock jumps between commit 1 and the sending, when the acquirer is looked up by its name.
    let (clock, psp) = (world.clock.clone(), world.psp.clone());
    let mut sleepy = cais_ports::acquirers::MockAcquirers::new();
    sleepy.expect_named().returning(move |name| {
        clock.advance(PAST_LEASE);
        cais_testkit::FakeAcquirers::new(std::slice::from_ref(&psp)).named(name)
    });
    let ports = cais_use_cases::Ports { acquirers: std::sync::Arc::new(sleepy), ..world.ports.clone() };
    let command = world.command("a", &charge, named("back-1", all()));
    let answer = cais_use_cases::refunds::create::create(&ports, command).await.unwrap();
    assert_eq!((status_of(&answer).as_str(), world.psp.refund_orders().len()), ("processing", 0));
    world.clock.advance(Duration::from_secs(61));
    world.poll().await;
    assert_eq!(world.psp.refund_orders().len(), 1, "the poller sends it");
    exactly_one(&world, &charge, Sending::Takes).await;
}
