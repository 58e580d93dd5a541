//! Compares the stored withdrawals with the processor's list, in both directions. No withdrawal is sent, and no outcome
//! is reversed.

use std::time::Duration;

use cais_domain::crypto::{Address, Currency};
use cais_domain::ids::CryptoWithdrawalId;
use cais_ports::{Clock as _, ResponseKind, UpstreamWithdrawalStatus as Upstream};
use cais_testkit::CapturedLogs;
use cais_testkit::builders::{fresh, usdt};
use cais_testkit::psp::OrderReply;
use cais_use_cases::crypto::withdrawals::review::Decision;
use cais_use_cases::reconcile::{Difference, DifferenceKind, Report, run, run_once};
use jiff::ToSpan as _;

use crate::bed::{LONG, OTHER_ADDRESS, PAST_REVIEW, TestBed, a_hundred};

/// A time longer than the lag of a list.
const PAST_LAG: Duration = Duration::from_mins(6);

async fn compared(bed: &TestBed, repair: bool) -> Report {
    let now = bed.clock.now();
    run(&bed.ports, now - 24_i64.hours(), now + 1_i64.hours(), repair, &|_| {}).await.unwrap()
}

fn kinds(report: &Report) -> Vec<(DifferenceKind, bool)> {
    report.differences.iter().map(|found| (found.kind, found.repaired)).collect()
}

fn only(report: &Report) -> &Difference {
    assert_eq!(report.differences.len(), 1, "{:?}", report.differences);
    &report.differences[0]
}

fn sides(found: &Difference) -> (Option<&str>, Option<&str>) {
    (found.ours.as_deref(), found.theirs.as_deref())
}

/// Creates a withdrawal that the processor rejected. Its money was returned to the account.
async fn money_returned() -> TestBed {
    let bed = TestBed::new().await;
    bed.processing().await;
    bed.processor.set_status(Upstream::Rejected);
    bed.clock.advance(LONG);
    bed.poll().await;
    bed.money_returned().await;
    bed
}

#[tokio::test]
async fn equal_withdrawals_are_no_difference() {
    for status in [Upstream::Processing, Upstream::Finished, Upstream::Rejected, Upstream::Failed] {
        let bed = TestBed::new().await;
        bed.processing().await;
        bed.processor.set_status(status);
        bed.clock.advance(LONG);
        bed.poll().await;
        let report = compared(&bed, true).await;
        assert_eq!((kinds(&report), report.withdrawals), (vec![], 1), "{status:?}");
        bed.check().await;
    }
}

#[tokio::test]
async fn missed_outcome_is_applied_once() {
    for (status, repaired) in [(Upstream::Finished, true), (Upstream::Rejected, true), (Upstream::Failed, true)] {
        let bed = TestBed::new().await;
        bed.processing().await;
        bed.processor.set_status(status);
        bed.clock.advance(PAST_LAG);
        let outcome = DifferenceKind::WithdrawalOutcome;
        assert_eq!(kinds(&compared(&bed, false).await), [(outcome, false)], "{status:?}");
        bed.held().await;
        assert_eq!(kinds(&compared(&bed, true).await), [(outcome, repaired)], "{status:?}");
        match status {
            Upstream::Finished => bed.paid().await,
            Upstream::Rejected => bed.money_returned().await,
            Upstream::Unverified | Upstream::Processing | Upstream::Failed => bed.held().await,
        }
        assert_eq!(kinds(&compared(&bed, true).await), []);
    }
}

#[tokio::test]
async fn sent_withdrawal_that_was_given_back_is_reported() {
    let bed = money_returned().await;
    for (status, theirs) in [(Upstream::Processing, "processing"), (Upstream::Finished, "finished")] {
        bed.processor.set_status(status);
        let report = compared(&bed, true).await;
        let found = only(&report);
        assert_eq!((found.kind, found.repaired), (DifferenceKind::WithdrawalOutcome, false));
        assert_eq!(sides(found), (Some("failed"), Some(theirs)));
        assert_eq!(found.resource, Some(bed.only().id.to_string()));
        bed.money_returned().await;
    }
    let logs = CapturedLogs::start();
    let pass = run_once(&bed.ports).await.unwrap();
    assert_eq!((pass.done, logs.alerts("reconcile_difference").len()), (0, 1));
    let [comparison] = &pass.comparisons[..] else { panic!("{pass:?}") };
    assert_eq!((comparison.open, &comparison.acquirer), (1, &bed.processor.name));
    bed.money_returned().await;
}

#[tokio::test]
async fn completed_withdrawal_that_was_not_sent_is_reported() {
    let bed = TestBed::new().await;
    bed.processing().await;
    bed.processor.set_status(Upstream::Finished);
    bed.clock.advance(LONG);
    bed.poll().await;
    for (status, theirs) in [(Upstream::Rejected, "rejected"), (Upstream::Failed, "failed")] {
        bed.processor.set_status(status);
        let report = compared(&bed, true).await;
        assert_eq!(sides(only(&report)), (Some("completed"), Some(theirs)));
        bed.paid().await;
    }
}

