//! Reads of acquirers' lists: their span, their frequency, and the effect of one failure on the rest.

use std::time::Duration;

use cais_domain::infraction::InfractionStatus;
use cais_ports::{Clock as _, UpstreamInfractionStatus};
use cais_testkit::psp::{List, ListReply};
use jiff::{SignedDuration, Timestamp};

use crate::bed::TestBed;

const DAY: Duration = Duration::from_hours(24);

/// Returns how far back the last pass read, in hours, and the length of its longest request.
fn reached(bed: &TestBed) -> (i64, i64) {
    let asked = bed.psp.take_infraction_list_requests();
    let now = bed.clock.now();
    let hours = |from: Timestamp, to: Timestamp| to.duration_since(from).as_hours();
    let farthest = asked.iter().map(|request| hours(request.from, now)).max().unwrap();
    (farthest, asked.iter().map(|request| hours(request.from, request.to)).max().unwrap())
}

#[tokio::test]
async fn first_poll_reads_ninety_days_and_later_polls_less() {
    let bed = TestBed::new().await;
    assert_eq!((bed.poll().await, reached(&bed)), (0, (90 * 24, 30 * 24)));
    bed.clock.advance(Duration::from_mins(1));
    bed.poll().await;
    assert_eq!(reached(&bed), (24, 24));
    let (_, pix) = bed.paid(1_000).await;
    bed.psp.dispute(&pix, 1_000);
    bed.poll().await;
    bed.clock.advance(DAY * 5);
    bed.poll().await;
    assert_eq!(reached(&bed).0, 90 * 24, "once an hour everything that can still change");
    bed.clock.advance(Duration::from_mins(1));
    bed.poll().await;
    assert_eq!(reached(&bed).0, 5 * 24 + 1, "as far back as one is open");
}

#[tokio::test]
async fn poll_reads_every_page_of_every_span() {
    let bed = TestBed::new().await;
    bed.psp.set_list_reply(List::Infractions, ListReply::Pages(2));
    for _ in 0..5 {
        let (_, pix) = bed.paid(1_000).await;
        bed.psp.dispute(&pix, 1_000);
        bed.clock.advance(DAY * 15);
    }
    assert_eq!(bed.poll().await, 5);
    assert_eq!(bed.money(), [0, 0, 5_000]);
    bed.check().await;
}

#[tokio::test]
async fn end_of_old_infraction_is_found() {
    let bed = TestBed::new().await;
    let (_, id) = bed.disputed().await;
    for day in 0..20 {
        bed.clock.advance(DAY);
        assert_eq!(bed.poll().await, 0, "day {day}");
    }
    bed.psp.settle(&id, UpstreamInfractionStatus::Rejected);
    assert_eq!(bed.poll().await, 1);
    bed.check().await;
}

#[tokio::test]
async fn unreadable_list_is_read_again_from_its_position() {
    let bed = TestBed::new().await;
    bed.poll().await;
    let position = bed.store.positions();
    let (_, pix) = bed.paid(1_000).await;
    bed.psp.dispute(&pix, 1_000);
    for listing in [ListReply::Silent, ListReply::Circular] {
        bed.psp.set_list_reply(List::Infractions, listing);
        bed.clock.advance(DAY * 3);
        bed.poll().await;
        assert_eq!(position[0], bed.store.positions()[0], "{listing:?}");
    }
    bed.psp.set_list_reply(List::Infractions, ListReply::Pages(1));
    bed.poll().await;
    assert_eq!(bed.statuses(), [InfractionStatus::Open]);
    let moved = bed.store.positions().into_iter().find(|moved| moved.acquirer == bed.psp.name).unwrap();
    assert_eq!(moved.seen_until, bed.clock.now());
    bed.check().await;
}

