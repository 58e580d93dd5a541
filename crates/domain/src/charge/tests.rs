//! Tests every pair of state and action of a charge with one table.
#![expect(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects, reason = "a test fails by panicking")]

use jiff::{Timestamp, ToSpan as _};
use uuid::Uuid;

use super::*;
use crate::end_to_end_id::EndToEndId;
use crate::event::EventType;
use crate::ledger::{EntryKind, Transfer};
use crate::payment::{Payment, PaymentRole, UnexpectedReason};
use crate::split::Split;

#[derive(Debug, Clone, Copy)]
enum Action {
    Issue,
    AssignAcquirer,
    Abandon,
    Expire,
    Cancel,
    Refund,
}

/// The expected result of each pair: the next status, `same` for a repeat, `no` for an error.
const TABLE: [(ChargeStatus, [&str; 6]); 7] = [
    //                        issue      assign      abandon      expire     cancel       refund
    (ChargeStatus::Creating, ["pending", "creating", "abandoned", "no", "no", "no"]),
    (ChargeStatus::Abandoned, ["no", "creating", "same", "no", "no", "no"]),
    (ChargeStatus::Pending, ["same", "no", "no", "expired", "cancelled", "no"]),
    (ChargeStatus::Paid, ["no", "no", "no", "no", "no", "refunded"]),
    (ChargeStatus::Expired, ["no", "no", "no", "same", "no", "no"]),
    (ChargeStatus::Cancelled, ["no", "no", "no", "no", "same", "no"]),
    (ChargeStatus::Refunded, ["no", "no", "no", "no", "no", "same"]),
];

const ACTIONS: [Action; 6] =
    [Action::Issue, Action::AssignAcquirer, Action::Abandon, Action::Expire, Action::Cancel, Action::Refund];

fn start() -> Timestamp {
    "2026-01-02T03:04:05Z".parse().unwrap()
}

fn end() -> Timestamp {
    start() + 1.hour()
}

fn main_acquirer() -> AcquirerName {
    AcquirerName::parse("main").unwrap()
}

fn issued() -> Issued {
    Issued { acquirer: main_acquirer(), copy_paste: "000201".into(), expires_at: end() }
}

fn payment(centavos: i64) -> Payment {
    Payment {
        end_to_end_id: EndToEndId::parse("E1234567820260102030400000000001").unwrap(),
        amount: Money::from_centavos(centavos),
        paid_at: start(),
        acquirer: main_acquirer(),
    }
}

fn charge(status: ChargeStatus) -> Charge {
    let settlement = Settlement { paid_at: start(), end_to_end_id: payment(1).end_to_end_id, parts: Vec::new() };
    let state = match status {
        ChargeStatus::Creating => ChargeState::Creating { acquirer: main_acquirer() },
        ChargeStatus::Abandoned => ChargeState::Abandoned { acquirer: main_acquirer(), at: start() },
        ChargeStatus::Pending => ChargeState::Pending(issued()),
        ChargeStatus::Paid => ChargeState::Paid(issued(), settlement),
        ChargeStatus::Expired => ChargeState::Expired { issued: issued(), at: end() },
        ChargeStatus::Cancelled => ChargeState::Cancelled { issued: issued(), at: start() },
        ChargeStatus::Refunded => ChargeState::Refunded { issued: issued(), settlement, at: end() },
    };
    let terms = ChargeTerms {
        amount: Money::from_centavos(1_000),
        fee: Money::from_centavos(60),
        description: None,
        payer_name: None,
        payer_document: None,
        expires_in_s: 3_600,
        external_id: None,
        postback: None,
        split: Split::NONE,
        origin: Origin::Api,
    };
    let (id, account) = (ChargeId::new(Uuid::nil()), AccountId::new(Uuid::nil()));
    Charge { state, ..Charge::open(id, account, terms, main_acquirer(), start()) }
}

fn apply(charge: Charge, action: Action) -> Result<Step, ChargeError> {
    match action {
        Action::Issue => charge.issue(issued()),
        Action::AssignAcquirer => charge.assign_acquirer(AcquirerName::parse("second").unwrap()),
        Action::Abandon => charge.abandon(start()),
        Action::Expire => charge.expire(end(), end()),
        Action::Cancel => charge.cancel(start()),
        Action::Refund => charge.refund(end()),
    }
}

#[test]
fn every_state_and_action_has_the_expected_result() {
    assert_eq!(
        TABLE.map(|(status, _)| status),
        [
            ChargeStatus::Creating,
            ChargeStatus::Abandoned,
            ChargeStatus::Pending,
            ChargeStatus::Paid,
            ChargeStatus::Expired,
            ChargeStatus::Cancelled,
            ChargeStatus::Refunded,
        ]
    );
    for (status, row) in TABLE {
        for (action, expected) in ACTIONS.into_iter().zip(row) {
            let got = match apply(charge(status), action) {
                Ok(Step::Taken { charge, .. }) => charge.state.status().as_str(),
                Ok(Step::AlreadyTaken(same)) => {
                    assert_eq!(same, charge(status), "a repeat changes nothing");
                    "same"
                }
                Err(ChargeError::InvalidState(named)) => {
                    assert_eq!(named, status, "the error names the state");
                    "no"
                }
                Err(other) => panic!("{status:?} {action:?}: {other}"),
            };
            assert_eq!(got, expected, "{status:?} {action:?}");
        }
    }
}

