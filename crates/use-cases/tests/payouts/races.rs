//! Concurrent events: callbacks before replies, readers beside pollers, and holders that continue after their lease.

use cais_domain::event::EventType;
use cais_domain::payout::{Payout, PayoutStatus};
use cais_ports::{Clock as _, IdempotencyChange, ReservationKey, ResponseKind, Store as _, UpstreamProgress};
use cais_testkit::Crash;
use cais_testkit::builders::{main_acquirer, steps};
use cais_testkit::hooked::once;
use cais_testkit::psp::{Moment, OrderKind, OrderReply};
use cais_use_cases::payouts::create::CreatePayoutError;
use jiff::Timestamp;

use crate::bed::{FEE, FUNDS, LONG, PAST_LEASE, TestBed, named, now, status_of, ten_reais, upstream};

const HELD: (i64, i64) = (FUNDS - 1_000 - FEE, 1_000 + FEE);
const GONE: (i64, i64) = (FUNDS - 1_000 - FEE, 0);

/// Receives and processes a callback between the acquirer's action and its reply.
fn receive_callback_early(bed: &TestBed, outcome: impl FnOnce(&TestBed) + Send + 'static) {
    let within = bed.clone();
    bed.psp.when(Moment::Ordered, move || {
        outcome(&within);
        let payout = within.only_payout();
        assert_eq!(payout.state.status(), PayoutStatus::Pending);
        now(within.receive_callback(&payout));
        now(within.process());
    });
}

#[tokio::test]
async fn callback_before_reply_counts_once() {
    for sending in [OrderReply::Accepts, OrderReply::LosesReplies] {
        let bed = TestBed::new().await;
        bed.psp.set(sending);
        receive_callback_early(&bed, |bed| bed.psp.complete());
        let answer = bed.create("a", ten_reais()).await.unwrap();
        assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "completed"), "{sending:?}");
        assert_eq!((bed.event_types(), bed.money(), bed.fees()), (vec![EventType::PayoutCompleted], GONE, FEE));
        assert_eq!(bed.left(&main_acquirer()), 1_000);
        assert_eq!(bed.create("a", ten_reais()).await.unwrap().body, answer.body);
        bed.check().await;

        let bed = TestBed::new().await;
        bed.psp.set(sending);
        receive_callback_early(&bed, |bed| bed.psp.fail());
        let answer = bed.create("a", ten_reais()).await.unwrap();
        assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "failed"), "{sending:?}");
        assert_eq!((bed.event_types(), bed.money()), (vec![EventType::PayoutFailed], (FUNDS, 0)));
        bed.check().await;

        let bed = TestBed::new().await;
        bed.psp.set(sending);
        receive_callback_early(&bed, |_| {});
        let answer = bed.create("a", ten_reais()).await.unwrap();
        assert_eq!(
            (answer.kind, status_of(&answer).as_str(), bed.money()),
            (ResponseKind::Created, "processing", HELD)
        );
        bed.check().await;
    }
}

#[tokio::test]
async fn acquirers_record_outweighs_its_refusal() {
    for sending in [OrderReply::Down, OrderReply::Refuses] {
        let bed = TestBed::new().await;
        bed.psp.set(sending);
        receive_callback_early(&bed, |bed| {
            bed.psp.store_payout(upstream(&bed.only_payout(), UpstreamProgress::Processing));
        });
        let answer = bed.create("a", named("order-1", ten_reais())).await.unwrap();
        assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "processing"), "{sending:?}");
        assert_eq!((bed.money(), bed.visible().await), (HELD, 1));
        bed.check().await;
    }
}

#[tokio::test]
async fn concurrent_reads_polls_and_callbacks_end_payout_once() {
    for failed in [false, true] {
        let bed = TestBed::new().await;
        let payout = bed.processing().await;
        if failed {
            bed.psp.fail();
        } else {
            bed.psp.complete();
        }
        bed.clock.advance(LONG);
        bed.receive_callback(&payout).await;
        // Each task reads the acquirer's record before one of them writes.
        let (poller, caller) = (bed.clone(), bed.clone());
        bed.psp.when(Moment::Read, move || {
            now(poller.poll());
        });
        bed.psp.when(Moment::Read, move || {
            now(caller.process());
        });
        let read = bed.read(payout.id).await.unwrap();
        let (status, event) = if failed {
            (PayoutStatus::Failed, EventType::PayoutFailed)
        } else {
            (PayoutStatus::Completed, EventType::PayoutCompleted)
        };
        assert_eq!((read.state.status(), bed.event_types()), (status, vec![event]));
        assert_eq!(bed.money(), if failed { (FUNDS, 0) } else { GONE });
        assert_eq!(bed.psp.finds(OrderKind::Payout), 4, "the first look-up and three more");
        bed.check().await;
    }
}

