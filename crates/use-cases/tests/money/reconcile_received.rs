//! Compares received Pix with credited Pix, in both directions.

use std::sync::Mutex;
use std::time::Duration;

use cais_domain::charge::ChargeStatus;
use cais_domain::money::Money;
use cais_domain::txid::Txid;
use cais_ports::UpstreamProgress;
use cais_testkit::builders::{fresh, start};
use cais_testkit::psp::{Listing, Looking};
use cais_use_cases::reconcile::{Difference, DifferenceKind, Report, run, run_once};
use jiff::SignedDuration;

use crate::world::{LONG, World};

pub async fn compare(world: &World, repair: bool) -> Report {
    let until = world.clock.advance(Duration::from_secs(1));
    run(&world.ports, start(), until, repair, &|_| {}).await.unwrap()
}

pub fn kinds(report: &Report) -> Vec<(DifferenceKind, bool)> {
    report.differences.iter().map(|difference| (difference.kind, difference.repaired)).collect()
}

#[tokio::test]
async fn matching_payment_is_no_difference() {
    let world = World::new().await;
    world.paid().await;
    world.paid().await;
    world.pending().await;
    world.clock.advance(LONG);
    let report = compare(&world, true).await;
    assert_eq!(report, Report { received: 2, ..Report::default() });
}

#[tokio::test]
async fn missed_payment_is_found_and_credited_only_with_repair() {
    let world = World::new().await;
    let charge = world.pending().await;
    let pix = world.psp.pay(&charge.txid, 1_000);
    let missed = Difference {
        kind: DifferenceKind::PaymentMissed,
        acquirer: world.psp.name.clone(),
        resource: Some(charge.id.to_string()),
        upstream_id: pix.to_string(),
        ours: None,
        theirs: Some("10.00".to_owned()),
        repaired: false,
    };
    assert_eq!(compare(&world, false).await.differences, std::slice::from_ref(&missed));
    assert_eq!(world.available(), 0);
    assert_eq!(compare(&world, true).await.differences, [Difference { repaired: true, ..missed }]);
    assert_eq!((world.available(), world.charge(charge.id).state.status()), (1_000, ChargeStatus::Paid));
    assert_eq!(compare(&world, true).await.differences, []);
    world.check().await;
}

#[tokio::test]
async fn missed_payment_with_unreadable_charge_stays_missed() {
    let world = World::new().await;
    let charge = world.pending().await;
    world.psp.pay(&charge.txid, 1_000);
    world.psp.set_looking(Looking::Silent);
    assert_eq!(kinds(&compare(&world, true).await), [(DifferenceKind::PaymentMissed, false)]);
    assert_eq!(world.available(), 0);
}

#[tokio::test]
async fn two_missed_payments_of_one_charge_are_both_credited() {
    let world = World::new().await;
    let charge = world.pending().await;
    world.psp.pay(&charge.txid, 1_000);
    world.psp.pay(&charge.txid, 300);
    // The credit of the first payment also credits the second.
    assert_eq!(kinds(&compare(&world, true).await), [(DifferenceKind::PaymentMissed, true)]);
    assert_eq!(world.available(), 1_300);
    world.check().await;
}

#[tokio::test]
async fn payment_without_stored_charge_is_not_credited() {
    let world = World::new().await;
    let charge = world.pending().await;
    world.psp.receive(None, 500);
    world.psp.receive(Some(Txid::of_charge(fresh())), 600);
    // The Pix has the txid of a stored charge, but the acquirer's record of the charge does not contain the Pix.
    world.psp.receive(Some(charge.txid.clone()), 1_000);
    let report = compare(&world, true).await;
    let unknown = (DifferenceKind::PaymentUnknown, false);
    assert_eq!(kinds(&report), [unknown, unknown, (DifferenceKind::PaymentMissed, false)]);
    assert_eq!((report.received, world.available(), world.store.payments().len()), (3, 0, 0));
    world.check().await;
}

#[tokio::test]
async fn payment_with_other_amount_is_reported_and_unchanged() {
    let world = World::new().await;
    let charge = world.paid().await;
    let pix = charge.state.settlement().unwrap().end_to_end_id.clone();
    world.psp.change_payment(&pix, |payment| payment.amount = Money::from_centavos(1_200));
    let report = compare(&world, true).await;
    assert_eq!(kinds(&report), [(DifferenceKind::PaymentAmount, false)]);
    let [wrong] = &report.differences[..] else { unreachable!() };
    assert_eq!((wrong.ours.as_deref(), wrong.theirs.as_deref()), (Some("10.00"), Some("12.00")));
    assert_eq!(world.available(), 1_000);
}

#[tokio::test]
async fn unlisted_payment_is_looked_up_before_it_is_reported() {
    let world = World::new().await;
    let charge = world.paid().await;
    world.psp.set_listing(Listing::Empty);
    assert_eq!(compare(&world, true).await.differences, [], "the charge shows it");
    world.psp.set_looking(Looking::Forgets);
    assert_eq!(compare(&world, true).await.differences, [], "a list may lag");
    world.clock.advance(LONG);
    let report = compare(&world, true).await;
    assert_eq!(kinds(&report), [(DifferenceKind::PaymentNotListed, false)]);
    assert_eq!(report.differences[0].resource, Some(charge.id.to_string()));
    world.psp.set_looking(Looking::Silent);
    let report = compare(&world, true).await;
    assert_eq!((report.differences, report.unread.len()), (Vec::new(), 1), "the unread record is no difference");
    assert_eq!(world.available(), 1_000, "a credited payment stays credited");
}

