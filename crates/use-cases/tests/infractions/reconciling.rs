//! Compares the amounts that infractions returned here with the amounts that they returned at the acquirer.

use std::time::Duration;

use cais_domain::infraction::InfractionStatus;
use cais_ports::{Clock as _, UpstreamInfractionStatus, UpstreamProgress};
use cais_testkit::builders::start;
use cais_use_cases::reconcile::{Difference, DifferenceKind, run, run_once};

use crate::world::{LONG, World};

async fn differences(world: &World) -> Vec<Difference> {
    let until = world.clock.advance(Duration::from_secs(1));
    run(&world.ports, start(), until, true, &|_| {}).await.unwrap().differences
}

/// Runs the worker. Returns the differences that are left to operators.
async fn pass(world: &World) -> Vec<Difference> {
    run_once(&world.ports).await.unwrap();
    differences(world).await
}

#[tokio::test]
async fn unseen_loss_is_applied_before_comparison() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    let id = world.psp.dispute(&pix, 1_000);
    world.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    world.psp.take_back(&pix, 1_000);
    world.clock.advance(LONG);
    assert_eq!(differences(&world).await.len(), 1, "long ago, and not followed");
    assert_eq!(pass(&world).await, []);
    assert_eq!((world.statuses(), world.money()), (vec![InfractionStatus::Lost], [0, 0, 0]));
    world.check().await;
}

#[tokio::test]
async fn recent_return_is_no_difference_yet() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    world.psp.take_back(&pix, 1_000);
    world.clock.advance(Duration::from_secs(178));
    assert_eq!(differences(&world).await, [], "the infraction may be in the next poll");
    assert_eq!(differences(&world).await.len(), 1, "three minutes later it is not");
}

#[tokio::test]
async fn loss_without_upstream_return_is_reported_per_pix() {
    for beyond in [false, true] {
        let world = World::new().await;
        let (charge, pix) = world.paid(1_000).await;
        let pix = if beyond { world.psp.pay(&charge.txid, 1_000) } else { pix };
        let id = world.psp.dispute(&pix, 1_000);
        world.poll().await;
        world.psp.settle(&id, UpstreamInfractionStatus::Accepted);
        // The end is reported long after it happened.
        world.clock.advance(LONG);
        world.poll().await;
        assert_eq!(differences(&world).await, [], "the return may still come");
        world.clock.advance(LONG);
        let expected = Difference {
            kind: DifferenceKind::InfractionReturned,
            acquirer: world.psp.name.clone(),
            resource: Some(charge.id.to_string()),
            upstream_id: pix.to_string(),
            ours: Some("10.00".to_owned()),
            theirs: Some("0.00".to_owned()),
            repaired: false,
        };
        assert_eq!(differences(&world).await, [expected], "beyond the charge: {beyond}");
        world.psp.take_back(&pix, 1_000);
        assert_eq!(differences(&world).await, []);
        world.check().await;
    }
}

#[tokio::test]
async fn return_in_process_is_no_difference_yet() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    world.psp.begin_to_take(&pix, 1_000, UpstreamProgress::Processing);
    world.clock.advance(LONG);
    assert_eq!(differences(&world).await, [], "the refund may still fail");
    world.psp.settle_open(&UpstreamProgress::Done { at: None });
    assert_eq!(differences(&world).await.len(), 1);
}

#[tokio::test]
async fn old_infraction_is_looked_up_before_it_is_reported() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    let id = world.psp.dispute(&pix, 1_000);
    world.poll().await;
    world.psp.settle(&id, UpstreamInfractionStatus::Rejected);
    world.poll().await;
    // Advances to half past an hour. The whole list was read in this hour, so until the next hour only recent rows are
    // read.
    world.clock.advance(Duration::from_hours(48));
    let past = u64::try_from(world.clock.now().as_second().rem_euclid(3_600)).unwrap();
    world.clock.advance(Duration::from_secs(3_600 - past + 1_800));
    for _ in 0..2 {
        assert_eq!(world.poll().await, 0);
    }
    world.psp.reopen(&id);
    world.psp.accept(&id);
    world.clock.advance(LONG);
    assert_eq!(pass(&world).await, []);
    assert_eq!((world.statuses(), world.money()), (vec![InfractionStatus::Won, InfractionStatus::Open], [0, 0, 1_000]));
    world.check().await;
}
