//! Reconciliation by the worker: where it starts, how it advances, and what it finds after any delay.

use std::time::Duration;

use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::payout::PayoutStatus;
use cais_ports::{Clock as _, PositionQueries as _, Store as _, UpstreamList, UpstreamPayout, Write};
use cais_testkit::builders::{an_end_to_end_id, steps};
use cais_testkit::psp::{List, ListReply, LookupReply};
use cais_use_cases::charges::expire;
use cais_use_cases::reconcile::{AutomaticRun, DifferenceKind, Report, run, run_once};
use jiff::{SignedDuration, Timestamp};

use crate::bed::TestBed;
use crate::reconcile_received::kinds;
use crate::reconcile_sent::{DONE, only, paid_out, part, upstream};

/// The time between two passes of the worker.
const EVERY: Duration = Duration::from_mins(10);
const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);
/// The number of passes in one round. A round covers all days whose payouts can still be returned.
const ROUND: usize = 98;

async fn pass(bed: &TestBed) -> AutomaticRun {
    run_once(&bed.ports).await.unwrap()
}

async fn seen_until(bed: &TestBed, list: UpstreamList) -> Timestamp {
    bed.store.find_position(&bed.psp.name, list).await.unwrap().unwrap().seen_until
}

/// Moves the position of received Pix, as a node with a wrong clock would do.
async fn set_seen_until(bed: &TestBed, seen_until: Timestamp) {
    let list = UpstreamList::Received;
    let mut position = bed.store.find_position(&bed.psp.name, list).await.unwrap().unwrap();
    position.seen_until = seen_until;
    let change = steps::write(Write::update(position), bed.clock.now());
    bed.store.commit(change).await.unwrap();
}

/// Creates an expired charge that no caller reads.
async fn expired(bed: &TestBed) -> Charge {
    let charge = bed.pending().await;
    bed.clock.advance(HOUR * 2);
    expire::run_once(&bed.ports).await.unwrap();
    assert_eq!(bed.charge(charge.id).state.status(), ChargeStatus::Expired);
    charge
}

async fn compared(bed: &TestBed, from: Timestamp, until: Timestamp, repair: bool) -> Report {
    run(&bed.ports, from, until, repair, &|_| {}).await.unwrap()
}

fn before(at: Timestamp, by: Duration) -> Timestamp {
    at.checked_sub(SignedDuration::try_from(by).unwrap()).unwrap()
}

/// Creates a completed payout that was returned in full after 26 hours, without a callback.
async fn returned_late() -> TestBed {
    let bed = paid_out(PayoutStatus::Completed).await;
    let sent = upstream(only(&bed).instruction_id(), 1_000, DONE);
    bed.psp.store_payout(sent.clone());
    pass(&bed).await;
    bed.clock.advance(Duration::from_hours(26));
    let returned = vec![part(&bed, 1_000)];
    bed.psp.store_payout(UpstreamPayout { returned, ..sent });
    bed
}

#[tokio::test]
async fn late_return_without_callback_is_credited_within_a_day() {
    let bed = returned_late().await;
    let (available, returned_at) = (bed.available(), bed.clock.now());
    for _ in 0..ROUND {
        bed.clock.advance(EVERY);
        pass(&bed).await;
    }
    assert!(bed.clock.now() < returned_at + DAY);
    assert_eq!((only(&bed).state.status(), bed.available()), (PayoutStatus::Reversed, available + 1_000));
    bed.check().await;
}

#[tokio::test]
async fn return_90_days_after_completion_is_credited() {
    let bed = paid_out(PayoutStatus::Completed).await;
    let sent = upstream(only(&bed).instruction_id(), 1_000, DONE);
    bed.psp.store_payout(sent.clone());
    bed.clock.advance(DAY * 90);
    let returned = vec![part(&bed, 400)];
    bed.psp.store_payout(UpstreamPayout { returned, ..sent });
    let available = bed.available();
    for _ in 0..ROUND {
        bed.clock.advance(EVERY);
        pass(&bed).await;
    }
    assert_eq!(bed.available(), available + 400);
    bed.check().await;
}

