//! Time-based codes (RFC 6238 with SHA-1, six digits and steps of 30 seconds) for the verification of payouts.

use jiff::Timestamp;
use ring::hmac;

/// The length of a key in bytes, equal to the length of a SHA-1 hash.
pub const KEY_LENGTH: usize = 20;

/// The length of a step in seconds. Each step has its own code.
const STEP_S: i64 = 30;

const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Returns the code of one step. With `steps` 0 this is the step at `at`, with -1 the step before it, and with 1 the step after it.
#[must_use]
pub fn code(key: &[u8], at: Timestamp, steps: i64) -> String {
    let counter = at.as_second().div_euclid(STEP_S).saturating_add(steps);
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, key);
    let tag = hmac::sign(&key, &counter.to_be_bytes());
    let byte = |position: usize| tag.as_ref().get(position).copied().map_or(0, u32::from);
    let offset = tag.as_ref().last().map_or(0, |last| usize::from(last & 0x0f));
    let number = (0..4).fold(0_u32, |number, position| (number << 8) | byte(offset + position));
    format!("{:06}", (number & 0x7fff_ffff) % 1_000_000)
}

/// Returns whether the code `given` belongs to the step at `at` or to an adjacent step.
#[must_use]
pub fn is_valid(key: &[u8], at: Timestamp, given: &str) -> bool {
    [-1, 0, 1].into_iter().any(|steps| code(key, at, steps) == given)
}

/// Returns bytes in base32 without padding.
#[must_use]
pub fn base32(bytes: &[u8]) -> String {
    let digit = |group: &[u8], position: usize| {
        let bits = group.iter().fold(0_u64, |bits, byte| (bits << 8) | u64::from(*byte));
        let bits = bits << (8 * (5 - group.len()));
        let index = usize::try_from((bits >> (35 - 5 * position)) & 31).unwrap_or_default();
        ALPHABET.get(index).copied().map_or('A', char::from)
    };
    bytes
        .chunks(5)
        .flat_map(|group| (0..(group.len() * 8).div_ceil(5)).map(move |position| digit(group, position)))
        .collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    /// The key of RFC 6238, appendix B.
    const KEY: &[u8; 20] = b"12345678901234567890";

    #[test]
    fn code_equals_the_vectors_of_the_rfc() {
        let cases = [(59, "287082"), (1_111_111_109, "081804"), (1_234_567_890, "005924"), (20_000_000_000, "353130")];
        for (second, expected) in cases {
            let at = Timestamp::from_second(second).unwrap();
            assert_eq!(code(KEY, at, 0), expected);
            assert!(is_valid(KEY, at, expected));
            assert!(is_valid(KEY, Timestamp::from_second(second + STEP_S).unwrap(), expected));
            assert!(!is_valid(KEY, Timestamp::from_second(second + 2 * STEP_S).unwrap(), expected));
        }
    }

    #[test]
    fn base32_equals_the_vectors_of_the_rfc() {
        for (bytes, expected) in
            [("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"), ("fooba", "MZXW6YTB")]
        {
            assert_eq!(base32(bytes.as_bytes()), expected);
        }
        assert_eq!(base32(KEY), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
    }
}
