//! Exact decimal amounts of coins and fiat currencies. No amount is ever a float.

use std::{
    fmt,
    ops::{Add, Mul, Sub},
    str::FromStr,
};

use bigdecimal::{BigDecimal, RoundingMode, Signed, Zero};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::value::RawValue;

/// The longest accepted text, in bytes. 38 digits with a point and an exponent fit.
const MAX_LENGTH: usize = 64;

/// The largest absolute value of an exponent in a request. Amounts on a chain need smaller exponents.
const MAX_EXPONENT: u32 = 40;

/// The number of significant digits that a JavaScript number always keeps.
const SAFE_DIGITS: u64 = 15;

/// An exact decimal. [`Amount::parse`] refuses negative values, but a balance may become negative.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount(BigDecimal);

impl Amount {
    /// Parses the text of a non-negative number in the notation of JSON, which permits an exponent.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let power = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let bounded = digits(power) && power.parse::<u32>().is_ok_and(|power| power <= MAX_EXPONENT);
        if text.len() > MAX_LENGTH || !digits(integer) || !digits(fraction) || !bounded {
            return None;
        }
        BigDecimal::from_str(text).ok().map(Self)
    }

    /// Parses a text from the source code. Returns zero for a text that is not an amount.
    #[must_use]
    pub fn constant(text: &'static str) -> Self {
        Self::parse(text).unwrap_or_default()
    }

    /// Returns whether the amount is above zero.
    #[must_use]
    pub fn is_positive(&self) -> bool {
        self.0.is_positive()
    }

    /// Returns the amount with `decimals` decimals, rounded away from zero.
    #[must_use]
    pub fn round_up(&self, decimals: u32) -> Self {
        Self(self.0.with_scale_round(i64::from(decimals), RoundingMode::Up))
    }

    /// Returns the amount with `decimals` decimals, rounded towards zero.
    #[must_use]
    pub fn round_down(&self, decimals: u32) -> Self {
        Self(self.0.with_scale_round(i64::from(decimals), RoundingMode::Down))
    }

    /// Returns the quotient with at most a hundred significant digits; `None` for a divisor of zero.
    #[must_use]
    pub fn divided_by(&self, divisor: &Self) -> Option<Self> {
        (!divisor.0.is_zero()).then(|| Self(&self.0 / &divisor.0))
    }

    /// Returns the number of decimals. Zeros at the end do not count.
    #[must_use]
    pub fn decimals(&self) -> i64 {
        let (_, scale) = self.0.normalized().into_bigint_and_exponent();
        scale.max(0)
    }

    /// Returns the amount in the notation of JavaScript's numbers, but with every digit.
    #[must_use]
    pub fn javascript(&self) -> String {
        layout(&self.0)
    }

    /// Returns the amount in the notation of JavaScript's numbers, rounded to 15 significant digits.
    #[must_use]
    pub fn javascript_rounded(&self) -> String {
        layout(&self.0.with_prec(SAFE_DIGITS))
    }
}

/// Formats a decimal by the rules of ECMAScript's `Number::toString`.
fn layout(value: &BigDecimal) -> String {
    let (number, scale) = value.normalized().into_bigint_and_exponent();
    let digits = number.magnitude().to_string();
    let sign = if number.is_negative() { "-" } else { "" };
    let length = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    // The number of digits before the decimal point. If zero or negative, the value is below one.
    let point = length.saturating_sub(scale);
    let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or_default());
    let split = |at: i64| digits.split_at(usize::try_from(at).unwrap_or_default().min(digits.len()));
    if number.is_zero() {
        "0".to_owned()
    } else if (length..=21).contains(&point) {
        format!("{sign}{digits}{}", zeros(point - length))
    } else if (1..=21).contains(&point) {
        let (integer, fraction) = split(point);
        format!("{sign}{integer}.{fraction}")
    } else if (-5..=0).contains(&point) {
        format!("{sign}0.{}{digits}", zeros(-point))
    } else {
        let (first, rest) = split(1);
        let mark = if rest.is_empty() { "" } else { "." };
        format!("{sign}{first}{mark}{rest}e{:+}", point - 1)
    }
}

impl fmt::Display for Amount {
    /// Writes plain decimals without zeros at the end and without an exponent.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.normalized().to_plain_string())
    }
}

impl Add for &Amount {
    type Output = Amount;

    fn add(self, other: Self) -> Amount {
        Amount(&self.0 + &other.0)
    }
}

impl Sub for &Amount {
    type Output = Amount;

    fn sub(self, other: Self) -> Amount {
        Amount(&self.0 - &other.0)
    }
}

impl Mul for &Amount {
    type Output = Amount;

    fn mul(self, other: Self) -> Amount {
        Amount(&self.0 * &other.0)
    }
}

/// Writes the amount as a string of plain decimals, for the state file and the ledger.
impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        BigDecimal::from_str(&text).map(Self).map_err(de::Error::custom)
    }
}

/// The wire form of an amount in an answer.
#[derive(Clone, Debug)]
pub enum Wire<'a> {
    /// A JSON number with every digit; see [`Amount::javascript`].
    Number(&'a Amount),
    /// A JSON number with at most 15 significant digits; see [`Amount::javascript_rounded`].
    Rounded(&'a Amount),
    /// A JSON string.
    Text(&'a Amount),
}

impl Serialize for Wire<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number = match self {
            Self::Text(amount) => return serializer.collect_str(amount),
            Self::Number(amount) => amount.javascript(),
            Self::Rounded(amount) => amount.javascript_rounded(),
        };
        RawValue::from_string(number).map_err(ser::Error::custom)?.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn number_has_the_layout_of_javascript() {
        let cases = [
            ("100.0", "100"),
            ("0.000001", "0.000001"),
            ("0.00000010", "1e-7"),
            ("0.000000123", "1.23e-7"),
            ("1e16", "10000000000000000"),
            ("123456.10", "123456.1"),
            ("1e21", "1e+21"),
            ("100000000000000000000", "100000000000000000000"),
            ("12.5e21", "1.25e+22"),
            ("0", "0"),
            ("0.5", "0.5"),
        ];
        for (text, expected) in cases {
            assert_eq!(Amount::parse(text).unwrap().javascript(), expected, "{text}");
        }
    }

    #[test]
    fn rounded_number_has_fifteen_digits() {
        let amount = Amount::parse("1000000.000000000000000001").unwrap();
        assert_eq!(amount.javascript(), "1000000.000000000000000001");
        assert_eq!(amount.javascript_rounded(), "1000000");
        assert_eq!(Amount::parse("0.12345678901234567").unwrap().javascript_rounded(), "0.123456789012346");
    }

    #[test]
    fn text_that_is_no_amount_is_refused() {
        for text in ["", "-1", "+1", ".5", "1.", "1e", "1e99", "NaN", "1_0", "0x1", " 1", "1,5", &"9".repeat(65)] {
            assert_eq!(Amount::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn rounding_moves_in_its_direction() {
        let amount = Amount::parse("1.0000001").unwrap();
        assert_eq!(amount.round_up(6).to_string(), "1.000001");
        assert_eq!(amount.round_down(6).to_string(), "1");
        assert_eq!(amount.decimals(), 7);
        assert_eq!(Amount::parse("100").unwrap().decimals(), 0);
    }
}
