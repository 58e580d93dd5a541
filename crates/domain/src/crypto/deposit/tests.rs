//! Tests of crypto deposits.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod payments;
mod table;

use jiff::{SignedDuration, ToSpan as _};
use proptest::prelude::*;

use self::table::{arrival, credited, deposit, expiry, later, start, usdt};
use super::*;
use crate::event::EventType;
use crate::ledger::{LedgerAccount, Overdraft, Transfer};

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

fn sums(deposit: &Deposit) -> [String; 4] {
    let Credited { coins, gross, fee } = deposit.credited;
    [coins.to_string(), gross.to_string(), fee.to_string(), deposit.net_amount().unwrap().to_string()]
}

#[test]
fn exact_payment_is_credited_at_requested_amount_less_fee() {
    let got = credited(deposit(DepositStatus::Pending), arrival("1", "18.518519"));
    let expected = ["crypto:now > available crypto_deposit 98.50", "crypto:now > fees fee 1.50"];
    assert_eq!(movements(&got.transfers), expected);
    assert_eq!(got.events, [EventType::CryptoDepositConfirmed, EventType::CryptoDepositCompleted]);
    assert_eq!(sums(&got.deposit), ["18.518519", "100.00", "1.50", "98.50"]);
    assert_eq!(got.deposit.resolution, Some(Resolution::Exact));
    assert_eq!((got.deposit.confirmed_at, got.deposit.state.completed_at()), (Some(later()), Some(later())));
    assert_eq!((got.payment.gross, got.payment.fee), (Money::from_centavos(10_000), Money::from_centavos(150)));
}

#[test]
fn amounts_before_arrival_are_those_of_the_request() {
    let waiting = deposit(DepositStatus::Pending);
    let text = |money: Result<Money, MoneyError>| money.unwrap().to_string();
    assert_eq!((text(waiting.fee()), text(waiting.net_amount())), ("1.50".into(), "98.50".into()));
}

#[test]
fn arrived_coins_have_their_resolution() {
    for (coins, resolution, status, gross) in [
        ("18.518518", Resolution::Underpaid, DepositStatus::Underpaid, "99.99"),
        ("18.518519", Resolution::Exact, DepositStatus::Completed, "100.00"),
        ("18.518520", Resolution::Overpaid, DepositStatus::Completed, "100.00"),
        ("20", Resolution::Overpaid, DepositStatus::Completed, "108.00"),
        ("0.000001", Resolution::Underpaid, DepositStatus::Underpaid, "0.00"),
    ] {
        let got = credited(deposit(DepositStatus::Pending), arrival("1", coins)).deposit;
        assert_eq!(got.resolution, Some(resolution), "{coins}");
        assert_eq!((got.state.status(), got.credited.gross.to_string().as_str()), (status, gross), "{coins}");
    }
}

#[test]
fn partial_payments_are_credited_like_one_payment() {
    let first = credited(deposit(DepositStatus::Pending), arrival("1", "10"));
    assert_eq!(first.deposit.state.status(), DepositStatus::Underpaid);
    let second = credited(first.deposit, arrival("2", "8.518519"));
    assert_eq!(sums(&second.deposit), ["18.518519", "100.00", "1.50", "98.50"]);
    assert_eq!((second.deposit.resolution, second.events.as_slice()), (Some(Resolution::Exact), COMPLETED));
    let third = credited(second.deposit, arrival("3", "1"));
    assert_eq!(sums(&third.deposit), ["19.518519", "105.40", "1.55", "103.85"]);
    assert_eq!(third.deposit.resolution, Some(Resolution::Overpaid));
}

const COMPLETED: &[EventType] = &[EventType::CryptoDepositCompleted];

#[test]
fn late_payment_is_credited_only_within_an_hour() {
    for (after, expected) in [
        (SignedDuration::ZERO, Some(Resolution::Exact)),
        (SignedDuration::from_secs(1), Some(Resolution::Late)),
        (LATE_CREDIT_WINDOW, Some(Resolution::Late)),
        (LATE_CREDIT_WINDOW + SignedDuration::from_secs(1), None),
    ] {
        let arrival = Arrival { seen_at: expiry() + after, ..arrival("1", "18.518519") };
        let got = match deposit(DepositStatus::Expired).receive(None, arrival, later()).unwrap() {
            Received::Credited(resolved) => resolved.deposit.resolution,
            Received::Review(payment) => {
                assert_eq!(payment.state, PaymentState::Review(PaymentReview::TooLate));
                None
            }
            Received::AlreadyTaken => panic!("the payment is new"),
        };
        assert_eq!(got, expected, "{after}");
    }
}

