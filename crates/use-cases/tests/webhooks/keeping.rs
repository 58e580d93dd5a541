//! Retention of events and deliveries.

use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::merchant::webhook::DeliveryStatus;
use cais_use_cases::housekeeping;

use crate::world::World;

#[tokio::test]
async fn events_are_kept_for_ninety_days_with_their_deliveries() {
    let world = World::new().await;
    let endpoint = world.endpoint().await;
    let dispatcher = world.dispatcher();
    world.publish(EventType::ChargePaid).await;
    world.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    let day = Duration::from_hours(24);
    world.clock.advance(day * 89);
    world.publish(EventType::ChargePaid).await;
    world.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    dispatcher.stop().await;
    let left = async || {
        while housekeeping::run_once(&world.ports).await.unwrap().more {}
        let sequences: Vec<i64> = world.store.events(world.account.id).iter().map(|stored| stored.sequence).collect();
        (sequences, world.deliveries(&endpoint).await.len())
    };
    assert_eq!(left().await, (vec![1, 2], 2));
    world.clock.advance(day * 2);
    assert_eq!(left().await, (vec![2], 1));
}
