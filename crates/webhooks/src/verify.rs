//! Verifies a webhook as its receiver does: checks the signature over the raw body, and the age of the attempt. The
//! comparison of signatures takes constant time.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cais_ports::secret_cipher::SigningSecret;
use jiff::{SignedDuration, Timestamp};
use ring::hmac;

use crate::signing::{VERSION, signed_content};

/// The tolerated difference of clocks in both directions, as in the libraries of Standard Webhooks.
pub const TOLERANCE: SignedDuration = SignedDuration::from_mins(5);
/// The largest number of signatures that are checked. The limit is needed because each check reads the whole body. An
/// honest sender adds only one signature per valid secret.
const MAX_ENTRIES: usize = 16;

/// A received webhook.
#[derive(Debug, Clone, Copy)]
pub struct Received<'a> {
    /// The header `webhook-id`.
    pub id: &'a str,
    /// The header `webhook-timestamp`.
    pub timestamp: &'a str,
    /// The header `webhook-signature`.
    pub signature: &'a str,
    /// The raw bytes of the body.
    pub body: &'a [u8],
}

/// The reason a webhook is not authentic. Messages are safe to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// The timestamp is not a whole number of seconds.
    #[error("the timestamp is not a whole number of seconds since 1970")]
    Timestamp,
    /// The timestamp is too far in the past, so the webhook may be a replay.
    #[error("the timestamp is too old")]
    TooOld,
    /// The timestamp is too far in the future, so the clocks differ by more than the tolerance.
    #[error("the timestamp is in the future")]
    TooNew,
    /// The header has no signature of version `v1` in valid base64.
    #[error("the `v1` signature is missing")]
    Missing,
    /// No signature matches: each was made with another secret, or over another body, id or timestamp.
    #[error("no signature matches")]
    Mismatch,
}

