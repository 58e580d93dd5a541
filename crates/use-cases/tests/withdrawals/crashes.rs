//! A process crashes, or the store's reply is lost, before or after each commit of a withdrawal. The withdrawal is
//! created at most once.

use cais_ports::{ResponseKind, UpstreamWithdrawalStatus as Upstream};
use cais_testkit::Crash;
use cais_testkit::psp::{Looking, Sending};
use cais_use_cases::crypto::withdrawals::create::CreateWithdrawalError;

use crate::world::{LONG, PAST_LEASE, World, a_hundred, id_of, named};

/// Commit 1 holds the money, and commit 2 stores the outcome. The request to the processor is between them.
const ALL: [(u64, Crash); 4] = [(1, Crash::Before), (1, Crash::After), (2, Crash::Before), (2, Crash::After)];

async fn interrupted(nth: u64, crash: Crash, sending: Sending) -> World {
    let world = World::new().await;
    world.processor.set(sending);
    world.store.crash_at(nth, crash);
    let lost = world.create("a", named("order-1", a_hundred())).await;
    assert!(matches!(lost, Err(CreateWithdrawalError::Unavailable { .. })), "{nth} {crash:?}: {lost:?}");
    world
}

#[tokio::test]
async fn interrupted_withdrawal_is_created_at_most_once() {
    for sending in [Sending::Takes, Sending::LosesReplies, Sending::ArrivesLate] {
        for (nth, crash) in ALL {
            for by_worker in [false, true] {
                let world = interrupted(nth, crash, sending).await;
                world.processor.set(Sending::Takes);
                world.clock.advance(PAST_LEASE);
                if by_worker {
                    world.resume().await;
                }
                let answer = world.create("a", named("order-1", a_hundred())).await.unwrap();
                let again = world.create("a", named("order-1", a_hundred())).await.unwrap();
                assert_eq!((answer.kind, id_of(&answer)), (ResponseKind::Created, world.only().id));
                assert_eq!((again.kind, &again.body), (ResponseKind::Created, &answer.body));
                for _ in 0..3 {
                    world.clock.advance(LONG);
                    world.poll().await;
                    world.processor.settle_open(Upstream::Finished);
                }
                // If the process crashed between commit 1 and the request, the withdrawal was never created.
                if (nth, crash) == (1, Crash::After) {
                    assert_eq!(world.processor.requests(), 0, "{sending:?}");
                    assert!(world.only().state.review_since().is_some());
                    world.held().await;
                } else {
                    assert_eq!((world.processor.batches().len(), world.processor.requests()), (1, 1));
                    world.paid().await;
                }
                assert_eq!(world.resume().await, 0, "nothing is left to be finished");
            }
        }
    }
}

#[tokio::test]
async fn withdrawal_without_request_is_not_sent_after_lost_process() {
    let world = interrupted(1, Crash::After, Sending::Takes).await;
    world.processor.set_looking(Looking::Forgets);
    world.clock.advance(PAST_LEASE);
    assert_eq!(world.resume().await, 1);
    assert_eq!(world.processor.requests(), 0);
    world.held().await;
}
