//! Tests every pair of state and action of a payment to a deposit with one table, including the credited BRL.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use super::super::*;
use super::table::{arrival, credited, deposit, later, usdt};

/// A status that the processor shows, or a decision of an operator. The stored payment has 9 coins.
#[derive(Debug, Clone, Copy)]
enum Action {
    /// The processor has the same coins.
    Same,
    /// The processor has 10 coins.
    More,
    /// The processor has 8 coins.
    Fewer,
    /// The processor reports an error, and shows the same coins.
    Unfinished,
    /// The processor reports an error, and shows 10 coins.
    UnfinishedMore,
    /// An operator credits R$ 7.00.
    Credit,
    Dismiss,
}

const ACTIONS: [Action; 7] = [
    Action::Same,
    Action::More,
    Action::Fewer,
    Action::Unfinished,
    Action::UnfinishedMore,
    Action::Credit,
    Action::Dismiss,
];

const TOO_LATE: &str = PaymentReview::TooLate.as_str();
const TOO_MANY: &str = PaymentReview::TooMany.as_str();
const UNEXPECTED: &str = PaymentReview::UnexpectedState.as_str();
const FEWER: &str = PaymentReview::FewerCoins.as_str();
const NOT_FINISHED: &str = PaymentReview::NotFinished.as_str();

/// The expected result of each pair: the BRL that is credited now, the reason of a review, `dismissed`, `same` for a
/// repeat, or `no` for an error. A coin is worth R$ 5.40. Reviews of another asset have a test below the table, because
/// their coins are not those of the deposit's currency.
const TABLE: [(PaymentState, [&str; 7]); 12] = [
    //                                                    same        more        fewer  unfinished  unfinished more  credit  dismiss
    (PaymentState::Credited, ["same", "5.40", FEWER, "same", "same", "no", "no"]),
    (PaymentState::Review(PaymentReview::TooLate), ["same", TOO_LATE, TOO_LATE, "same", "same", "7.00", "dismissed"]),
    (PaymentState::Review(PaymentReview::TooMany), ["same", TOO_MANY, TOO_MANY, "same", "same", "7.00", "dismissed"]),
    (
        PaymentState::Review(PaymentReview::UnexpectedState),
        ["same", UNEXPECTED, UNEXPECTED, "same", "same", "7.00", "dismissed"],
    ),
    (PaymentState::Review(PaymentReview::FewerCoins), ["same", FEWER, FEWER, "same", "same", "no", "dismissed"]),
    (
        PaymentState::Review(PaymentReview::NotFinished),
        ["48.60", "54.00", "43.20", "same", NOT_FINISHED, "7.00", "dismissed"],
    ),
    (PaymentState::Dismissed(PaymentReview::TooLate), ["same", UNEXPECTED, UNEXPECTED, "same", "same", "no", "no"]),
    (PaymentState::Dismissed(PaymentReview::TooMany), ["same", UNEXPECTED, UNEXPECTED, "same", "same", "no", "no"]),
    (
        PaymentState::Dismissed(PaymentReview::UnexpectedState),
        ["same", UNEXPECTED, UNEXPECTED, "same", "same", "no", "no"],
    ),
    (PaymentState::Dismissed(PaymentReview::FewerCoins), ["same", UNEXPECTED, UNEXPECTED, "same", "same", "no", "no"]),
    (PaymentState::Dismissed(PaymentReview::WrongAsset), ["same", UNEXPECTED, UNEXPECTED, "same", "same", "no", "no"]),
    (
        PaymentState::Dismissed(PaymentReview::NotFinished),
        [UNEXPECTED, UNEXPECTED, UNEXPECTED, "same", NOT_FINISHED, "no", "no"],
    ),
];

/// Returns a deposit and its payment of 9 coins in this state. Only a credited payment has credited money.
fn stored(state: PaymentState) -> (Deposit, DepositPayment) {
    let waiting = deposit(DepositStatus::Pending);
    let Resolved { deposit, payment, .. } = credited(waiting.clone(), arrival("1", "9"));
    if state == PaymentState::Credited {
        return (deposit, payment);
    }
    (waiting, DepositPayment { state, gross: Money::ZERO, fee: Money::ZERO, ..payment })
}

fn result(state: PaymentState, action: Action) -> String {
    let (deposit, payment) = stored(state);
    let before = deposit.credited.gross;
    let gain = |resolved: &Resolved| {
        assert_eq!(resolved.payment.state, PaymentState::Credited);
        resolved.deposit.credited.gross.checked_sub(before).unwrap().to_string()
    };
    let reason = |payment: &DepositPayment| match payment.state {
        PaymentState::Review(reason) => reason.as_str().to_owned(),
        PaymentState::Credited | PaymentState::Dismissed(_) => panic!("{payment:?} is not in review"),
    };
    let arrived = |coins| Arrival { coins: ArrivedCoins::Supported(usdt(coins)), ..arrival("1", coins) };
    let received = |coins| match deposit.clone().receive(Some(payment.clone()), arrived(coins), later()).unwrap() {
        Received::Credited(resolved) => gain(&resolved),
        Received::Review(payment) => reason(&payment),
        Received::AlreadyTaken => "same".to_owned(),
    };
    let unfinished = |coins| match deposit.unfinished(Some(payment.clone()), &arrived(coins)) {
        Some(payment) => reason(&payment),
        None => "same".to_owned(),
    };
    match action {
        Action::Same => received("9"),
        Action::More => received("10"),
        Action::Fewer => received("8"),
        Action::Unfinished => unfinished("9"),
        Action::UnfinishedMore => unfinished("10"),
        Action::Credit => match deposit.clone().credit_reviewed(payment, Money::from_centavos(700), later()) {
            Ok(resolved) => gain(&resolved),
            Err(_) => "no".to_owned(),
        },
        Action::Dismiss => payment.dismiss().map_or("no", |dismissed| dismissed.state.as_str()).to_owned(),
    }
}

#[test]
fn every_state_and_action_of_a_payment_has_the_expected_result() {
    let mut reviews: Vec<PaymentReview> = Vec::new();
    for (state, row) in TABLE {
        if let PaymentState::Dismissed(reason) = state {
            reviews.push(reason);
        }
        for (action, expected) in ACTIONS.into_iter().zip(row) {
            assert_eq!(result(state, action), expected, "{state:?} {action:?}");
        }
    }
    assert_eq!(reviews.len(), PaymentReview::ALL.len(), "each reason is in the table");
}

#[test]
fn payment_of_another_asset_is_never_credited_at_the_rate() {
    let state = PaymentState::Review(PaymentReview::WrongAsset);
    let (deposit, payment) = stored(state);
    let doge = |amount: &str| ArrivedCoins::Unsupported { currency: "doge".into(), amount: amount.into() };
    let payment = DepositPayment { coins: doge("9"), ..payment };
    for (amount, is_new) in [("9", false), ("10", true)] {
        let shown = Arrival { coins: doge(amount), ..arrival("1", "9") };
        let received = deposit.clone().receive(Some(payment.clone()), shown, later()).unwrap();
        match received {
            Received::AlreadyTaken => assert!(!is_new, "{amount}"),
            Received::Review(payment) => assert_eq!((payment.state, is_new), (state, true)),
            Received::Credited(resolved) => panic!("{resolved:?}"),
        }
    }
    // Coins of the deposit's currency under the same identifier still wait for the operator.
    let received = deposit.clone().receive(Some(payment.clone()), arrival("1", "9"), later()).unwrap();
    assert!(matches!(received, Received::Review(_)), "{received:?}");
    assert!(deposit.credit_reviewed(payment, Money::from_centavos(700), later()).is_ok());
}
