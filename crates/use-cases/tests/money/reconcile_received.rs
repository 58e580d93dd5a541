//! Compares received Pix with credited Pix, in both directions.

use std::sync::Mutex;
use std::time::Duration;

use cais_domain::charge::ChargeStatus;
use cais_domain::money::Money;
use cais_domain::txid::Txid;
use cais_ports::UpstreamProgress;
use cais_testkit::builders::{fresh, start};
use cais_testkit::psp::{ListReply, LookupReply};
use cais_use_cases::reconcile::{Difference, DifferenceKind, Report, run, run_once};
use jiff::SignedDuration;

use crate::bed::{LONG, TestBed};

pub async fn compare(bed: &TestBed, repair: bool) -> Report {
    let until = bed.clock.advance(Duration::from_secs(1));
    run(&bed.ports, start(), until, repair, &|_| {}).await.unwrap()
}

pub fn kinds(report: &Report) -> Vec<(DifferenceKind, bool)> {
    report.differences.iter().map(|difference| (difference.kind, difference.repaired)).collect()
}

#[tokio::test]
async fn matching_payment_is_no_difference() {
    let bed = TestBed::new().await;
    bed.paid().await;
    bed.paid().await;
    bed.pending().await;
    bed.clock.advance(LONG);
    let report = compare(&bed, true).await;
    assert_eq!(report, Report { received: 2, ..Report::default() });
}

#[tokio::test]
async fn missed_payment_is_found_and_credited_only_with_repair() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    let pix = bed.psp.pay(&charge.txid, 1_000);
    let missed = Difference {
        kind: DifferenceKind::PaymentMissed,
        acquirer: bed.psp.name.clone(),
        resource: Some(charge.id.to_string()),
        upstream_id: pix.to_string(),
        ours: None,
        theirs: Some("10.00".to_owned()),
        repaired: false,
    };
    assert_eq!(compare(&bed, false).await.differences, std::slice::from_ref(&missed));
    assert_eq!(bed.available(), 0);
    assert_eq!(compare(&bed, true).await.differences, [Difference { repaired: true, ..missed }]);
    assert_eq!((bed.available(), bed.charge(charge.id).state.status()), (1_000, ChargeStatus::Paid));
    assert_eq!(compare(&bed, true).await.differences, []);
    bed.check().await;
}

#[tokio::test]
async fn missed_payment_with_unreadable_charge_stays_missed() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    bed.psp.pay(&charge.txid, 1_000);
    bed.psp.set_lookup_reply(LookupReply::Silent);
    assert_eq!(kinds(&compare(&bed, true).await), [(DifferenceKind::PaymentMissed, false)]);
    assert_eq!(bed.available(), 0);
}

#[tokio::test]
async fn two_missed_payments_of_one_charge_are_both_credited() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    bed.psp.pay(&charge.txid, 1_000);
    bed.psp.pay(&charge.txid, 300);
    // The credit of the first payment also credits the second.
    assert_eq!(kinds(&compare(&bed, true).await), [(DifferenceKind::PaymentMissed, true)]);
    assert_eq!(bed.available(), 1_300);
    bed.check().await;
}

#[tokio::test]
async fn payment_without_stored_charge_is_not_credited() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    bed.psp.receive(None, 500);
    bed.psp.receive(Some(Txid::of_charge(fresh())), 600);
    // The Pix has the txid of a stored charge, but the acquirer's record of the charge does not contain the Pix.
    bed.psp.receive(Some(charge.txid.clone()), 1_000);
    let report = compare(&bed, true).await;
    let unknown = (DifferenceKind::PaymentUnknown, false);
    assert_eq!(kinds(&report), [unknown, unknown, (DifferenceKind::PaymentMissed, false)]);
    assert_eq!((report.received, bed.available(), bed.store.payments().len()), (3, 0, 0));
    bed.check().await;
}

#[tokio::test]
async fn payment_with_other_amount_is_reported_and_unchanged() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    let pix = charge.state.settlement().unwrap().end_to_end_id.clone();
    bed.psp.change_payment(&pix, |payment| payment.amount = Money::from_centavos(1_200));
    let report = compare(&bed, true).await;
    assert_eq!(kinds(&report), [(DifferenceKind::PaymentAmount, false)]);
    let [wrong] = &report.differences[..] else { unreachable!() };
    assert_eq!((wrong.ours.as_deref(), wrong.theirs.as_deref()), (Some("10.00"), Some("12.00")));
    assert_eq!(bed.available(), 1_000);
}

#[tokio::test]
async fn unlisted_payment_is_looked_up_before_it_is_reported() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    bed.psp.set_list_replies(ListReply::Empty);
    assert_eq!(compare(&bed, true).await.differences, [], "the charge shows it");
    bed.psp.set_lookup_reply(LookupReply::NotFound);
    assert_eq!(compare(&bed, true).await.differences, [], "a list may lag");
    bed.clock.advance(LONG);
    let report = compare(&bed, true).await;
    assert_eq!(kinds(&report), [(DifferenceKind::PaymentNotListed, false)]);
    assert_eq!(report.differences[0].resource, Some(charge.id.to_string()));
    bed.psp.set_lookup_reply(LookupReply::Silent);
    let report = compare(&bed, true).await;
    assert_eq!((report.differences, report.unread.len()), (Vec::new(), 1), "the unread record is no difference");
    assert_eq!(bed.available(), 1_000, "a credited payment stays credited");
}

