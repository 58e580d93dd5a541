//! Tests of rates.

#![expect(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "a test fails by panicking")]

use jiff::ToSpan as _;
use proptest::prelude::*;

use super::*;

fn now() -> Timestamp {
    "2026-02-18T15:00:00Z".parse().unwrap()
}

fn rate(text: &str) -> Rate {
    Rate::parse(text).unwrap()
}

fn inputs(coin: &str, usd: &str, spread: &str) -> RateInputs {
    RateInputs {
        usdt_per_coin: rate(coin),
        coin_priced_at: now(),
        brl_per_usd: rate(usd),
        usd_priced_at: now(),
        spread: Percentage::parse(spread).unwrap(),
    }
}

#[test]
fn spread_lowers_deposits_and_raises_withdrawals() {
    let inputs = inputs("97123.45", "5.4321", "1");
    let rate = |side| inputs.rate(side, now()).unwrap().to_string();
    // The exact product is 527584.292745.
    assert_eq!([rate(Side::Deposit), rate(Side::Withdrawal)], ["522308.44981755", "532860.13567245"]);
}

#[test]
fn rate_is_rounded_down_for_deposits_and_up_for_withdrawals() {
    let inputs = inputs("0.333333333", "5.4321", "0");
    let rate = |side| inputs.rate(side, now()).unwrap().to_string();
    // The exact product is 1.8106999981893.
    assert_eq!([rate(Side::Deposit), rate(Side::Withdrawal)], ["1.81069999", "1.8107"]);
}

#[test]
fn old_or_future_price_gives_no_rate() {
    let at = |coin: SignedDuration, usd: SignedDuration| {
        let inputs = RateInputs {
            coin_priced_at: now().checked_add(coin).unwrap(),
            usd_priced_at: now().checked_add(usd).unwrap(),
            ..inputs("1", "5", "0")
        };
        inputs.rate(Side::Deposit, now()).map(|rate| rate.to_string())
    };
    let second = SignedDuration::from_secs(1);
    let (coin, usd) = (-MAX_COIN_PRICE_AGE, -MAX_USD_RATE_AGE);
    assert_eq!(at(coin, usd).as_deref(), Ok("5"));
    assert_eq!(at(coin - second, usd), Err(RateError::CoinPriceAge));
    assert_eq!(at(coin, usd - second), Err(RateError::UsdRateAge));
    assert_eq!(at(MAX_CLOCK_LEAD + second, usd), Err(RateError::CoinPriceAge));
    assert_eq!(at(coin, MAX_CLOCK_LEAD + second), Err(RateError::UsdRateAge));
}

#[test]
fn friday_rate_serves_until_ash_wednesday() {
    let friday = "2026-02-13T16:00:00Z".parse().unwrap();
    let wednesday = "2026-02-18T18:00:00Z".parse::<Timestamp>().unwrap();
    let inputs = RateInputs { coin_priced_at: wednesday, usd_priced_at: friday, ..inputs("1", "5", "0") };
    assert!(inputs.rate(Side::Deposit, wednesday).is_ok());
    assert!(inputs.rate(Side::Deposit, wednesday + 24.hours()).is_err());
}

#[test]
fn rate_of_zero_is_refused() {
    let inputs = inputs("0.000000001", "1", "0");
    assert_eq!(inputs.rate(Side::Deposit, now()), Err(RateError::Zero));
    assert_eq!(self::inputs("1", "5", "100").rate(Side::Deposit, now()), Err(RateError::Zero));
    for text in ["0", "-1", "", "abc", "1e-400"] {
        assert_eq!(Rate::parse(text), Err(InvalidRate), "{text}");
    }
}

#[test]
fn spread_is_a_percentage_of_at_most_ten() {
    for (text, accepted) in [("0", true), ("1.5", true), ("10", true), ("10.0001", false), ("-1", false), ("x", false)]
    {
        assert_eq!(parse_spread(text).is_ok(), accepted, "{text}");
    }
}

