//! Returns that the acquirer does not show with their payout. They are credited after a callback with the Pix, or by an
//! operator.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use cais_domain::end_to_end_id::{EndToEndId, ReturnId};
use cais_domain::event::EventType;
use cais_domain::ids::PayoutId;
use cais_domain::money::Money;
use cais_domain::payout::{Payout, PayoutStatus};
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{AuditFilter, AuditQueries as _, AuditRow, CallbackState, Clock as _, PageRequest};
use cais_testkit::builders::{a_return_id, an_end_to_end_id, an_operator, main_acquirer};
use cais_testkit::logs::CapturedLogs;
use cais_testkit::psp::{List, ListReply};
use cais_use_cases::callbacks::receive;
use cais_use_cases::payouts::credit_return::{CreditReturnError, SeenReturn, credit_return};
use cais_use_cases::reconcile::{self, Difference, DifferenceKind, Report};
use cais_use_cases::store_error::StoreError;
use uuid::Uuid;

use crate::bed::{FEE, FUNDS, LONG, TestBed, now};

const REVERSED: [EventType; 2] = [EventType::PayoutCompleted, EventType::PayoutReversed];
/// The balance after the payout of R$ 10.00 and its fee.
const WITHOUT: i64 = FUNDS - 1_000 - FEE;
const ALERT: &str = "payout_return_uncredited";

/// Returns a part of the only payout. The acquirer shows this return only by its own id.
fn shown_alone(bed: &TestBed, centavos: i64) -> ReturnId {
    let id = unseen(bed, centavos);
    let part =
        cais_ports::ReturnedPart { return_id: id.clone(), amount: Money::from_centavos(centavos), at: bed.clock.now() };
    bed.psp.show_returns_separately(vec![part]);
    id
}

/// Returns a part of the only payout. The acquirer never shows this return.
fn unseen(bed: &TestBed, centavos: i64) -> ReturnId {
    let id = bed.psp.return_payout(centavos);
    drop(bed.psp.take_payout_returns());
    bed.psp.show_returns_separately(Vec::new());
    id
}

fn pix(payout: &Payout) -> EndToEndId {
    payout.state.end_to_end_id().unwrap().clone()
}

async fn receive_callback(bed: &TestBed, pix: &EndToEndId, return_id: &ReturnId) {
    receive(&bed.ports, &main_acquirer(), format!("back:{pix}/{return_id}").into_bytes()).await.unwrap();
}

/// Credits a return as an operator. Returns `true` if this call credited it.
async fn command(
    bed: &TestBed,
    payout: PayoutId,
    return_id: &ReturnId,
    centavos: i64,
) -> Result<bool, CreditReturnError> {
    let seen = SeenReturn {
        payout,
        return_id: return_id.clone(),
        amount: Money::from_centavos(centavos),
        note: Text::parse("seen in the \"panel\"", 100, LineBreaks::Refused).unwrap(),
    };
    credit_return(&bed.ports, &an_operator(), &seen).await.map(|(_, credited)| credited)
}

async fn audit(bed: &TestBed) -> Vec<AuditRow> {
    let page = PageRequest { limit: 200, starting_after: None };
    bed.store.list_audit(AuditFilter::default(), page).await.unwrap().rows
}

#[tokio::test]
async fn return_named_by_its_pix_is_credited_once() {
    let bed = TestBed::new().await;
    let payout = bed.completed().await;
    let first = shown_alone(&bed, 400);
    for _ in 0..3 {
        receive_callback(&bed, &pix(&payout), &first).await;
        bed.process().await;
        assert_eq!((bed.status(), bed.money()), (PayoutStatus::Completed, (WITHOUT + 400, 0)));
    }
    let second = shown_alone(&bed, 600);
    receive_callback(&bed, &pix(&payout), &second).await;
    assert_eq!(bed.process().await, 1);
    assert_eq!((bed.status(), bed.money()), (PayoutStatus::Reversed, (FUNDS - FEE, 0)));
    assert_eq!((bed.event_types(), bed.fees()), (REVERSED.to_vec(), FEE));
    assert!(bed.callbacks().iter().all(|state| *state == CallbackState::Done));
    bed.check().await;
}