#[tokio::test]
async fn payment_returned_before_credit_is_no_difference() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    let pix = bed.psp.pay(&charge.txid, 1_000);
    bed.psp.add_unrequested_return(&pix, 1_000, UpstreamProgress::Done { at: None });
    assert_eq!(compare(&bed, true).await.differences, []);
    assert_eq!(bed.available(), 0);
}

#[tokio::test]
async fn readable_acquirers_are_all_compared() {
    for broken in [ListReply::Silent, ListReply::Circular] {
        let bed = TestBed::new().await;
        let charge = bed.pending().await;
        bed.second.store_charge(&charge);
        bed.second.pay(&charge.txid, 1_000);
        bed.psp.set_list_replies(broken);
        let report = compare(&bed, true).await;
        assert_eq!(kinds(&report), [(DifferenceKind::PaymentMissed, true)], "{broken:?}");
        assert!(report.unread.iter().all(|(name, _)| *name == bed.psp.name) && !report.unread.is_empty());
        assert_eq!(bed.available(), 1_000);
    }
}

#[tokio::test]
async fn removed_acquirer_is_reported() {
    let bed = TestBed::new().await;
    let mut charge = bed.paid().await;
    charge = bed.read(&charge).await;
    let only_second = cais_testkit::FakeAcquirers::new(std::slice::from_ref(&bed.second));
    let ports = cais_use_cases::Ports { acquirers: std::sync::Arc::new(only_second), ..bed.ports.clone() };
    let until = bed.clock.advance(LONG);
    let report = run(&ports, charge.created_at, until, true, &|_| {}).await.unwrap();
    assert_eq!((report.differences, report.unread.len()), (Vec::new(), 1));
    assert_eq!(report.unread[0].0, bed.psp.name);
}

#[tokio::test]
async fn comparison_reads_all_pages_and_reports_progress() {
    let bed = TestBed::new().await;
    for _ in 0..3 {
        for _ in 0..5 {
            bed.paid().await;
        }
        bed.clock.advance(Duration::from_hours(20));
    }
    bed.psp.set_list_replies(ListReply::Pages(2));
    let progress_done = Mutex::new(Vec::new());
    let progress = |progress: cais_use_cases::reconcile::Progress| {
        if progress.acquirer.as_str() == "main" && progress.list == "received" {
            progress_done.lock().unwrap().push(progress.done);
        }
    };
    let until = bed.clock.advance(LONG);
    let report = run(&bed.ports, start(), until, true, &progress).await.unwrap();
    assert_eq!((report.received, report.differences, report.unread), (15, vec![], vec![]));
    let progress_done = progress_done.into_inner().unwrap();
    assert!(progress_done.is_sorted() && progress_done.last() == Some(&15), "{progress_done:?}");
}

#[tokio::test]
async fn window_with_too_many_records_is_divided() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    for number in 0..10_500 {
        bed.psp.pay(&charge.txid, 1);
        if number % 100 == 0 {
            bed.clock.advance(Duration::from_secs(30));
        }
    }
    bed.read(&charge).await;
    assert_eq!(bed.store.payments().len(), 10_500);
    let forgotten = bed.psp.pay(&charge.txid, 2);
    bed.psp.set_list_replies(ListReply::Pages(1_000));
    bed.clock.advance(LONG);
    let report = compare(&bed, true).await;
    assert_eq!(kinds(&report), [(DifferenceKind::PaymentMissed, true)]);
    assert_eq!(report.differences[0].upstream_id, forgotten.to_string());
    assert_eq!((report.received >= 10_501, report.unread), (true, vec![]));
}

#[tokio::test]
async fn window_that_is_slow_to_read_is_divided() {
    let bed = TestBed::new().await;
    for _ in 0..3 {
        bed.paid().await;
        bed.clock.advance(Duration::from_mins(20));
    }
    let missed = bed.pending().await;
    bed.psp.pay(&missed.txid, 1_000);
    bed.clock.advance(LONG);
    bed.store.set_longest_span(SignedDuration::from_mins(7));
    let report = compare(&bed, true).await;
    assert_eq!((kinds(&report), report.unread), (vec![(DifferenceKind::PaymentMissed, true)], vec![]));
    // Even the shortest window has too many rows.
    bed.store.set_longest_span(SignedDuration::ZERO);
    let until = bed.clock.advance(Duration::from_secs(1));
    assert!(run(&bed.ports, start(), until, true, &|_| {}).await.is_err());
}

#[tokio::test]
async fn full_report_states_that_more_differences_exist() {
    let bed = TestBed::new().await;
    for _ in 0..10_001 {
        bed.psp.receive(None, 1);
    }
    bed.psp.set_list_replies(ListReply::Pages(1_000));
    let report = compare(&bed, true).await;
    assert_eq!((report.differences.len(), report.more, report.received), (10_000, true, 10_001));
}

#[tokio::test]
async fn worker_compares_recent_hours_and_repairs() {
    let bed = TestBed::new().await;
    let old = bed.pending().await;
    bed.psp.pay(&old.txid, 1_000);
    bed.clock.advance(Duration::from_hours(4));
    let young = bed.pending().await;
    bed.psp.pay(&young.txid, 1_000);
    bed.clock.advance(Duration::from_secs(1));
    let pass = run_once(&bed.ports).await.unwrap();
    assert_eq!(pass.done, 1);
    assert_eq!(bed.charge(young.id).state.status(), ChargeStatus::Paid);
    assert_eq!(bed.charge(old.id).state.status(), ChargeStatus::Pending);
    bed.store.set_unreachable(true);
    assert!(run_once(&bed.ports).await.is_err());
}
