//! A process crashes, or the store's reply is lost, before or after each commit of a refund. The money is returned
//! once.

use std::time::Duration;

use cais_domain::charge::ChargeStatus;
use cais_domain::event::EventType;
use cais_domain::refund::RefundStatus;
use cais_ports::{Acquirers as _, ResponseKind, UpstreamProgress};
use cais_testkit::Crash;
use cais_testkit::psp::{LookupReply, Moment, OrderReply};
use cais_use_cases::refunds::create::CreateRefundError;

use crate::bed::{LONG, PAST_LEASE, TestBed, all, id_of, named, status_of};

/// Commit 1 holds the money, and commit 2 stores the outcome. The request to the acquirer is between them.
const ALL: [(u64, Crash); 4] = [(1, Crash::Before), (1, Crash::After), (2, Crash::Before), (2, Crash::After)];
/// The reactions of the acquirer to an order that arrives.
const RETURNINGS: [OrderReply; 4] =
    [OrderReply::Accepts, OrderReply::Completes, OrderReply::Fails, OrderReply::LosesReplies];

async fn interrupted(nth: u64, crash: Crash, returning: OrderReply) -> (TestBed, cais_domain::charge::Charge) {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    bed.psp.set(returning);
    bed.store.crash_at(nth, crash);
    let lost = bed.refund("a", &charge, named("back-1", all())).await;
    assert!(matches!(lost, Err(CreateRefundError::Unavailable { .. })), "{nth} {crash:?}: {lost:?}");
    (bed, charge)
}

/// Asserts that there is one refund here, at most one at the acquirer, and one response for all repeats. The balances
/// must match the outcome.
async fn exactly_one(bed: &TestBed, charge: &cais_domain::charge::Charge, returning: OrderReply) {
    let answer = bed.refund("a", charge, named("back-1", all())).await.unwrap();
    let again = bed.refund("a", charge, named("back-1", all())).await.unwrap();
    let refund = bed.only_refund();
    assert_eq!((answer.kind, id_of(&answer)), (ResponseKind::Created, refund.id));
    assert_eq!((again.kind, &again.body), (ResponseKind::Created, &answer.body));
    assert!(bed.psp.refund_orders().iter().all(|order| order.id == refund.id));
    if returning == OrderReply::Fails {
        bed.clock.advance(LONG);
        bed.poll().await;
        assert_eq!((bed.status(), bed.available(), bed.in_transit()), (RefundStatus::Failed, 1_000, 0));
        assert_eq!((bed.event_types(), bed.psp.returned()), (vec![EventType::ChargePaid, EventType::RefundFailed], 0));
    } else {
        bed.psp.set_returns_progress(&UpstreamProgress::Done { at: None });
        bed.clock.advance(LONG);
        bed.poll().await;
        assert_eq!((bed.status(), bed.available(), bed.in_transit()), (RefundStatus::Completed, 0, 0));
        let events = [EventType::ChargePaid, EventType::RefundCompleted, EventType::ChargeRefunded];
        assert_eq!((bed.event_types(), bed.psp.returned()), (events.to_vec(), 1_000));
        assert_eq!(bed.charge(charge.id).state.status(), ChargeStatus::Refunded);
    }
    assert_eq!(bed.resume().await, 0, "no creation is unfinished");
    bed.check().await;
}

#[tokio::test]
async fn repeat_after_lease_makes_exactly_one_refund() {
    for returning in RETURNINGS {
        for (nth, crash) in ALL {
            let (bed, charge) = interrupted(nth, crash, returning).await;
            let begun = bed.store.refunds();
            bed.clock.advance(PAST_LEASE);
            let answer = bed.refund("a", &charge, named("back-1", all())).await.unwrap();
            assert_eq!(answer.kind, ResponseKind::Created, "{nth} {crash:?} {returning:?}");
            assert!(begun.iter().all(|refund| refund.id == id_of(&answer)), "the first creation is resumed");
            exactly_one(&bed, &charge, returning).await;
        }
    }
}

#[tokio::test]
async fn worker_after_lease_makes_exactly_one_refund() {
    for returning in RETURNINGS {
        for (nth, crash) in ALL {
            let (bed, charge) = interrupted(nth, crash, returning).await;
            assert_eq!(bed.resume().await, 0, "not before the lease is over");
            bed.clock.advance(PAST_LEASE);
            let expected = usize::from(matches!((nth, crash), (1, Crash::After) | (2, Crash::Before)));
            assert_eq!(bed.resume().await, expected, "{nth} {crash:?} {returning:?}");
            exactly_one(&bed, &charge, returning).await;
        }
    }
}

