//! A JSON number that is compared by its value: `10`, `10.0` and `1e1` are equal.

use std::fmt;

/// A number in its normal form: a sign, digits without zeros at either end, and a power of ten. Zero has no digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Number {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Number {
    /// Reads the text of a valid JSON number. Exponents beyond 64 bits are clamped.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let (negative, unsigned) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{integer}{fraction}");
        let without_tail = all.trim_end_matches('0');
        let zeros = all.len().saturating_sub(without_tail.len());
        let digits = without_tail.trim_start_matches('0').to_owned();
        if digits.is_empty() {
            return Self { negative: false, digits, exponent: 0 };
        }
        let exponent = parse_exponent(exponent).saturating_sub(length(fraction.len())).saturating_add(length(zeros));
        Self { negative, digits, exponent }
    }

    /// Returns the number as an integer. Returns `None` if the number has decimals, or if its magnitude exceeds
    /// [`i64::MAX`].
    #[must_use]
    pub fn to_i64(&self) -> Option<i64> {
        if self.digits.is_empty() {
            return Some(0);
        }
        let power = u32::try_from(self.exponent).ok().and_then(|exponent| 10_i64.checked_pow(exponent))?;
        let magnitude = self.digits.parse::<i64>().ok()?.checked_mul(power)?;
        Some(if self.negative { magnitude.saturating_neg() } else { magnitude })
    }
}

fn length(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn parse_exponent(text: &str) -> i64 {
    let beyond = if text.starts_with('-') { i64::MIN } else { i64::MAX };
    text.parse().unwrap_or(beyond)
}

/// The canonical form, which is equal for all texts of the same value.
impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.digits.is_empty() {
            return formatter.write_str("0");
        }
        let sign = if self.negative { "-" } else { "" };
        write!(formatter, "{sign}{}e{}", self.digits, self.exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::Number;

    #[test]
    fn texts_of_one_value_are_written_alike() {
        for texts in [
            &["10", "10.0", "1e1", "1E+1", "100e-1", "0.1e2", "10.000"][..],
            &["0", "-0", "0.00", "0e99999999999999999999", "-0.0e5"],
            &["-2.5", "-25e-1", "-0.25e1"],
            &["10.01", "1001e-2"],
        ] {
            let forms: Vec<_> = texts.iter().map(|text| Number::of(text).to_string()).collect();
            assert!(forms.windows(2).all(|pair| pair.first() == pair.last()), "{texts:?} became {forms:?}");
        }
    }

    #[test]
    fn different_values_are_written_differently() {
        let texts = ["1", "-1", "10", "1.01", "0", "0.1", "1e-2", "1e99999999999999999999"];
        let forms: std::collections::BTreeSet<_> = texts.iter().map(|text| Number::of(text).to_string()).collect();
        assert_eq!(forms.len(), texts.len(), "{forms:?}");
    }

    #[test]
    fn integers_are_recognized_by_value() {
        for (text, expected) in [
            ("3600", Some(3600)),
            ("3.6e3", Some(3600)),
            ("3600.0", Some(3600)),
            ("-60", Some(-60)),
            ("0.0", Some(0)),
            ("60.5", None),
            ("1e19", None),
            ("9223372036854775808", None),
            ("1e99999999999999999999", None),
        ] {
            assert_eq!(Number::of(text).to_i64(), expected, "{text}");
        }
    }
}