#[test]
fn events_are_published_only_for_visible_states() {
    let event = |status, action| match apply(charge(status), action) {
        Ok(Step::Taken { event, .. }) => event,
        other => panic!("{other:?}"),
    };
    assert_eq!(event(ChargeStatus::Creating, Action::Issue), None);
    assert_eq!(event(ChargeStatus::Creating, Action::Abandon), None);
    assert_eq!(event(ChargeStatus::Pending, Action::Expire), Some(EventType::ChargeExpired));
    assert_eq!(event(ChargeStatus::Pending, Action::Cancel), Some(EventType::ChargeCancelled));
    assert_eq!(event(ChargeStatus::Paid, Action::Refund), Some(EventType::ChargeRefunded));
}

#[test]
fn charge_before_its_end_does_not_expire() {
    let early = end() - 1.microsecond();
    assert_eq!(charge(ChargeStatus::Pending).expire(end(), early), Err(ChargeError::NotYetExpired(end())));
}

#[test]
fn acquirer_may_shorten_but_not_extend_expiry() {
    let (earlier, later) = (end() - 1.minute(), end() + 1.minute());
    match charge(ChargeStatus::Pending).expire(earlier, earlier) {
        Ok(Step::Taken { charge, .. }) => {
            assert_eq!(charge.state.issued().map(|issued| issued.expires_at), Some(earlier));
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(charge(ChargeStatus::Pending).expire(later, end()), Ok(Step::Taken { .. })));
}

#[test]
fn second_issue_with_another_code_is_an_error() {
    let other = Issued { copy_paste: "000202".into(), ..issued() };
    assert!(charge(ChargeStatus::Pending).issue(other).is_err());
}

fn kinds(transfers: &[Transfer]) -> Vec<(EntryKind, i64)> {
    transfers.iter().map(|transfer| (transfer.kind, transfer.amount.centavos())).collect()
}

#[test]
fn every_state_and_payment_has_the_expected_result() {
    use EntryKind::{Charge as Paid, ExtraPayment as Extra, Fee};
    for status in ChargeStatus::ALL {
        let payable = matches!(status, ChargeStatus::Pending | ChargeStatus::Expired | ChargeStatus::Cancelled);
        for (centavos, role, moved) in [
            (999, PaymentRole::Short, vec![(Extra, 999)]),
            (1_000, PaymentRole::Settles, vec![(Paid, 940), (Fee, 60)]),
            (1_001, PaymentRole::Settles, vec![(Paid, 940), (Fee, 60), (Extra, 1)]),
        ] {
            let credit = charge(status).credit(payment(centavos), 0, end()).unwrap();
            let (role, moved) = if payable { (role, moved) } else { (PaymentRole::Extra, vec![(Extra, centavos)]) };
            assert_eq!(credit.payment.role, role, "{status:?} {centavos}");
            assert_eq!(kinds(&credit.transfers), moved, "{status:?} {centavos}");
            let settles = role == PaymentRole::Settles;
            let unexpected = credit.unexpected.map(|extra| (extra.reason, extra.amount.centavos()));
            let expected = match (status, role) {
                (_, PaymentRole::Settles) => {
                    (centavos > 1_000).then_some((UnexpectedReason::Overpaid, centavos - 1_000))
                }
                (_, PaymentRole::Short) => Some((UnexpectedReason::Underpaid, centavos)),
                (ChargeStatus::Creating | ChargeStatus::Abandoned, PaymentRole::Extra) => {
                    Some((UnexpectedReason::Late, centavos))
                }
                (_, PaymentRole::Extra) => Some((UnexpectedReason::Duplicate, centavos)),
            };
            assert_eq!(unexpected, expected, "{status:?} {centavos}");
            assert_eq!(credit.event, settles.then_some(EventType::ChargePaid));
            assert_eq!(credit.charge.map(|paid| paid.state.status()), settles.then_some(ChargeStatus::Paid));
        }
    }
}

#[test]
fn charge_without_fee_moves_no_fee() {
    let mut free = charge(ChargeStatus::Pending);
    free.terms.fee = Money::ZERO;
    assert_eq!(kinds(&free.credit(payment(1_000), 0, end()).unwrap().transfers), [(EntryKind::Charge, 1_000)]);
}

#[test]
fn fee_above_amount_is_an_error() {
    let mut overcharged = charge(ChargeStatus::Pending);
    overcharged.terms.fee = Money::from_centavos(1_001);
    assert_eq!(overcharged.credit(payment(1_000), 0, end()), Err(ChargeError::Unbalanced));
}
