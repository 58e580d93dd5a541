//! Tests every action in every state of a payment to a deposit with one table. The table includes the credited BRL.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use jiff::ToSpan as _;

use super::super::*;
use super::table::{arrival, credited, deposit, expiry, later, start, usdt};
use crate::event::EventType;

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
    /// An operator credits the coins at the rate of the deposit.
    CreditAtRate,
    Dismiss,
}

const ACTIONS: [Action; 8] = [
    Action::Same,
    Action::More,
    Action::Fewer,
    Action::Unfinished,
    Action::UnfinishedMore,
    Action::Credit,
    Action::CreditAtRate,
    Action::Dismiss,
];

const TOO_LATE: &str = PaymentReview::TooLate.as_str();
const TOO_MANY: &str = PaymentReview::TooMany.as_str();
const UNEXPECTED: &str = PaymentReview::UnexpectedState.as_str();
const FEWER: &str = PaymentReview::FewerCoins.as_str();
const NOT_FINISHED: &str = PaymentReview::NotFinished.as_str();

/// The expected result of each pair:
/// - an amount: the BRL that this action credits (one coin is worth R$ 5.40);
/// - a reason: the payment is then in review for this reason;
/// - `dismissed`: the payment is dismissed;
/// - `same`: nothing changes;
/// - `no`: an error.
///
/// The state `Review(WrongAsset)` has its own test below, because its coins are not of the deposit's currency.
const TABLE: [(PaymentState, [&str; 8]); 12] = [
    //                                                    same        more        fewer  unfinished  unfinished more  credit  at rate  dismiss
    (PaymentState::Credited, ["same", "5.40", FEWER, "same", "same", "no", "no", "no"]),
    (
        PaymentState::Review(PaymentReview::TooLate),
        ["same", TOO_LATE, TOO_LATE, "same", "same", "7.00", "48.60", "dismissed"],
    ),
    (
        PaymentState::Review(PaymentReview::TooMany),
        ["same", TOO_MANY, TOO_MANY, "same", "same", "7.00", "48.60", "dismissed"],
    ),
    (
        PaymentState::Review(PaymentReview::UnexpectedState),
        ["same", UNEXPECTED, UNEXPECTED, "same", "same", "7.00", "48.60", "dismissed"],
    ),
    (PaymentState::Review(PaymentReview::FewerCoins), ["same", FEWER, FEWER, "same", "same", "no", "no", "dismissed"]),
    (
        PaymentState::Review(PaymentReview::NotFinished),
        ["48.60", "54.00", "43.20", "same", NOT_FINISHED, "7.00", "48.60", "dismissed"],
    ),
    (
        PaymentState::Dismissed(PaymentReview::TooLate),
        ["same", UNEXPECTED, UNEXPECTED, "same", "same", "no", "no", "no"],
    ),
    (
        PaymentState::Dismissed(PaymentReview::TooMany),
        ["same", UNEXPECTED, UNEXPECTED, "same", "same", "no", "no", "no"],
    ),
    (
        PaymentState::Dismissed(PaymentReview::UnexpectedState),
        ["same", UNEXPECTED, UNEXPECTED, "same", "same", "no", "no", "no"],
    ),
    (
        PaymentState::Dismissed(PaymentReview::FewerCoins),
        ["same", UNEXPECTED, UNEXPECTED, "same", "same", "no", "no", "no"],
    ),
    (
        PaymentState::Dismissed(PaymentReview::WrongAsset),
        ["same", UNEXPECTED, UNEXPECTED, "same", "same", "no", "no", "no"],
    ),
    (
        PaymentState::Dismissed(PaymentReview::NotFinished),
        [UNEXPECTED, UNEXPECTED, UNEXPECTED, "same", NOT_FINISHED, "no", "no", "no"],
    ),
];

/// Returns a deposit and its payment of 9 coins in this state. In every state except `Credited`, no money was credited.
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
        Action::CreditAtRate => match deposit.clone().credit_reviewed_at_rate(payment, later()) {
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
    let at_rate = deposit.clone().credit_reviewed_at_rate(payment.clone(), later());
    assert_eq!(at_rate, Err(ReceiveError::NoRate));
    assert!(deposit.credit_reviewed(payment, Money::from_centavos(700), later()).is_ok());
}

fn reviewed(deposit: Deposit, arrival: Arrival) -> (Deposit, DepositPayment, Vec<EventType>) {
    let Ok(Received::Review(payment)) = deposit.clone().receive(None, arrival, later()) else { panic!("a review") };
    let (deposit, events) = deposit.await_decision(&payment, later());
    (deposit, *payment, events)
}

