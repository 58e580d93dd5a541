//! Random identifiers: tokens, locations, end-to-end and return ids.

use ring::rand::{SecureRandom, SystemRandom};

/// The ISPB (eight-digit code) of the simulated institution. No real participant of Pix has this code.
pub const ISPB: &str = "99999008";

/// The ISPB of every other simulated institution, such as that of the recipient of a sent Pix.
pub const OTHER_ISPB: &str = "99999009";

/// The number of characters at the end of an end-to-end id that an institution chooses.
const TAIL_LENGTH: usize = 11;

/// The characters of [`tail`].
const ALPHANUMERIC: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The operating system returned no random bytes.
#[derive(Debug, thiserror::Error)]
#[error("the operating system returned no random bytes")]
pub struct NoEntropy;

/// Returns sixteen random bytes.
///
/// # Errors
/// [`NoEntropy`] if the operating system returns none.
pub fn bytes() -> Result<[u8; 16], NoEntropy> {
    let mut bytes = [0_u8; 16];
    SystemRandom::new().fill(&mut bytes).map_err(|_| NoEntropy)?;
    Ok(bytes)
}

/// Returns 128 random bits as 32 hexadecimal characters.
///
/// # Errors
/// [`NoEntropy`].
pub fn hex() -> Result<String, NoEntropy> {
    Ok(format!("{:032x}", u128::from_be_bytes(bytes()?)))
}

/// Returns an EVP (random Pix key), a version 4 UUID in lower case.
///
/// # Errors
/// [`NoEntropy`].
pub fn evp() -> Result<String, NoEntropy> {
    Ok(uuid::Builder::from_random_bytes(bytes()?).into_uuid().to_string())
}

/// Returns the eleven alphanumerics that an institution chooses in an end-to-end or return id.
///
/// # Errors
/// [`NoEntropy`].
pub fn tail() -> Result<String, NoEntropy> {
    // 62^11 is below 2^66, so the bias of 128 random bits is negligible.
    let mut rest = u128::from_be_bytes(bytes()?);
    let mut tail = String::with_capacity(TAIL_LENGTH);
    for _ in 0..TAIL_LENGTH {
        let digit = usize::try_from(rest % 62).unwrap_or_default();
        tail.push(ALPHANUMERIC.get(digit).map_or('0', |byte| char::from(*byte)));
        rest /= 62;
    }
    Ok(tail)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn tails_have_eleven_alphanumerics_and_differ() {
        let one = tail().unwrap();
        assert_eq!(one.len(), TAIL_LENGTH);
        assert!(one.chars().all(|c| c.is_ascii_alphanumeric()));
        assert_ne!(one, tail().unwrap());
    }

    #[test]
    fn evp_is_a_lower_case_uuid() {
        let key = evp().unwrap();
        assert_eq!(key.len(), 36);
        assert_eq!(key, key.to_lowercase());
    }
}
