//! A process crashes, or the store does not answer, between any two commits. Each operation that was started is
//! finished once.

use std::time::Duration;

use cais_domain::infraction::InfractionStatus;
use cais_ports::{Clock as _, UpstreamInfractionStatus};
use cais_testkit::Crash;
use cais_use_cases::infractions::defend::DefendError;

use crate::bed::{LONG, PAST_LAG, TestBed};

#[tokio::test]
async fn interrupted_defense_is_finished_by_worker() {
    for (commit, crash, handed) in
        [(1, Crash::Before, 0), (1, Crash::After, 0), (2, Crash::Before, 1), (2, Crash::After, 1)]
    {
        let bed = TestBed::new().await;
        bed.disputed().await;
        bed.store.crash_at(commit, crash);
        let answer = bed.defend("Entregue.").await;
        assert!(matches!(answer, Err(DefendError::Store(_))), "{commit} {crash:?} {answer:?}");
        assert_eq!(bed.psp.defenses(), (handed, handed));
        bed.clock.advance(PAST_LAG);
        bed.resume().await;
        let begun = (commit, crash) != (1, Crash::Before);
        let status = if begun { InfractionStatus::UnderReview } else { InfractionStatus::Open };
        assert_eq!(bed.statuses(), [status], "{commit} {crash:?}");
        assert_eq!(bed.psp.defenses(), if begun { (1, 1) } else { (0, 0) });
        assert!(bed.defend("Entregue.").await.is_ok(), "the same again is a repeat");
        assert_eq!((bed.psp.defenses(), bed.statuses()), ((1, 1), vec![InfractionStatus::UnderReview]));
        bed.check().await;
    }
}

#[tokio::test]
async fn interrupted_withdrawal_is_finished_by_worker() {
    for crash in [Crash::Before, Crash::After] {
        let bed = TestBed::new().await;
        let (_, id) = bed.disputed().await;
        let now = bed.clock.now();
        bed.psp.change(&id, |row| row.deadline_at = Some(now - Duration::from_secs(1)));
        bed.store.crash_at(2, crash);
        assert!(matches!(bed.defend("Entregue.").await, Err(DefendError::Store(_))));
        bed.clock.advance(LONG);
        bed.resume().await;
        assert_eq!((bed.last().defense, bed.psp.defenses().1), (None, 0), "{crash:?}");
        bed.check().await;
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
                let bed = TestBed::new().await;
                let charge = bed.pending(1_000).await;
                let pix = bed.psp.pay(&charge.txid, 1_000);
                let id = bed.psp.dispute(&pix, 600);
                bed.psp.receive_defense(&id, "Entregue.");
                bed.psp.settle(&id, upstream);
                bed.store.crash_at(commit, crash);
                bed.poll().await;
                bed.check().await;
                bed.poll().await;
                assert_eq!((bed.statuses(), bed.money()), (vec![status], money), "{commit} {crash:?}");
                assert_eq!(bed.event_types().len(), 3, "{commit} {crash:?}");
                bed.check().await;
            }
        }
    }
}

#[tokio::test]
async fn unavailable_store_loses_no_dispute() {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    bed.psp.dispute(&pix, 1_000);
    bed.store.set_unreachable(true);
    assert_eq!(bed.poll().await, 0);
    assert!(cais_use_cases::infractions::poll_defenses::run_once(&bed.ports).await.is_err());
    assert!(cais_use_cases::infractions::alerts::run_once(&bed.ports).await.is_err());
    bed.store.set_unreachable(false);
    assert_eq!(bed.poll().await, 1);
    assert_eq!(bed.money(), [0, 0, 1_000]);
    bed.check().await;
}
