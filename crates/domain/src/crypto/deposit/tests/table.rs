//! Tests every action in every state of a deposit with one table. The table includes payments and events.
#![expect(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects, reason = "a test fails by panicking")]

use jiff::{Timestamp, ToSpan as _};
use uuid::Uuid;

use super::super::*;
use crate::crypto::ProcessorId;
use crate::event::EventType;
use crate::rate::Percentage;

#[derive(Debug, Clone, Copy)]
enum Action {
    Issue,
    /// The processor issues another address.
    IssueOther,
    Abandon,
    Reopen,
    StartConfirming,
    Confirm,
    Expire,
    Fail,
    Refund,
    /// The requested coins arrive.
    Receive,
    /// Half of the requested coins arrive.
    ReceiveHalf,
}

const ACTIONS: [Action; 11] = [
    Action::Issue,
    Action::IssueOther,
    Action::Abandon,
    Action::Reopen,
    Action::StartConfirming,
    Action::Confirm,
    Action::Expire,
    Action::Fail,
    Action::Refund,
    Action::Receive,
    Action::ReceiveHalf,
];

/// The expected result of each pair:
/// - a status: the next status, with `*` if an event is published;
/// - `same`: a repeat;
/// - `no`: an error;
/// - `review`: the payment waits for an operator.
///
/// The completed and underpaid deposits of this table have a credited payment. Arriving coins are a second payment.
const TABLE: [(DepositStatus, [&str; 11]); 9] = [
    //                         issue      other  abandon      reopen      start conf.   confirm        expire      fail       refund       receive       half
    (
        DepositStatus::Creating,
        ["pending", "pending", "abandoned", "no", "no", "no", "no", "no", "no", "review", "review"],
    ),
    (DepositStatus::Abandoned, ["no", "no", "same", "creating", "no", "no", "no", "no", "no", "review", "review"]),
    (
        DepositStatus::Pending,
        [
            "same",
            "no",
            "no",
            "no",
            "confirming",
            "confirming*",
            "expired*",
            "failed*",
            "refunded*",
            "completed*",
            "underpaid*",
        ],
    ),
    (
        DepositStatus::Confirming,
        ["same", "no", "no", "no", "same", "confirming*", "no", "failed*", "refunded*", "completed*", "underpaid*"],
    ),
    (
        DepositStatus::Completed,
        ["same", "no", "no", "no", "same", "same", "no", "no", "no", "completed*", "completed*"],
    ),
    (
        DepositStatus::Underpaid,
        ["same", "no", "no", "no", "same", "same", "no", "no", "no", "completed*", "completed*"],
    ),
    (
        DepositStatus::Expired,
        [
            "same",
            "no",
            "no",
            "no",
            "confirming",
            "confirming*",
            "same",
            "failed*",
            "refunded*",
            "completed*",
            "underpaid*",
        ],
    ),
    (
        DepositStatus::Failed,
        ["same", "no", "no", "no", "confirming", "confirming*", "no", "same", "refunded*", "completed*", "underpaid*"],
    ),
    (DepositStatus::Refunded, ["same", "no", "no", "no", "no", "no", "no", "no", "same", "review", "review"]),
];

pub(super) fn start() -> Timestamp {
    "2026-01-02T03:04:05Z".parse().unwrap()
}

pub(super) fn later() -> Timestamp {
    start() + 1.minute()
}

pub(super) fn expiry() -> Timestamp {
    start() + 20.minutes()
}

pub(super) fn usdt(text: &str) -> CryptoAmount {
    CryptoAmount::parse(Currency::UsdtErc20, text).unwrap()
}

fn issued(address: &str) -> Issued {
    let payment = ProcessorId::parse("5745459419").unwrap();
    Issued { payment, address: address.into(), extra_id: None, expires_at: expiry() }
}

fn price() -> DepositPrice {
    let fixed = Money::from_centavos(50);
    DepositPrice {
        quote: CryptoQuoteId::new(Uuid::nil()),
        rate: Rate::parse("5.4").unwrap(),
        fee_rule: FeeRule::try_new(fixed, Percentage::parse("1").unwrap(), None, None).unwrap(),
        coins: usdt("18.518519"),
    }
}

