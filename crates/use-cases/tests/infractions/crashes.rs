//! A process crashes, or the store does not answer, between any two commits. Each operation that was started is
//! finished once.

use std::time::Duration;

use cais_domain::infraction::InfractionStatus;
use cais_ports::{Clock as _, UpstreamInfractionStatus};
use cais_testkit::Crash;
use cais_use_cases::infractions::defend::DefendError;

use crate::world::{A_WHILE, LONG, World};

#[tokio::test]
async fn interrupted_defense_is_finished_by_worker() {
    for (commit, crash, handed) in
        [(1, Crash::Before, 0), (1, Crash::After, 0), (2, Crash::Before, 1), (2, Crash::After, 1)]
    {
        let world = World::new().await;
        world.disputed().await;
        world.store.crash_at(commit, crash);
        let answer = world.defend("Entregue.").await;
        assert!(matches!(answer, Err(DefendError::Store(_))), "{commit} {crash:?} {answer:?}");
        assert_eq!(world.psp.defenses(), (handed, handed));
        world.clock.advance(A_WHILE);
        world.resume().await;
        let begun = (commit, crash) != (1, Crash::Before);
        let status = if begun { InfractionStatus::UnderReview } else { InfractionStatus::Open };
        assert_eq!(world.statuses(), [status], "{commit} {crash:?}");
        assert_eq!(world.psp.defenses(), if begun { (1, 1) } else { (0, 0) });
        assert!(world.defend("Entregue.").await.is_ok(), "the same again is a repeat");
        assert_eq!((world.psp.defenses(), world.statuses()), ((1, 1), vec![InfractionStatus::UnderReview]));
        world.check().await;
    }
}

#[tokio::test]
async fn interrupted_withdrawal_is_finished_by_worker() {
    for crash in [Crash::Before, Crash::After] {
        let world = World::new().await;
        let (_, id) = world.disputed().await;
        let now = world.clock.now();
        world.psp.change(&id, |row| row.deadline_at = Some(now - Duration::from_secs(1)));
        world.store.crash_at(2, crash);
        assert!(matches!(world.defend("Entregue.").await, Err(DefendError::Store(_))));
        world.clock.advance(LONG);
        world.resume().await;
        assert_eq!((world.last().defense, world.psp.defenses().1), (None, 0), "{crash:?}");
        world.check().await;
    }
}

#[tokio::test]
async fn dispute_with_any_interrupted_commit_ends_correctly() {
    for (upstream, status, money) in [
        (UpstreamInfractionStatus::Accepted, InfractionStatus::Lost, [400, 0, 0]),
        (UpstreamInfractionStatus::Rejected, InfractionStatus::Won, [1_000, 0, 0]),
    ] {
        // The commits are: credit, opening, review, resolution, and position.
        for commit in 1..=6 {
            for crash in [Crash::Before, Crash::After] {
                let world = World::new().await;
                let charge = world.pending(1_000).await;
                let pix = world.psp.pay(&charge.txid, 1_000);
                let id = world.psp.dispute(&pix, 600);
                world.psp.receive_defense(&id, "Entregue.");
                world.psp.settle(&id, upstream);
                world.store.crash_at(commit, crash);
                world.poll().await;
                world.check().await;
                world.poll().await;
                assert_eq!((world.statuses(), world.money()), (vec![status], money), "{commit} {crash:?}");
                assert_eq!(world.event_types().len(), 3, "{commit} {crash:?}");
                world.check().await;
            }
        }
    }
}

#[tokio::test]
async fn unavailable_store_loses_no_dispute() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    world.psp.dispute(&pix, 1_000);
    world.store.set_unreachable(true);
    assert_eq!(world.poll().await, 0);
    assert!(cais_use_cases::infractions::poll_defenses::run_once(&world.ports).await.is_err());
    assert!(cais_use_cases::infractions::alerts::run_once(&world.ports).await.is_err());
    world.store.set_unreachable(false);
    assert_eq!(world.poll().await, 1);
    assert_eq!(world.money(), [0, 0, 1_000]);
    world.check().await;
}