#[tokio::test]
async fn return_is_found_under_the_day_on_which_it_happened() {
    let bed = returned_late().await;
    let (available, now) = (bed.available(), bed.clock.now());
    let (from, until) = (before(now, HOUR), now + HOUR);
    assert_eq!(compared(&bed, before(now, HOUR * 2), from, true).await.differences, [], "an hour too early");
    assert_eq!(compared(&bed, until, until + HOUR, true).await.differences, [], "an hour too late");
    let report = compared(&bed, from, until, false).await;
    assert_eq!((kinds(&report), report.sent), (vec![(DifferenceKind::PayoutOutcome, false)], 1));
    assert_eq!(report.differences[0].theirs.as_deref(), Some("completed, 10.00 returned"));
    assert_eq!(kinds(&compared(&bed, from, until, true).await), [(DifferenceKind::PayoutOutcome, true)]);
    assert_eq!(bed.available(), available + 1_000);
    assert_eq!(compared(&bed, from, until, true).await.differences, []);
    bed.check().await;
}

#[tokio::test]
async fn lists_of_days_without_payouts_are_not_read() {
    let bed = returned_late().await;
    let now = bed.clock.now();
    let first = only(&bed).created_at;
    bed.psp.set_silent_span(Some((before(first, DAY * 200), before(first, DAY))));
    let report = compared(&bed, before(now, HOUR), now + HOUR, true).await;
    assert_eq!((report.differences.len(), report.unread), (1, vec![]));
}

#[tokio::test]
async fn outage_of_days_leaves_no_payment_uncredited() {
    let bed = TestBed::new().await;
    let charges = [expired(&bed).await, expired(&bed).await, expired(&bed).await];
    pass(&bed).await;
    for charge in &charges {
        bed.clock.advance(DAY * 2);
        bed.psp.pay(&charge.txid, 1_000);
    }
    bed.clock.advance(DAY * 4);
    let done = pass(&bed).await;
    assert_eq!((done.done, bed.available()), (3, 3_000));
    assert_eq!(seen_until(&bed, UpstreamList::Received).await, bed.clock.now());
    assert_eq!(pass(&bed).await.done, 0);
    bed.check().await;
}

#[tokio::test]
async fn position_moves_on_after_each_window_and_waits_for_unread() {
    let bed = TestBed::new().await;
    let (early, late) = (expired(&bed).await, expired(&bed).await);
    pass(&bed).await;
    let begun = bed.clock.now();
    bed.clock.advance(DAY);
    bed.psp.pay(&early.txid, 1_000);
    bed.clock.advance(DAY * 4);
    bed.psp.pay(&late.txid, 1_000);
    bed.clock.advance(HOUR);
    // The third of the five days cannot be read. The days before it are complete, and the days after it are still
    // compared.
    bed.psp.set_silent_span(Some((begun + DAY * 2, begun + DAY * 3)));
    let done = pass(&bed).await;
    let reached = seen_until(&bed, UpstreamList::Received).await;
    assert_eq!((done.done, bed.available()), (2, 2_000));
    assert!((begun + DAY..begun + DAY * 2).contains(&reached), "{reached}");
    assert_eq!(done.comparisons[0].compared_until, Some(reached));
    bed.psp.set_silent_span(None);
    assert_eq!(pass(&bed).await.comparisons[0].compared_until, Some(bed.clock.now()));
    bed.check().await;
}

#[tokio::test]
async fn unread_list_of_returns_does_not_keep_position_of_sent() {
    let bed = paid_out(PayoutStatus::Completed).await;
    bed.psp.store_payout(upstream(only(&bed).instruction_id(), 1_000, DONE));
    bed.psp.set_list_reply(List::PayoutReturns, ListReply::Silent);
    for _ in 0..3 {
        bed.clock.advance(DAY);
        let comparison = pass(&bed).await.comparisons.swap_remove(0);
        assert_eq!(comparison.compared_until, Some(bed.clock.now()));
        assert_eq!(seen_until(&bed, UpstreamList::Sent).await, bed.clock.now());
    }
}

