//! Parses the text of a JSON number. `parse_scaled` returns a scaled integer in an `i64`, for money and percentages.
//! `read` returns an exact decimal, for rates and amounts of coins.

use std::str::FromStr as _;

use bigdecimal::BigDecimal;

/// The maximum length of the text of an exact decimal, in bytes. Real rates and amounts of coins are shorter.
const MAX_DECIMAL_LENGTH: usize = 80;
/// The maximum exponent of an exact decimal, positive or negative. Without a maximum, a calculation with `1e999999999`
/// could fill the memory.
const MAX_DECIMAL_EXPONENT: u64 = 40;

/// The reason why a text is not an accepted number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecimalError {
    /// The text violates the grammar of a JSON number (RFC 8259, section 6).
    NotANumber,
    /// The value has more decimals than allowed. Trailing zeros do not count.
    TooManyDecimals,
    /// The value has more integer digits than allowed.
    OutOfRange,
}

/// The parts of a JSON number as text.
struct Parts<'a> {
    negative: bool,
    integer: &'a str,
    fraction: &'a str,
    exponent: i64,
}

/// Parses `text` and returns its value multiplied by 10 to the power of `decimals`.
///
/// With two decimals, the texts `10.5`, `10.500` and `1050e-2` all return 1050. `max_integer_digits + decimals` must be
/// at most 18, so that every accepted value fits into an `i64`.
pub(crate) fn parse_scaled(text: &str, max_integer_digits: u32, decimals: u32) -> Result<i64, DecimalError> {
    let parts = split(text).ok_or(DecimalError::NotANumber)?;
    let digits = || parts.integer.bytes().chain(parts.fraction.bytes());
    let count = |range: usize| i64::try_from(range).unwrap_or(i64::MAX);

    let leading = digits().take_while(|digit| *digit == b'0').count();
    let trailing = digits().rev().take_while(|digit| *digit == b'0').count();
    let total = parts.integer.len().saturating_add(parts.fraction.len());
    if leading == total {
        return Ok(0);
    }
    let significant = total.saturating_sub(leading).saturating_sub(trailing);
    // The value is the integer of the significant digits, times 10 to the power of `power`.
    let power = parts.exponent.saturating_sub(count(parts.fraction.len())).saturating_add(count(trailing));
    if power.saturating_add(count(significant)) > i64::from(max_integer_digits) {
        return Err(DecimalError::OutOfRange);
    }
    if power < i64::from(decimals).saturating_neg() {
        return Err(DecimalError::TooManyDecimals);
    }
    let zeros = usize::try_from(power.saturating_add(i64::from(decimals))).unwrap_or(usize::MAX);
    let padding = std::iter::repeat_n(b'0', zeros);
    let magnitude = digits()
        .skip(leading)
        .take(significant)
        .chain(padding)
        .try_fold(0_i64, |value, digit| value.checked_mul(10)?.checked_add(i64::from(digit.checked_sub(b'0')?)))
        .ok_or(DecimalError::OutOfRange)?;
    Ok(if parts.negative { magnitude.saturating_neg() } else { magnitude })
}

/// Returns the exact value of `text`. Returns `None` if the text is not a JSON number, or if its length or exponent
/// exceeds the limit.
pub(crate) fn read(text: &str) -> Option<BigDecimal> {
    if text.len() > MAX_DECIMAL_LENGTH || split(text)?.exponent.unsigned_abs() > MAX_DECIMAL_EXPONENT {
        return None;
    }
    BigDecimal::from_str(text).ok()
}

/// Splits a JSON number into its parts. Returns `None` if the text violates the grammar.
fn split(text: &str) -> Option<Parts<'_>> {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
        None => (unsigned, 0),
    };
    let (integer, fraction) = match mantissa.split_once('.') {
        Some((integer, fraction)) => (integer, is_digits(fraction).then_some(fraction)?),
        None => (mantissa, ""),
    };
    let canonical = is_digits(integer) && (integer == "0" || !integer.starts_with('0'));
    canonical.then_some(Parts { negative, integer, fraction, exponent })
}

/// Returns the exponent. An exponent outside the range of `i64` is set to the nearest limit of `i64`. With such an
/// exponent, `parse_scaled` returns an error or zero, and `read` returns `None`.
fn parse_exponent(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if !is_digits(digits) {
        return None;
    }
    let magnitude = digits
        .bytes()
        .fold(0_i64, |value, digit| value.saturating_mul(10).saturating_add(i64::from(digit.saturating_sub(b'0'))));
    Some(if negative { magnitude.saturating_neg() } else { magnitude })
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