#[tokio::test]
async fn failure_of_one_acquirer_or_row_stops_no_others() {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    let unseen = bed.pending(1_000).await;
    let later = bed.psp.pay(&unseen.txid, 1_000);
    bed.psp.dispute(&cais_testkit::builders::an_end_to_end_id(), 1_000);
    bed.psp.dispute(&pix, 1_000);
    bed.psp.dispute(&later, 1_000);
    bed.second.set_list_reply(List::Infractions, ListReply::Silent);
    assert_eq!(bed.poll().await, 2);
    assert_eq!(bed.money(), [0, 0, 2_000]);
    assert_eq!(bed.store.positions(), [], "the Pix may still appear at an acquirer");
    bed.clock.advance(DAY * 9);
    bed.poll().await;
    assert_eq!(bed.store.positions().len(), 1, "the position does not wait for ever");
    bed.check().await;
}

#[tokio::test]
async fn acquirer_without_infractions_is_not_polled() {
    let bed = TestBed::new().await;
    bed.psp.disable_infraction_reports();
    bed.second.disable_infraction_reports();
    bed.poll().await;
    assert_eq!((bed.psp.take_infraction_list_requests().len(), bed.store.positions().len()), (0, 0));
}

#[tokio::test]
async fn position_never_moves_back() {
    let bed = TestBed::new().await;
    bed.poll().await;
    let before = bed.store.positions();
    let earlier = bed.clock.now().checked_sub(SignedDuration::from_hours(5)).unwrap();
    bed.clock.set(earlier);
    bed.poll().await;
    assert_eq!(bed.store.positions(), before);
}

#[tokio::test]
async fn unreadable_old_span_does_not_delay_new_rows() {
    let bed = TestBed::new().await;
    bed.poll().await;
    let position = bed.store.positions();
    bed.clock.advance(DAY);
    let (_, pix) = bed.paid(1_000).await;
    bed.psp.dispute(&pix, 1_000);
    bed.psp.set_list_reply(List::Infractions, ListReply::RecentOnly);
    assert_eq!((bed.poll().await, bed.money()), (1, [0, 0, 1_000]));
    assert_eq!(bed.store.positions()[0], position[0], "the position stays before the unread row");
    bed.psp.set_list_reply(List::Infractions, ListReply::Pages(9));
    bed.clock.advance(Duration::from_mins(1));
    bed.poll().await;
    assert_ne!(bed.store.positions()[0], position[0]);
    bed.check().await;
}

#[tokio::test]
async fn waiting_row_does_not_make_every_poll_wide() {
    let bed = TestBed::new().await;
    bed.psp.dispute(&cais_testkit::builders::an_end_to_end_id(), 1_000);
    let mut wide = 0;
    for _ in 0..120 {
        bed.poll().await;
        wide += usize::from(reached(&bed).0 == 90 * 24);
        assert_eq!(bed.store.positions().len(), 1, "only the position of the other acquirer");
        bed.clock.advance(Duration::from_mins(1));
    }
    assert!((2..=3).contains(&wide), "{wide} in two hours");
}

#[tokio::test]
async fn first_poll_is_repeated_until_it_succeeds() {
    let bed = TestBed::new().await;
    for listing in [ListReply::Silent, ListReply::RecentOnly, ListReply::Pages(9)] {
        bed.psp.set_list_reply(List::Infractions, listing);
        bed.poll().await;
        assert_eq!(reached(&bed).0, 90 * 24, "{listing:?}");
    }
    assert_eq!(bed.store.positions().len(), 2);
    bed.poll().await;
    assert_eq!(reached(&bed).0, 24);
}

#[tokio::test]
async fn infraction_older_than_list_span_is_searched_for() {
    let bed = TestBed::new().await;
    let (_, id) = bed.disputed().await;
    bed.clock.advance(DAY * 200);
    bed.poll().await;
    drop(bed.psp.take_infraction_list_requests());
    bed.clock.advance(Duration::from_mins(1));
    bed.poll().await;
    assert_eq!(reached(&bed).0, 24, "an old infraction does not make every poll a long one");
    bed.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    bed.clock.advance(Duration::from_hours(1));
    assert_eq!(bed.poll().await, 1);
    assert_eq!((bed.statuses(), bed.money()), (vec![InfractionStatus::Lost], [0, 0, 0]));
    bed.check().await;
}
