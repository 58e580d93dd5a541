//! Time-based one-time codes (TOTP, RFC 6238): six digits that change every 30 seconds.

use jiff::Timestamp;

/// The length of a time step in seconds: the default of RFC 6238, section 5.2.
pub const STEP_S: i64 = 30;
/// The accepted clock difference between the service and the authenticator, in steps.
const MAX_DRIFT_STEPS: i64 = 1;
/// The number of digits in a code.
const DIGITS: usize = 6;

/// A one-time code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code(pub u32);

impl Code {
    /// Parses six digits. Spaces are ignored, because authenticators show two groups of three digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits: String = text.chars().filter(|character| *character != ' ').collect();
        let is_code = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|_| is_code).map(Self)
    }
}

/// Returns the time step of an instant.
#[must_use]
pub fn step_at(now: Timestamp) -> i64 {
    now.as_second().div_euclid(STEP_S)
}

/// Returns the time step of `code` if the code is accepted, or `None`.
///
/// `code_at` computes the code of a step. A code is accepted if its step differs from the current step by at most one.
/// The step must also be after `last`, the step of the last used code. So each code is accepted once.
#[must_use]
pub fn accepted_step(now: Timestamp, last: Option<i64>, code: Code, code_at: impl Fn(i64) -> Code) -> Option<i64> {
    let present = step_at(now);
    (-MAX_DRIFT_STEPS..=MAX_DRIFT_STEPS)
        .map(|drift| present.saturating_add(drift))
        .filter(|step| last.is_none_or(|last| *step > last))
        .find(|step| code_at(*step) == code)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// Returns a code whose value is the number of its step.
    fn code_at(step: i64) -> Code {
        Code(u32::try_from(step).unwrap())
    }

    #[test]
    fn code_is_six_digits() {
        for (text, expected) in [
            ("012345", Some(12_345)),
            (" 123 456 ", Some(123_456)),
            ("12345", None),
            ("1234567", None),
            ("12345a", None),
            ("+12345", None),
            ("", None),
        ] {
            assert_eq!(Code::parse(text), expected.map(Code), "{text}");
        }
    }

    #[test]
    fn code_is_accepted_within_one_step_and_once() {
        let now = Timestamp::from_second(100 * STEP_S + 29).unwrap();
        for (step, last, expected) in [
            (98, None, None),
            (99, None, Some(99)),
            (100, None, Some(100)),
            (101, None, Some(101)),
            (102, None, None),
            (100, Some(99), Some(100)),
            (100, Some(100), None),
            (99, Some(100), None),
            (101, Some(100), Some(101)),
        ] {
            assert_eq!(accepted_step(now, last, code_at(step), code_at), expected, "{step} after {last:?}");
        }
    }
}