#[tokio::test]
async fn return_before_seen_completion_completes_its_payout() {
    let bed = TestBed::new().await;
    let payout = bed.processing().await;
    let return_id = shown_alone(&bed, 1_000);
    receive_callback(&bed, &pix(&payout), &return_id).await;
    assert_eq!(bed.process().await, 1);
    assert_eq!((bed.status(), bed.event_types()), (PayoutStatus::Reversed, REVERSED.to_vec()));
    bed.check().await;
}

#[tokio::test]
async fn unconfirmed_return_raises_alert_without_credit() {
    let bed = TestBed::new().await;
    let payout = bed.completed().await;
    let logs = CapturedLogs::start();
    let return_id = unseen(&bed, 1_000);
    receive_callback(&bed, &pix(&payout), &return_id).await;
    receive_callback(&bed, &an_end_to_end_id(), &return_id).await;
    assert_eq!((bed.process().await, bed.callbacks()), (0, vec![CallbackState::Waiting; 2]));
    for _ in 0..30 {
        bed.clock.advance(LONG);
        bed.process().await;
    }
    assert_eq!((bed.callbacks(), bed.money().0), (vec![CallbackState::Unmatched; 2], WITHOUT));
    let alerts = logs.alerts(ALERT);
    assert_eq!(alerts.len(), 2, "{alerts:?}");
    assert!(alerts.iter().all(|line| line["return_id"] == return_id.as_str()), "{alerts:?}");
    bed.check().await;
}

#[tokio::test]
async fn return_named_to_another_acquirer_is_not_credited() {
    let bed = TestBed::new().await;
    let payout = bed.completed().await;
    let return_id = shown_alone(&bed, 1_000);
    let body = format!("back:{}/{return_id}", pix(&payout)).into_bytes();
    receive(&bed.ports, &bed.second.name, body).await.unwrap();
    assert_eq!((bed.process().await, bed.money().0), (0, WITHOUT));
    bed.check().await;
}

#[tokio::test]
async fn command_credits_return_once_with_audit_row() {
    let bed = TestBed::new().await;
    let payout = bed.completed().await;
    let return_id = unseen(&bed, 1_000);
    assert_eq!(command(&bed, payout.id, &return_id, 1_000).await, Ok(true));
    for centavos in [1_000, 400] {
        assert_eq!(command(&bed, payout.id, &return_id, centavos).await, Ok(false), "credited before");
    }
    assert_eq!((bed.status(), bed.money()), (PayoutStatus::Reversed, (FUNDS - FEE, 0)));
    assert_eq!(bed.event_types(), REVERSED);
    let rows = audit(&bed).await;
    assert_eq!((rows.len(), rows[0].action.as_str()), (1, "payout.credit_return"));
    assert_eq!((rows[0].subject.clone(), rows[0].account), (payout.id.to_string(), Some(payout.account)));
    let after: serde_json::Value = serde_json::from_str(rows[0].after.as_ref().unwrap()).unwrap();
    assert_eq!((&after["status"], &after["return_id"]), (&"reversed".into(), &return_id.as_str().into()));
    bed.check().await;
}

