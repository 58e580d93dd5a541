//! Retention of events and deliveries.

use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::merchant::webhook::DeliveryStatus;
use cais_use_cases::housekeeping;

use crate::bed::TestBed;

#[tokio::test]
async fn events_are_kept_for_ninety_days_with_their_deliveries() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let dispatcher = bed.dispatcher();
    bed.publish(EventType::ChargePaid).await;
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    let day = Duration::from_hours(24);
    bed.clock.advance(day * 89);
    bed.publish(EventType::ChargePaid).await;
    bed.until_all(&endpoint, DeliveryStatus::Succeeded).await;
    dispatcher.stop().await;
    let left = async || {
        while housekeeping::run_once(&bed.ports).await.unwrap().more {}
        let sequences: Vec<i64> = bed.store.events(bed.account.id).iter().map(|stored| stored.sequence).collect();
        (sequences, bed.deliveries(&endpoint).await.len())
    };
    assert_eq!(left().await, (vec![1, 2], 2));
    bed.clock.advance(day * 2);
    assert_eq!(left().await, (vec![2], 1));
}