#[test]
fn rate_may_double_in_a_day_and_grow_fivefold_later() {
    let hours = SignedDuration::from_hours;
    for (age, next, allowed) in [
        (hours(0), "5", true),
        (hours(24), "10", true),
        (hours(24), "2.5", true),
        (hours(24), "10.01", false),
        (hours(24), "2.49", false),
        (hours(25), "10.01", true),
        (hours(25), "25", true),
        (hours(25), "1", true),
        (hours(25), "25.01", false),
        (hours(7 * 24), "0.99", false),
        (hours(7 * 24), "50", false),
        (hours(365 * 24), "25", true),
        (hours(365 * 24), "50", false),
    ] {
        assert_eq!(rate(next).may_follow(&rate("5"), age), allowed, "{age} {next}");
    }
}

#[test]
fn rate_is_near_the_expected_one_up_to_a_tenth() {
    for (present, is_near) in [("90", true), ("110", true), ("100", true), ("89.99999999", false), ("110.1", false)] {
        assert_eq!(rate(present).is_near(&rate("100")), is_near, "{present}");
    }
}

#[test]
fn coins_to_pay_in_round_up_and_paid_out_round_down() {
    let reais = Money::from_centavos(10_000);
    for (currency, rate_text, pay_in, paid_out) in [
        (Currency::Btc, "522308.44981755", "0.00019146", "0.000191"),
        (Currency::UsdtBsc, "3", "33.33333334", "33.333333"),
        (Currency::UsdtErc20, "3", "33.333334", "33.333333"),
        (Currency::Trx, "1.25", "80", "80"),
        (Currency::Ltc, "500000000000", "0.00000001", "0"),
    ] {
        let rate = rate(rate_text);
        let got = [coins_to_pay_in(reais, &rate, currency), coins_paid_out(reais, &rate, currency)];
        assert_eq!(got.map(|coins| coins.unwrap().to_string()), [pay_in, paid_out], "{currency}");
    }
}

#[test]
fn quotients_are_rounded_by_each_mode() {
    let divided = |value: &str, rounding| divide(&value.parse().unwrap(), &rate("4"), 0, rounding).to_string();
    for (value, [floor, nearest, ceiling]) in [
        ("5", ["1", "1", "2"]),
        ("6", ["1", "2", "2"]),
        ("7", ["1", "2", "2"]),
        ("10", ["2", "2", "3"]),
        ("8", ["2"; 3]),
    ] {
        assert_eq!(divided(value, Rounding::Floor), floor, "{value}");
        assert_eq!(divided(value, Rounding::HalfEven), nearest, "{value}");
        assert_eq!(divided(value, Rounding::Ceiling), ceiling, "{value}");
    }
}

#[test]
fn worth_of_coins_is_rounded_down() {
    let coins = |text| CryptoAmount::parse(Currency::Btc, text).unwrap();
    let worth = |text| worth_of_coins(coins(text), &rate("522308.44981755")).unwrap().to_string();
    assert_eq!([worth("0.00019146"), worth("0.00000001"), worth("0")], ["100.00", "0.00", "0.00"]);
}

proptest! {
    /// The coins to pay in are worth at least the amount. With one unit less they would be worth less than the amount.
    #[test]
    fn requested_coins_are_worth_the_amount(
        centavos in 1_i64..1_000_000_000_000,
        units in 1_u64..u64::MAX,
        index in 0..5_usize,
    ) {
        let currency = Currency::ALL.into_iter().nth(index).unwrap();
        let rate = Rate::new(&BigDecimal::new(BigInt::from(units), 8)).unwrap();
        let amount = Money::from_centavos(centavos);
        if let Ok(coins) = coins_to_pay_in(amount, &rate, currency) {
            prop_assert!(coins.to_decimal() * rate.as_decimal() >= reais(amount));
            let unit = BigDecimal::new(BigInt::from(1), i64::from(currency.deposit_decimals()));
            prop_assert!((coins.to_decimal() - unit) * rate.as_decimal() < reais(amount));
        }
    }

    /// The coins that are sent never cost more than the amount.
    #[test]
    fn paid_coins_never_cost_more_than_the_amount(centavos in 1_i64..1_000_000_000_000, units in 1_u64..u64::MAX, index in 0..5_usize) {
        let currency = Currency::ALL.into_iter().nth(index).unwrap();
        let rate = Rate::new(&BigDecimal::new(BigInt::from(units), 8)).unwrap();
        let amount = Money::from_centavos(centavos);
        if let Ok(coins) = coins_paid_out(amount, &rate, currency) {
            prop_assert!(coins.to_decimal() * rate.as_decimal() <= reais(amount));
        }
    }
}