#[tokio::test]
async fn command_refuses_impossible_returns_of_a_payout() {
    let bed = TestBed::new().await;
    let payout = bed.processing().await;
    let id = a_return_id();
    let early = command(&bed, payout.id, &id, 100).await;
    assert_eq!(early, Err(CreditReturnError::NotCompleted(PayoutStatus::Processing)));
    bed.psp.complete();
    bed.read(payout.id).await.unwrap();
    for centavos in [0, -1, 1_001] {
        let wrong = command(&bed, payout.id, &id, centavos).await;
        assert!(matches!(wrong, Err(CreditReturnError::WrongAmount { .. })), "{centavos}: {wrong:?}");
    }
    assert_eq!(command(&bed, payout.id, &id, 600).await, Ok(true));
    let rest = command(&bed, payout.id, &a_return_id(), 401).await;
    let (amount, left) = (Money::from_centavos(401), Money::from_centavos(400));
    assert_eq!(rest, Err(CreditReturnError::WrongAmount { amount, left }));
    let unknown = PayoutId::new(Uuid::nil());
    assert_eq!(command(&bed, unknown, &id, 100).await, Err(CreditReturnError::NotFound(unknown)));
    assert_eq!((bed.money().0, audit(&bed).await.len()), (WITHOUT + 600, 1));
    bed.check().await;
}

#[tokio::test]
async fn command_refuses_return_of_another_payout() {
    let bed = TestBed::new().await;
    let first = bed.completed().await;
    let return_id = a_return_id();
    assert_eq!(command(&bed, first.id, &return_id, 100).await, Ok(true));
    bed.psp.set_breaker_open(true);
    let second = crate::bed::id_of(&bed.create("b", crate::bed::reais(5)).await.unwrap());
    bed.second.complete();
    bed.read(second).await.unwrap();
    let taken = command(&bed, second, &return_id, 100).await;
    assert_eq!(taken, Err(CreditReturnError::OfAnother(first.id.to_string())));
    bed.check().await;
}

#[tokio::test]
async fn command_after_callback_credits_nothing_more() {
    let bed = TestBed::new().await;
    let payout = bed.completed().await;
    let return_id = shown_alone(&bed, 400);
    receive_callback(&bed, &pix(&payout), &return_id).await;
    assert_eq!(bed.process().await, 1);
    assert_eq!(command(&bed, payout.id, &return_id, 400).await, Ok(false));
    assert_eq!((bed.money().0, audit(&bed).await.len()), (WITHOUT + 400, 0));
    bed.check().await;
}

#[tokio::test]
async fn callback_after_command_credits_nothing_more() {
    let bed = TestBed::new().await;
    let payout = bed.completed().await;
    let return_id = shown_alone(&bed, 400);
    assert_eq!(command(&bed, payout.id, &return_id, 400).await, Ok(true));
    receive_callback(&bed, &pix(&payout), &return_id).await;
    assert_eq!((bed.process().await, bed.callbacks()), (1, vec![CallbackState::Done]));
    assert_eq!((bed.money().0, bed.only_payout().returned), (WITHOUT + 400, Money::from_centavos(400)));
    bed.check().await;
}

#[tokio::test]
async fn command_beside_callback_credits_once() {
    let bed = TestBed::new().await;
    let payout = bed.completed().await;
    let return_id = shown_alone(&bed, 400);
    receive_callback(&bed, &pix(&payout), &return_id).await;
    let (other, mut first) = (bed.clone(), true);
    let raced = bed.before_commits(move || {
        if std::mem::take(&mut first) {
            assert_eq!(now(other.process()), 1);
        }
    });
    assert_eq!(command(&raced, payout.id, &return_id, 400).await, Ok(false));
    assert_eq!((bed.money().0, audit(&bed).await.len()), (WITHOUT + 400, 0));
    bed.check().await;
}

#[tokio::test]
async fn command_under_endless_contention_credits_nothing() {
    let bed = TestBed::new().await;
    let payout = bed.completed().await;
    let (other, commits) = (bed.clone(), Arc::new(AtomicU8::new(0)));
    let counted = Arc::clone(&commits);
    let raced = bed.before_commits(move || {
        counted.fetch_add(1, Ordering::SeqCst);
        assert_eq!(now(command(&other, payout.id, &a_return_id(), 1)), Ok(true));
    });
    let contended = command(&raced, payout.id, &a_return_id(), 400).await;
    assert!(matches!(contended, Err(CreditReturnError::Store(StoreError::Unavailable(_)))), "{contended:?}");
    assert_eq!((commits.load(Ordering::SeqCst), bed.money().0), (8, WITHOUT + 8));
    bed.check().await;
}

