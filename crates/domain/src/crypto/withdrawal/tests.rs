//! Tests every pair of state and action of a withdrawal with one table, including the transfers of each step.
#![expect(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects, reason = "a test fails by panicking")]

use jiff::{Timestamp, ToSpan as _};
use uuid::Uuid;

use super::*;
use crate::crypto::{Currency, ProcessorId};
use crate::event::EventType;
use crate::ledger::{EntryKind, LedgerAccount, Overdraft, Transfer};

#[derive(Debug, Clone, Copy)]
enum Action {
    Send,
    /// Calls `send` with the processor's id of the batch.
    SendWithBatch,
    Review,
    Abandon,
    Reopen,
    Complete,
    Fail,
}

const ACTIONS: [Action; 7] = [
    Action::Send,
    Action::SendWithBatch,
    Action::Review,
    Action::Abandon,
    Action::Reopen,
    Action::Complete,
    Action::Fail,
];

/// The states from which the table starts. `Review` is a withdrawal in processing that waits for an operator. No
/// withdrawal of the table starts with the id of a batch.
#[derive(Debug, Clone, Copy)]
enum Start {
    Pending,
    Abandoned,
    Processing,
    Review,
    Completed,
    Failed,
}

/// The expected result of each pair:
/// - the next status, with a `!` if the withdrawal waits for an operator's decision;
/// - `same` if the step was applied before, so that nothing changes;
/// - `no` if the step is an error.
const TABLE: [(Start, [&str; 7]); 6] = [
    //                   send          send named     review         abandon      reopen     complete     fail
    (Start::Pending, ["processing", "processing", "processing!", "abandoned", "no", "completed", "failed"]),
    (Start::Abandoned, ["no", "no", "no", "same", "pending", "no", "no"]),
    (Start::Processing, ["same", "processing", "processing!", "no", "no", "completed", "failed"]),
    (Start::Review, ["same", "processing!", "same", "no", "no", "completed", "failed"]),
    (Start::Completed, ["no", "no", "no", "no", "no", "same", "no"]),
    (Start::Failed, ["no", "no", "no", "no", "no", "no", "same"]),
];

fn start() -> Timestamp {
    "2026-01-02T03:04:05Z".parse().unwrap()
}

fn later() -> Timestamp {
    start() + 1.minute()
}

fn price(coins: &str) -> WithdrawalPrice {
    WithdrawalPrice {
        quote: CryptoQuoteId::new(Uuid::nil()),
        rate: Rate::parse("5").unwrap(),
        fee: Money::from_centavos(60),
        coins: CryptoAmount::parse(Currency::UsdtBsc, coins).unwrap(),
    }
}

fn withdrawal(from: Start) -> Withdrawal {
    let address = Address::parse(Currency::UsdtBsc, "0xdAC17F958D2ee523a2206206994597C13D831ec7").unwrap();
    let terms = WithdrawalTerms {
        amount: Money::from_centavos(10_000),
        address,
        description: None,
        external_id: None,
        origin: Origin::Api,
    };
    let sent = || WithdrawalSent { recorded_at: start(), batch: None };
    let state = match from {
        Start::Pending => WithdrawalState::Pending,
        Start::Abandoned => WithdrawalState::Abandoned { at: start() },
        Start::Processing => WithdrawalState::Processing { sent: sent(), review_since: None },
        Start::Review => WithdrawalState::Processing { sent: sent(), review_since: Some(start()) },
        Start::Completed => WithdrawalState::Completed { sent: sent(), at: start() },
        Start::Failed => WithdrawalState::Failed { sent: sent(), reason: "no".into(), at: start() },
    };
    let ids = (CryptoWithdrawalId::new(Uuid::nil()), AccountId::new(Uuid::nil()));
    let processor = AcquirerName::parse("now").unwrap();
    Withdrawal { state, ..Withdrawal::open(ids, terms, price("20"), processor, start()) }
}

fn apply(withdrawal: Withdrawal, action: Action) -> Result<WithdrawalStep, WithdrawalError> {
    match action {
        Action::Send => withdrawal.send(None, later()),
        Action::SendWithBatch => withdrawal.send(Some(ProcessorId::parse("5000000713").unwrap()), later()),
        Action::Review => withdrawal.review(later()),
        Action::Abandon => withdrawal.abandon(later()),
        Action::Reopen => withdrawal.reopen(price("19")),
        Action::Complete => withdrawal.complete(Some("0xabc".into()), None, later()),
        Action::Fail => withdrawal.fail("rejected".into(), later()),
    }
}

fn step(from: Start, action: Action) -> (Withdrawal, Vec<Transfer>, Option<EventType>) {
    match apply(withdrawal(from), action) {
        Ok(WithdrawalStep::Taken { withdrawal, transfers, event }) => (*withdrawal, transfers, event),
        other => panic!("{from:?} {action:?}: {other:?}"),
    }
}

