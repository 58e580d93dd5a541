//! A process crashes, or the store's reply is lost, before or after each commit of a payout. The payout is sent once.

use cais_domain::event::EventType;
use cais_domain::payout::PayoutStatus;
use cais_ports::ResponseKind;
use cais_testkit::Crash;
use cais_testkit::builders::main_acquirer;
use cais_testkit::psp::{LookupReply, OrderReply};
use cais_use_cases::payouts::create::CreatePayoutError;

use crate::bed::{FEE, FUNDS, LONG, PAST_LEASE, TestBed, id_of, named, status_of, ten_reais};

/// Commit 1 holds the money, and commit 2 stores the outcome. The request to the acquirer is between them.
const ALL: [(u64, Crash); 4] = [(1, Crash::Before), (1, Crash::After), (2, Crash::Before), (2, Crash::After)];
/// The reactions of the acquirer to an order that arrives.
const SENDINGS: [OrderReply; 4] =
    [OrderReply::Accepts, OrderReply::Completes, OrderReply::Fails, OrderReply::LosesReplies];

async fn interrupted(nth: u64, crash: Crash, sending: OrderReply) -> TestBed {
    let bed = TestBed::new().await;
    bed.psp.set(sending);
    bed.store.crash_at(nth, crash);
    let lost = bed.create("a", named("order-1", ten_reais())).await;
    assert!(matches!(lost, Err(CreatePayoutError::Unavailable { .. })), "{nth} {crash:?}: {lost:?}");
    bed
}

/// Asserts that there is one payout here, at most one at the acquirer, and one response for all repeats. The balances
/// must match the outcome.
async fn exactly_one(bed: &TestBed, sending: OrderReply) {
    let answer = bed.create("a", named("order-1", ten_reais())).await.unwrap();
    let again = bed.create("a", named("order-1", ten_reais())).await.unwrap();
    let payout = bed.only_payout();
    assert_eq!((answer.kind, id_of(&answer)), (ResponseKind::Created, payout.id));
    assert_eq!((again.kind, &again.body), (ResponseKind::Created, &answer.body));
    assert_eq!(bed.read_external("order-1").await.unwrap().id, payout.id);
    let orders = bed.psp.payout_orders();
    assert!(orders.iter().all(|order| order.instruction_id == payout.instruction_id()), "{sending:?}: {orders:?}");
    assert_eq!(bed.second.payout_orders().len(), 0);
    if sending != OrderReply::Fails {
        bed.psp.complete();
    }
    bed.clock.advance(LONG);
    bed.poll().await;
    if sending == OrderReply::Fails {
        assert_eq!((bed.status(), bed.event_types()), (PayoutStatus::Failed, vec![EventType::PayoutFailed]));
        assert_eq!((bed.money(), bed.fees(), bed.psp.sent()), ((FUNDS, 0), 0, 0));
    } else {
        assert_eq!((bed.status(), bed.event_types()), (PayoutStatus::Completed, vec![EventType::PayoutCompleted]));
        assert_eq!((bed.money(), bed.fees(), bed.psp.sent()), ((FUNDS - 1_000 - FEE, 0), FEE, 1));
        assert_eq!(bed.left(&main_acquirer()), 1_000);
    }
    assert_eq!(bed.resume().await, 0, "no creation is unfinished");
    bed.check().await;
}

#[tokio::test]
async fn repeat_after_lease_sends_exactly_one_payout() {
    for sending in SENDINGS {
        for (nth, crash) in ALL {
            let bed = interrupted(nth, crash, sending).await;
            let begun = bed.store.payouts();
            bed.clock.advance(PAST_LEASE);
            let answer = bed.create("a", named("order-1", ten_reais())).await.unwrap();
            assert_eq!(answer.kind, ResponseKind::Created, "{nth} {crash:?} {sending:?}");
            assert!(begun.iter().all(|payout| payout.id == id_of(&answer)), "the first creation is resumed");
            exactly_one(&bed, sending).await;
            assert_eq!(bed.psp.payout_orders().len(), 1, "the look-up finds the payout, so it is sent once");
        }
    }
}

#[tokio::test]
async fn worker_after_lease_sends_exactly_one_payout() {
    for sending in SENDINGS {
        for (nth, crash) in ALL {
            let bed = interrupted(nth, crash, sending).await;
            assert_eq!(bed.resume().await, 0, "not before the lease is over");
            bed.clock.advance(PAST_LEASE);
            let expected = usize::from(matches!((nth, crash), (1, Crash::After) | (2, Crash::Before)));
            assert_eq!(bed.resume().await, expected, "{nth} {crash:?} {sending:?}");
            exactly_one(&bed, sending).await;
            assert_eq!(bed.psp.payout_orders().len(), 1, "the look-up finds the payout, so it is sent once");
        }
    }
}

#[tokio::test]
async fn repeat_within_lease_sends_no_second_payout() {
    for (nth, crash) in ALL {
        let bed = interrupted(nth, crash, OrderReply::Accepts).await;
        let repeat = bed.create("a", named("order-1", ten_reais())).await;
        match (nth, crash) {
            // Either no change was committed or all were, so the response is available.
            (1, Crash::Before) | (2, Crash::After) => assert_eq!(repeat.unwrap().kind, ResponseKind::Created),
            _ => assert!(matches!(repeat, Err(CreatePayoutError::KeyInProgress { .. })), "{nth} {crash:?}: {repeat:?}"),
        }
        bed.clock.advance(PAST_LEASE);
        bed.resume().await;
        exactly_one(&bed, OrderReply::Accepts).await;
    }
}