#[tokio::test]
async fn withdrawal_of_another_sender_is_reported() {
    let bed = TestBed::new().await;
    bed.processing().await;
    // A batch that moves no coins is not a difference.
    let unsent = [Upstream::Unverified, Upstream::Rejected].map(|status| bed.processor.add_batch(status, None));
    assert_eq!(kinds(&compared(&bed, true).await), [], "{unsent:?}");
    let unknown: CryptoWithdrawalId = fresh();
    let batches = [None, Some(unknown)].map(|order| bed.processor.add_batch(Upstream::Finished, order));
    let report = compared(&bed, true).await;
    assert_eq!(kinds(&report), [(DifferenceKind::WithdrawalUnknown, false); 2]);
    // The newest comes first.
    let found = report.differences.iter().map(|found| (found.upstream_id.clone(), found.resource.clone()));
    let [first, second] = batches.map(|batch| batch.to_string());
    assert_eq!(found.collect::<Vec<_>>(), [(second, Some(unknown.to_string())), (first, None)]);
    bed.held().await;
}

#[tokio::test]
async fn second_batch_of_a_withdrawal_is_reported() {
    let bed = TestBed::new().await;
    let withdrawal = bed.processing().await;
    let unverified = bed.processor.add_batch(Upstream::Unverified, Some(withdrawal.id));
    assert_eq!(kinds(&compared(&bed, true).await), []);
    let second = bed.processor.add_batch(Upstream::Processing, Some(withdrawal.id));
    let report = compared(&bed, true).await;
    let found = only(&report);
    assert_eq!((found.kind, &found.upstream_id), (DifferenceKind::WithdrawalRepeated, &second.to_string()));
    assert_ne!(unverified, second);
}

#[tokio::test]
async fn other_coins_or_address_are_reported() {
    let other = Address::parse(Currency::UsdtErc20, OTHER_ADDRESS).unwrap();
    for changes_coins in [true, false] {
        let bed = TestBed::new().await;
        bed.processing().await;
        bed.processor.change_batches(|row| {
            if changes_coins {
                row.amount = usdt("21");
            } else {
                row.address = other.clone();
            }
            row.status = Upstream::Finished;
        });
        bed.clock.advance(PAST_LAG);
        let report = compared(&bed, true).await;
        assert_eq!(kinds(&report), [(DifferenceKind::WithdrawalAmount, false)]);
        bed.held().await;
    }
}

#[tokio::test]
async fn withdrawal_that_the_processor_lost_is_reported() {
    // The processor had the withdrawal in the first case, and never had it in the second.
    for was_shown in [true, false] {
        let bed = TestBed::new().await;
        if !was_shown {
            bed.processor.set(OrderReply::Silent);
        }
        bed.processing().await;
        bed.processor.remove_batches();
        // The list may lag behind.
        assert_eq!(kinds(&compared(&bed, true).await), []);
        bed.clock.advance(PAST_LAG);
        let report = compared(&bed, true).await;
        assert_eq!(kinds(&report), [(DifferenceKind::WithdrawalNotListed, false)], "{was_shown}");
        bed.held().await;
    }
}

#[tokio::test]
async fn withdrawal_that_an_operator_failed_is_no_difference() {
    let bed = TestBed::new().await;
    bed.processing().await;
    bed.processor.set_status(Upstream::Failed);
    bed.clock.advance(PAST_REVIEW);
    bed.poll().await;
    bed.resolve(Decision::Failed).await.unwrap();
    assert_eq!(kinds(&compared(&bed, true).await), []);
    // The processor sent the coins after all.
    bed.processor.set_status(Upstream::Finished);
    assert_eq!(kinds(&compared(&bed, true).await), [(DifferenceKind::WithdrawalOutcome, false)]);
    bed.money_returned().await;
}

#[tokio::test]
async fn every_page_of_the_list_is_compared() {
    let bed = TestBed::new().await;
    for key in ["a", "b"] {
        assert_eq!(bed.create(key, a_hundred()).await.unwrap().kind, ResponseKind::Created);
    }
    let others = [(); 3].map(|()| bed.processor.add_batch(Upstream::Finished, None));
    let report = compared(&bed, true).await;
    assert_eq!((report.withdrawals, report.differences.len()), (5, others.len()));
}

#[tokio::test]
async fn coins_are_compared_with_the_ledger() {
    let bed = TestBed::new().await;
    bed.processor.state().balances = vec![usdt("40")];
    let report = compared(&bed, true).await;
    let exposure = report.exposure.unwrap();
    assert_eq!((exposure.worth.centavos(), exposure.owed.centavos(), exposure.surplus.centavos()), (20_000, 0, 20_000));
    bed.processor.state().prices = false;
    let report = compared(&bed, true).await;
    assert_eq!(report.exposure, None);
    assert!(report.unread.iter().any(|(name, _)| *name == bed.processor.name), "{:?}", report.unread);
}
