//! Tests every pair of state and action of a refund with one table, including the effects on the charge.
#![expect(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects, reason = "a test fails by panicking")]

use jiff::{Timestamp, ToSpan as _};
use uuid::Uuid;

use super::*;
use crate::acquirer_name::AcquirerName;
use crate::charge::{Charge, ChargeState, ChargeStatus, ChargeTerms, Issued, Origin, RefundTotals, Settlement};
use crate::end_to_end_id::{EndToEndId, ReturnId};
use crate::event::EventType;
use crate::ids::{AccountId, ChargeId, RefundId};
use crate::infraction::Infraction;
use crate::money::Money;
use crate::payment::{CreditedPayment, Payment, PaymentRole};
use crate::split::Split;

#[derive(Debug, Clone, Copy)]
enum Action {
    Send,
    SendAgain,
    Abandon,
    Reopen,
    Complete,
    Fail,
}

const ACTIONS: [Action; 6] =
    [Action::Send, Action::SendAgain, Action::Abandon, Action::Reopen, Action::Complete, Action::Fail];

/// The expected result of each pair:
/// - the next status;
/// - `same` if the step was applied before, so that nothing changes;
/// - `no` if the step is an error.
const TABLE: [(RefundStatus, [&str; 6]); 5] = [
    //                           send        send again    abandon      reopen     complete     fail
    (RefundStatus::Pending, ["processing", "no", "abandoned", "no", "completed", "failed"]),
    (RefundStatus::Abandoned, ["no", "no", "same", "pending", "no", "no"]),
    (RefundStatus::Processing, ["same", "processing", "no", "no", "completed", "failed"]),
    (RefundStatus::Completed, ["no", "no", "no", "no", "same", "no"]),
    (RefundStatus::Failed, ["no", "no", "no", "no", "no", "same"]),
];

fn start() -> Timestamp {
    "2026-01-02T03:04:05Z".parse().unwrap()
}

fn later() -> Timestamp {
    start() + 1.minute()
}

fn acquirer() -> AcquirerName {
    AcquirerName::parse("main").unwrap()
}

fn money(centavos: i64) -> Money {
    Money::from_centavos(centavos)
}

fn returned() -> ReturnId {
    ReturnId::parse("D1234567820260102030400000000001").unwrap()
}

/// Returns a paid charge of R$ 10.00. Refunds of `in_flight` centavos are open, and refunds of `done` centavos are
/// completed.
fn charge(in_flight: i64, done: i64) -> Charge {
    let terms = ChargeTerms {
        amount: money(1_000),
        fee: money(60),
        description: None,
        payer_name: None,
        payer_document: None,
        expires_in_s: 3_600,
        external_id: None,
        postback: None,
        split: Split::NONE,
        origin: Origin::Api,
    };
    let issued = Issued { acquirer: acquirer(), copy_paste: "000201".into(), expires_at: later() };
    let end_to_end_id = EndToEndId::parse("E1234567820260102030400000000001").unwrap();
    let settlement = Settlement { paid_at: start(), end_to_end_id, parts: Vec::new() };
    let (id, account) = (ChargeId::new(Uuid::nil()), AccountId::new(Uuid::nil()));
    let refunds = RefundTotals { in_flight: money(in_flight), done: money(done) };
    let state = ChargeState::Paid(issued, settlement);
    Charge { state, refunds, ..Charge::open(id, account, terms, acquirer(), start()) }
}

/// Returns a payment of the charge. Payment number 1 settled the charge; other payments did not.
fn payment(number: u8, centavos: i64) -> CreditedPayment {
    let end_to_end_id = EndToEndId::parse(&format!("E12345678202601020304000000000{number:02}")).unwrap();
    let payment = Payment { end_to_end_id, amount: money(centavos), paid_at: start(), acquirer: acquirer() };
    let (account, charge) = (AccountId::new(Uuid::nil()), ChargeId::new(Uuid::nil()));
    let role = if number == 1 { PaymentRole::Settles } else { PaymentRole::Extra };
    CreditedPayment { payment, account, charge, role, credited_at: start(), refunded_beyond: Money::ZERO }
}

fn of<'a>(payment: &'a CreditedPayment, infractions: &'a [Infraction]) -> Refundable<'a> {
    Refundable { payment, infractions }
}