#[tokio::test]
async fn interrupted_resumption_is_resumed() {
    // Commit 1 of a resumption takes over the request, and commit 2 answers it.
    for (nth, crash) in ALL {
        for first in [(1, Crash::After), (2, Crash::Before)] {
            let bed = interrupted(first.0, first.1, OrderReply::Accepts).await;
            bed.clock.advance(PAST_LEASE);
            bed.store.crash_at(nth, crash);
            // The first creation fails, and the pass handles the others.
            assert_eq!(bed.resume().await, 0);
            bed.clock.advance(PAST_LEASE);
            bed.resume().await;
            exactly_one(&bed, OrderReply::Accepts).await;
        }
    }
}

#[tokio::test]
async fn payout_that_may_have_been_sent_is_never_abandoned() {
    // The process crashed between the hold and the sending, or between the sending and the outcome. The store does not
    // show which.
    for (nth, crash) in [(1, Crash::After), (2, Crash::Before)] {
        for sending in [OrderReply::Down, OrderReply::Refuses, OrderReply::Silent] {
            for lookup_reply in [LookupReply::Accurate, LookupReply::Silent, LookupReply::NotFound] {
                let bed = interrupted(nth, crash, OrderReply::Accepts).await;
                bed.psp.set(sending);
                bed.psp.set_lookup_reply(lookup_reply);
                bed.clock.advance(PAST_LEASE);
                let answer = bed.create("a", named("order-1", ten_reais())).await.unwrap();
                assert_eq!(
                    (answer.kind, status_of(&answer).as_str()),
                    (ResponseKind::Created, "processing"),
                    "{sending:?} {lookup_reply:?}"
                );
                assert_eq!(bed.money(), (FUNDS - 1_000 - FEE, 1_000 + FEE));
                bed.check().await;
            }
        }
    }
}

#[tokio::test]
async fn payout_of_removed_acquirer_stays_processing() {
    let bed = interrupted(2, Crash::Before, OrderReply::Accepts).await;
    bed.clock.advance(PAST_LEASE);
    let mut no_sender = cais_ports::acquirers::MockAcquirers::new();
    no_sender.expect_named().returning(|_| None);
    no_sender.expect_first_sender().return_const(None);
    let ports = cais_use_cases::Ports { acquirers: std::sync::Arc::new(no_sender), ..bed.ports.clone() };
    let answer = cais_use_cases::payouts::create::create(&ports, bed.command("a", named("order-1", ten_reais()))).await;
    assert_eq!(status_of(&answer.unwrap()), "processing");
    cais_use_cases::payouts::poll::run_once(&ports).await.unwrap();
    assert_eq!(bed.status(), PayoutStatus::Processing);
    exactly_one(&bed, OrderReply::Accepts).await;
}

#[tokio::test]
async fn interrupted_abandonment_releases_money_once() {
    for crash in [Crash::Before, Crash::After] {
        let bed = interrupted(2, crash, OrderReply::Down).await;
        bed.clock.advance(PAST_LEASE);
        bed.psp.set(OrderReply::Accepts);
        // If the commit succeeded, only the caller can repeat the creation. Otherwise the worker finishes it.
        assert_eq!(bed.resume().await, usize::from(crash == Crash::Before), "{crash:?}");
        exactly_one(&bed, OrderReply::Accepts).await;
    }
}

#[tokio::test]
async fn interrupted_retry_of_abandoned_payout_is_resumed() {
    for (nth, crash) in ALL {
        let bed = TestBed::new().await;
        bed.psp.set(OrderReply::Down);
        bed.create("a", named("order-1", ten_reais())).await.unwrap_err();
        bed.psp.set(OrderReply::Accepts);
        // The first commit finds the existing key. The two commits of the creation follow.
        bed.store.crash_at(nth + 1, crash);
        bed.create("a", named("order-1", ten_reais())).await.unwrap_err();
        bed.clock.advance(PAST_LEASE);
        bed.resume().await;
        exactly_one(&bed, OrderReply::Accepts).await;
    }
}

#[tokio::test]
async fn outcome_with_interrupted_commit_is_written_once() {
    for crash in [Crash::Before, Crash::After] {
        for failed in [false, true] {
            let bed = TestBed::new().await;
            bed.processing().await;
            if failed {
                bed.psp.fail();
            } else {
                bed.psp.complete();
            }
            bed.clock.advance(LONG);
            bed.store.crash_at(1, crash);
            assert_eq!(bed.poll().await, 0, "the store did not answer");
            let id = bed.only_payout().id;
            bed.read(id).await.unwrap();
            bed.clock.advance(LONG);
            bed.poll().await;
            let expected = if failed { EventType::PayoutFailed } else { EventType::PayoutCompleted };
            assert_eq!(bed.event_types(), [expected], "{crash:?}");
            assert_eq!(bed.money(), if failed { (FUNDS, 0) } else { (FUNDS - 1_000 - FEE, 0) });
            bed.check().await;
        }
    }
}
