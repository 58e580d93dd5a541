//! A process that crashes, or a store whose reply is lost, before or after each commit of a creation.

use cais_domain::charge::ChargeStatus;
use cais_ports::ResponseKind;
use cais_testkit::Crash;
use cais_use_cases::charges::create::CreateChargeError;
use cais_use_cases::resume;

use crate::bed::{PAST_LEASE, TestBed, id_of, named, ten_reais};

const ALL: [(u64, Crash); 4] = [(1, Crash::Before), (1, Crash::After), (2, Crash::Before), (2, Crash::After)];

async fn interrupted(nth: u64, crash: Crash) -> TestBed {
    let bed = TestBed::new().await;
    bed.store.crash_at(nth, crash);
    let lost = bed.create("a", named("order-1", ten_reais())).await;
    assert!(matches!(lost, Err(CreateChargeError::Unavailable { .. })), "{nth} {crash:?}: {lost:?}");
    bed
}

/// Asserts that there is one charge here, one charge at the acquirer, and one response for all repeats.
async fn exactly_one(bed: &TestBed) {
    let charge = bed.only_charge();
    assert_eq!(charge.state.status(), ChargeStatus::Pending);
    assert_eq!(bed.psp.charges().len(), 1);
    let [one, two] = [
        bed.create("a", named("order-1", ten_reais())).await.unwrap(),
        bed.create("a", named("order-1", ten_reais())).await.unwrap(),
    ];
    assert_eq!(one, two);
    assert_eq!(id_of(&one), charge.id);
    assert_eq!(bed.read_external("order-1").await.unwrap().id, charge.id);
    bed.check().await;
}

#[tokio::test]
async fn repeat_after_lease_creates_exactly_one_charge() {
    for (nth, crash) in ALL {
        let bed = interrupted(nth, crash).await;
        let begun = bed.store.charges();
        bed.clock.advance(PAST_LEASE);
        let answer = bed.create("a", named("order-1", ten_reais())).await.unwrap();
        assert_eq!(answer.kind, ResponseKind::Created, "{nth} {crash:?}");
        assert!(begun.iter().all(|charge| charge.id == id_of(&answer)), "the first creation is resumed");
        exactly_one(&bed).await;
    }
}

#[tokio::test]
async fn worker_after_lease_creates_exactly_one_charge() {
    for (nth, crash) in ALL {
        let bed = interrupted(nth, crash).await;
        bed.clock.advance(PAST_LEASE);
        let finished = resume::run_once(&bed.ports).await.unwrap().done;
        let expected = usize::from(matches!((nth, crash), (1, Crash::After) | (2, Crash::Before)));
        assert_eq!(finished, expected, "{nth} {crash:?}");
        bed.create("a", named("order-1", ten_reais())).await.unwrap();
        exactly_one(&bed).await;
    }
}

#[tokio::test]
async fn repeat_within_lease_creates_no_second_charge() {
    for (nth, crash) in ALL {
        let bed = interrupted(nth, crash).await;
        let repeat = bed.create("a", named("order-1", ten_reais())).await;
        match (nth, crash) {
            // Either no change was committed or all were, so the response is available.
            (1, Crash::Before) | (2, Crash::After) => assert_eq!(repeat.unwrap().kind, ResponseKind::Created),
            _ => assert!(matches!(repeat, Err(CreateChargeError::KeyInProgress { .. })), "{nth} {crash:?}: {repeat:?}"),
        }
        bed.clock.advance(PAST_LEASE);
        bed.work().await;
        bed.create("a", named("order-1", ten_reais())).await.unwrap();
        exactly_one(&bed).await;
    }
}

#[tokio::test]
async fn interrupted_resumption_is_resumed() {
    // Commit 1 of a resumption takes over the request, and commit 2 answers it.
    for (nth, crash) in ALL {
        let bed = interrupted(1, Crash::After).await;
        bed.clock.advance(PAST_LEASE);
        bed.store.crash_at(nth, crash);
        // The first creation fails, and the pass handles the others.
        resume::run_once(&bed.ports).await.unwrap();
        bed.clock.advance(PAST_LEASE);
        bed.work().await;
        exactly_one(&bed).await;
    }
}

#[tokio::test]
async fn payment_with_interrupted_commit_is_credited_once() {
    for crash in [Crash::Before, Crash::After] {
        let bed = TestBed::new().await;
        let charge = bed.pending().await;
        bed.psp.pay(&charge.txid, 1_000);
        bed.store.crash_at(1, crash);
        let stored = bed.read(charge.id).await.unwrap();
        assert_eq!(stored.id, charge.id, "a read returns the stored charge");

        assert_eq!(bed.read(charge.id).await.unwrap().state.status(), ChargeStatus::Paid, "{crash:?}");
        assert_eq!(bed.available(), 1_000);
        assert_eq!(bed.event_types().len(), 1);
        bed.check().await;
    }
}
