//! Reads of acquirers' lists: their span, their frequency, and the effect of one failure on the rest.

use std::time::Duration;

use cais_domain::infraction::InfractionStatus;
use cais_ports::{Clock as _, UpstreamInfractionStatus};
use cais_testkit::psp::{List, Listing};
use jiff::{SignedDuration, Timestamp};

use crate::world::World;

const DAY: Duration = Duration::from_hours(24);

/// Returns how far back the last pass read, in hours, and the length of its longest request.
fn reached(world: &World) -> (i64, i64) {
    let asked = world.psp.take_listed();
    let now = world.clock.now();
    let hours = |from: Timestamp, to: Timestamp| to.duration_since(from).as_hours();
    let farthest = asked.iter().map(|request| hours(request.from, now)).max().unwrap();
    (farthest, asked.iter().map(|request| hours(request.from, request.to)).max().unwrap())
}

#[tokio::test]
async fn first_poll_reads_ninety_days_and_later_polls_less() {
    let world = World::new().await;
    assert_eq!((world.poll().await, reached(&world)), (0, (90 * 24, 30 * 24)));
    world.clock.advance(Duration::from_mins(1));
    world.poll().await;
    assert_eq!(reached(&world), (24, 24));
    let (_, pix) = world.paid(1_000).await;
    world.psp.dispute(&pix, 1_000);
    world.poll().await;
    world.clock.advance(DAY * 5);
    world.poll().await;
    assert_eq!(reached(&world).0, 90 * 24, "once an hour everything that can still change");
    world.clock.advance(Duration::from_mins(1));
    world.poll().await;
    assert_eq!(reached(&world).0, 5 * 24 + 1, "as far back as one is open");
}

#[tokio::test]
async fn poll_reads_every_page_of_every_span() {
    let world = World::new().await;
    world.psp.set_list(List::Infractions, Listing::Pages(2));
    for _ in 0..5 {
        let (_, pix) = world.paid(1_000).await;
        world.psp.dispute(&pix, 1_000);
        world.clock.advance(DAY * 15);
    }
    assert_eq!(world.poll().await, 5);
    assert_eq!(world.money(), [0, 0, 5_000]);
    world.check().await;
}

#[tokio::test]
async fn end_of_old_infraction_is_found() {
    let world = World::new().await;
    let (_, id) = world.disputed().await;
    for day in 0..20 {
        world.clock.advance(DAY);
        assert_eq!(world.poll().await, 0, "day {day}");
    }
    world.psp.settle(&id, UpstreamInfractionStatus::Rejected);
    assert_eq!(world.poll().await, 1);
    world.check().await;
}

#[tokio::test]
async fn unreadable_list_is_read_again_from_its_position() {
    let world = World::new().await;
    world.poll().await;
    let position = world.store.positions();
    let (_, pix) = world.paid(1_000).await;
    world.psp.dispute(&pix, 1_000);
    for listing in [Listing::Silent, Listing::Circles] {
        world.psp.set_list(List::Infractions, listing);
        world.clock.advance(DAY * 3);
        world.poll().await;
        assert_eq!(position[0], world.store.positions()[0], "{listing:?}");
    }
    world.psp.set_list(List::Infractions, Listing::Pages(1));
    world.poll().await;
    assert_eq!(world.statuses(), [InfractionStatus::Open]);
    let moved = world.store.positions().into_iter().find(|moved| moved.acquirer == world.psp.name).unwrap();
    assert_eq!(moved.seen_until, world.clock.now());
    world.check().await;
}

#[tokio::test]
async fn failure_of_one_acquirer_or_row_stops_no_others() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    let unseen = world.pending(1_000).await;
    let later = world.psp.pay(&unseen.txid, 1_000);
    world.psp.dispute(&cais_testkit::builders::an_end_to_end_id(), 1_000);
    world.psp.dispute(&pix, 1_000);
    world.psp.dispute(&later, 1_000);
    world.second.set_list(List::Infractions, Listing::Silent);
    assert_eq!(world.poll().await, 2);
    assert_eq!(world.money(), [0, 0, 2_000]);
    assert_eq!(world.store.positions(), [], "the Pix may still appear at an acquirer");
    world.clock.advance(DAY * 9);
    world.poll().await;
    assert_eq!(world.store.positions().len(), 1, "the position does not wait for ever");
    world.check().await;
}

#[tokio::test]
async fn acquirer_without_infractions_is_not_polled() {
    let world = World::new().await;
    world.psp.tell_no_infractions();
    world.second.tell_no_infractions();
    world.poll().await;
    assert_eq!((world.psp.take_listed().len(), world.store.positions().len()), (0, 0));
}

#[tokio::test]
async fn position_never_moves_back() {
    let world = World::new().await;
    world.poll().await;
    let before = world.store.positions();
    let earlier = world.clock.now().checked_sub(SignedDuration::from_hours(5)).unwrap();
    world.clock.set(earlier);
    world.poll().await;
    assert_eq!(world.store.positions(), before);
}

#[tokio::test]
async fn unreadable_old_span_does_not_delay_new_rows() {
    let world = World::new().await;
    world.poll().await;
    let position = world.store.positions();
    world.clock.advance(DAY);
    let (_, pix) = world.paid(1_000).await;
    world.psp.dispute(&pix, 1_000);
    world.psp.set_list(List::Infractions, Listing::Lately);
    assert_eq!((world.poll().await, world.money()), (1, [0, 0, 1_000]));
    assert_eq!(world.store.positions()[0], position[0], "the position stays before the unread row");
    world.psp.set_list(List::Infractions, Listing::Pages(9));
    world.clock.advance(Duration::from_mins(1));
    world.poll().await;
    assert_ne!(world.store.positions()[0], position[0]);
    world.check().await;
}

#[tokio::test]
async fn waiting_row_does_not_make_every_poll_wide() {
    let world = World::new().await;
    world.psp.dispute(&cais_testkit::builders::an_end_to_end_id(), 1_000);
    let mut wide = 0;
    for _ in 0..120 {
        world.poll().await;
        wide += usize::from(reached(&world).0 == 90 * 24);
        assert_eq!(world.store.positions().len(), 1, "only the position of the other acquirer");
        world.clock.advance(Duration::from_mins(1));
    }
    assert!((2..=3).contains(&wide), "{wide} in two hours");
}

#[tokio::test]
async fn first_poll_is_repeated_until_it_succeeds() {
    let world = World::new().await;
    for listing in [Listing::Silent, Listing::Lately, Listing::Pages(9)] {
        world.psp.set_list(List::Infractions, listing);
        world.poll().await;
        assert_eq!(reached(&world).0, 90 * 24, "{listing:?}");
    }
    assert_eq!(world.store.positions().len(), 2);
    world.poll().await;
    assert_eq!(reached(&world).0, 24);
}

#[tokio::test]
async fn infraction_older_than_list_span_is_searched_for() {
    let world = World::new().await;
    let (_, id) = world.disputed().await;
    world.clock.advance(DAY * 200);
    world.poll().await;
    drop(world.psp.take_listed());
    world.clock.advance(Duration::from_mins(1));
    world.poll().await;
    assert_eq!(reached(&world).0, 24, "an old infraction does not make every poll a long one");
    world.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    world.clock.advance(Duration::from_hours(1));
    assert_eq!(world.poll().await, 1);
    assert_eq!((world.statuses(), world.money()), (vec![InfractionStatus::Lost], [0, 0, 0]));
    world.check().await;
}
