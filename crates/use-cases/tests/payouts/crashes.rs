//! A process crashes, or the store's reply is lost, before or after each commit of a payout. The payout is sent once.

use cais_domain::event::EventType;
use cais_domain::payout::PayoutStatus;
use cais_ports::ResponseKind;
use cais_testkit::Crash;
use cais_testkit::builders::main_acquirer;
use cais_testkit::psp::{Looking, Sending};
use cais_use_cases::payouts::create::CreatePayoutError;

use crate::world::{FEE, FUNDS, LONG, PAST_LEASE, World, id_of, named, status_of, ten_reais};

/// Commit 1 holds the money, and commit 2 stores the outcome. The request to the acquirer is between them.
const ALL: [(u64, Crash); 4] = [(1, Crash::Before), (1, Crash::After), (2, Crash::Before), (2, Crash::After)];
/// The reactions of the acquirer to an order that arrives.
const SENDINGS: [Sending; 4] = [Sending::Takes, Sending::Completes, Sending::Fails, Sending::LosesReplies];

async fn interrupted(nth: u64, crash: Crash, sending: Sending) -> World {
    let world = World::new().await;
    world.psp.set(sending);
    world.store.crash_at(nth, crash);
    let lost = world.create("a", named("order-1", ten_reais())).await;
    assert!(matches!(lost, Err(CreatePayoutError::Unavailable { .. })), "{nth} {crash:?}: {lost:?}");
    world
}

/// Asserts that there is one payout here, at most one at the acquirer, and one response for all repeats. The balances
/// must match the outcome.
async fn exactly_one(world: &World, sending: Sending) {
    let answer = world.create("a", named("order-1", ten_reais())).await.unwrap();
    let again = world.create("a", named("order-1", ten_reais())).await.unwrap();
    let payout = world.only_payout();
    assert_eq!((answer.kind, id_of(&answer)), (ResponseKind::Created, payout.id));
    assert_eq!((again.kind, &again.body), (ResponseKind::Created, &answer.body));
    assert_eq!(world.read_external("order-1").await.unwrap().id, payout.id);
    let orders = world.psp.payout_orders();
    assert!(orders.iter().all(|order| order.instruction_id == payout.instruction_id()), "{sending:?}: {orders:?}");
    assert_eq!(world.second.payout_orders().len(), 0);
    if sending != Sending::Fails {
        world.psp.complete();
    }
    world.clock.advance(LONG);
    world.poll().await;
    if sending == Sending::Fails {
        assert_eq!((world.status(), world.event_types()), (PayoutStatus::Failed, vec![EventType::PayoutFailed]));
        assert_eq!((world.money(), world.fees(), world.psp.sent()), ((FUNDS, 0), 0, 0));
    } else {
        assert_eq!((world.status(), world.event_types()), (PayoutStatus::Completed, vec![EventType::PayoutCompleted]));
        assert_eq!((world.money(), world.fees(), world.psp.sent()), ((FUNDS - 1_000 - FEE, 0), FEE, 1));
        assert_eq!(world.left(&main_acquirer()), 1_000);
    }
    assert_eq!(world.resume().await, 0, "no creation is unfinished");
    world.check().await;
}

#[tokio::test]
async fn repeat_after_lease_sends_exactly_one_payout() {
    for sending in SENDINGS {
        for (nth, crash) in ALL {
            let world = interrupted(nth, crash, sending).await;
            let begun = world.store.payouts();
            world.clock.advance(PAST_LEASE);
            let answer = world.create("a", named("order-1", ten_reais())).await.unwrap();
            assert_eq!(answer.kind, ResponseKind::Created, "{nth} {crash:?} {sending:?}");
            assert!(begun.iter().all(|payout| payout.id == id_of(&answer)), "the first creation is resumed");
            exactly_one(&world, sending).await;
            assert_eq!(world.psp.payout_orders().len(), 1, "the look-up finds the payout, so it is sent once");
        }
    }
}

#[tokio::test]
async fn worker_after_lease_sends_exactly_one_payout() {
    for sending in SENDINGS {
        for (nth, crash) in ALL {
            let world = interrupted(nth, crash, sending).await;
            assert_eq!(world.resume().await, 0, "not before the lease is over");
            world.clock.advance(PAST_LEASE);
            let expected = usize::from(matches!((nth, crash), (1, Crash::After) | (2, Crash::Before)));
            assert_eq!(world.resume().await, expected, "{nth} {crash:?} {sending:?}");
            exactly_one(&world, sending).await;
            assert_eq!(world.psp.payout_orders().len(), 1, "the look-up finds the payout, so it is sent once");
        }
    }
}

#[tokio::test]
async fn repeat_within_lease_sends_no_second_payout() {
    for (nth, crash) in ALL {
        let world = interrupted(nth, crash, Sending::Takes).await;
        let repeat = world.create("a", named("order-1", ten_reais())).await;
        match (nth, crash) {
            // Either no change was committed or all were, so the response is available.
            (1, Crash::Before) | (2, Crash::After) => assert_eq!(repeat.unwrap().kind, ResponseKind::Created),
            _ => assert!(matches!(repeat, Err(CreatePayoutError::KeyInProgress { .. })), "{nth} {crash:?}: {repeat:?}"),
        }
        world.clock.advance(PAST_LEASE);
        world.resume().await;
        exactly_one(&world, Sending::Takes).await;
    }
}