fn new_refund(amount: Option<i64>) -> NewRefund {
    NewRefund { id: RefundId::new(Uuid::nil()), amount: amount.map(money), reason: None, external_id: None }
}

fn opened(charge: Charge, amount: Option<i64>) -> RefundChange {
    match Refund::open(charge, new_refund(amount), acquirer(), later()) {
        Ok(RefundStep::Taken(change)) => *change,
        other => panic!("{other:?}"),
    }
}

fn refund(status: RefundStatus) -> Refund {
    let (return_id, at) = (Some(returned()), start());
    let state = match status {
        RefundStatus::Pending => RefundState::Pending,
        RefundStatus::Abandoned => RefundState::Abandoned { at },
        RefundStatus::Processing => RefundState::Processing { recorded_at: at, return_id },
        RefundStatus::Completed => RefundState::Completed { return_id, at },
        RefundStatus::Failed => RefundState::Failed { return_id, reason: "no".into(), at },
    };
    Refund { state, ..opened(charge(0, 0), Some(400)).refund }
}

/// Returns the charge in the state that fits a refund of R$ 4.00 with this status.
fn its_charge(status: RefundStatus) -> Charge {
    match status {
        RefundStatus::Pending | RefundStatus::Processing => charge(400, 0),
        RefundStatus::Abandoned | RefundStatus::Failed => charge(0, 0),
        RefundStatus::Completed => charge(0, 400),
    }
}

fn apply(status: RefundStatus, action: Action) -> Result<RefundStep, RefundError> {
    let (refund, charge) = (refund(status), its_charge(status));
    match action {
        Action::Send => refund.send(Some(returned()), later()),
        Action::SendAgain => refund.send_again(later()),
        Action::Abandon => refund.abandon(charge, later()),
        Action::Reopen => refund.reopen(charge, of(&payment(1, 1_000), &[]), later()),
        Action::Complete => refund.complete(charge, Some(returned()), later()),
        Action::Fail => refund.fail(charge, "conta encerrada".into(), later()),
    }
}

#[test]
fn every_state_and_action_has_the_expected_result() {
    assert_eq!(TABLE.map(|(status, _)| status), RefundStatus::ALL);
    for (status, row) in TABLE {
        for (action, expected) in ACTIONS.into_iter().zip(row) {
            let got = match apply(status, action) {
                Ok(RefundStep::Taken(change)) => change.refund.state.status().as_str(),
                Ok(RefundStep::AlreadyTaken(same)) => {
                    assert_eq!(*same, refund(status), "a repeat changes nothing");
                    "same"
                }
                Err(RefundError::InvalidState(named)) => {
                    assert_eq!(named, status, "the error names the state");
                    "no"
                }
                Err(other) => panic!("{status:?} {action:?}: {other}"),
            };
            assert_eq!(got, expected, "{status:?} {action:?}");
        }
    }
}

fn totals(change: &RefundChange) -> Option<(i64, i64)> {
    change.charge.as_ref().map(|charge| (charge.refunds.in_flight.centavos(), charge.refunds.done.centavos()))
}

#[test]
fn each_step_has_the_expected_effects() {
    // `after` is the sum of the charge's refunds in flight and the sum of its completed refunds, in centavos. `None`
    // means that the charge is unchanged.
    for (status, action, moves, after, published) in [
        (RefundStatus::Pending, Action::Send, None, None, None),
        (RefundStatus::Processing, Action::SendAgain, None, None, None),
        (RefundStatus::Pending, Action::Abandon, Some("in_transit > available refund_failed"), Some((0, 0)), None),
        (RefundStatus::Abandoned, Action::Reopen, Some("available > in_transit refund"), Some((400, 0)), None),
        (
            RefundStatus::Processing,
            Action::Complete,
            Some("in_transit > 00 refund"),
            Some((0, 400)),
            Some(EventType::RefundCompleted),
        ),
        (
            RefundStatus::Processing,
            Action::Fail,
            Some("in_transit > available refund_failed"),
            Some((0, 0)),
            Some(EventType::RefundFailed),
        ),
    ] {
        let Ok(RefundStep::Taken(change)) = apply(status, action) else { panic!("{status:?} {action:?}") };
        let moved: Vec<String> = change
            .transfers
            .iter()
            .map(|one| format!("{} > {} {}", one.from.bucket(), one.to.bucket(), one.kind.as_str()))
            .collect();
        assert_eq!(moved.first().map(String::as_str), moves, "{status:?} {action:?}");
        assert!(
            change
                .transfers
                .iter()
                .all(|one| one.amount == money(400) && one.overdraft == crate::ledger::Overdraft::Forbidden)
        );
        assert_eq!(totals(&change), after, "{status:?} {action:?}");
        assert_eq!((change.event, change.charge_event), (published, None), "{status:?} {action:?}");
    }
}

