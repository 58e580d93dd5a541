//! Alerts for near deadlines. Each alert is raised once, and only by one node.

use std::time::Duration;

use cais_use_cases::infractions::alerts::{Alert, run_once};

use crate::world::World;

async fn raised_hours(world: &World) -> Vec<u8> {
    run_once(&world.ports).await.unwrap().into_iter().map(|Alert { hours, .. }| hours).collect()
}

#[tokio::test]
async fn alert_is_raised_once_per_hour_mark() {
    let world = World::new().await;
    world.disputed().await;
    let mut raised = Vec::new();
    for _ in 0..168 {
        raised.extend(raised_hours(&world).await);
        world.clock.advance(Duration::from_hours(1));
    }
    assert_eq!(raised, [48, 24, 6]);
    world.check().await;
}

#[tokio::test]
async fn alert_on_two_nodes_is_raised_once() {
    let world = World::new().await;
    world.disputed().await;
    world.clock.advance(Duration::from_hours(165));
    let contended = world.contended();
    let nodes = futures_util::future::join_all((0..8).map(|_| raised_hours(&contended))).await;
    assert_eq!(nodes.concat(), [6]);
}

#[tokio::test]
async fn alerts_beyond_one_list_are_raised() {
    let world = World::new().await;
    for _ in 0..300 {
        let (_, pix) = world.paid(200).await;
        world.psp.dispute(&pix, 200);
    }
    world.poll().await;
    world.clock.advance(Duration::from_hours(150));
    // All infractions have the same deadline, so the first page ends between infractions with equal deadlines.
    let mut raised = raised_hours(&world).await;
    raised.extend(raised_hours(&world).await);
    assert_eq!(raised.len(), 300);
}

#[tokio::test]
async fn defended_or_resolved_infraction_raises_no_alert() {
    let world = World::new().await;
    world.disputed().await;
    world.defend("Entregue.").await.unwrap();
    world.clock.advance(Duration::from_hours(165));
    assert!(raised_hours(&world).await.is_empty());
}