#[test]
fn coins_in_review_are_shown_by_resolution_and_event() {
    use DepositStatus::{Completed, Confirming, Expired, Failed, Pending, Refunded};
    use EventType::{CryptoDepositConfirmed as Confirmed, CryptoDepositExpired as Ended};
    let late = expiry() + LATE_CREDIT_WINDOW + 1.second();
    for (status, id, coins, seen_at, after, resolution, events) in [
        (Expired, "5745459419", "18.518519", late, Expired, Some(Resolution::Late), &[Confirmed][..]),
        (Pending, "5745459419", "18.518519", late, Expired, Some(Resolution::Late), &[Ended, Confirmed]),
        (Pending, "5745459419", "40", start(), Confirming, Some(Resolution::Overpaid), &[Confirmed]),
        // The deposit stays pending, because its first payment can still arrive.
        (Pending, "2", "40", start(), Pending, Some(Resolution::Overpaid), &[Confirmed]),
        (Failed, "2", "18.518519", late, Failed, Some(Resolution::Late), &[Confirmed]),
        // The resolution of the first credit stays. The event was published before.
        (Completed, "2", "18.518519", late, Completed, Some(Resolution::Exact), &[]),
        (Refunded, "2", "18.518519", start(), Refunded, None, &[]),
    ] {
        let (shown, payment, published) = reviewed(deposit(status), Arrival { seen_at, ..arrival(id, coins) });
        assert_eq!((shown.state.status(), shown.resolution), (after, resolution), "{payment:?}");
        assert_eq!((published.as_slice(), shown.confirmed_at.is_some()), (events, status != Refunded), "{payment:?}");
        assert_eq!(shown.credited, deposit(status).credited, "nothing is credited");
    }
}

/// An operator's credit at the rate has the same result as a credit without a review.
#[test]
fn operator_credits_at_the_rate_less_the_fee_once() {
    let late = Arrival { seen_at: expiry() + LATE_CREDIT_WINDOW + 1.second(), ..arrival("5745459419", "18.518519") };
    for (arrival, sums, resolution) in [
        (late, ["18.518519", "100.00", "1.50", "98.50"], Resolution::Late),
        (arrival("5745459419", "40"), ["40", "216.00", "2.66", "213.34"], Resolution::Overpaid),
    ] {
        let (waiting, payment, _) = reviewed(deposit(DepositStatus::Pending), arrival.clone());
        let got = waiting.credit_reviewed_at_rate(payment, later()).unwrap();
        assert_eq!((super::sums(&got.deposit), got.deposit.resolution), (sums.map(str::to_owned), Some(resolution)));
        assert_eq!(got.deposit.state.status(), DepositStatus::Completed);
        let again = got.deposit.clone().credit_reviewed_at_rate(got.payment.clone(), later());
        assert_eq!(again, Err(ReceiveError::NotInReview));
        let repeat = got.deposit.receive(Some(got.payment), arrival, later());
        assert_eq!(repeat, Ok(Received::AlreadyTaken));
    }
}

#[test]
fn payment_that_was_credited_in_part_has_no_rate() {
    let once = credited(deposit(DepositStatus::Pending), arrival("1", "18.518519"));
    let increase = once.deposit.clone().receive(Some(once.payment), arrival("1", "40"), later());
    let Ok(Received::Review(payment)) = increase else { panic!("{increase:?}") };
    assert_eq!(once.deposit.credit_reviewed_at_rate(*payment, later()), Err(ReceiveError::NoRate));
}

#[test]
fn late_review_does_not_make_a_payment_in_time_late() {
    let late = Arrival { seen_at: expiry() + LATE_CREDIT_WINDOW + 1.second(), ..arrival("2", "10") };
    let (waiting, _, _) = reviewed(deposit(DepositStatus::Expired), late);
    let got = credited(waiting, arrival("5745459419", "18.518519")).deposit;
    assert_eq!(got.resolution, Some(Resolution::Exact));
}

/// The first payment arrived within the payment period and is unfinished. The second payment is too late, so the
/// deposit shows `late`.
#[test]
fn credit_by_amount_ignores_the_review_of_another_payment() {
    let late = |id| Arrival { seen_at: expiry() + LATE_CREDIT_WINDOW + 1.second(), ..arrival(id, "10") };
    let first = deposit(DepositStatus::Expired).unfinished(None, &arrival("5745459419", "9")).unwrap();
    let (waiting, second, _) = reviewed(deposit(DepositStatus::Expired), late("2"));
    assert_eq!(waiting.resolution, Some(Resolution::Late));
    let seven = Money::from_centavos(700);
    let got = waiting.credit_reviewed(first, seven, later()).unwrap().deposit;
    assert_eq!(got.resolution, None);
    // A review after the credit does not change the resolution either.
    assert_eq!(reviewed(got.clone(), late("3")).0.resolution, None);
    let paid = credited(got.clone(), arrival("4", "18.518519"));
    assert_eq!(paid.deposit.resolution, Some(Resolution::Exact));
    assert_eq!(got.credit_reviewed(second, seven, later()).unwrap().deposit.resolution, Some(Resolution::Late));
}

#[test]
fn credit_by_amount_for_too_many_coins_is_overpaid() {
    let (waiting, payment, _) = reviewed(deposit(DepositStatus::Pending), arrival("5745459419", "40"));
    let got = waiting.credit_reviewed(payment, Money::from_centavos(700), later()).unwrap();
    assert_eq!(got.deposit.resolution, Some(Resolution::Overpaid));
}