#[tokio::test]
async fn slow_holder_gets_response_of_new_holder() {
    for sending in
        [OrderReply::Accepts, OrderReply::Completes, OrderReply::Down, OrderReply::Refuses, OrderReply::Silent]
    {
        let bed = TestBed::new().await;
        bed.psp.set(sending);
        let within = bed.clone();
        bed.psp.when(Moment::Ordered, move || {
            within.clock.advance(PAST_LEASE);
            within.psp.set(OrderReply::Accepts);
            let answer = now(within.create("a", named("order-1", ten_reais()))).unwrap();
            assert_eq!((answer.kind, answer.replay_of), (ResponseKind::Created, None));
        });
        let late = bed.create("a", named("order-1", ten_reais())).await.unwrap();
        assert!(late.replay_of.is_some(), "{sending:?}: it was not the one who answered");
        let again = bed.create("a", named("order-1", ten_reais())).await.unwrap();
        assert_eq!(again.body, late.body);
        assert!(bed.status() == PayoutStatus::Processing || sending == OrderReply::Completes);
        assert_eq!((bed.psp.sent(), bed.visible().await, bed.money().0), (1, 1, GONE.0), "{sending:?}");
        assert_eq!(bed.read_external("order-1").await.unwrap().id, bed.only_payout().id);
        bed.check().await;
    }
}

#[tokio::test]
async fn holder_without_lease_sends_nothing() {
    // In one case another process has finished the creation meanwhile, in the other case none has.
    for finished in [true, false] {
        let bed = TestBed::new().await;
        let within = bed.clone();
        let slow = bed.after_commits(once(move || {
            within.clock.advance(PAST_LEASE);
            if finished {
                assert_eq!(now(within.resume()), 1);
            }
        }));
        let answer = slow.create("a", ten_reais()).await.unwrap();
        assert_eq!(
            (answer.kind, status_of(&answer).as_str(), bed.money()),
            (ResponseKind::Created, "processing", HELD)
        );
        assert_eq!((bed.psp.payout_orders().len(), answer.replay_of.is_some()), (usize::from(finished), finished));
        bed.clock.advance(LONG);
        bed.poll().await;
        assert_eq!((bed.psp.payout_orders().len(), bed.psp.sent()), (1, 1), "the poller has found no such payout");
        bed.check().await;
    }
}

#[tokio::test]
async fn payout_abandoned_during_takeover_is_not_sent() {
    for by_worker in [true, false] {
        let bed = TestBed::new().await;
        bed.psp.set(OrderReply::Down);
        bed.store.crash_at(2, Crash::Before);
        bed.create("a", named("order-1", ten_reais())).await.unwrap_err();
        bed.clock.advance(PAST_LEASE);
        // Between the read and the commit of the new holder, the first holder continues and abandons the creation.
        let within = bed.clone();
        let taker = bed.before_commits(once(move || abandon(&within, None)));
        if by_worker {
            bed.psp.set(OrderReply::Accepts);
            assert_eq!(taker.resume().await, 0);
            assert_eq!(bed.psp.sent(), 0, "the caller received a refusal");
        } else {
            let again = taker.create("a", named("order-1", ten_reais())).await;
            assert_eq!(again, Err(CreatePayoutError::AcquirerUnavailable));
        }
        bed.untouched().await;
        bed.psp.set(OrderReply::Accepts);
        assert_eq!(bed.create("a", named("order-1", ten_reais())).await.unwrap().kind, ResponseKind::Created);
        assert_eq!((bed.psp.sent(), bed.money()), (1, HELD));
        bed.check().await;
    }
}

#[tokio::test]
async fn payout_abandoned_before_worker_read_is_not_retried() {
    let bed = TestBed::new().await;
    bed.psp.set(OrderReply::Down);
    bed.store.crash_at(2, Crash::Before);
    bed.create("a", named("order-1", ten_reais())).await.unwrap_err();
    bed.clock.advance(PAST_LEASE);
    // A worker listed the request just before this state.
    abandon(&bed, Some(bed.clock.now()));
    bed.psp.set(OrderReply::Accepts);
    assert_eq!((bed.resume().await, bed.psp.sent()), (0, 0), "the caller received a refusal");
    bed.untouched().await;
}

/// Commits the first holder's result if the acquirer certainly did not accept the order.
fn abandon(bed: &TestBed, due_at: Option<Timestamp>) {
    let payout: Payout = bed.only_payout();
    let external_id = payout.terms.external_id.clone().unwrap();
    let name = bed.store.idempotency_records().remove(0).name;
    let mut change = steps::abandon_payout(&payout, bed.clock.now());
    change.idempotency = Some(IdempotencyChange::Release { name, fence: 1, due_at });
    change.unreserve = vec![ReservationKey::PayoutExternalId(payout.account, external_id)];
    now(bed.store.commit(change)).unwrap();
}

#[tokio::test]
async fn concurrent_takeovers_leave_one_holder() {
    for given_up in [true, false] {
        let bed = TestBed::new().await;
        if given_up {
            bed.psp.set(OrderReply::Down);
            bed.create("a", ten_reais()).await.unwrap_err();
            bed.psp.set(OrderReply::Accepts);
        } else {
            bed.store.crash_at(1, Crash::After);
            bed.create("a", ten_reais()).await.unwrap_err();
            bed.clock.advance(PAST_LEASE);
        }
        let before = bed.psp.payout_orders().len();
        let crowd = bed.contended();
        let answers = futures_util::future::join_all((0..16).map(|_| crowd.create("a", ten_reais()))).await;
        let fresh = answers.iter().flatten().filter(|answer| answer.replay_of.is_none()).count();
        assert_eq!(fresh, 1, "{answers:?}");
        for error in answers.iter().filter_map(|answer| answer.as_ref().err()) {
            assert!(matches!(error, CreatePayoutError::KeyInProgress { .. }), "{error:?}");
        }
        assert_eq!((bed.psp.payout_orders().len() - before, bed.psp.sent(), bed.money()), (1, 1, HELD));
        bed.check().await;
    }
}
