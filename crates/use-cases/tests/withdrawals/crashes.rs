//! A process crashes, or the store's reply is lost, before or after each commit of a withdrawal. The withdrawal is
//! created at most once.

use cais_ports::{ResponseKind, UpstreamWithdrawalStatus as Upstream};
use cais_testkit::Crash;
use cais_testkit::psp::{LookupReply, OrderReply};
use cais_use_cases::crypto::withdrawals::create::CreateWithdrawalError;

use crate::bed::{LONG, PAST_LEASE, TestBed, a_hundred, id_of, named};

/// Commit 1 holds the money, and commit 2 stores the outcome. The request to the processor is between them.
const ALL: [(u64, Crash); 4] = [(1, Crash::Before), (1, Crash::After), (2, Crash::Before), (2, Crash::After)];

async fn interrupted(nth: u64, crash: Crash, sending: OrderReply) -> TestBed {
    let bed = TestBed::new().await;
    bed.processor.set(sending);
    bed.store.crash_at(nth, crash);
    let lost = bed.create("a", named("order-1", a_hundred())).await;
    assert!(matches!(lost, Err(CreateWithdrawalError::Unavailable { .. })), "{nth} {crash:?}: {lost:?}");
    bed
}

#[tokio::test]
async fn interrupted_withdrawal_is_created_at_most_once() {
    for sending in [OrderReply::Accepts, OrderReply::LosesReplies, OrderReply::ArrivesLate] {
        for (nth, crash) in ALL {
            for by_worker in [false, true] {
                let bed = interrupted(nth, crash, sending).await;
                bed.processor.set(OrderReply::Accepts);
                bed.clock.advance(PAST_LEASE);
                if by_worker {
                    bed.resume().await;
                }
                let answer = bed.create("a", named("order-1", a_hundred())).await.unwrap();
                let again = bed.create("a", named("order-1", a_hundred())).await.unwrap();
                assert_eq!((answer.kind, id_of(&answer)), (ResponseKind::Created, bed.only().id));
                assert_eq!((again.kind, &again.body), (ResponseKind::Created, &answer.body));
                for _ in 0..3 {
                    bed.clock.advance(LONG);
                    bed.poll().await;
                    bed.processor.settle_open(Upstream::Finished);
                }
                // If the process crashed between commit 1 and the request, the withdrawal was never created.
                if (nth, crash) == (1, Crash::After) {
                    assert_eq!(bed.processor.requests(), 0, "{sending:?}");
                    assert!(bed.only().state.review_since().is_some());
                    bed.held().await;
                } else {
                    assert_eq!((bed.processor.batches().len(), bed.processor.requests()), (1, 1));
                    bed.paid().await;
                }
                assert_eq!(bed.resume().await, 0, "nothing is left to be finished");
            }
        }
    }
}

#[tokio::test]
async fn withdrawal_without_request_is_not_sent_after_lost_process() {
    let bed = interrupted(1, Crash::After, OrderReply::Accepts).await;
    bed.processor.set_lookup_reply(LookupReply::NotFound);
    bed.clock.advance(PAST_LEASE);
    assert_eq!(bed.resume().await, 1);
    assert_eq!(bed.processor.requests(), 0);
    bed.held().await;
}
