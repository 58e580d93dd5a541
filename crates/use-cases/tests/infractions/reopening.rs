//! A dispute that is reopened after its end becomes a new stored infraction. An outdated list is not a reopening.

use std::time::Duration;

use cais_domain::infraction::InfractionStatus::{Cancelled, Lost, Open, Won};
use cais_ports::{CallbackState, UpstreamInfractionStatus};
use cais_testkit::psp::{List, ListReply, Moment};

use crate::bed::{LONG, PAST_LAG, TestBed};

#[tokio::test]
async fn reopening_is_new_infraction_on_the_rest() {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    let id = bed.psp.dispute(&pix, 600);
    bed.poll().await;
    bed.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    bed.poll().await;
    bed.psp.reopen(&id);
    bed.clock.advance(PAST_LAG);
    assert_eq!(bed.poll().await, 1);
    assert_eq!((bed.statuses(), bed.money()), (vec![Lost, Open], [0, 0, 400]));
    assert_eq!(bed.poll().await, 0, "the dispute is known");
    bed.clock.advance(PAST_LAG);
    bed.psp.settle(&id, UpstreamInfractionStatus::Cancelled);
    bed.poll().await;
    assert_eq!((bed.statuses(), bed.money()), (vec![Lost, Cancelled], [400, 0, 0]));
    bed.check().await;
}

#[tokio::test]
async fn reopenings_are_limited() {
    let bed = TestBed::new().await;
    let (_, id) = bed.disputed().await;
    for rounds in 1..30 {
        bed.psp.settle(&id, UpstreamInfractionStatus::Rejected);
        bed.clock.advance(LONG);
        bed.poll().await;
        assert_eq!(bed.money(), [1_000, 0, 0]);
        bed.psp.reopen(&id);
        bed.clock.advance(LONG);
        bed.poll().await;
        assert_eq!(bed.all().len(), 20.min(rounds + 1));
        bed.check().await;
    }
    assert_eq!(bed.statuses(), [Won; 20]);
}

#[tokio::test]
async fn lagging_list_reopens_nothing() {
    let bed = TestBed::new().await;
    let (_, id) = bed.disputed().await;
    // For some time after the end was reported, the list still shows the dispute as open.
    bed.psp.set_list_reply(List::Infractions, ListReply::Frozen);
    let (psp, lost) = (bed.psp.clone(), id.clone());
    psp.settle(&lost, UpstreamInfractionStatus::Accepted);
    bed.psp.set_list_reply(List::Infractions, ListReply::Pages(9));
    bed.poll().await;
    assert_eq!(bed.statuses(), [Lost]);
    bed.psp.reopen(&id);
    bed.psp.set_list_reply(List::Infractions, ListReply::Frozen);
    bed.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    assert_eq!(bed.poll().await, 0);
    assert_eq!(bed.statuses(), [Lost], "the list may be older than the end");
    bed.psp.set_list_reply(List::Infractions, ListReply::Pages(9));
    bed.clock.advance(PAST_LAG);
    bed.poll().await;
    assert_eq!(bed.statuses(), [Lost]);
    bed.check().await;
}

#[tokio::test]
async fn lagging_list_after_late_end_report_reopens_nothing() {
    let bed = TestBed::new().await;
    bed.paid(5_000).await;
    let (_, id) = bed.disputed().await;
    bed.clock.advance(LONG);
    bed.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    bed.psp.change(&id, |row| row.resolved_at = row.resolved_at.map(|at| at - Duration::from_mins(2)));
    assert_eq!(bed.poll().await, 1);
    // The next lists come from a replica that does not have the end yet.
    bed.psp.reopen(&id);
    for _ in 0..2 {
        assert_eq!(bed.poll().await, 0);
        assert_eq!((bed.statuses(), bed.money()), (vec![Lost], [5_000, 0, 0]));
        bed.clock.advance(Duration::from_secs(59));
    }
    bed.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    assert_eq!(bed.poll().await, 0);
    assert_eq!((bed.statuses(), bed.money()), (vec![Lost], [5_000, 0, 0]), "the money is returned once");
    bed.check().await;
}

#[tokio::test]
async fn list_from_before_the_end_reopens_nothing() {
    let bed = TestBed::new().await;
    let (_, id) = bed.disputed().await;
    let other = bed.clone();
    // This node has received the list but has not read the store yet. Long after, another node resolves the infraction.
    bed.psp.when(Moment::Listed, move || {
        other.psp.settle(&id, UpstreamInfractionStatus::Accepted);
        futures_util::FutureExt::now_or_never(other.poll()).unwrap();
        other.clock.advance(LONG);
    });
    assert_eq!(bed.poll().await, 0);
    assert_eq!((bed.statuses(), bed.money()), (vec![Lost], [0, 0, 0]));
    bed.check().await;
}

#[tokio::test]
async fn list_from_before_the_reopening_ends_nothing() {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    let id = bed.psp.dispute(&pix, 600);
    bed.poll().await;
    bed.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    bed.poll().await;
    bed.clock.advance(PAST_LAG);
    let other = bed.clone();
    bed.psp.when(Moment::Listed, move || {
        other.psp.reopen(&id);
        futures_util::FutureExt::now_or_never(other.poll()).unwrap();
        other.clock.advance(LONG);
    });
    bed.poll().await;
    assert_eq!((bed.statuses(), bed.money()), (vec![Lost, Open], [0, 0, 400]));
    bed.check().await;
}

#[tokio::test]
async fn record_read_for_one_round_does_not_apply_to_next() {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    let id = bed.psp.dispute(&pix, 300);
    bed.poll().await;
    bed.psp.accept(&id);
    bed.poll().await;
    bed.psp.reopen(&id);
    bed.clock.advance(PAST_LAG);
    let (other, psp) = (bed.clone(), bed.psp.clone());
    // While the second read of this node is in transit, another node opens the next round and resolves it.
    let between = move || {
        let poll = |bed: &TestBed| futures_util::FutureExt::now_or_never(bed.poll()).unwrap();
        assert_eq!(poll(&other), 1);
        other.clock.advance(PAST_LAG);
        other.psp.accept(&id);
        assert_eq!(poll(&other), 1);
        other.clock.advance(LONG);
    };
    bed.psp.when(Moment::Listed, move || psp.when(Moment::Listed, between));
    bed.poll().await;
    assert_eq!((bed.statuses(), bed.money()), (vec![Lost, Lost], [400, 0, 0]));
    bed.check().await;
}

#[tokio::test]
async fn callback_about_reopening_waits_until_certain() {
    let bed = TestBed::new().await;
    let (_, id) = bed.disputed().await;
    bed.psp.settle(&id, UpstreamInfractionStatus::Rejected);
    bed.poll().await;
    bed.psp.reopen(&id);
    assert_eq!(bed.receive_callback(&id).await, CallbackState::Waiting);
    assert_eq!(bed.process_later().await, CallbackState::Done);
    assert_eq!((bed.statuses(), bed.money()), (vec![Won, Open], [0, 0, 1_000]));
    bed.check().await;
}