#[test]
fn last_partial_refund_makes_the_charge_refunded() {
    let last = opened(charge(0, 600), None);
    assert_eq!((last.refund.amount, totals(&last)), (money(400), Some((400, 600))), "`None` means the rest");
    let Ok(RefundStep::Taken(change)) = last.refund.complete(last.charge.unwrap(), None, later()) else { panic!() };
    assert_eq!(change.charge_event, Some(EventType::ChargeRefunded));
    let charge = change.charge.unwrap();
    assert_eq!(charge.state.status(), ChargeStatus::Refunded);
    assert_eq!(charge.refundable(), Ok(Money::ZERO));
}

#[test]
fn failed_refund_can_be_requested_again() {
    let first = opened(charge(0, 0), None);
    let Ok(RefundStep::Taken(failed)) = first.refund.fail(first.charge.unwrap(), "no".into(), later()) else {
        panic!()
    };
    assert_eq!(opened(failed.charge.unwrap(), None).refund.amount, money(1_000));
}

#[test]
fn invalid_refund_reports_its_reason() {
    let at = |charge: Charge, amount, at| Refund::open(charge, new_refund(amount), acquirer(), at).unwrap_err();
    let within = start() + SignedDuration::from_hours(90 * 24);
    assert!(Refund::open(charge(0, 0), new_refund(None), acquirer(), within).is_ok(), "the last instant of 90 days");
    assert_eq!(at(charge(0, 0), None, within + 1.microsecond()), RefundError::TooLate);
    for (in_flight, done, amount, rest) in [
        (0, 0, Some(1_001), 1_000),
        (600, 0, Some(401), 400),
        (300, 300, Some(500), 400),
        (400, 600, None, 0),
        (0, 0, Some(0), 1_000),
    ] {
        let error = at(charge(in_flight, done), amount, later());
        assert_eq!(error, RefundError::ExceedsAmount { rest: money(rest) }, "{in_flight} {done} {amount:?}");
    }
    let disputed = Charge { open_infractions: 1, ..charge(0, 0) };
    assert_eq!(at(disputed, None, later()), RefundError::InfractionOpen);
    let ChargeState::Paid(issued, _) = charge(0, 0).state else { panic!() };
    let pending = Charge { state: ChargeState::Pending(issued), ..charge(0, 0) };
    assert_eq!(at(pending, None, later()), RefundError::NotPaid(ChargeStatus::Pending));
}

#[test]
fn abandoned_refund_reopens_only_within_the_rest() {
    let abandoned = refund(RefundStatus::Abandoned);
    let paid = payment(1, 1_000);
    assert_eq!(
        abandoned.reopen(charge(700, 0), of(&paid, &[]), later()),
        Err(RefundError::ExceedsAmount { rest: money(300) })
    );
}

/// Opens a refund of a payment with this number and this amount. `beyond` is the sum of earlier refunds of the payment
/// that do not count as refunds of the charge. Returns the amount of the new refund, and its part that counts as a
/// refund of the charge. All amounts are in centavos.
fn of_payment(
    charge: Charge,
    (number, centavos, beyond): (u8, i64, i64),
    amount: Option<i64>,
) -> Result<(i64, i64), RefundError> {
    let paid = CreditedPayment { refunded_beyond: money(beyond), ..payment(number, centavos) };
    match Refund::open_of_payment(charge, new_refund(amount), of(&paid, &[]), later())? {
        RefundStep::Taken(change) => {
            assert_eq!(change.refund.end_to_end_id, paid.payment.end_to_end_id);
            let held: Vec<_> = change.transfers.iter().map(|one| one.amount).collect();
            assert_eq!(held, [change.refund.amount]);
            Ok((change.refund.amount.centavos(), change.refund.of_charge.centavos()))
        }
        other @ RefundStep::AlreadyTaken(_) => panic!("{other:?}"),
    }
}