#[tokio::test]
async fn payment_that_cannot_be_credited_keeps_position_for_a_day() {
    let bed = TestBed::new().await;
    pass(&bed).await;
    let charge = bed.pending().await;
    bed.psp.pay(&charge.txid, 1_000);
    bed.psp.set_lookup_reply(LookupReply::Silent);
    for _ in 0..20 {
        bed.clock.advance(HOUR);
        assert_eq!(pass(&bed).await.comparisons[0].open, 1, "the finding stays open");
    }
    bed.psp.set_lookup_reply(LookupReply::Accurate);
    let last = pass(&bed).await;
    assert_eq!((last.done, last.comparisons[0].open, bed.available()), (1, 0, 1_000));
    assert_eq!(last.comparisons[0].compared_until, Some(bed.clock.now()));
    bed.check().await;
}

#[tokio::test]
async fn unreadable_row_is_reported_and_the_others_are_credited() {
    let bed = TestBed::new().await;
    let start = bed.clock.now();
    pass(&bed).await;
    let charge = bed.pending().await;
    bed.psp.list_unreadable("E12345678202611201500aaaaaaaaaaa");
    bed.psp.pay(&charge.txid, 1_000);
    bed.clock.advance(EVERY);
    let report = compared(&bed, start, bed.clock.now(), false).await;
    assert_eq!(report.unreadable.len(), 1);
    assert_eq!((report.open(), report.unread.len(), kinds(&report).len()), (2, 0, 1));
    let done = pass(&bed).await;
    assert_eq!((done.done, done.comparisons[0].open, bed.available()), (1, 1, 1_000));
    // The position stays for one day and then advances.
    for (after, wanted) in [(HOUR * 12, 1), (HOUR * 18, 0)] {
        bed.clock.advance(after);
        pass(&bed).await;
        bed.clock.advance(EVERY);
        assert_eq!(pass(&bed).await.comparisons[0].open, wanted, "{after:?}");
    }
}

#[tokio::test]
async fn payment_with_unreadable_row_is_not_reported_missing() {
    let bed = TestBed::new().await;
    let start = bed.clock.now();
    bed.paid().await;
    let credited = bed.store.payments()[0].payment.end_to_end_id.clone();
    bed.psp.list_unreadable(credited.as_str());
    bed.psp.change_payment(&credited, |payment| payment.end_to_end_id = an_end_to_end_id());
    bed.clock.advance(HOUR);
    let report = compared(&bed, start, bed.clock.now(), false).await;
    assert_eq!((report.unread.len(), report.unreadable.len()), (0, 1));
    assert!(kinds(&report).iter().all(|(kind, _)| *kind != DifferenceKind::PaymentNotListed), "{report:?}");
}

#[tokio::test]
async fn position_ahead_of_the_clock_hides_no_payment() {
    let bed = TestBed::new().await;
    let charge = expired(&bed).await;
    pass(&bed).await;
    set_seen_until(&bed, bed.clock.now() + DAY * 30).await;
    bed.psp.pay(&charge.txid, 1_000);
    bed.clock.advance(DAY * 2);
    assert_eq!((pass(&bed).await.done, bed.available()), (1, 1_000));
    assert_eq!(seen_until(&bed, UpstreamList::Received).await, bed.clock.now());
    // An accepted difference of clocks does not reset the position.
    set_seen_until(&bed, bed.clock.now() + Duration::from_secs(5)).await;
    pass(&bed).await;
    assert_eq!(seen_until(&bed, UpstreamList::Received).await, bed.clock.now() + Duration::from_secs(5));
}

#[tokio::test]
async fn two_nodes_move_one_position() {
    let bed = TestBed::new().await;
    let contended = bed.contended();
    for _ in 0..3 {
        bed.clock.advance(EVERY);
        let both = tokio::join!(run_once(&bed.ports), run_once(&contended.ports));
        both.0.unwrap();
        both.1.unwrap();
        assert_eq!(seen_until(&bed, UpstreamList::Received).await, bed.clock.now());
    }
}
