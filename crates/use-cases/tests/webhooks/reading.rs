//! Endpoints, events and deliveries are read page by page.

use cais_domain::event::EventType;
use cais_domain::ids::EventId;
use cais_ports::{EventFilter, EventPage, PageRequest};
use cais_testkit::builders::{an_account, fresh};
use cais_use_cases::events;
use cais_use_cases::webhooks::delete::delete;
use cais_use_cases::webhooks::deliveries::{self, ListDeliveriesError};
use cais_use_cases::webhooks::list::{self, ListError};

use crate::bed::TestBed;

const fn page<I>(limit: u32, starting_after: Option<I>) -> PageRequest<I> {
    PageRequest { limit, starting_after }
}

#[tokio::test]
async fn endpoint_list_is_newest_first_without_deleted() {
    let bed = TestBed::new().await;
    let mut made = Vec::new();
    for _ in 0..4 {
        made.push(bed.endpoint().await);
    }
    made.reverse();
    let account = bed.account.id;
    let first = list::list(&bed.ports, account, page(2, None)).await.unwrap();
    assert_eq!((first.rows.as_slice(), first.has_more), (&made[..2], true));
    delete(&bed.ports, &bed.account, made[1].id).await.unwrap();
    let rest = list::list(&bed.ports, account, page(2, Some(made[1].id))).await.unwrap();
    assert_eq!((rest.rows.as_slice(), rest.has_more), (&made[2..], false), "the cursor may be gone by then");

    assert_eq!(list::find(&bed.ports, account, made[1].id).await.unwrap(), None);
    assert_eq!(list::find(&bed.ports, an_account().id, made[0].id).await.unwrap(), None);
    assert_eq!(list::find(&bed.ports, account, made[0].id).await.unwrap().as_ref(), Some(&made[0]));
    let unknown = list::list(&bed.ports, account, page(2, Some(fresh()))).await.unwrap_err();
    assert_eq!(unknown, ListError::UnknownCursor);
}

#[tokio::test]
async fn events_are_listed_newest_first_or_from_a_number() {
    let bed = TestBed::new().await;
    let mut ids: Vec<EventId> = Vec::new();
    for kind in [EventType::ChargePaid, EventType::RefundFailed, EventType::ChargePaid, EventType::ChargePaid] {
        ids.push(bed.publish(kind).await.id);
    }
    let read = async |filter, limit, starting_after| {
        let page = EventPage { limit, starting_after };
        let page = events::list(&bed.ports, bed.account.id, filter, page).await.unwrap();
        (page.rows.iter().map(|event| event.id).collect::<Vec<_>>(), page.has_more)
    };
    let all = EventFilter::default();
    assert_eq!(read(all, 3, None).await, (vec![ids[3], ids[2], ids[1]], true));
    assert_eq!(read(all, 3, Some(ids[1])).await, (vec![ids[0]], false));
    let catching_up = EventFilter { after_sequence: Some(1), ..all };
    assert_eq!(read(catching_up, 2, None).await, (vec![ids[1], ids[2]], true));
    assert_eq!(read(catching_up, 2, Some(ids[2])).await, (vec![ids[3]], false));
    let paid = EventFilter { kind: Some(EventType::ChargePaid), ..all };
    assert_eq!(read(paid, 5, Some(ids[1])).await, (vec![ids[0]], false), "the cursor may be of another type");

    let cursor = EventPage { limit: 5, starting_after: Some(fresh()) };
    let unknown = events::list(&bed.ports, bed.account.id, all, cursor).await.unwrap_err();
    assert_eq!(unknown, ListError::UnknownCursor);
    let found = events::find(&bed.ports, bed.account.id, ids[2]).await.unwrap().unwrap();
    assert_eq!((found.sequence, found.kind), (3, EventType::ChargePaid));
    assert_eq!(events::find(&bed.ports, an_account().id, ids[2]).await.unwrap(), None);
}

#[tokio::test]
async fn deliveries_are_listed_for_existing_endpoint_only() {
    let bed = TestBed::new().await;
    let (endpoint, other) = (bed.endpoint().await, bed.endpoint().await);
    bed.publish_many(3).await;
    let account = bed.account.id;
    let first = deliveries::list(&bed.ports, account, endpoint.id, page(2, None)).await.unwrap();
    assert!(first.has_more);
    let cursor = first.rows[1].id;
    let rest = deliveries::list(&bed.ports, account, endpoint.id, page(2, Some(cursor))).await.unwrap();
    assert_eq!((rest.rows.len(), rest.has_more), (1, false));

    let foreign = deliveries::list(&bed.ports, account, other.id, page(2, Some(cursor))).await;
    assert_eq!(foreign, Err(ListDeliveriesError::UnknownCursor), "the cursor is a delivery to another endpoint");
    let unknown = deliveries::list(&bed.ports, account, fresh(), page(2, None)).await;
    assert_eq!(unknown, Err(ListDeliveriesError::NotFound));
    delete(&bed.ports, &bed.account, endpoint.id).await.unwrap();
    let gone = deliveries::list(&bed.ports, account, endpoint.id, page(2, None)).await;
    assert_eq!(gone, Err(ListDeliveriesError::NotFound));
}