#[test]
fn sum_above_twice_the_requested_coins_waits_for_operator() {
    let once = credited(deposit(DepositStatus::Pending), arrival("1", "18.518519"));
    let twice = credited(once.deposit.clone(), arrival("2", "18.518519"));
    assert_eq!(sums(&twice.deposit)[1], "200.00");
    for (paid, coins) in [(deposit(DepositStatus::Pending), "37.037039"), (twice.deposit, "0.000001")] {
        let Ok(Received::Review(payment)) = paid.receive(None, arrival("3", coins), later()) else { panic!("{coins}") };
        assert_eq!(payment.state, PaymentState::Review(PaymentReview::TooMany));
    }
    let increase = once.deposit.receive(Some(once.payment), arrival("1", "37.037039"), later());
    let Ok(Received::Review(payment)) = increase else { panic!("{increase:?}") };
    assert_eq!(
        (payment.state, payment.gross),
        (PaymentState::Review(PaymentReview::TooMany), Money::from_centavos(10_000))
    );
}

#[test]
fn missing_coins_are_never_credited_by_an_operator() {
    let first = credited(deposit(DepositStatus::Pending), arrival("1", "10"));
    let Ok(Received::Review(fewer)) = first.deposit.clone().receive(Some(first.payment), arrival("1", "9"), later())
    else {
        panic!("fewer coins need a review")
    };
    let credit = first.deposit.credit_reviewed(*fewer, Money::from_centavos(1), later());
    assert_eq!(credit, Err(ReceiveError::NothingLeft));
}

#[test]
fn payment_after_an_early_expiry_is_late() {
    let expired = deposit(DepositStatus::Pending).expire(later()).unwrap();
    let DepositStep::Taken { deposit: expired, .. } = expired else { panic!("the deposit was pending") };
    for (after_s, expected) in [(0, Resolution::Exact), (1, Resolution::Late)] {
        let seen_at = later() + after_s.seconds();
        let Ok(Received::Credited(got)) =
            expired.clone().receive(None, Arrival { seen_at, ..arrival("1", "18.518519") }, later())
        else {
            panic!("the coins are of the deposit's currency")
        };
        assert_eq!(got.deposit.resolution, Some(expected), "{after_s}");
    }
    // An expiry that is stored later does not move the end of the payment period.
    let DepositStep::Taken { deposit: late, .. } = deposit(DepositStatus::Pending).expire(expiry() + 1.hour()).unwrap()
    else {
        panic!("the deposit was pending")
    };
    assert_eq!(late.state.issued().unwrap().expires_at, expiry());
}

#[test]
fn payment_is_credited_once_and_only_its_increase_later() {
    let first = credited(deposit(DepositStatus::Pending), arrival("1", "10"));
    let repeat = first.deposit.clone().receive(Some(first.payment.clone()), arrival("1", "10"), later());
    assert_eq!(repeat, Ok(Received::AlreadyTaken));
    let more = first.deposit.clone().receive(Some(first.payment.clone()), arrival("1", "18.518519"), later());
    let Ok(Received::Credited(more)) = more else { panic!("{more:?}") };
    assert_eq!((sums(&more.deposit)[1].as_str(), more.payment.gross), ("100.00", Money::from_centavos(10_000)));
    let fewer = first.deposit.receive(Some(first.payment), arrival("1", "9"), later());
    let Ok(Received::Review(fewer)) = fewer else { panic!("{fewer:?}") };
    assert_eq!(fewer.state, PaymentState::Review(PaymentReview::FewerCoins));
}

#[test]
fn coins_of_another_asset_wait_for_an_operator() {
    let unsupported = ArrivedCoins::Unsupported { currency: "doge".into(), amount: "1000.5".into() };
    let other = ArrivedCoins::Supported(CryptoAmount::parse(Currency::UsdtBsc, "18.518519").unwrap());
    for coins in [unsupported, other] {
        let waiting = deposit(DepositStatus::Pending);
        let arrived = Arrival { coins, ..arrival("1", "1") };
        let Received::Review(payment) = waiting.clone().receive(None, arrived.clone(), later()).unwrap() else {
            panic!("the coins are of another asset")
        };
        assert_eq!(payment.state, PaymentState::Review(PaymentReview::WrongAsset));
        assert_eq!(waiting.receive(Some(*payment), arrived, later()), Ok(Received::AlreadyTaken));
    }
}