/// Verifies that the webhook is signed with one of the secrets, and that its timestamp differs from `now` by at most
/// `tolerance`, usually [`TOLERANCE`].
///
/// # Errors
/// [`VerifyError`].
pub fn verify(
    secrets: &[SigningSecret],
    received: &Received<'_>,
    now: Timestamp,
    tolerance: SignedDuration,
) -> Result<(), VerifyError> {
    // The signature covers the text of the timestamp, not its value. Only digits are accepted, because other parsers
    // may read `+5` or ` 5` as another value.
    if !received.timestamp.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(VerifyError::Timestamp);
    }
    let at_s: i64 = received.timestamp.parse().map_err(|_| VerifyError::Timestamp)?;
    let age_s = now.as_second().saturating_sub(at_s);
    if age_s > tolerance.as_secs() {
        return Err(VerifyError::TooOld);
    }
    if age_s < tolerance.as_secs().saturating_neg() {
        return Err(VerifyError::TooNew);
    }
    let entries: Vec<Vec<u8>> = received
        .signature
        .split(' ')
        .filter_map(|entry| entry.split_once(','))
        .filter(|(version, _)| *version == VERSION)
        .take(MAX_ENTRIES)
        .filter_map(|(_, encoded)| STANDARD.decode(encoded).ok())
        .collect();
    if entries.is_empty() {
        return Err(VerifyError::Missing);
    }
    let content = signed_content(received.id, received.timestamp, received.body);
    let matches = secrets.iter().any(|secret| {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &secret.0);
        // `hmac::verify` compares in constant time.
        entries.iter().any(|entry| hmac::verify(&key, &content, entry).is_ok())
    });
    if matches { Ok(()) } else { Err(VerifyError::Mismatch) }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use cais_ports::secret_cipher::SigningSecret;
    use jiff::Timestamp;
    use proptest::prelude::{any, proptest};

    use super::{Received, TOLERANCE, VerifyError, verify};
    use crate::signing::signatures;

    const AT_S: i64 = 1_760_000_000;
    const ID: &str = "evt_01J9ZK3V7Q8R5T2W4X6Y8Z0ABC";
    const BODY: &[u8] = br#"{"a":1}"#;

    fn secret(byte: u8) -> SigningSecret {
        SigningSecret([byte; 32])
    }

    fn verify_at(secrets: &[SigningSecret], timestamp: &str, signature: &str, now_s: i64) -> Result<(), VerifyError> {
        let received = Received { id: ID, timestamp, signature, body: BODY };
        verify(secrets, &received, Timestamp::from_second(now_s).unwrap(), TOLERANCE)
    }

    #[test]
    fn webhook_is_verified_by_each_of_its_secrets() {
        let signature = signatures(&[secret(1), secret(2)], ID, AT_S, BODY);
        let timestamp = AT_S.to_string();
        for secrets in [&[secret(1)][..], &[secret(2)], &[secret(3), secret(2)]] {
            assert_eq!(verify_at(secrets, &timestamp, &signature, AT_S), Ok(()));
        }
        assert_eq!(verify_at(&[secret(3)], &timestamp, &signature, AT_S), Err(VerifyError::Mismatch));
        assert_eq!(verify_at(&[], &timestamp, &signature, AT_S), Err(VerifyError::Mismatch));
    }

    #[test]
    fn timestamp_has_a_tolerance_in_both_directions() {
        let signature = signatures(&[secret(1)], ID, AT_S, BODY);
        for (now_s, wanted) in [
            (AT_S - 301, Err(VerifyError::TooNew)),
            (AT_S - 300, Ok(())),
            (AT_S + 300, Ok(())),
            (AT_S + 301, Err(VerifyError::TooOld)),
        ] {
            assert_eq!(verify_at(&[secret(1)], &AT_S.to_string(), &signature, now_s), wanted, "{}", now_s - AT_S);
        }
    }

    #[test]
    fn broken_header_has_its_own_error() {
        let signature = signatures(&[secret(1)], ID, AT_S, BODY);
        for timestamp in ["", "soon", "1760000000.5", "+1760000000", " 1760000000", "99999999999999999999"] {
            let found = verify_at(&[secret(1)], timestamp, &signature, AT_S);
            assert_eq!(found, Err(VerifyError::Timestamp), "{timestamp}");
        }
        let encoded = signature.strip_prefix("v1,").unwrap();
        for (text, wanted) in [
            (String::new(), VerifyError::Missing),
            (encoded.to_owned(), VerifyError::Missing),
            (format!("v1a,{encoded}"), VerifyError::Missing),
            ("v1,not base64".to_owned(), VerifyError::Missing),
            ("v1,".to_owned(), VerifyError::Mismatch),
            ("v1,AAAA".to_owned(), VerifyError::Mismatch),
        ] {
            assert_eq!(verify_at(&[secret(1)], &AT_S.to_string(), &text, AT_S), Err(wanted), "{text}");
        }
        let among_others = format!("v1a,{encoded} v1,AAAA v2 {signature}");
        assert_eq!(verify_at(&[secret(1)], &AT_S.to_string(), &among_others, AT_S), Ok(()));
    }

    #[test]
    fn checked_signatures_are_limited() {
        let signature = signatures(&[secret(1)], ID, AT_S, BODY);
        let flood = |entries: usize| format!("{}{signature}", "v1,AAAA ".repeat(entries));
        assert_eq!(verify_at(&[secret(1)], &AT_S.to_string(), &flood(15), AT_S), Ok(()));
        assert_eq!(verify_at(&[secret(1)], &AT_S.to_string(), &flood(16), AT_S), Err(VerifyError::Mismatch));
    }

    proptest! {
        #[test]
        fn changed_byte_is_detected(key in any::<[u8; 32]>(), body in proptest::collection::vec(any::<u8>(), 1..200), place in any::<proptest::sample::Index>(), flip in 1_u8..) {
            let secrets = [SigningSecret(key)];
            let now = Timestamp::from_second(AT_S).unwrap();
            let timestamp = AT_S.to_string();
            let signature = signatures(&secrets, ID, AT_S, &body);
            let verify_with = |id: &str, timestamp: &str, body: &[u8]| {
                verify(&secrets, &Received { id, timestamp, signature: &signature, body }, now, TOLERANCE)
            };
            assert_eq!(verify_with(ID, &timestamp, &body), Ok(()));
            assert_eq!(verify_with("evt_other", &timestamp, &body), Err(VerifyError::Mismatch));
            assert_eq!(verify_with(ID, &(AT_S + 1).to_string(), &body), Err(VerifyError::Mismatch));
            let mut other = body.clone();
            *other.get_mut(place.index(body.len())).unwrap() ^= flip;
            assert_eq!(verify_with(ID, &timestamp, &other), Err(VerifyError::Mismatch));
        }
    }
}