#[tokio::test]
async fn interrupted_resumption_is_resumed() {
    for (nth, crash) in ALL {
        for first in [(1, Crash::After), (2, Crash::Before)] {
            let (bed, charge) = interrupted(first.0, first.1, OrderReply::Accepts).await;
            bed.clock.advance(PAST_LEASE);
            bed.store.crash_at(nth, crash);
            assert_eq!(bed.resume().await, 0);
            bed.clock.advance(PAST_LEASE);
            bed.resume().await;
            exactly_one(&bed, &charge, OrderReply::Accepts).await;
        }
    }
}

#[tokio::test]
async fn refund_that_may_have_been_sent_is_never_abandoned() {
    for (nth, crash) in [(1, Crash::After), (2, Crash::Before)] {
        for returning in [OrderReply::Down, OrderReply::Refuses, OrderReply::Silent] {
            for lookup_reply in [LookupReply::Accurate, LookupReply::Silent, LookupReply::NotFound] {
                let (bed, charge) = interrupted(nth, crash, OrderReply::Accepts).await;
                bed.psp.set(returning);
                bed.psp.set_lookup_reply(lookup_reply);
                bed.clock.advance(PAST_LEASE);
                let answer = bed.refund("a", &charge, named("back-1", all())).await.unwrap();
                assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "processing"));
                assert_eq!((bed.available(), bed.in_transit()), (0, 1_000), "{returning:?} {lookup_reply:?}");
                bed.check().await;
            }
        }
    }
}

#[tokio::test]
async fn interrupted_abandonment_ends_in_one_refund() {
    for crash in [Crash::Before, Crash::After] {
        let (bed, charge) = interrupted(2, crash, OrderReply::Down).await;
        bed.psp.set(OrderReply::Accepts);
        bed.clock.advance(PAST_LEASE);
        let finished = bed.resume().await;
        assert_eq!(finished, usize::from(crash == Crash::Before), "an abandoned refund waits for its caller");
        exactly_one(&bed, &charge, OrderReply::Accepts).await;
    }
}

#[tokio::test]
async fn late_process_neither_abandons_nor_answers() {
    for returning in [OrderReply::Down, OrderReply::Refuses, OrderReply::Accepts] {
        let bed = TestBed::new().await;
        let charge = bed.paid().await;
        bed.psp.set(returning);
        let other = bed.clone();
        // While the reply is in transit, the lease ends. A worker takes over, and the acquirer is available again.
        bed.psp.when(Moment::Ordered, move || {
            other.clock.advance(PAST_LEASE);
            other.psp.set(OrderReply::Accepts);
            assert_eq!(futures_util::future::FutureExt::now_or_never(other.resume()), Some(1));
        });
        let answer = bed.refund("a", &charge, named("back-1", all())).await.unwrap();
        assert_eq!((answer.kind, answer.replay_of.is_some()), (ResponseKind::Created, true), "{returning:?}");
        assert_eq!(bed.in_transit(), 1_000);
        exactly_one(&bed, &charge, OrderReply::Accepts).await;
    }
}

#[tokio::test]
async fn process_without_lease_sends_nothing() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    // The clock jumps between commit 1 and the sending, when the acquirer is looked up by its name.
    let (clock, psp) = (bed.clock.clone(), bed.psp.clone());
    let mut sleepy = cais_ports::acquirers::MockAcquirers::new();
    sleepy.expect_named().returning(move |name| {
        clock.advance(PAST_LEASE);
        cais_testkit::FakeAcquirers::new(std::slice::from_ref(&psp)).named(name)
    });
    let ports = cais_use_cases::Ports { acquirers: std::sync::Arc::new(sleepy), ..bed.ports.clone() };
    let command = bed.command("a", &charge, named("back-1", all()));
    let answer = cais_use_cases::refunds::create::create(&ports, command).await.unwrap();
    assert_eq!((status_of(&answer).as_str(), bed.psp.refund_orders().len()), ("processing", 0));
    bed.clock.advance(Duration::from_secs(61));
    bed.poll().await;
    assert_eq!(bed.psp.refund_orders().len(), 1, "the poller sends it");
    exactly_one(&bed, &charge, OrderReply::Accepts).await;
}