#[test]
fn payment_refund_takes_excess_first_within_the_payment() {
    // `paid` is the payment: its number, its amount, and the sum of earlier refunds that do not count as refunds of the
    // charge. `refunds` is the sum of the charge's refunds in flight and the sum of its completed refunds. `amount` is
    // the requested amount. `expected` is the refunded amount and its part of the charge, or the amount that can still
    // be refunded.
    for (name, paid, refunds, amount, expected) in [
        ("a second payment whole", (2, 700, 0), (0, 0), None, Ok((700, 0))),
        ("a second payment in part", (2, 700, 0), (0, 0), Some(200), Ok((200, 0))),
        ("the rest of a second payment", (2, 700, 200), (0, 0), None, Ok((500, 0))),
        ("a second payment when the charge went back", (2, 700, 0), (0, 1_000), None, Ok((700, 0))),
        ("more than a second payment", (2, 700, 200), (0, 0), Some(501), Err(500)),
        ("the excess", (1, 1_500, 0), (0, 0), Some(500), Ok((500, 0))),
        ("the excess and a part of the charge", (1, 1_500, 0), (0, 0), Some(600), Ok((600, 100))),
        ("all of an overpayment", (1, 1_500, 0), (0, 0), None, Ok((1_500, 1_000))),
        ("the charge after the excess", (1, 1_500, 500), (0, 0), None, Ok((1_000, 1_000))),
        ("the excess after the charge", (1, 1_500, 0), (600, 400), None, Ok((500, 0))),
        ("more than is left of an overpayment", (1, 1_500, 200), (300, 0), Some(1_001), Err(1_000)),
        ("nothing left", (1, 1_500, 500), (0, 1_000), None, Err(0)),
        ("an amount of zero", (2, 700, 0), (0, 0), Some(0), Err(700)),
    ] {
        let got = of_payment(charge(refunds.0, refunds.1), paid, amount);
        let expected = expected.map_err(|rest| RefundError::ExceedsAmount { rest: money(rest) });
        assert_eq!(got, expected, "{name}");
    }
}

#[test]
fn payment_of_unpaid_charge_is_refunded_in_every_status() {
    let ChargeState::Paid(issued, settlement) = charge(0, 0).state else { panic!() };
    let acquirer = acquirer();
    for state in [
        ChargeState::Abandoned { acquirer, at: start() },
        ChargeState::Pending(issued.clone()),
        ChargeState::Expired { issued: issued.clone(), at: start() },
        ChargeState::Cancelled { issued: issued.clone(), at: start() },
        ChargeState::Refunded { issued, settlement, at: start() },
    ] {
        let status = state.status();
        let charge = Charge { state, ..charge(0, 0) };
        let paid = payment(2, 700);
        let opened = Refund::open_of_payment(charge, new_refund(None), of(&paid, &[]), later()).unwrap();
        let RefundStep::Taken(opened) = opened else { panic!("{status:?}") };
        assert_eq!(totals(&opened), Some((0, 0)), "{status:?}");
        let completed = opened.refund.complete(opened.charge.unwrap(), None, later()).unwrap();
        let RefundStep::Taken(completed) = completed else { panic!("{status:?}") };
        let after = completed.charge.as_ref().map(|charge| charge.state.status());
        assert_eq!((totals(&completed), after, completed.charge_event), (Some((0, 0)), Some(status), None));
    }
}

#[test]
fn payment_refund_is_refused_late_or_while_disputed() {
    let paid = payment(2, 700);
    let disputed = Charge { open_infractions: 1, ..charge(0, 0) };
    let refused = Refund::open_of_payment(disputed, new_refund(None), of(&paid, &[]), later());
    assert_eq!(refused, Err(RefundError::InfractionOpen));
    let too_late = start() + SignedDuration::from_hours(90 * 24) + 1.microsecond();
    let refused = Refund::open_of_payment(charge(0, 0), new_refund(None), of(&paid, &[]), too_late);
    assert_eq!(refused, Err(RefundError::TooLate));
}
