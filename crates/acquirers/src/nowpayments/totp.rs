//! Codes that verify withdrawals, each valid once (RFC 6238 with its defaults: HMAC-SHA1, six digits, 30 s).

use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use ring::hmac;

/// The life of a code, in seconds. The time is divided into steps of this length, and each step has one code.
const STEP_S: i64 = 30;
/// The number of possible codes: a code has six digits.
const CODES: u32 = 1_000_000;
/// The shortest accepted secret, in bytes: 80 bits, which many services use. RFC 4226 (section 4) requires 128 bits.
const MIN_SECRET_BYTES: usize = 10;

/// The codes of one secret. Each code is returned once per process, because the processor accepts a code only once.
#[derive(Debug)]
pub(super) struct OneTimeCodes {
    key: hmac::Key,
    last_step: Mutex<Option<u64>>,
}

impl OneTimeCodes {
    /// Creates the codes of a secret in base32; `None` for an invalid or too short secret.
    pub(super) fn new(base32: &str) -> Option<Self> {
        let secret = decode_base32(base32)?;
        let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &secret);
        (secret.len() >= MIN_SECRET_BYTES).then(|| Self { key, last_step: Mutex::default() })
    }

    /// Returns the code for the instant `at`. Returns `None` if the code of the same step, or of a later step, was returned before.
    pub(super) fn take(&self, at: Timestamp) -> Option<String> {
        let step = u64::try_from(at.as_second().div_euclid(STEP_S)).ok()?;
        // Each change is one assignment, so the lock's poison can be ignored.
        let mut last = self.last_step.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_some_and(|last| step <= last) {
            return None;
        }
        *last = Some(step);
        self.code(step)
    }

    fn code(&self, step: u64) -> Option<String> {
        let tag = hmac::sign(&self.key, &step.to_be_bytes());
        let offset = usize::from(tag.as_ref().last()? & 0x0F);
        let bytes = tag.as_ref().get(offset..)?.first_chunk::<4>()?;
        let number = u32::from_be_bytes(*bytes) & 0x7FFF_FFFF;
        Some(format!("{:06}", number.checked_rem(CODES)?))
    }
}

/// Decodes base32 (RFC 4648, section 6) in upper or lower case. Blanks and padding are ignored, because services show secrets with them.
fn decode_base32(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0_u32);
    for character in text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        let value = match character.to_ascii_uppercase() {
            letter @ b'A'..=b'Z' => letter.checked_sub(b'A')?,
            digit @ b'2'..=b'7' => digit.checked_sub(b'2')?.checked_add(26)?,
            _ => return None,
        };
        bits = ((bits << 5) | u32::from(value)) & 0xFFFF;
        count = count.saturating_add(5);
        if count >= 8 {
            count = count.saturating_sub(8);
            bytes.push(u8::try_from((bits >> count) & 0xFF).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::{OneTimeCodes, decode_base32};

    /// The secret of RFC 6238, appendix B.
    const SECRET: &str = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap_or_default()
    }

    #[test]
    fn codes_are_those_of_rfc_6238() {
        for (second, wanted) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            let code = OneTimeCodes::new(SECRET).and_then(|codes| codes.take(at(second)));
            assert_eq!(code.as_deref(), Some(wanted), "{second}");
        }
    }

    #[test]
    fn code_of_a_step_is_returned_once() {
        let codes = OneTimeCodes::new(SECRET);
        let mut taken = Vec::new();
        for second in [30, 59, 45, 60, 31, 89, 90] {
            taken.push(codes.as_ref().and_then(|codes| codes.take(at(second))).is_some());
        }
        assert_eq!(taken, [true, false, false, true, false, false, true]);
    }

    #[test]
    fn secret_is_decoded_as_in_rfc_4648() {
        for (text, wanted) in [
            ("MZXW6YTBOI======", Some("foobar")),
            ("mzxw 6ytb oi", Some("foobar")),
            ("MZXQ", Some("fo")),
            ("MZXW6YT1", None),
            ("MZXW6YT0", None),
            ("", Some("")),
        ] {
            assert_eq!(decode_base32(text).as_deref(), wanted.map(str::as_bytes), "{text}");
        }
        assert!(OneTimeCodes::new("MZXW6YTBOI").is_none() && OneTimeCodes::new("!").is_none());
    }
}