/// Returns a deposit of R$ 100.00 for 18.518519 USDT, with a fee of R$ 1.50.
pub(super) fn deposit(status: DepositStatus) -> Deposit {
    let terms = DepositTerms {
        amount: Money::from_centavos(10_000),
        currency: Currency::UsdtErc20,
        description: None,
        external_id: None,
        postback: None,
        origin: Origin::Api,
    };
    let ids = (CryptoDepositId::new(Uuid::nil()), AccountId::new(Uuid::nil()));
    let new = Deposit::open(ids, terms, price(), AcquirerName::parse("now").unwrap(), start());
    let (issued, at) = (issued("0xpay"), start());
    let state = match status {
        DepositStatus::Creating => DepositState::Creating,
        DepositStatus::Abandoned => DepositState::Abandoned { at },
        DepositStatus::Pending => DepositState::Pending(issued),
        DepositStatus::Confirming => DepositState::Confirming(issued),
        DepositStatus::Expired => DepositState::Expired { issued, at },
        DepositStatus::Failed => DepositState::Failed { issued, at },
        DepositStatus::Refunded => DepositState::Refunded { issued, at },
        DepositStatus::Completed | DepositStatus::Underpaid => {
            let coins = if status == DepositStatus::Completed { "18.518519" } else { "9.259260" };
            let before = Deposit { state: DepositState::Pending(issued), ..new };
            return credited(before, arrival("5745459419", coins)).deposit;
        }
    };
    Deposit { state, ..new }
}

pub(super) fn arrival(id: &str, coins: &str) -> Arrival {
    let id = ProcessorId::parse(id).unwrap();
    Arrival { id, coins: ArrivedCoins::Supported(usdt(coins)), tx_hash: None, seen_at: start() }
}

pub(super) fn credited(deposit: Deposit, arrival: Arrival) -> Resolved {
    match deposit.receive(None, arrival, later()) {
        Ok(Received::Credited(resolved)) => *resolved,
        other => panic!("{other:?}"),
    }
}

fn apply(deposit: Deposit, action: Action) -> Result<DepositStep, DepositError> {
    match action {
        Action::Issue => deposit.issue(issued("0xpay"), later()),
        Action::IssueOther => deposit.issue(issued("0xother"), later()),
        Action::Abandon => deposit.abandon(later()),
        Action::Reopen => deposit.reopen(price()),
        Action::StartConfirming => deposit.start_confirming(None, later()),
        Action::Confirm => deposit.confirm(None, later()),
        Action::Expire => deposit.expire(later()),
        Action::Fail => deposit.fail(later()),
        Action::Refund => deposit.refund(later()),
        Action::Receive | Action::ReceiveHalf => panic!("a payment has another result"),
    }
}

fn result(status: DepositStatus, action: Action) -> String {
    let shown = |deposit: &Deposit, event: bool| {
        let mark = if event { "*" } else { "" };
        format!("{}{mark}", deposit.state.status().as_str())
    };
    if let Action::Receive | Action::ReceiveHalf = action {
        let coins = if matches!(action, Action::Receive) { "18.518519" } else { "9.259260" };
        return match deposit(status).receive(None, arrival("6000000001", coins), later()).unwrap() {
            Received::Credited(resolved) => shown(&resolved.deposit, !resolved.events.is_empty()),
            Received::Review(payment) => payment.state.as_str().to_owned(),
            Received::AlreadyTaken => "same".to_owned(),
        };
    }
    match apply(deposit(status), action) {
        Ok(DepositStep::Taken { deposit, event }) => shown(&deposit, event.is_some()),
        Ok(DepositStep::AlreadyTaken(same)) => {
            assert_eq!(*same, deposit(status), "a repeat changes nothing");
            "same".to_owned()
        }
        Err(DepositError::InvalidState(named)) => {
            assert_eq!(named, status, "the error names the state");
            "no".to_owned()
        }
    }
}

#[test]
fn every_state_and_action_has_the_expected_result() {
    assert_eq!(TABLE.map(|(status, _)| status), DepositStatus::ALL);
    for (status, row) in TABLE {
        for (action, expected) in ACTIONS.into_iter().zip(row) {
            assert_eq!(result(status, action), expected, "{status:?} {action:?}");
        }
    }
}

#[test]
fn each_step_publishes_its_event() {
    for (action, expected) in [
        (Action::Confirm, EventType::CryptoDepositConfirmed),
        (Action::Expire, EventType::CryptoDepositExpired),
        (Action::Fail, EventType::CryptoDepositFailed),
        (Action::Refund, EventType::CryptoDepositFailed),
    ] {
        match apply(deposit(DepositStatus::Pending), action).unwrap() {
            DepositStep::Taken { event, .. } => assert_eq!(event, Some(expected), "{action:?}"),
            DepositStep::AlreadyTaken(_) => panic!("{action:?} is new"),
        }
    }
}
