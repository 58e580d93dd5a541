//! A process that crashes, or a store whose reply is lost, before or after each commit of a creation.

use cais_domain::charge::ChargeStatus;
use cais_ports::ResponseKind;
use cais_testkit::Crash;
use cais_use_cases::charges::create::CreateChargeError;
use cais_use_cases::resume;

use crate::world::{PAST_LEASE, World, id_of, named, ten_reais};

const ALL: [(u64, Crash); 4] = [(1, Crash::Before), (1, Crash::After), (2, Crash::Before), (2, Crash::After)];

async fn interrupted(nth: u64, crash: Crash) -> World {
    let world = World::new().await;
    world.store.crash_at(nth, crash);
    let lost = world.create("a", named("order-1", ten_reais())).await;
    assert!(matches!(lost, Err(CreateChargeError::Unavailable { .. })), "{nth} {crash:?}: {lost:?}");
    world
}

/// Asserts that there is one charge here, one charge at the acquirer, and one response for all repeats.
async fn exactly_one(world: &World) {
    let charge = world.only_charge();
    assert_eq!(charge.state.status(), ChargeStatus::Pending);
    assert_eq!(world.psp.charges().len(), 1);
    let [one, two] = [
        world.create("a", named("order-1", ten_reais())).await.unwrap(),
        world.create("a", named("order-1", ten_reais())).await.unwrap(),
    ];
    assert_eq!(one, two);
    assert_eq!(id_of(&one), charge.id);
    assert_eq!(world.read_external("order-1").await.unwrap().id, charge.id);
    world.check().await;
}

#[tokio::test]
async fn repeat_after_lease_creates_exactly_one_charge() {
    for (nth, crash) in ALL {
        let world = interrupted(nth, crash).await;
        let begun = world.store.charges();
        world.clock.advance(PAST_LEASE);
        let answer = world.create("a", named("order-1", ten_reais())).await.unwrap();
        assert_eq!(answer.kind, ResponseKind::Created, "{nth} {crash:?}");
        assert!(begun.iter().all(|charge| charge.id == id_of(&answer)), "the first creation is resumed");
        exactly_one(&world).await;
    }
}

#[tokio::test]
async fn worker_after_lease_creates_exactly_one_charge() {
    for (nth, crash) in ALL {
        let world = interrupted(nth, crash).await;
        world.clock.advance(PAST_LEASE);
        let finished = resume::run_once(&world.ports).await.unwrap().done;
        let expected = usize::from(matches!((nth, crash), (1, Crash::After) | (2, Crash::Before)));
        assert_eq!(finished, expected, "{nth} {crash:?}");
        world.create("a", named("order-1", ten_reais())).await.unwrap();
        exactly_one(&world).await;
    }
}

#[tokio::test]
async fn repeat_within_lease_creates_no_second_charge() {
    for (nth, crash) in ALL {
        let world = interrupted(nth, crash).await;
        let repeat = world.create("a", named("order-1", ten_reais())).await;
        match (nth, crash) {
            // Either no change was committed or all were, so the response is available.
            (1, Crash::Before) | (2, Crash::After) => assert_eq!(repeat.unwrap().kind, ResponseKind::Created),
            _ => assert!(matches!(repeat, Err(CreateChargeError::KeyInProgress { .. })), "{nth} {crash:?}: {repeat:?}"),
        }
        world.clock.advance(PAST_LEASE);
        world.work().await;
        world.create("a", named("order-1", ten_reais())).await.unwrap();
        exactly_one(&world).await;
    }
}

#[tokio::test]
async fn interrupted_resumption_is_resumed() {
    // Commit 1 of a resumption takes over the request, and commit 2 answers it.
    for (nth, crash) in ALL {
        let world = interrupted(1, Crash::After).await;
        world.clock.advance(PAST_LEASE);
        world.store.crash_at(nth, crash);
        // The first creation fails, and the pass handles the others.
        resume::run_once(&world.ports).await.unwrap();
        world.clock.advance(PAST_LEASE);
        world.work().await;
        exactly_one(&world).await;
    }
}

#[tokio::test]
async fn payment_with_interrupted_commit_is_credited_once() {
    for crash in [Crash::Before, Crash::After] {
        let world = World::new().await;
        let charge = world.pending().await;
        world.psp.pay(&charge.txid, 1_000);
        world.store.crash_at(1, crash);
        let stored = world.read(charge.id).await.unwrap();
        assert_eq!(stored.id, charge.id, "a read returns the stored charge");

        assert_eq!(world.read(charge.id).await.unwrap().state.status(), ChargeStatus::Paid, "{crash:?}");
        assert_eq!(world.available(), 1_000);
        assert_eq!(world.event_types().len(), 1);
        world.check().await;
    }
}