#[test]
fn operator_credits_or_dismisses_a_payment_once() {
    let wrong = ArrivedCoins::Unsupported { currency: "doge".into(), amount: "1000.5".into() };
    let arrived = Arrival { coins: wrong, ..arrival("2", "1") };
    let waiting = deposit(DepositStatus::Pending);
    let Received::Review(payment) = waiting.clone().receive(None, arrived, later()).unwrap() else {
        panic!("the coins are of another asset")
    };
    let fifty = Money::from_centavos(5_000);
    let got = waiting.clone().credit_reviewed((*payment).clone(), fifty, later()).unwrap();
    assert_eq!(movements(&got.transfers), ["crypto:now > available crypto_deposit 50.00"]);
    assert_eq!(got.deposit.state.status(), DepositStatus::Underpaid);
    // The requested coins are credited with R$ 100.00, in addition to the R$ 50.00 of the operator.
    let paid = credited(got.deposit.clone(), arrival("1", "18.518519"));
    assert_eq!(sums(&paid.deposit), ["18.518519", "150.00", "1.50", "148.50"]);
    let repeat = got.deposit.credit_reviewed(got.payment, fifty, later());
    assert_eq!(repeat, Err(ReceiveError::NotInReview));
    let dismissed = payment.dismiss().unwrap();
    assert_eq!(dismissed.clone().dismiss(), Err(ReceiveError::NotInReview));
    assert_eq!(waiting.credit_reviewed(dismissed, fifty, later()), Err(ReceiveError::NotInReview));
}

#[test]
fn operator_credit_changes_the_status_and_not_the_resolution() {
    let wrong = ArrivedCoins::Unsupported { currency: "doge".into(), amount: "1000.5".into() };
    for (centavos, status) in [(9_999, DepositStatus::Underpaid), (10_000, DepositStatus::Completed)] {
        let arrived = Arrival { coins: wrong.clone(), ..arrival("2", "1") };
        let waiting = deposit(DepositStatus::Pending);
        let Received::Review(payment) = waiting.clone().receive(None, arrived, later()).unwrap() else {
            panic!("the coins are of another asset")
        };
        let gross = Money::from_centavos(centavos);
        let got = waiting.credit_reviewed(*payment, gross, later()).unwrap().deposit;
        assert_eq!((got.state.status(), got.resolution), (status, None));
        assert_eq!(sums(&got), ["0".to_owned(), gross.to_string(), "0.00".to_owned(), gross.to_string()]);
        // Coins that are credited at the rate later decide the resolution.
        let paid = credited(got, arrival("1", "18.518519")).deposit;
        assert_eq!((paid.state.status(), paid.resolution), (DepositStatus::Completed, Some(Resolution::Exact)));
    }
}

#[test]
fn each_payment_has_its_relation_to_the_deposit() {
    let waiting = deposit(DepositStatus::Pending);
    let other = ArrivedCoins::Supported(CryptoAmount::parse(Currency::UsdtBsc, "18.518519").unwrap());
    let late = expiry() + 1.second();
    for (arrived, expected) in [
        (arrival("5745459419", "18.518519"), PaymentResolution::Exact),
        (arrival("5745459419", "18.518518"), PaymentResolution::Underpaid),
        (arrival("5745459419", "18.518520"), PaymentResolution::Overpaid),
        (arrival("2", "18.518519"), PaymentResolution::Repeated),
        (Arrival { seen_at: late, ..arrival("5745459419", "18.518519") }, PaymentResolution::Late),
        (Arrival { seen_at: late + 25.hours(), ..arrival("2", "18.518519") }, PaymentResolution::Late),
        (Arrival { coins: other, seen_at: late, ..arrival("2", "1") }, PaymentResolution::WrongAsset),
    ] {
        let payment = match waiting.clone().receive(None, arrived.clone(), later()).unwrap() {
            Received::Credited(resolved) => resolved.payment,
            Received::Review(payment) => *payment,
            Received::AlreadyTaken => panic!("the payment is new"),
        };
        assert_eq!(waiting.resolution_of(&payment), expected, "{arrived:?}");
    }
}

#[test]
fn more_coins_of_a_dismissed_payment_are_reviewed_again() {
    let refunded = deposit(DepositStatus::Refunded);
    let Received::Review(payment) = refunded.clone().receive(None, arrival("2", "1"), later()).unwrap() else {
        panic!("the coins of the deposit were returned")
    };
    let again = refunded.receive(Some(payment.dismiss().unwrap()), arrival("2", "2"), later()).unwrap();
    assert!(matches!(again, Received::Review(_)), "{again:?}");
}

