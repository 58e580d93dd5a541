//! Alerts for near deadlines. Each alert is raised once, and only by one node.

use std::time::Duration;

use cais_use_cases::infractions::alerts::{Alert, run_once};

use crate::bed::TestBed;

async fn raised_hours(bed: &TestBed) -> Vec<u8> {
    run_once(&bed.ports).await.unwrap().into_iter().map(|Alert { hours, .. }| hours).collect()
}

#[tokio::test]
async fn alert_is_raised_once_per_hour_mark() {
    let bed = TestBed::new().await;
    bed.disputed().await;
    let mut raised = Vec::new();
    for _ in 0..168 {
        raised.extend(raised_hours(&bed).await);
        bed.clock.advance(Duration::from_hours(1));
    }
    assert_eq!(raised, [48, 24, 6]);
    bed.check().await;
}

#[tokio::test]
async fn alert_on_two_nodes_is_raised_once() {
    let bed = TestBed::new().await;
    bed.disputed().await;
    bed.clock.advance(Duration::from_hours(165));
    let contended = bed.contended();
    let nodes = futures_util::future::join_all((0..8).map(|_| raised_hours(&contended))).await;
    assert_eq!(nodes.concat(), [6]);
}

#[tokio::test]
async fn alerts_beyond_one_list_are_raised() {
    let bed = TestBed::new().await;
    for _ in 0..300 {
        let (_, pix) = bed.paid(200).await;
        bed.psp.dispute(&pix, 200);
    }
    bed.poll().await;
    bed.clock.advance(Duration::from_hours(150));
    // All infractions have the same deadline, so the first page ends between infractions with equal deadlines.
    let mut raised = raised_hours(&bed).await;
    raised.extend(raised_hours(&bed).await);
    assert_eq!(raised.len(), 300);
}

#[tokio::test]
async fn defended_or_resolved_infraction_raises_no_alert() {
    let bed = TestBed::new().await;
    bed.disputed().await;
    bed.defend("Entregue.").await.unwrap();
    bed.clock.advance(Duration::from_hours(165));
    assert!(raised_hours(&bed).await.is_empty());
}
