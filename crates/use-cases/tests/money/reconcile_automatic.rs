//! Reconciliation by the worker: where it starts, how it advances, and what it finds after any delay.

use std::time::Duration;

use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::payout::PayoutStatus;
use cais_ports::{Clock as _, PositionQueries as _, Store as _, UpstreamList, UpstreamPayout, Write};
use cais_testkit::builders::{an_end_to_end_id, steps};
use cais_testkit::psp::{List, Listing, Looking};
use cais_use_cases::charges::expire;
use cais_use_cases::reconcile::{AutomaticRun, DifferenceKind, Report, run, run_once};
use jiff::{SignedDuration, Timestamp};

use crate::reconcile_received::kinds;
use crate::reconcile_sent::{DONE, only, paid_out, part, upstream};
use crate::world::World;

/// The time between two passes of the worker.
const EVERY: Duration = Duration::from_mins(10);
const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);
/// The number of passes in one round. A round covers all days whose payouts can still be returned.
const ROUND: usize = 98;

async fn pass(world: &World) -> AutomaticRun {
    run_once(&world.ports).await.unwrap()
}

async fn seen_until(world: &World, list: UpstreamList) -> Timestamp {
    world.store.find_position(&world.psp.name, list).await.unwrap().unwrap().seen_until
}

/// Moves the position of received Pix, as a node with a wrong clock would do.
async fn set_seen_until(world: &World, seen_until: Timestamp) {
    let list = UpstreamList::Received;
    let mut position = world.store.find_position(&world.psp.name, list).await.unwrap().unwrap();
    position.seen_until = seen_until;
    let change = steps::write(Write::update(position), world.clock.now());
    world.store.commit(change).await.unwrap();
}

/// Creates an expired charge that no caller reads.
async fn expired(world: &World) -> Charge {
    let charge = world.pending().await;
    world.clock.advance(HOUR * 2);
    expire::run_once(&world.ports).await.unwrap();
    assert_eq!(world.charge(charge.id).state.status(), ChargeStatus::Expired);
    charge
}

async fn compared(world: &World, from: Timestamp, until: Timestamp, repair: bool) -> Report {
    run(&world.ports, from, until, repair, &|_| {}).await.unwrap()
}

fn before(at: Timestamp, by: Duration) -> Timestamp {
    at.checked_sub(SignedDuration::try_from(by).unwrap()).unwrap()
}

/// Creates a completed payout that was returned in full after 26 hours, without a callback.
async fn returned_late() -> World {
    let world = paid_out(PayoutStatus::Completed).await;
    let sent = upstream(only(&world).instruction_id(), 1_000, DONE);
    world.psp.hold_payout(sent.clone());
    pass(&world).await;
    world.clock.advance(Duration::from_hours(26));
    let returned = vec![part(&world, 1_000)];
    world.psp.hold_payout(UpstreamPayout { returned, ..sent });
    world
}

#[tokio::test]
async fn late_return_without_callback_is_credited_within_a_day() {
    let world = returned_late().await;
    let (available, returned_at) = (world.available(), world.clock.now());
    for _ in 0..ROUND {
        world.clock.advance(EVERY);
        pass(&world).await;
    }
    assert!(world.clock.now() < returned_at + DAY);
    assert_eq!((only(&world).state.status(), world.available()), (PayoutStatus::Reversed, available + 1_000));
    world.check().await;
}

#[tokio::test]
async fn return_90_days_after_completion_is_credited() {
    let world = paid_out(PayoutStatus::Completed).await;
    let sent = upstream(only(&world).instruction_id(), 1_000, DONE);
    world.psp.hold_payout(sent.clone());
    world.clock.advance(DAY * 90);
    let returned = vec![part(&world, 400)];
    world.psp.hold_payout(UpstreamPayout { returned, ..sent });
    let available = world.available();
    for _ in 0..ROUND {
        world.clock.advance(EVERY);
        pass(&world).await;
    }
    assert_eq!(world.available(), available + 400);
    world.check().await;
}

