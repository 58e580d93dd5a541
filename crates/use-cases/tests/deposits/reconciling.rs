//! Compares the stored payments with the processor's list, in both directions.

use std::time::Duration;

use cais_domain::crypto::deposit::{DepositStatus, Resolution};
use cais_ports::{Clock as _, PositionQueries as _, UnreadableRow, UpstreamDepositStatus as Upstream, UpstreamList};
use cais_testkit::CapturedLogs;
use cais_testkit::builders::{a_processor_id, fresh};
use cais_testkit::psp::Looking;
use cais_use_cases::reconcile::{AutomaticRun, DifferenceKind, Report, run, run_once};
use jiff::{Timestamp, ToSpan as _};

use crate::world::{COINS, World};

/// Returns the number of open findings and the position.
fn standing(run: &AutomaticRun) -> (usize, Option<Timestamp>) {
    let [standing] = &run.standings[..] else { unreachable!("{run:?}") };
    (standing.open, standing.compared_until)
}

async fn compared(world: &World, repair: bool) -> Report {
    let now = world.clock.now();
    run(&world.ports, now - 1_i64.hours(), now + 1_i64.hours(), repair, &|_| {}).await.unwrap()
}

fn kinds(report: &Report) -> Vec<(DifferenceKind, String, bool)> {
    report.differences.iter().map(|found| (found.kind, found.upstream_id.clone(), found.repaired)).collect()
}

#[tokio::test]
async fn later_payment_without_a_callback_is_credited_once() {
    let world = World::new().await;
    let (id, first) = world.pending().await;
    world.processor.pay(&first, Upstream::Finished, COINS);
    let second = world.processor.pay_again(&first, "10");
    let missed = DifferenceKind::DepositMissed;
    let wanted = [(missed, second.to_string(), false), (missed, first.to_string(), false)];
    assert_eq!(kinds(&compared(&world, false).await), wanted);
    world.untouched();
    world.clock.advance(Duration::from_mins(1));
    assert_eq!(run_once(&world.ports).await.unwrap().done, 2);
    for _ in 0..2 {
        world.check(id, DepositStatus::Completed, Some(Resolution::Overpaid)).await;
        assert_eq!(world.money().2, -25_400);
        world.clock.advance(Duration::from_mins(10));
        let again = run_once(&world.ports).await.unwrap();
        assert_eq!((again.done, standing(&again)), (0, (0, Some(world.clock.now()))));
    }
}

#[tokio::test]
async fn payment_of_an_unknown_deposit_of_ours_is_reported() {
    let world = World::new().await;
    let (_, first) = world.pending().await;
    let (ours, other) = (world.processor.pay_again(&first, "10"), world.processor.pay_again(&first, "10"));
    world.processor.change_payment(&ours, |row| (row.parent, row.order) = (None, Some(fresh())));
    // The other payment belongs to another system on the same account.
    world.processor.change_payment(&other, |row| row.parent = Some(a_processor_id()));
    world.clock.advance(Duration::from_mins(1));
    let logs = CapturedLogs::start();
    let report = run_once(&world.ports).await.unwrap();
    assert_eq!((report.done, standing(&report).0), (0, 1));
    assert_eq!(logs.alerts("reconcile_difference").len(), 1);
    world.untouched();
}

#[tokio::test]
async fn credited_payment_with_fewer_coins_is_reported() {
    for (status, coins) in [(Upstream::Finished, "10"), (Upstream::Refunded, COINS), (Upstream::Waiting, "0")] {
        let world = World::new().await;
        let (id, first) = world.pending().await;
        world.processor.pay(&first, Upstream::Finished, COINS);
        world.read(id).await;
        assert_eq!(kinds(&compared(&world, true).await), []);
        world.processor.pay(&first, status, coins);
        let wanted = [(DifferenceKind::DepositAmount, first.to_string(), false)];
        assert_eq!(kinds(&compared(&world, false).await), wanted, "{status:?}");
        assert_eq!(kinds(&compared(&world, true).await), wanted, "{status:?}");
        // The credit stays, and an operator decides.
        world.paid(id).await;
    }
}

#[tokio::test]
async fn credited_payment_that_the_processor_lost_is_reported() {
    let world = World::new().await;
    let (id, first) = world.pending().await;
    world.processor.pay(&first, Upstream::Finished, COINS);
    world.read(id).await;
    world.processor.state().payments.clear();
    let report = compared(&world, true).await;
    assert_eq!(kinds(&report), [(DifferenceKind::DepositNotListed, first.to_string(), false)]);
    assert_eq!((report.deposits, report.differences[0].resource.clone()), (0, Some(id.to_string())));
    world.paid(id).await;
}

#[tokio::test]
async fn unreadable_row_is_named_and_the_others_are_compared() {
    let world = World::new().await;
    let (id, first) = world.pending().await;
    world.processor.pay(&first, Upstream::Finished, COINS);
    let row = UnreadableRow { name: "123".to_owned(), reason: "no status".to_owned() };
    world.processor.state().unreadable.push(row.clone());
    let report = compared(&world, true).await;
    let name = world.processor.name.clone();
    assert_eq!((report.unreadable, report.differences.len()), (vec![(name, row)], 1));
    world.paid(id).await;
}

#[tokio::test]
async fn position_stays_while_the_list_cannot_be_read() {
    let world = World::new().await;
    let start = world.clock.now();
    world.processor.state().looking = Looking::Down;
    world.clock.advance(Duration::from_mins(1));
    let first = world.clock.now();
    for _ in 0..2 {
        let stuck = run_once(&world.ports).await.unwrap();
        assert_eq!((stuck.done, standing(&stuck)), (0, (0, Some(first))));
        world.clock.advance(Duration::from_hours(1));
    }
    assert!(start < first);
    world.processor.state().looking = Looking::Tells;
    let caught_up = run_once(&world.ports).await.unwrap();
    assert_eq!(standing(&caught_up).1, Some(world.clock.now()));
    for list in [UpstreamList::CryptoDeposits, UpstreamList::CryptoWithdrawals] {
        let position = world.store.find_position(&world.processor.name, list).await.unwrap();
        assert_eq!(position.map(|position| position.seen_until), Some(world.clock.now()));
    }
}
