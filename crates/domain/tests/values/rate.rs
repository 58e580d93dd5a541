//! Tests percentages: their limits, their text, and exact rounding.

use cais_domain::money::Money;
use cais_domain::rate::{Percentage, PercentageError, Rounding};
use proptest::prelude::*;

/// Creates a percentage from ten-thousandths of a percent.
pub fn percentage(ten_thousandths: u32) -> Percentage {
    Percentage::parse(&format!("{ten_thousandths}e-4")).unwrap()
}

#[test]
fn percentage_is_limited_by_value() {
    for (text, shown) in [
        ("0", "0"),
        ("0.99", "0.99"),
        ("100", "100"),
        ("100.0000", "100"),
        ("1e2", "100"),
        ("12.34560", "12.3456"),
        ("0.0001", "0.0001"),
        ("50.0", "50"),
    ] {
        assert_eq!(Percentage::parse(text).unwrap().to_string(), shown);
    }
    for (text, error) in [
        ("100.0001", PercentageError::OutOfRange),
        ("-0.0001", PercentageError::OutOfRange),
        ("101", PercentageError::OutOfRange),
        ("1000", PercentageError::OutOfRange),
        ("1e99999999999", PercentageError::OutOfRange),
        ("0.00001", PercentageError::TooManyDecimals),
        ("1e-9999", PercentageError::TooManyDecimals),
        ("1%", PercentageError::NotANumber),
        ("", PercentageError::NotANumber),
    ] {
        assert_eq!(Percentage::parse(text), Err(error), "{text}");
    }
    assert!(Percentage::zero().is_zero());
    assert_eq!(Percentage::parse("1.10"), Percentage::parse("1.1"));
}

#[test]
fn rounding_follows_its_name() {
    let half = percentage(500_000);
    for (centavos, rounding, expected) in [
        (1, Rounding::HalfEven, 0),
        (3, Rounding::HalfEven, 2),
        (5, Rounding::HalfEven, 2),
        (7, Rounding::HalfEven, 4),
        (-1, Rounding::HalfEven, 0),
        (-3, Rounding::HalfEven, -2),
        (1, Rounding::Floor, 0),
        (1, Rounding::Ceiling, 1),
        (-1, Rounding::Floor, -1),
        (-1, Rounding::Ceiling, 0),
        (i64::MAX, Rounding::Ceiling, i64::MAX / 2 + 1),
    ] {
        assert_eq!(
            half.of(Money::from_centavos(centavos), rounding),
            Ok(Money::from_centavos(expected)),
            "{centavos} {rounding:?}"
        );
    }
}

proptest! {
    #[test]
    fn percentage_agrees_with_integer_arithmetic(centavos in any::<i64>(), ten_thousandths in 0_u32..=1_000_000) {
        let product = i128::from(centavos) * i128::from(ten_thousandths);
        let floor = product.div_euclid(1_000_000);
        let rest = product.rem_euclid(1_000_000);
        let ceiling = floor + i128::from(rest > 0);
        let half_even = match rest.cmp(&500_000) {
            std::cmp::Ordering::Less => floor,
            std::cmp::Ordering::Equal => floor + floor.rem_euclid(2),
            std::cmp::Ordering::Greater => floor + 1,
        };
        for (rounding, expected) in [(Rounding::Floor, floor), (Rounding::Ceiling, ceiling), (Rounding::HalfEven, half_even)] {
            let found = percentage(ten_thousandths).of(Money::from_centavos(centavos), rounding).unwrap();
            prop_assert_eq!(i128::from(found.centavos()), expected);
        }
    }

    #[test]
    fn shown_value_parses_back(ten_thousandths in 0_u32..=1_000_000) {
        let read = percentage(ten_thousandths);
        let shown = read.to_string();
        let needless_zeros = shown.contains('.') && shown.ends_with('0');
        prop_assert!(!needless_zeros, "{}", shown);
        prop_assert!(!shown.contains(['e', 'E']), "{}", shown);
        prop_assert_eq!(Percentage::parse(&shown), Ok(read));
    }
}
