//! Compares the stored payments with the processor's list, in both directions.

use std::time::Duration;

use cais_domain::crypto::deposit::{DepositStatus, Resolution};
use cais_ports::{Clock as _, PositionQueries as _, UnreadableRow, UpstreamDepositStatus as Upstream, UpstreamList};
use cais_testkit::CapturedLogs;
use cais_testkit::builders::{a_processor_id, fresh};
use cais_testkit::psp::LookupReply;
use cais_use_cases::reconcile::{AutomaticRun, DifferenceKind, Report, run, run_once};
use jiff::{Timestamp, ToSpan as _};

use crate::bed::{COINS, TestBed};

/// Returns the number of open findings and the position.
fn comparison(run: &AutomaticRun) -> (usize, Option<Timestamp>) {
    let [comparison] = &run.comparisons[..] else { unreachable!("{run:?}") };
    (comparison.open, comparison.compared_until)
}

async fn compared(bed: &TestBed, repair: bool) -> Report {
    let now = bed.clock.now();
    run(&bed.ports, now - 1_i64.hours(), now + 1_i64.hours(), repair, &|_| {}).await.unwrap()
}

fn kinds(report: &Report) -> Vec<(DifferenceKind, String, bool)> {
    report.differences.iter().map(|found| (found.kind, found.upstream_id.clone(), found.repaired)).collect()
}

#[tokio::test]
async fn later_payment_without_a_callback_is_credited_once() {
    let bed = TestBed::new().await;
    let (id, first) = bed.pending().await;
    bed.processor.pay(&first, Upstream::Finished, COINS);
    let second = bed.processor.pay_again(&first, "10");
    let missed = DifferenceKind::DepositMissed;
    let wanted = [(missed, second.to_string(), false), (missed, first.to_string(), false)];
    assert_eq!(kinds(&compared(&bed, false).await), wanted);
    bed.untouched();
    bed.clock.advance(Duration::from_mins(1));
    assert_eq!(run_once(&bed.ports).await.unwrap().done, 2);
    for _ in 0..2 {
        bed.check(id, DepositStatus::Completed, Some(Resolution::Overpaid)).await;
        assert_eq!(bed.money().2, -25_400);
        bed.clock.advance(Duration::from_mins(10));
        let again = run_once(&bed.ports).await.unwrap();
        assert_eq!((again.done, comparison(&again)), (0, (0, Some(bed.clock.now()))));
    }
}

#[tokio::test]
async fn payment_of_an_unknown_deposit_of_ours_is_reported() {
    let bed = TestBed::new().await;
    let (_, first) = bed.pending().await;
    let (ours, other) = (bed.processor.pay_again(&first, "10"), bed.processor.pay_again(&first, "10"));
    bed.processor.change_payment(&ours, |row| (row.parent, row.order) = (None, Some(fresh())));
    // The other payment belongs to another system on the same account.
    bed.processor.change_payment(&other, |row| row.parent = Some(a_processor_id()));
    bed.clock.advance(Duration::from_mins(1));
    let logs = CapturedLogs::start();
    let report = run_once(&bed.ports).await.unwrap();
    assert_eq!((report.done, comparison(&report).0), (0, 1));
    assert_eq!(logs.alerts("reconcile_difference").len(), 1);
    bed.untouched();
}

#[tokio::test]
async fn credited_payment_with_fewer_coins_is_reported() {
    for (status, coins) in [(Upstream::Finished, "10"), (Upstream::Refunded, COINS), (Upstream::Waiting, "0")] {
        let bed = TestBed::new().await;
        let (id, first) = bed.pending().await;
        bed.processor.pay(&first, Upstream::Finished, COINS);
        bed.read(id).await;
        assert_eq!(kinds(&compared(&bed, true).await), []);
        bed.processor.pay(&first, status, coins);
        let wanted = [(DifferenceKind::DepositAmount, first.to_string(), false)];
        assert_eq!(kinds(&compared(&bed, false).await), wanted, "{status:?}");
        assert_eq!(kinds(&compared(&bed, true).await), wanted, "{status:?}");
        // The credit stays, and an operator decides.
        bed.paid(id).await;
    }
}

#[tokio::test]
async fn credited_payment_that_the_processor_lost_is_reported() {
    let bed = TestBed::new().await;
    let (id, first) = bed.pending().await;
    bed.processor.pay(&first, Upstream::Finished, COINS);
    bed.read(id).await;
    bed.processor.state().payments.clear();
    let report = compared(&bed, true).await;
    assert_eq!(kinds(&report), [(DifferenceKind::DepositNotListed, first.to_string(), false)]);
    assert_eq!((report.deposits, report.differences[0].resource.clone()), (0, Some(id.to_string())));
    bed.paid(id).await;
}

#[tokio::test]
async fn unreadable_row_is_named_and_the_others_are_compared() {
    let bed = TestBed::new().await;
    let (id, first) = bed.pending().await;
    bed.processor.pay(&first, Upstream::Finished, COINS);
    let row = UnreadableRow { name: "123".to_owned(), reason: "no status".to_owned() };
    bed.processor.state().unreadable.push(row.clone());
    let report = compared(&bed, true).await;
    let name = bed.processor.name.clone();
    assert_eq!((report.unreadable, report.differences.len()), (vec![(name, row)], 1));
    bed.paid(id).await;
}

#[tokio::test]
async fn position_stays_while_the_list_cannot_be_read() {
    let bed = TestBed::new().await;
    let start = bed.clock.now();
    bed.processor.state().lookup_reply = LookupReply::Down;
    bed.clock.advance(Duration::from_mins(1));
    let first = bed.clock.now();
    for _ in 0..2 {
        let stuck = run_once(&bed.ports).await.unwrap();
        assert_eq!((stuck.done, comparison(&stuck)), (0, (0, Some(first))));
        bed.clock.advance(Duration::from_hours(1));
    }
    assert!(start < first);
    bed.processor.state().lookup_reply = LookupReply::Accurate;
    let caught_up = run_once(&bed.ports).await.unwrap();
    assert_eq!(comparison(&caught_up).1, Some(bed.clock.now()));
    for list in [UpstreamList::CryptoDeposits, UpstreamList::CryptoWithdrawals] {
        let position = bed.store.find_position(&bed.processor.name, list).await.unwrap();
        assert_eq!(position.map(|position| position.seen_until), Some(bed.clock.now()));
    }
}
