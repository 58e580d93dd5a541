//! Concurrent events: callbacks before replies, readers beside pollers, and holders that continue after their lease.

use cais_domain::event::EventType;
use cais_domain::payout::{Payout, PayoutStatus};
use cais_ports::{Clock as _, IdempotencyChange, ReservationKey, ResponseKind, Store as _, UpstreamProgress};
use cais_testkit::Crash;
use cais_testkit::builders::{main_acquirer, steps};
use cais_testkit::hooked::once;
use cais_testkit::psp::{Moment, OrderKind, Sending};
use cais_use_cases::payouts::create::CreatePayoutError;
use jiff::Timestamp;

use crate::world::{FEE, FUNDS, LONG, PAST_LEASE, World, named, now, status_of, ten_reais, upstream};

const HELD: (i64, i64) = (FUNDS - 1_000 - FEE, 1_000 + FEE);
const GONE: (i64, i64) = (FUNDS - 1_000 - FEE, 0);

/// Receives and processes a callback between the acquirer's action and its reply.
fn call_back_early(world: &World, outcome: impl FnOnce(&World) + Send + 'static) {
    let within = world.clone();
    world.psp.when(Moment::Ordered, move || {
        outcome(&within);
        let payout = within.only_payout();
        assert_eq!(payout.state.status(), PayoutStatus::Pending);
        now(within.call_back(&payout));
        now(within.process());
    });
}

#[tokio::test]
async fn callback_before_reply_counts_once() {
    for sending in [Sending::Takes, Sending::LosesReplies] {
        let world = World::new().await;
        world.psp.set(sending);
        call_back_early(&world, |world| world.psp.complete());
        let answer = world.create("a", ten_reais()).await.unwrap();
        assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "completed"), "{sending:?}");
        assert_eq!((world.event_types(), world.money(), world.fees()), (vec![EventType::PayoutCompleted], GONE, FEE));
        assert_eq!(world.left(&main_acquirer()), 1_000);
        assert_eq!(world.create("a", ten_reais()).await.unwrap().body, answer.body);
        world.check().await;

        let world = World::new().await;
        world.psp.set(sending);
        call_back_early(&world, |world| world.psp.fail());
        let answer = world.create("a", ten_reais()).await.unwrap();
        assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "failed"), "{sending:?}");
        assert_eq!((world.event_types(), world.money()), (vec![EventType::PayoutFailed], (FUNDS, 0)));
        world.check().await;

        let world = World::new().await;
        world.psp.set(sending);
        call_back_early(&world, |_| {});
        let answer = world.create("a", ten_reais()).await.unwrap();
        assert_eq!(
            (answer.kind, status_of(&answer).as_str(), world.money()),
            (ResponseKind::Created, "processing", HELD)
        );
        world.check().await;
    }
}

#[tokio::test]
async fn acquirers_record_outweighs_its_refusal() {
    for sending in [Sending::Down, Sending::Refuses] {
        let world = World::new().await;
        world.psp.set(sending);
        call_back_early(&world, |world| {
            world.psp.hold_payout(upstream(&world.only_payout(), UpstreamProgress::Processing));
        });
        let answer = world.create("a", named("order-1", ten_reais())).await.unwrap();
        assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "processing"), "{sending:?}");
        assert_eq!((world.money(), world.visible().await), (HELD, 1));
        world.check().await;
    }
}

#[tokio::test]
async fn concurrent_reads_polls_and_callbacks_end_payout_once() {
    for failed in [false, true] {
        let world = World::new().await;
        let payout = world.processing().await;
        if failed {
            world.psp.fail();
        } else {
            world.psp.complete();
        }
        world.clock.advance(LONG);
        world.call_back(&payout).await;
        // Each task reads the acquirer's record before one of them writes.
        let (poller, caller) = (world.clone(), world.clone());
        world.psp.when(Moment::Read, move || {
            now(poller.poll());
        });
        world.psp.when(Moment::Read, move || {
            now(caller.process());
        });
        let read = world.read(payout.id).await.unwrap();
        let (status, event) = if failed {
            (PayoutStatus::Failed, EventType::PayoutFailed)
        } else {
            (PayoutStatus::Completed, EventType::PayoutCompleted)
        };
        assert_eq!((read.state.status(), world.event_types()), (status, vec![event]));
        assert_eq!(world.money(), if failed { (FUNDS, 0) } else { GONE });
        assert_eq!(world.psp.finds(OrderKind::Payout), 4, "the first look-up and three more");
        world.check().await;
    }
}

#[tokio::test]
async fn slow_holder_gets_response_of_new_holder() {
    for sending in [Sending::Takes, Sending::Completes, Sending::Down, Sending::Refuses, Sending::Silent] {
        let world = World::new().await;
        world.psp.set(sending);
        let within = world.clone();
        world.psp.when(Moment::Ordered, move || {
            within.clock.advance(PAST_LEASE);
            within.psp.set(Sending::Takes);
            let answer = now(within.create("a", named("order-1", ten_reais()))).unwrap();
            assert_eq!((answer.kind, answer.replay_of), (ResponseKind::Created, None));
        });
        let late = world.create("a", named("order-1", ten_reais())).await.unwrap();
        assert!(late.replay_of.is_some(), "{sending:?}: it was not the one who answered");
        let again = world.create("a", named("order-1", ten_reais())).await.unwrap();
        assert_eq!(again.body, late.body);
        assert!(world.status() == PayoutStatus::Processing || sending == Sending::Completes);
        assert_eq!((world.psp.sent(), world.visible().await, world.money().0), (1, 1, GONE.0), "{sending:?}");
        assert_eq!(world.read_external("order-1").await.unwrap().id, world.only_payout().id);
        world.check().await;
    }
}