/// Returns the uncredited returns that a comparison up to now finds.
async fn uncredited(bed: &TestBed, payout: &Payout) -> Vec<Difference> {
    let (from, until) = (payout.created_at, bed.clock.now());
    let report = reconcile::run(&bed.ports, from, until, true, &|_| {}).await.unwrap();
    assert_eq!(report.unread, []);
    report.differences.into_iter().filter(|found| found.kind == DifferenceKind::PayoutReturnUnknown).collect()
}

#[tokio::test]
async fn return_without_callback_is_a_difference_until_credited() {
    let bed = TestBed::new().await;
    let payout = bed.completed().await;
    let return_id = shown_alone(&bed, 400);
    assert_eq!(uncredited(&bed, &payout).await, [], "a callback may still come");
    bed.clock.advance(LONG);
    let found = uncredited(&bed, &payout).await;
    let [difference] = found.as_slice() else { unreachable!("{found:?}") };
    assert_eq!((difference.upstream_id.as_str(), difference.theirs.as_deref()), (return_id.as_str(), Some("4.00")));
    assert!(!difference.repaired);
    assert_eq!((bed.money().0, bed.only_payout().returned), (WITHOUT, Money::ZERO), "no payout is guessed");
    command(&bed, payout.id, &return_id, 400).await.unwrap();
    assert_eq!(uncredited(&bed, &payout).await, []);
    bed.check().await;
}

#[tokio::test]
async fn return_without_callback_raises_alert_each_round() {
    let bed = TestBed::new().await;
    bed.completed().await;
    reconcile::run_once(&bed.ports).await.unwrap();
    bed.clock.advance(LONG);
    shown_alone(&bed, 400);
    let logs = CapturedLogs::start();
    for alerts in [1, 2] {
        // A round has a pass for each of the 97 days before today, and one for today.
        for _ in 0..98 {
            bed.clock.advance(Duration::from_mins(10));
            reconcile::run_once(&bed.ports).await.unwrap();
        }
        let found = logs.alerts("reconcile_difference");
        assert_eq!(found.iter().filter(|line| line["kind"] == "payout_return_unknown").count(), alerts, "{found:?}");
    }
}

#[tokio::test]
async fn unread_list_of_returned_payouts_is_reported() {
    for (listing, reason) in [
        (ListReply::Silent, "outcome unknown: no answer"),
        (ListReply::Circular, "page 0 names page 0 as the next page"),
        (ListReply::Endless, "the list has more than 10000 pages"),
    ] {
        let bed = TestBed::new().await;
        let payout = bed.completed().await;
        bed.psp.set_list_reply(List::PayoutReturns, listing);
        bed.clock.advance(LONG);
        let report = reconcile::run(&bed.ports, payout.created_at, bed.clock.now(), true, &|_| {}).await.unwrap();
        assert_eq!(report.unread, [(main_acquirer(), format!("list of returned payouts: {reason}"))]);
    }
}

#[tokio::test]
async fn return_that_lists_hide_is_no_difference() {
    let bed = TestBed::new().await;
    let payout = bed.completed().await;
    let return_id = unseen(&bed, 400);
    command(&bed, payout.id, &return_id, 400).await.unwrap();
    bed.clock.advance(LONG);
    let (from, until) = (payout.created_at, bed.clock.now());
    let report = reconcile::run(&bed.ports, from, until, true, &|_| {}).await.unwrap();
    let of_payout = |difference: &&Difference| difference.resource == Some(payout.id.to_string());
    assert_eq!(report.differences.iter().find(of_payout), None);
    assert_eq!((report.sent, report.unread), (1, Report::default().unread), "the payout was compared");
    assert_eq!(bed.only_payout().returned, Money::from_centavos(400));
}
