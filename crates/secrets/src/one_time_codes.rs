//! Time-based one-time codes (RFC 6238) with HMAC-SHA1, the function that every authenticator supports.

use cais_domain::login::Code;
use cais_ports::{OneTimeCodes, SigningSecret};
use ring::hmac;

/// The number of codes with six decimal digits.
const MODULUS: u32 = 1_000_000;

/// One-time codes with six digits, as authenticator apps show them.
#[derive(Debug, Clone, Copy, Default)]
pub struct TotpCodes;

impl OneTimeCodes for TotpCodes {
    fn code(&self, secret: &SigningSecret, step: i64) -> Code {
        Code(truncated(&secret.0, step).checked_rem(MODULUS).unwrap_or_default())
    }
}

/// Returns the hash of a time step of 30 s, truncated to 31 bits (RFC 4226, section 5.3).
fn truncated(secret: &[u8], step: i64) -> u32 {
    // HMAC with SHA-1 is safe here, because collisions of SHA-1 do not weaken an HMAC (RFC 6194, section 3.3).
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret);
    let tag = hmac::sign(&key, &step.to_be_bytes());
    let bytes = tag.as_ref();
    let offset = usize::from(bytes.last().copied().unwrap_or_default() & 0xf);
    let word = bytes.get(offset..).and_then(|rest| rest.first_chunk::<4>()).copied().unwrap_or_default();
    u32::from_be_bytes(word) & 0x7fff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of RFC 6238, appendix B, have eight digits and a secret of 20 bytes.
    #[test]
    fn codes_match_the_published_vectors() {
        for (second, expected) in [
            (59_i64, 94_287_082),
            (1_111_111_109, 7_081_804),
            (1_111_111_111, 14_050_471),
            (1_234_567_890, 89_005_924),
            (2_000_000_000, 69_279_037),
            (20_000_000_000, 65_353_130),
        ] {
            let code = truncated(b"12345678901234567890", second.div_euclid(30)) % 100_000_000;
            assert_eq!(code, expected, "{second}");
        }
    }
}
