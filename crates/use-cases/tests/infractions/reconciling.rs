//! Compares the amounts that infractions returned here with the amounts that they returned at the acquirer.

use std::time::Duration;

use cais_domain::infraction::InfractionStatus;
use cais_ports::{Clock as _, UpstreamInfractionStatus, UpstreamProgress};
use cais_testkit::builders::start;
use cais_use_cases::reconcile::{Difference, DifferenceKind, run, run_once};

use crate::bed::{LONG, TestBed};

async fn differences(bed: &TestBed) -> Vec<Difference> {
    let until = bed.clock.advance(Duration::from_secs(1));
    run(&bed.ports, start(), until, true, &|_| {}).await.unwrap().differences
}

/// Runs the worker. Returns the differences that are left to operators.
async fn pass(bed: &TestBed) -> Vec<Difference> {
    run_once(&bed.ports).await.unwrap();
    differences(bed).await
}

#[tokio::test]
async fn unseen_loss_is_applied_before_comparison() {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    let id = bed.psp.dispute(&pix, 1_000);
    bed.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    bed.psp.complete_infraction_return(&pix, 1_000);
    bed.clock.advance(LONG);
    assert_eq!(differences(&bed).await.len(), 1, "long ago, and not followed");
    assert_eq!(pass(&bed).await, []);
    assert_eq!((bed.statuses(), bed.money()), (vec![InfractionStatus::Lost], [0, 0, 0]));
    bed.check().await;
}

#[tokio::test]
async fn recent_return_is_no_difference_yet() {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    bed.psp.complete_infraction_return(&pix, 1_000);
    bed.clock.advance(Duration::from_secs(178));
    assert_eq!(differences(&bed).await, [], "the infraction may be in the next poll");
    assert_eq!(differences(&bed).await.len(), 1, "three minutes later it is not");
}

#[tokio::test]
async fn loss_without_upstream_return_is_reported_per_pix() {
    for beyond in [false, true] {
        let bed = TestBed::new().await;
        let (charge, pix) = bed.paid(1_000).await;
        let pix = if beyond { bed.psp.pay(&charge.txid, 1_000) } else { pix };
        let id = bed.psp.dispute(&pix, 1_000);
        bed.poll().await;
        bed.psp.settle(&id, UpstreamInfractionStatus::Accepted);
        // The end is reported long after it happened.
        bed.clock.advance(LONG);
        bed.poll().await;
        assert_eq!(differences(&bed).await, [], "the return may still come");
        bed.clock.advance(LONG);
        let expected = Difference {
            kind: DifferenceKind::InfractionReturned,
            acquirer: bed.psp.name.clone(),
            resource: Some(charge.id.to_string()),
            upstream_id: pix.to_string(),
            ours: Some("10.00".to_owned()),
            theirs: Some("0.00".to_owned()),
            repaired: false,
        };
        assert_eq!(differences(&bed).await, [expected], "beyond the charge: {beyond}");
        bed.psp.complete_infraction_return(&pix, 1_000);
        assert_eq!(differences(&bed).await, []);
        bed.check().await;
    }
}

#[tokio::test]
async fn return_in_process_is_no_difference_yet() {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    bed.psp.add_infraction_return(&pix, 1_000, UpstreamProgress::Processing);
    bed.clock.advance(LONG);
    assert_eq!(differences(&bed).await, [], "the refund may still fail");
    bed.psp.settle_open(&UpstreamProgress::Done { at: None });
    assert_eq!(differences(&bed).await.len(), 1);
}

#[tokio::test]
async fn old_infraction_is_looked_up_before_it_is_reported() {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    let id = bed.psp.dispute(&pix, 1_000);
    bed.poll().await;
    bed.psp.settle(&id, UpstreamInfractionStatus::Rejected);
    bed.poll().await;
    // Advances to half past an hour. The whole list was read in this hour, so until the next hour only recent rows are
    // read.
    bed.clock.advance(Duration::from_hours(48));
    let past = u64::try_from(bed.clock.now().as_second().rem_euclid(3_600)).unwrap();
    bed.clock.advance(Duration::from_secs(3_600 - past + 1_800));
    for _ in 0..2 {
        assert_eq!(bed.poll().await, 0);
    }
    bed.psp.reopen(&id);
    bed.psp.accept(&id);
    bed.clock.advance(LONG);
    assert_eq!(pass(&bed).await, []);
    assert_eq!((bed.statuses(), bed.money()), (vec![InfractionStatus::Won, InfractionStatus::Open], [0, 0, 1_000]));
    bed.check().await;
}