#[tokio::test]
async fn interrupted_resumption_is_resumed() {
    // Commit 1 of a resumption takes over the request, and commit 2 answers it.
    for (nth, crash) in ALL {
        for first in [(1, Crash::After), (2, Crash::Before)] {
            let world = interrupted(first.0, first.1, Sending::Takes).await;
            world.clock.advance(PAST_LEASE);
            world.store.crash_at(nth, crash);
            // The first creation fails, and the pass handles the others.
            assert_eq!(world.resume().await, 0);
            world.clock.advance(PAST_LEASE);
            world.resume().await;
            exactly_one(&world, Sending::Takes).await;
        }
    }
}

#[tokio::test]
async fn payout_that_may_have_been_sent_is_never_abandoned() {
    // The process crashed between the hold and the sending, or between the sending and the outcome. The store does not
    // show which.
    for (nth, crash) in [(1, Crash::After), (2, Crash::Before)] {
        for sending in [Sending::Down, Sending::Refuses, Sending::Silent] {
            for looking in [Looking::Tells, Looking::Silent, Looking::Forgets] {
                let world = interrupted(nth, crash, Sending::Takes).await;
                world.psp.set(sending);
                world.psp.set_looking(looking);
                world.clock.advance(PAST_LEASE);
                let answer = world.create("a", named("order-1", ten_reais())).await.unwrap();
                assert_eq!(
                    (answer.kind, status_of(&answer).as_str()),
                    (ResponseKind::Created, "processing"),
                    "{sending:?} {looking:?}"
                );
                assert_eq!(world.money(), (FUNDS - 1_000 - FEE, 1_000 + FEE));
                world.check().await;
            }
        }
    }
}

#[tokio::test]
async fn payout_of_removed_acquirer_stays_processing() {
    let world = interrupted(2, Crash::Before, Sending::Takes).await;
    world.clock.advance(PAST_LEASE);
    let mut no_sender = cais_ports::acquirers::MockAcquirers::new();
    no_sender.expect_named().returning(|_| None);
    no_sender.expect_first_sender().return_const(None);
    let ports = cais_use_cases::Ports { acquirers: std::sync::Arc::new(no_sender), ..world.ports.clone() };
    let answer =
        cais_use_cases::payouts::create::create(&ports, world.command("a", named("order-1", ten_reais()))).await;
    assert_eq!(status_of(&answer.unwrap()), "processing");
    cais_use_cases::payouts::poll::run_once(&ports).await.unwrap();
    assert_eq!(world.status(), PayoutStatus::Processing);
    exactly_one(&world, Sending::Takes).await;
}

#[tokio::test]
async fn interrupted_abandonment_releases_money_once() {
    for crash in [Crash::Before, Crash::After] {
        let world = interrupted(2, crash, Sending::Down).await;
        world.clock.advance(PAST_LEASE);
        world.psp.set(Sending::Takes);
        // If the commit succeeded, only the caller can repeat the creation. Otherwise the worker finishes it.
        assert_eq!(world.resume().await, usize::from(crash == Crash::Before), "{crash:?}");
        exactly_one(&world, Sending::Takes).await;
    }
}

#[tokio::test]
async fn interrupted_retry_of_abandoned_payout_is_resumed() {
    for (nth, crash) in ALL {
        let world = World::new().await;
        world.psp.set(Sending::Down);
        world.create("a", named("order-1", ten_reais())).await.unwrap_err();
        world.psp.set(Sending::Takes);
        // The first commit finds the existing key. The two commits of the creation follow.
        world.store.crash_at(nth + 1, crash);
        world.create("a", named("order-1", ten_reais())).await.unwrap_err();
        world.clock.advance(PAST_LEASE);
        world.resume().await;
        exactly_one(&world, Sending::Takes).await;
    }
}

#[tokio::test]
async fn outcome_with_interrupted_commit_is_written_once() {
    for crash in [Crash::Before, Crash::After] {
        for failed in [false, true] {
            let world = World::new().await;
            world.processing().await;
            if failed {
                world.psp.fail();
            } else {
                world.psp.complete();
            }
            world.clock.advance(LONG);
            world.store.crash_at(1, crash);
            assert_eq!(world.poll().await, 0, "the store did not answer");
            let id = world.only_payout().id;
            world.read(id).await.unwrap();
            world.clock.advance(LONG);
            world.poll().await;
            let expected = if failed { EventType::PayoutFailed } else { EventType::PayoutCompleted };
            assert_eq!(world.event_types(), [expected], "{crash:?}");
            assert_eq!(world.money(), if failed { (FUNDS, 0) } else { (FUNDS - 1_000 - FEE, 0) });
            world.check().await;
        }
    }
}