#[tokio::test]
async fn payment_returned_before_credit_is_no_difference() {
    let world = World::new().await;
    let charge = world.pending().await;
    let pix = world.psp.pay(&charge.txid, 1_000);
    world.psp.return_unasked(&pix, 1_000, UpstreamProgress::Done { at: None });
    assert_eq!(compare(&world, true).await.differences, []);
    assert_eq!(world.available(), 0);
}

#[tokio::test]
async fn readable_acquirers_are_all_compared() {
    for broken in [Listing::Silent, Listing::Circles] {
        let world = World::new().await;
        let charge = world.pending().await;
        world.second.hold(&charge);
        world.second.pay(&charge.txid, 1_000);
        world.psp.set_listing(broken);
        let report = compare(&world, true).await;
        assert_eq!(kinds(&report), [(DifferenceKind::PaymentMissed, true)], "{broken:?}");
        assert!(report.unread.iter().all(|(name, _)| *name == world.psp.name) && !report.unread.is_empty());
        assert_eq!(world.available(), 1_000);
    }
}

#[tokio::test]
async fn removed_acquirer_is_reported() {
    let world = World::new().await;
    let mut charge = world.paid().await;
    charge = world.read(&charge).await;
    let only_second = cais_testkit::FakeAcquirers::new(std::slice::from_ref(&world.second));
    let ports = cais_use_cases::Ports { acquirers: std::sync::Arc::new(only_second), ..world.ports.clone() };
    let until = world.clock.advance(LONG);
    let report = run(&ports, charge.created_at, until, true, &|_| {}).await.unwrap();
    assert_eq!((report.differences, report.unread.len()), (Vec::new(), 1));
    assert_eq!(report.unread[0].0, world.psp.name);
}

#[tokio::test]
async fn comparison_reads_all_pages_and_reports_progress() {
    let world = World::new().await;
    for _ in 0..3 {
        for _ in 0..5 {
            world.paid().await;
        }
        world.clock.advance(Duration::from_hours(20));
    }
    world.psp.set_listing(Listing::Pages(2));
    let progress_done = Mutex::new(Vec::new());
    let progress = |progress: cais_use_cases::reconcile::Progress| {
        if progress.acquirer.as_str() == "main" && progress.list == "received" {
            progress_done.lock().unwrap().push(progress.done);
        }
    };
    let until = world.clock.advance(LONG);
    let report = run(&world.ports, start(), until, true, &progress).await.unwrap();
    assert_eq!((report.received, report.differences, report.unread), (15, vec![], vec![]));
    let progress_done = progress_done.into_inner().unwrap();
    assert!(progress_done.is_sorted() && progress_done.last() == Some(&15), "{progress_done:?}");
}

#[tokio::test]
async fn window_with_too_many_records_is_divided() {
    let world = World::new().await;
    let charge = world.pending().await;
    for number in 0..10_500 {
        world.psp.pay(&charge.txid, 1);
        if number % 100 == 0 {
            world.clock.advance(Duration::from_secs(30));
        }
    }
    world.read(&charge).await;
    assert_eq!(world.store.payments().len(), 10_500);
    let forgotten = world.psp.pay(&charge.txid, 2);
    world.psp.set_listing(Listing::Pages(1_000));
    world.clock.advance(LONG);
    let report = compare(&world, true).await;
    assert_eq!(kinds(&report), [(DifferenceKind::PaymentMissed, true)]);
    assert_eq!(report.differences[0].upstream_id, forgotten.to_string());
    assert_eq!((report.received >= 10_501, report.unread), (true, vec![]));
}

#[tokio::test]
async fn window_that_is_slow_to_read_is_divided() {
    let world = World::new().await;
    for _ in 0..3 {
        world.paid().await;
        world.clock.advance(Duration::from_mins(20));
    }
    let missed = world.pending().await;
    world.psp.pay(&missed.txid, 1_000);
    world.clock.advance(LONG);
    world.store.set_longest_span(SignedDuration::from_mins(7));
    let report = compare(&world, true).await;
    assert_eq!((kinds(&report), report.unread), (vec![(DifferenceKind::PaymentMissed, true)], vec![]));
    // Even the shortest window has too many rows.
    world.store.set_longest_span(SignedDuration::ZERO);
    let until = world.clock.advance(Duration::from_secs(1));
    assert!(run(&world.ports, start(), until, true, &|_| {}).await.is_err());
}

#[tokio::test]
async fn full_report_states_that_more_differences_exist() {
    let world = World::new().await;
    for _ in 0..10_001 {
        world.psp.receive(None, 1);
    }
    world.psp.set_listing(Listing::Pages(1_000));
    let report = compare(&world, true).await;
    assert_eq!((report.differences.len(), report.more, report.received), (10_000, true, 10_001));
}

#[tokio::test]
async fn worker_compares_recent_hours_and_repairs() {
    let world = World::new().await;
    let old = world.pending().await;
    world.psp.pay(&old.txid, 1_000);
    world.clock.advance(Duration::from_hours(4));
    let young = world.pending().await;
    world.psp.pay(&young.txid, 1_000);
    world.clock.advance(Duration::from_secs(1));
    let pass = run_once(&world.ports).await.unwrap();
    assert_eq!(pass.done, 1);
    assert_eq!(world.charge(young.id).state.status(), ChargeStatus::Paid);
    assert_eq!(world.charge(old.id).state.status(), ChargeStatus::Pending);
    world.store.set_unreachable(true);
    assert!(run_once(&world.ports).await.is_err());
}