#[tokio::test]
async fn return_is_found_under_the_day_on_which_it_happened() {
    let world = returned_late().await;
    let (available, now) = (world.available(), world.clock.now());
    let (from, until) = (before(now, HOUR), now + HOUR);
    assert_eq!(compared(&world, before(now, HOUR * 2), from, true).await.differences, [], "an hour too early");
    assert_eq!(compared(&world, until, until + HOUR, true).await.differences, [], "an hour too late");
    let report = compared(&world, from, until, false).await;
    assert_eq!((kinds(&report), report.sent), (vec![(DifferenceKind::PayoutOutcome, false)], 1));
    assert_eq!(report.differences[0].theirs.as_deref(), Some("completed, 10.00 returned"));
    assert_eq!(kinds(&compared(&world, from, until, true).await), [(DifferenceKind::PayoutOutcome, true)]);
    assert_eq!(world.available(), available + 1_000);
    assert_eq!(compared(&world, from, until, true).await.differences, []);
    world.check().await;
}

#[tokio::test]
async fn lists_of_days_without_payouts_are_not_read() {
    let world = returned_late().await;
    let now = world.clock.now();
    let first = only(&world).created_at;
    world.psp.goes_dark(Some((before(first, DAY * 200), before(first, DAY))));
    let report = compared(&world, before(now, HOUR), now + HOUR, true).await;
    assert_eq!((report.differences.len(), report.unread), (1, vec![]));
}

#[tokio::test]
async fn outage_of_days_leaves_no_payment_uncredited() {
    let world = World::new().await;
    let charges = [expired(&world).await, expired(&world).await, expired(&world).await];
    pass(&world).await;
    for charge in &charges {
        world.clock.advance(DAY * 2);
        world.psp.pay(&charge.txid, 1_000);
    }
    world.clock.advance(DAY * 4);
    let done = pass(&world).await;
    assert_eq!((done.done, world.available()), (3, 3_000));
    assert_eq!(seen_until(&world, UpstreamList::Received).await, world.clock.now());
    assert_eq!(pass(&world).await.done, 0);
    world.check().await;
}

#[tokio::test]
async fn position_moves_on_after_each_window_and_waits_for_unread() {
    let world = World::new().await;
    let (early, late) = (expired(&world).await, expired(&world).await);
    pass(&world).await;
    let begun = world.clock.now();
    world.clock.advance(DAY);
    world.psp.pay(&early.txid, 1_000);
    world.clock.advance(DAY * 4);
    world.psp.pay(&late.txid, 1_000);
    world.clock.advance(HOUR);
    // The third of the five days cannot be read. The days before it are complete, and the days after it are still
    // compared.
    world.psp.goes_dark(Some((begun + DAY * 2, begun + DAY * 3)));
    let done = pass(&world).await;
    let reached = seen_until(&world, UpstreamList::Received).await;
    assert_eq!((done.done, world.available()), (2, 2_000));
    assert!((begun + DAY..begun + DAY * 2).contains(&reached), "{reached}");
    assert_eq!(done.standings[0].compared_until, Some(reached));
    world.psp.goes_dark(None);
    assert_eq!(pass(&world).await.standings[0].compared_until, Some(world.clock.now()));
    world.check().await;
}

#[tokio::test]
async fn unread_list_of_returns_does_not_keep_position_of_sent() {
    let world = paid_out(PayoutStatus::Completed).await;
    world.psp.hold_payout(upstream(only(&world).instruction_id(), 1_000, DONE));
    world.psp.set_list(List::PayoutReturns, Listing::Silent);
    for _ in 0..3 {
        world.clock.advance(DAY);
        let standing = pass(&world).await.standings.swap_remove(0);
        assert_eq!(standing.compared_until, Some(world.clock.now()));
        assert_eq!(seen_until(&world, UpstreamList::Sent).await, world.clock.now());
    }
}