#[test]
fn unfinished_payment_is_credited_when_it_finishes() {
    let failed = deposit(DepositStatus::Failed);
    let payment = failed.unfinished(None, &arrival("1", "18.518519")).unwrap();
    assert_eq!(payment.state, PaymentState::Review(PaymentReview::NotFinished));
    assert_eq!(failed.unfinished(Some(payment.clone()), &arrival("1", "18.518519")), None, "a repeat changes nothing");
    let finished = failed.clone().receive(Some(payment.clone()), arrival("1", "18.518519"), later()).unwrap();
    let Received::Credited(got) = finished else { panic!("{finished:?}") };
    assert_eq!((sums(&got.deposit)[1].as_str(), got.payment.state), ("100.00", PaymentState::Credited));
    let repeat = got.deposit.receive(Some(got.payment.clone()), arrival("1", "18.518519"), later());
    assert_eq!(repeat, Ok(Received::AlreadyTaken));
    assert_eq!(failed.unfinished(Some(got.payment), &arrival("1", "18.518519")), None);
}

#[test]
fn dismissed_unfinished_payment_is_reviewed_if_it_finishes() {
    let failed = deposit(DepositStatus::Failed);
    let payment = failed.unfinished(None, &arrival("1", "18.518519")).unwrap().dismiss().unwrap();
    assert_eq!(failed.unfinished(Some(payment.clone()), &arrival("1", "18.518519")), None, "the decision holds");
    let finished = failed.clone().receive(Some(payment), arrival("1", "18.518519"), later()).unwrap();
    let Received::Review(payment) = finished else { panic!("{finished:?}") };
    assert_eq!(payment.state, PaymentState::Review(PaymentReview::UnexpectedState));
    // After the second dismissal, the same coins are not reviewed again.
    let again = failed.receive(Some(payment.dismiss().unwrap()), arrival("1", "18.518519"), later());
    assert_eq!(again, Ok(Received::AlreadyTaken));
}

#[test]
fn payment_without_coins_is_an_error() {
    assert_eq!(deposit(DepositStatus::Pending).receive(None, arrival("1", "0"), later()), Err(ReceiveError::NoCoins));
    assert_eq!(usdt("0"), CryptoAmount::zero(Currency::UsdtErc20));
}

#[test]
fn confirmation_is_published_once() {
    let seen = deposit(DepositStatus::Pending).confirm(Some("0xabc".into()), start()).unwrap();
    let DepositStep::Taken { deposit: confirmed, .. } = seen else { panic!("the deposit was pending") };
    assert_eq!((confirmed.confirmed_at, confirmed.tx_hash.as_deref()), (Some(start()), Some("0xabc")));
    let again = confirmed.clone().confirm(None, later()).unwrap();
    assert_eq!(again, DepositStep::AlreadyTaken(confirmed.clone()));
    assert_eq!(credited(*confirmed, arrival("1", "18.518519")).events, COMPLETED);
}

#[test]
fn confirmation_adds_hash_that_was_unknown_before() {
    let seen = deposit(DepositStatus::Pending).start_confirming(None, start()).unwrap();
    let DepositStep::Taken { deposit: seen, .. } = seen else { panic!("the deposit was pending") };
    let confirmed = seen.confirm(Some("0xabc".into()), later()).unwrap();
    let DepositStep::Taken { deposit: confirmed, .. } = confirmed else { panic!("the deposit was not confirmed") };
    assert_eq!(confirmed.tx_hash.as_deref(), Some("0xabc"));
}

#[test]
fn deposit_is_looked_up_for_a_day_after_its_period() {
    let expired = deposit(DepositStatus::Expired);
    assert!(expired.clone().schedule_next_poll(expiry() + 24.hours()).due_at.is_some());
    assert!(expired.schedule_next_poll(expiry() + 25.hours()).due_at.is_none());
    assert!(deposit(DepositStatus::Confirming).schedule_next_poll(expiry() + 25.hours()).due_at.is_some());
}

proptest! {
    /// For any division of the coins into payments, the sums of gross, fee and coins are the same. Every centavo is
    /// credited once.
    #[test]
    fn division_into_payments_changes_no_sum(parts in prop::collection::vec(1_u128..7_400_000, 1..6)) {
        let coins = |units: u128| CryptoAmount::from_units(Currency::UsdtErc20, units).unwrap().to_string();
        let mut whole = deposit(DepositStatus::Pending);
        let mut credits = Money::ZERO;
        for (index, part) in parts.iter().enumerate() {
            let got = credited(whole, arrival(&index.to_string(), &coins(*part)));
            credits = Money::sum(got.transfers.iter().map(|transfer| transfer.amount).chain([credits])).unwrap();
            prop_assert!(got.transfers.iter().all(|transfer| transfer.amount.is_positive()));
            whole = got.deposit;
        }
        let once = credited(deposit(DepositStatus::Pending), arrival("1", &coins(parts.iter().sum())));
        prop_assert_eq!(sums(&whole), sums(&once.deposit));
        prop_assert_eq!(whole.credited.gross, credits);
    }
}
