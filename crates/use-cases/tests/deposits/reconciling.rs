//! The comparison with the processor's list, which finds what no callback named.

use std::time::Duration;

use cais_domain::crypto::deposit::{DepositStatus, Resolution};
use cais_ports::{Clock as _, UnreadableRow, UpstreamDepositStatus as Upstream};
use cais_testkit::builders::{a_processor_id, fresh};
use cais_testkit::psp::Looking;
use cais_use_cases::crypto::reconcile::{DepositDifferenceKind, DepositRun, run, run_once};
use jiff::{Timestamp, ToSpan as _};

use crate::world::{COINS, World};

/// Returns the number of open findings and the position.
fn standing(run: &DepositRun) -> (usize, Option<Timestamp>) {
    let standing = run.standing.as_ref().unwrap();
    (standing.open, standing.compared_until)
}

#[tokio::test]
async fn later_payment_without_a_callback_is_credited_once() {
    let world = World::new().await;
    let (id, first) = world.pending().await;
    world.processor.pay(&first, Upstream::Finished, COINS);
    let second = world.processor.pay_again(&first, "10");
    let now = world.clock.now();
    let span = (now - 1.hour(), now + 1.hour());
    let dry = run(&world.ports, span, false).await.unwrap();
    let found = dry.differences.iter().map(|one| (one.kind, one.payment.clone(), one.repaired)).collect::<Vec<_>>();
    let missed = DepositDifferenceKind::Missed;
    assert_eq!(found, [(missed, second.to_string(), false), (missed, first.to_string(), false)]);
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
    // Another system uses the same account.
    world.processor.change_payment(&other, |row| row.parent = Some(a_processor_id()));
    world.clock.advance(Duration::from_mins(1));
    let report = run_once(&world.ports).await.unwrap();
    assert_eq!((report.done, standing(&report).0), (0, 1));
    world.untouched();
}

#[tokio::test]
async fn unreadable_row_is_named_and_the_others_are_compared() {
    let world = World::new().await;
    let (id, first) = world.pending().await;
    world.processor.pay(&first, Upstream::Finished, COINS);
    let row = UnreadableRow { name: "123".to_owned(), reason: "no status".to_owned() };
    world.processor.state().unreadable.push(row.clone());
    world.clock.advance(Duration::from_mins(1));
    let now = world.clock.now();
    let report = run(&world.ports, (now - 1.hour(), now), true).await.unwrap();
    assert_eq!((report.unreadable, report.differences.len()), (vec![row], 1));
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
}