#[tokio::test]
async fn payment_that_cannot_be_credited_keeps_position_for_a_day() {
    let world = World::new().await;
    pass(&world).await;
    let charge = world.pending().await;
    world.psp.pay(&charge.txid, 1_000);
    world.psp.set_looking(Looking::Silent);
    for _ in 0..20 {
        world.clock.advance(HOUR);
        assert_eq!(pass(&world).await.standings[0].open, 1, "the finding stays open");
    }
    world.psp.set_looking(Looking::Tells);
    let last = pass(&world).await;
    assert_eq!((last.done, last.standings[0].open, world.available()), (1, 0, 1_000));
    assert_eq!(last.standings[0].compared_until, Some(world.clock.now()));
    world.check().await;
}

#[tokio::test]
async fn unreadable_row_is_reported_and_the_others_are_credited() {
    let world = World::new().await;
    let start = world.clock.now();
    pass(&world).await;
    let charge = world.pending().await;
    world.psp.list_unreadable("E12345678202611201500aaaaaaaaaaa");
    world.psp.pay(&charge.txid, 1_000);
    world.clock.advance(EVERY);
    let report = compared(&world, start, world.clock.now(), false).await;
    assert_eq!(report.unreadable.len(), 1);
    assert_eq!((report.open(), report.unread.len(), kinds(&report).len()), (2, 0, 1));
    let done = pass(&world).await;
    assert_eq!((done.done, done.standings[0].open, world.available()), (1, 1, 1_000));
    // The position stays for one day and then advances.
    for (after, wanted) in [(HOUR * 12, 1), (HOUR * 18, 0)] {
        world.clock.advance(after);
        pass(&world).await;
        world.clock.advance(EVERY);
        assert_eq!(pass(&world).await.standings[0].open, wanted, "{after:?}");
    }
}

#[tokio::test]
async fn payment_with_unreadable_row_is_not_reported_missing() {
    let world = World::new().await;
    let start = world.clock.now();
    world.paid().await;
    let credited = world.store.payments()[0].payment.end_to_end_id.clone();
    world.psp.list_unreadable(credited.as_str());
    world.psp.change_payment(&credited, |payment| payment.end_to_end_id = an_end_to_end_id());
    world.clock.advance(HOUR);
    let report = compared(&world, start, world.clock.now(), false).await;
    assert_eq!((report.unread.len(), report.unreadable.len()), (0, 1));
    assert!(kinds(&report).iter().all(|(kind, _)| *kind != DifferenceKind::PaymentNotListed), "{report:?}");
}

#[tokio::test]
async fn position_ahead_of_the_clock_hides_no_payment() {
    let world = World::new().await;
    let charge = expired(&world).await;
    pass(&world).await;
    set_seen_until(&world, world.clock.now() + DAY * 30).await;
    world.psp.pay(&charge.txid, 1_000);
    world.clock.advance(DAY * 2);
    assert_eq!((pass(&world).await.done, world.available()), (1, 1_000));
    assert_eq!(seen_until(&world, UpstreamList::Received).await, world.clock.now());
    // An accepted difference of clocks does not reset the position.
    set_seen_until(&world, world.clock.now() + Duration::from_secs(5)).await;
    pass(&world).await;
    assert_eq!(seen_until(&world, UpstreamList::Received).await, world.clock.now() + Duration::from_secs(5));
}

#[tokio::test]
async fn two_nodes_move_one_position() {
    let world = World::new().await;
    let contended = world.contended();
    for _ in 0..3 {
        world.clock.advance(EVERY);
        let both = tokio::join!(run_once(&world.ports), run_once(&contended.ports));
        both.0.unwrap();
        both.1.unwrap();
        assert_eq!(seen_until(&world, UpstreamList::Received).await, world.clock.now());
    }
}
