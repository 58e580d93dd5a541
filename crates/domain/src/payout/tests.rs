//! Tests every pair of state and action of a payout with one table, including the transfers of each step.
#![expect(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects, reason = "a test fails by panicking")]

use jiff::{Timestamp, ToSpan as _};
use uuid::Uuid;

use super::*;
use crate::acquirer_name::AcquirerName;
use crate::end_to_end_id::EndToEndId;
use crate::event::EventType;
use crate::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, Transfer};
use crate::money::Money;

#[derive(Debug, Clone, Copy)]
enum Action {
    Send,
    SendAgain,
    Abandon,
    Reopen,
    Complete,
    Fail,
    ReturnAll,
    ReturnPart,
}

const ACTIONS: [Action; 8] = [
    Action::Send,
    Action::SendAgain,
    Action::Abandon,
    Action::Reopen,
    Action::Complete,
    Action::Fail,
    Action::ReturnAll,
    Action::ReturnPart,
];

/// The expected result of each pair: the next status, `same` for a repeat, `no` for an error, `much` if more is
/// returned than was sent.
const TABLE: [(PayoutStatus, [&str; 8]); 6] = [
    //                           send        send again    abandon      reopen     complete     fail      all back    part back
    (PayoutStatus::Pending, ["processing", "no", "abandoned", "no", "completed", "failed", "no", "no"]),
    (PayoutStatus::Abandoned, ["no", "no", "same", "pending", "no", "no", "no", "no"]),
    (PayoutStatus::Processing, ["same", "processing", "no", "no", "completed", "failed", "no", "no"]),
    (PayoutStatus::Completed, ["no", "no", "no", "no", "same", "no", "reversed", "completed"]),
    (PayoutStatus::Failed, ["no", "no", "no", "no", "no", "same", "no", "no"]),
    (PayoutStatus::Reversed, ["no", "no", "no", "no", "same", "no", "much", "much"]),
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

fn pix() -> EndToEndId {
    EndToEndId::parse("E1234567820260102030400000000001").unwrap()
}

fn payout(status: PayoutStatus) -> Payout {
    let terms = PayoutTerms {
        amount: Money::from_centavos(1_000),
        fee: Money::from_centavos(60),
        pix_key: PixKey::parse("ana@example.com").unwrap(),
        recipient_document: None,
        description: None,
        external_id: None,
        origin: Origin::Api,
    };
    let sent = Sent { acquirer: acquirer(), recorded_at: start(), end_to_end_id: Some(pix()) };
    let state = match status {
        PayoutStatus::Pending => PayoutState::Pending { acquirer: acquirer() },
        PayoutStatus::Abandoned => PayoutState::Abandoned { acquirer: acquirer(), at: start() },
        PayoutStatus::Processing => PayoutState::Processing(sent),
        PayoutStatus::Completed => PayoutState::Completed { sent, at: start() },
        PayoutStatus::Failed => PayoutState::Failed { sent, reason: "no".into(), at: start() },
        PayoutStatus::Reversed => PayoutState::Reversed { sent, completed_at: start(), at: start() },
    };
    let returned = if status == PayoutStatus::Reversed { terms.amount } else { Money::ZERO };
    let (id, account) = (PayoutId::new(Uuid::nil()), AccountId::new(Uuid::nil()));
    Payout { returned, state, ..Payout::open(id, account, terms, acquirer(), start()) }
}

fn apply(payout: Payout, action: Action) -> Result<PayoutStep, PayoutError> {
    match action {
        Action::Send => payout.send(Some(pix()), Recipient::default(), later()),
        Action::SendAgain => payout.send_again(later()),
        Action::Abandon => payout.abandon(later()),
        Action::Reopen => payout.reopen(AcquirerName::parse("second").unwrap()),
        Action::Complete => payout.complete(pix(), Recipient::default(), later()),
        Action::Fail => payout.fail("chave inexistente".into(), later()),
        Action::ReturnAll => payout.credit_return(Money::from_centavos(1_000), later()),
        Action::ReturnPart => payout.credit_return(Money::from_centavos(999), later()),
    }
}

fn taken(payout: Payout, action: Action) -> (Payout, Vec<Transfer>, Option<EventType>) {
    match apply(payout, action) {
        Ok(PayoutStep::Taken { payout, transfers, event }) => (payout, transfers, event),
        other => panic!("{action:?}: {other:?}"),
    }
}

#[test]
fn every_state_and_action_has_the_expected_result() {
    assert_eq!(TABLE.map(|(status, _)| status), PayoutStatus::ALL);
    for (status, row) in TABLE {
        for (action, expected) in ACTIONS.into_iter().zip(row) {
            let got = match apply(payout(status), action) {
                Ok(PayoutStep::Taken { payout, .. }) => payout.state.status().as_str(),
                Ok(PayoutStep::AlreadyTaken(same)) => {
                    assert_eq!(same, payout(status), "a repeat changes nothing");
                    "same"
                }
                Err(PayoutError::InvalidState(named)) => {
                    assert_eq!(named, status, "the error names the state");
                    "no"
                }
                Err(PayoutError::ReturnedTooMuch) => "much",
                Err(other) => panic!("{status:?} {action:?}: {other}"),
            };
            assert_eq!(got, expected, "{status:?} {action:?}");
        }
    }
}

/// Formats transfers as `from > to kind amount`. A `!` marks transfers whose amount the balance must cover.
fn movements(transfers: &[Transfer]) -> Vec<String> {
    let place = |account: &LedgerAccount| match account {
        LedgerAccount::Merchant(_, bucket) => bucket.as_str().to_owned(),
        LedgerAccount::System(..) => account.holder(),
    };
    let line = |transfer: &Transfer| {
        let cover = if transfer.overdraft == Overdraft::Forbidden { "!" } else { "" };
        let (from, to) = (place(&transfer.from), place(&transfer.to));
        format!("{from}{cover} > {to} {} {}", transfer.kind.as_str(), transfer.amount)
    };
    transfers.iter().map(line).collect()
}

#[test]
fn each_step_moves_the_expected_money() {
    let held = ["available! > in_transit payout 10.00", "available! > in_transit fee 0.60"];
    let back = ["in_transit! > available payout_failed 10.00", "in_transit! > available fee 0.60"];
    let done = ["in_transit! > settlement:main payout 10.00", "in_transit! > fees fee 0.60"];
    assert_eq!(movements(&payout(PayoutStatus::Pending).hold()), held);
    for (status, action, expected, published) in [
        (PayoutStatus::Pending, Action::Send, &[][..], None),
        (PayoutStatus::Pending, Action::Abandon, &back, None),
        (PayoutStatus::Abandoned, Action::Reopen, &held, None),
        (PayoutStatus::Pending, Action::Complete, &done, Some(EventType::PayoutCompleted)),
        (PayoutStatus::Processing, Action::Complete, &done, Some(EventType::PayoutCompleted)),
        (PayoutStatus::Pending, Action::Fail, &back, Some(EventType::PayoutFailed)),
        (PayoutStatus::Processing, Action::Fail, &back, Some(EventType::PayoutFailed)),
        (
            PayoutStatus::Completed,
            Action::ReturnAll,
            &["settlement:main > available payout_reversed 10.00"],
            Some(EventType::PayoutReversed),
        ),
        (PayoutStatus::Completed, Action::ReturnPart, &["settlement:main > available payout_reversed 9.99"], None),
    ] {
        let (_, transfers, event) = taken(payout(status), action);
        assert_eq!(movements(&transfers), expected, "{status:?} {action:?}");
        assert_eq!(event, published, "{status:?} {action:?}");
    }
}

#[test]
fn payout_without_fee_moves_no_fee() {
    let mut free = payout(PayoutStatus::Pending);
    free.terms.fee = Money::ZERO;
    assert_eq!(movements(&free.hold()), ["available! > in_transit payout 10.00"]);
}

#[test]
fn full_return_reverses_payout_and_excess_is_an_error() {
    let (partly, ..) = taken(payout(PayoutStatus::Completed), Action::ReturnPart);
    assert_eq!(partly.credit_return(Money::from_centavos(2), later()), Err(PayoutError::ReturnedTooMuch));
    let (partly, ..) = taken(payout(PayoutStatus::Completed), Action::ReturnPart);
    assert_eq!(partly.clone().credit_return(Money::ZERO, later()), Err(PayoutError::ReturnedTooMuch));
    match partly.credit_return(Money::from_centavos(1), later()) {
        Ok(PayoutStep::Taken { payout, .. }) => {
            assert_eq!(payout.state.status(), PayoutStatus::Reversed);
            assert_eq!(payout.state.completed_at(), Some(start()));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn data_from_acquirer_is_kept() {
    let named = Recipient { name: Some("Ana".into()), document: Some("***.456.789-**".into()) };
    let (sent, ..) = match payout(PayoutStatus::Pending).send(None, named.clone(), start()).unwrap() {
        PayoutStep::Taken { payout, transfers, event } => (payout, transfers, event),
        PayoutStep::AlreadyTaken(_) => panic!("the payout was pending"),
    };
    let later_named = sent.send(Some(pix()), Recipient::default(), later()).unwrap();
    let PayoutStep::Taken { payout, .. } = later_named else { panic!("the Pix was not named before") };
    assert_eq!((payout.recipient.clone(), payout.state.end_to_end_id()), (named, Some(&pix())));
    assert_eq!(
        payout.state.sent().map(|sent| sent.recorded_at),
        Some(start()),
        "a look-up leaves the time of the record unchanged"
    );
}

#[test]
fn pause_grows_while_outcome_is_unknown() {
    let mut open = payout(PayoutStatus::Pending);
    let pauses = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300];
    let (sent, ..) = taken(open, Action::Send);
    open = sent;
    for seconds in pauses {
        assert_eq!(open.due_at.map(|due| due.duration_since(later()).as_secs()), Some(seconds));
        open = open.schedule_next_poll(later());
    }
    for (status, action) in [(PayoutStatus::Processing, Action::Complete), (PayoutStatus::Processing, Action::Fail)] {
        let waiting = Payout { due_at: Some(later()), ..payout(status) };
        assert_eq!(taken(waiting, action).0.due_at, None);
    }
}

#[test]
fn instruction_id_depends_only_on_payout_id() {
    let payout = payout(PayoutStatus::Pending);
    assert_eq!(payout.instruction_id().as_str(), payout.id.suffix());
    assert_eq!(payout.instruction_id().payout(), Some(payout.id));
    assert!(
        !payout.is_visible() && LedgerAccount::Merchant(payout.account, Bucket::InTransit).bucket() == "in_transit"
    );
    assert_eq!(EntryKind::parse("payout_reversed"), Some(EntryKind::PayoutReversed));
}