#[test]
fn every_state_and_action_has_the_expected_result() {
    let mut statuses = TABLE.map(|(from, _)| withdrawal(from).state.status()).to_vec();
    statuses.dedup();
    assert_eq!(statuses, WithdrawalStatus::ALL);
    for (from, row) in TABLE {
        for (action, expected) in ACTIONS.into_iter().zip(row) {
            let got = match apply(withdrawal(from), action) {
                Ok(WithdrawalStep::Taken { withdrawal, .. }) => {
                    let mark = if withdrawal.state.review_since().is_some() { "!" } else { "" };
                    format!("{}{mark}", withdrawal.state.status().as_str())
                }
                Ok(WithdrawalStep::AlreadyTaken(same)) => {
                    assert_eq!(*same, withdrawal(from), "a repeat changes nothing");
                    "same".to_owned()
                }
                Err(WithdrawalError::InvalidState(named)) => {
                    assert_eq!(named, withdrawal(from).state.status(), "the error names the state");
                    "no".to_owned()
                }
            };
            assert_eq!(got, expected, "{from:?} {action:?}");
        }
    }
}

/// Formats transfers as `from > to kind amount`. A `!` after `from` means that the balance of `from` must cover the
/// amount.
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
    let held = ["available! > in_transit crypto_withdrawal 100.00", "available! > in_transit fee 0.60"];
    let back = ["in_transit! > available crypto_withdrawal_failed 100.00", "in_transit! > available fee 0.60"];
    let done = ["in_transit! > crypto:now crypto_withdrawal 100.00", "in_transit! > fees fee 0.60"];
    assert_eq!(movements(&withdrawal(Start::Pending).hold()), held);
    let completed = Some(EventType::CryptoWithdrawalCompleted);
    let failed = Some(EventType::CryptoWithdrawalFailed);
    for (from, action, money, event) in [
        (Start::Pending, Action::Send, [].as_slice(), None),
        (Start::Processing, Action::SendWithBatch, &[], None),
        (Start::Pending, Action::Review, &[], None),
        (Start::Processing, Action::Review, &[], None),
        (Start::Pending, Action::Abandon, &back, None),
        (Start::Abandoned, Action::Reopen, &held, None),
        (Start::Pending, Action::Complete, &done, completed),
        (Start::Processing, Action::Complete, &done, completed),
        (Start::Review, Action::Complete, &done, completed),
        (Start::Pending, Action::Fail, &back, failed),
        (Start::Processing, Action::Fail, &back, failed),
        (Start::Review, Action::Fail, &back, failed),
    ] {
        let (_, transfers, published) = step(from, action);
        assert_eq!((movements(&transfers).as_slice(), published), (&*strings(money), event), "{from:?} {action:?}");
    }
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

#[test]
fn withdrawal_without_fee_moves_no_fee() {
    let mut free = withdrawal(Start::Pending);
    free.price.fee = Money::ZERO;
    assert_eq!(movements(&free.hold()), ["available! > in_transit crypto_withdrawal 100.00"]);
}

#[test]
fn reopened_withdrawal_has_the_new_price() {
    let (reopened, ..) = step(Start::Abandoned, Action::Reopen);
    assert_eq!((reopened.gross(), reopened.price), (Ok(Money::from_centavos(10_060)), price("19")));
}

#[test]
fn data_from_processor_is_kept() {
    let (named, ..) = step(Start::Processing, Action::SendWithBatch);
    let batch = ProcessorId::parse("5000000713").unwrap();
    assert_eq!(named.state.sent(), Some(&WithdrawalSent { recorded_at: start(), batch: Some(batch.clone()) }));
    let same = named.clone().send(Some(ProcessorId::parse("other").unwrap()), later()).unwrap();
    assert_eq!(same, WithdrawalStep::AlreadyTaken(Box::new(named.clone())), "the first batch stays");
    let Ok(WithdrawalStep::Taken { withdrawal, .. }) = named.complete(Some("0xabc".into()), None, later()) else {
        panic!("the withdrawal was processing")
    };
    assert_eq!((withdrawal.tx_hash.as_deref(), withdrawal.state.completed_at()), (Some("0xabc"), Some(later())));
    assert_eq!(withdrawal.state.sent().and_then(|sent| sent.batch.clone()), Some(batch));
}

#[test]
fn open_withdrawal_stays_due_until_its_outcome() {
    let (mut open, ..) = step(Start::Pending, Action::Send);
    for seconds in [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
        assert_eq!(open.due_at.map(|due| due.duration_since(later()).as_secs()), Some(seconds));
        open = open.schedule_next_poll(later());
    }
    let (reviewed, ..) = step(Start::Pending, Action::Review);
    assert!(reviewed.due_at.is_some(), "a withdrawal in review stays due: the coins may still be sent");
    for action in [Action::Complete, Action::Fail] {
        assert_eq!(step(Start::Processing, action).0.due_at, None);
    }
    assert_eq!(EntryKind::parse("crypto_withdrawal"), Some(EntryKind::CryptoWithdrawal));
}