#[tokio::test]
async fn holder_without_lease_sends_nothing() {
    // In one case another process has finished the creation meanwhile, in the other case none has.
    for finished in [true, false] {
        let world = World::new().await;
        let within = world.clone();
        let slow = world.after_commits(once(move || {
            within.clock.advance(PAST_LEASE);
            if finished {
                assert_eq!(now(within.resume()), 1);
            }
        }));
        let answer = slow.create("a", ten_reais()).await.unwrap();
        assert_eq!(
            (answer.kind, status_of(&answer).as_str(), world.money()),
            (ResponseKind::Created, "processing", HELD)
        );
        assert_eq!((world.psp.payout_orders().len(), answer.replay_of.is_some()), (usize::from(finished), finished));
        world.clock.advance(LONG);
        world.poll().await;
        assert_eq!((world.psp.payout_orders().len(), world.psp.sent()), (1, 1), "the poller has found no such payout");
        world.check().await;
    }
}

#[tokio::test]
async fn payout_abandoned_during_takeover_is_not_sent() {
    for by_worker in [true, false] {
        let world = World::new().await;
        world.psp.set(Sending::Down);
        world.store.crash_at(2, Crash::Before);
        world.create("a", named("order-1", ten_reais())).await.unwrap_err();
        world.clock.advance(PAST_LEASE);
        // Between the read and the commit of the new holder, the first holder continues and abandons the creation.
        let within = world.clone();
        let taker = world.before_commits(once(move || abandon(&within, None)));
        if by_worker {
            world.psp.set(Sending::Takes);
            assert_eq!(taker.resume().await, 0);
            assert_eq!(world.psp.sent(), 0, "the caller received a refusal");
        } else {
            let again = taker.create("a", named("order-1", ten_reais())).await;
            assert_eq!(again, Err(CreatePayoutError::AcquirerUnavailable));
        }
        world.untouched().await;
        world.psp.set(Sending::Takes);
        assert_eq!(world.create("a", named("order-1", ten_reais())).await.unwrap().kind, ResponseKind::Created);
        assert_eq!((world.psp.sent(), world.money()), (1, HELD));
        world.check().await;
    }
}

#[tokio::test]
async fn payout_abandoned_before_worker_read_is_not_retried() {
    let world = World::new().await;
    world.psp.set(Sending::Down);
    world.store.crash_at(2, Crash::Before);
    world.create("a", named("order-1", ten_reais())).await.unwrap_err();
    world.clock.advance(PAST_LEASE);
    // A worker listed the request just before this state.
    abandon(&world, Some(world.clock.now()));
    world.psp.set(Sending::Takes);
    assert_eq!((world.resume().await, world.psp.sent()), (0, 0), "the caller received a refusal");
    world.untouched().await;
}

/// Commits the first holder's result if the acquirer certainly did not accept the order.
fn abandon(world: &World, due_at: Option<Timestamp>) {
    let payout: Payout = world.only_payout();
    let external_id = payout.terms.external_id.clone().unwrap();
    let name = world.store.idempotency_records().remove(0).name;
    let mut change = steps::abandon_payout(&payout, world.clock.now());
    change.idempotency = Some(IdempotencyChange::Release { name, fence: 1, due_at });
    change.unreserve = vec![ReservationKey::PayoutExternalId(payout.account, external_id)];
    now(world.store.commit(change)).unwrap();
}

#[tokio::test]
async fn concurrent_takeovers_leave_one_holder() {
    for given_up in [true, false] {
        let world = World::new().await;
        if given_up {
            world.psp.set(Sending::Down);
            world.create("a", ten_reais()).await.unwrap_err();
            world.psp.set(Sending::Takes);
        } else {
            world.store.crash_at(1, Crash::After);
            world.create("a", ten_reais()).await.unwrap_err();
            world.clock.advance(PAST_LEASE);
        }
        let before = world.psp.payout_orders().len();
        let crowd = world.contended();
        let answers = futures_util::future::join_all((0..16).map(|_| crowd.create("a", ten_reais()))).await;
        let fresh = answers.iter().flatten().filter(|answer| answer.replay_of.is_none()).count();
        assert_eq!(fresh, 1, "{answers:?}");
        for error in answers.iter().filter_map(|answer| answer.as_ref().err()) {
            assert!(matches!(error, CreatePayoutError::KeyInProgress { .. }), "{error:?}");
        }
        assert_eq!((world.psp.payout_orders().len() - before, world.psp.sent(), world.money()), (1, 1, HELD));
        world.check().await;
    }
}
