//! Tests amounts: only the value of a text counts, two decimals are written, and an overflow is an error.

use cais_domain::money::{Money, MoneyError};
use proptest::prelude::*;

fn check(text: &str, expected: Result<i64, MoneyError>) {
    assert_eq!(Money::parse(text).map(Money::centavos), expected, "{text:.40}");
}

#[test]
fn every_json_form_of_an_amount_is_accepted() {
    let zeros = "0".repeat(50_000);
    for (text, centavos) in [
        ("10", 1_000),
        ("10.5", 1_050),
        ("10.50", 1_050),
        ("10.500", 1_050),
        ("1e2", 10_000),
        ("1E+2", 10_000),
        ("1000e-2", 1_000),
        ("-3", -300),
        ("-0.05", -5),
        ("0", 0),
        ("-0", 0),
        ("0.000", 0),
        ("0e99999999999999999999", 0),
        ("0.01", 1),
        ("0.0001e2", 1),
        ("999999999999.99", 99_999_999_999_999),
        ("999999999999990e-3", 99_999_999_999_999),
    ] {
        check(text, Ok(centavos));
    }
    check(&format!("1{zeros}e-50000"), Ok(100));
    check(&format!("0.{zeros}1e50001"), Ok(100));
}

#[test]
fn invalid_amount_is_refused() {
    for text in ["10.505", "1e-9999", "1e-3", "0.001", "1e-99999999999999999999", "0.005"] {
        check(text, Err(MoneyError::TooManyDecimals));
    }
    for text in [
        "1000000000000",
        "1e12",
        "1e99999999999",
        "1e99999999999999999999999",
        "-1000000000000.00",
        "123456789012345678901234567890",
    ] {
        check(text, Err(MoneyError::OutOfRange));
    }
    for text in [
        "", "-", "+1", ".5", "1.", "01", "00", "1e", "1e+", "1e1.5", "--1", "1,5", " 1", "1 ", "NaN", "Infinity",
        "0x10", "\"10\"", "null", "1_0", "١٠", "1e--2", "-.5",
    ] {
        check(text, Err(MoneyError::NotANumber));
    }
}

#[test]
fn amount_shows_two_decimals() {
    for (centavos, text) in [
        (0, "0.00"),
        (-5, "-0.05"),
        (5, "0.05"),
        (1_050, "10.50"),
        (-1_050, "-10.50"),
        (i64::MIN, "-92233720368547758.08"),
    ] {
        assert_eq!(Money::from_centavos(centavos).to_string(), text);
    }
}

#[test]
fn arithmetic_that_does_not_fit_is_an_error() {
    let (max, min, one) = (Money::from_centavos(i64::MAX), Money::from_centavos(i64::MIN), Money::from_centavos(1));
    assert_eq!(max.checked_add(one), Err(MoneyError::OutOfRange));
    assert_eq!(min.checked_sub(one), Err(MoneyError::OutOfRange));
    assert_eq!(min.checked_neg(), Err(MoneyError::OutOfRange));
    assert_eq!(Money::sum([max, one]), Err(MoneyError::OutOfRange));
    assert_eq!(Money::sum([]), Ok(Money::ZERO));
    assert_eq!(Money::sum([one, one, one.checked_neg().unwrap()]), Ok(one));
    assert!(Money::ZERO.is_zero() && one.is_positive() && min.is_negative());
}

proptest! {
    #[test]
    fn shown_value_parses_back(centavos in -99_999_999_999_999_i64..=99_999_999_999_999) {
        let money = Money::from_centavos(centavos);
        prop_assert_eq!(Money::parse(&money.to_string()), Ok(money));
    }

    #[test]
    fn only_the_value_counts(centavos in -99_999_999_999_999_i64..=99_999_999_999_999, shift in 0_usize..40) {
        let money = Money::from_centavos(centavos);
        prop_assert_eq!(Money::parse(&format!("{centavos}e-2")), Ok(money));
        prop_assert_eq!(Money::parse(&format!("{money}{}", "0".repeat(shift))), Ok(money));
        prop_assert_eq!(Money::parse(&format!("{centavos}{}e-{}", "0".repeat(shift), shift + 2)), Ok(money));
    }

    #[test]
    fn third_decimal_is_never_lost(whole in 0_u32.., thousandths in 0_u32..1000) {
        let read = Money::parse(&format!("{whole}.{thousandths:03}"));
        if thousandths % 10 == 0 {
            prop_assert_eq!(read, Ok(Money::from_centavos(i64::from(whole) * 100 + i64::from(thousandths / 10))));
        } else {
            prop_assert_eq!(read, Err(MoneyError::TooManyDecimals));
        }
    }

    #[test]
    fn no_text_panics(text in ".{0,40}", number in "-?[0-9]{0,25}(\\.[0-9]{0,25})?([eE][+-]?[0-9]{0,25})?") {
        let _ = Money::parse(&text);
        let _ = Money::parse(&number);
    }

    #[test]
    fn addition_and_subtraction_are_inverse(a in any::<i64>(), b in any::<i64>()) {
        let (a, b) = (Money::from_centavos(a), Money::from_centavos(b));
        if let Ok(sum) = a.checked_add(b) {
            prop_assert_eq!(sum.checked_sub(b), Ok(a));
            prop_assert_eq!(Money::sum([a, b]), Ok(sum));
        }
    }
}
