//! Signatures of Standard Webhooks, version `v1`, and the text form of their secrets.
//!
//! The signature is the HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`. A signature is valid for one attempt
//! only, because the content includes the time of the attempt.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cais_ports::secret_cipher::{SECRET_PREFIX, SigningSecret};
use ring::hmac;

/// The header with the event's identifier, which is the same for all attempts.
pub const ID_HEADER: &str = "webhook-id";
/// The header with the instant of the attempt, in whole seconds since 1970.
pub const TIMESTAMP_HEADER: &str = "webhook-timestamp";
/// The header with the signatures. A blank separates them.
pub const SIGNATURE_HEADER: &str = "webhook-signature";
/// The version of the signatures. In the header each signature has the form `v1,<base64>`.
pub(crate) const VERSION: &str = "v1";

/// The reason a text is not a signing secret. Messages are safe to show and do not repeat the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// The prefix is missing.
    #[error("a signing secret begins with `{SECRET_PREFIX}`")]
    Prefix,
    /// The text after the prefix is not base64.
    #[error("a signing secret is standard base64 after its prefix")]
    Encoding,
    /// The secret does not have 32 bytes.
    #[error("a signing secret has 32 bytes")]
    Length,
}

/// Parses the text of a secret.
///
/// # Errors
/// [`SecretError`].
pub fn parse_secret(text: &str) -> Result<SigningSecret, SecretError> {
    let encoded = text.strip_prefix(SECRET_PREFIX).ok_or(SecretError::Prefix)?;
    let bytes = STANDARD.decode(encoded).map_err(|_| SecretError::Encoding)?;
    bytes.try_into().map(SigningSecret).map_err(|_| SecretError::Length)
}

/// Returns the value of [`SIGNATURE_HEADER`]: one `v1,…` per secret, in order.
///
/// `id` is the value of [`ID_HEADER`]. `at_s` is the value of [`TIMESTAMP_HEADER`], in whole seconds since 1970.
#[must_use]
pub fn signatures(secrets: &[SigningSecret], id: &str, at_s: i64, body: &[u8]) -> String {
    let content = signed_content(id, &at_s.to_string(), body);
    let entries: Vec<_> = secrets.iter().map(|secret| entry(&secret.0, &content)).collect();
    entries.join(" ")
}

fn entry(key: &[u8], content: &[u8]) -> String {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), content);
    format!("{VERSION},{}", STANDARD.encode(tag))
}

/// Returns the bytes over which a signature is made. `timestamp` must be the exact text of [`TIMESTAMP_HEADER`].
pub(crate) fn signed_content(id: &str, timestamp: &str, body: &[u8]) -> Vec<u8> {
    [id.as_bytes(), timestamp.as_bytes(), body].join(&b'.')
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use cais_ports::secret_cipher::SigningSecret;
    use proptest::prelude::{any, proptest};
    use standardwebhooks::Webhook;

    use super::{SecretError, entry, parse_secret, signatures, signed_content};

    const KEY: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const OLD_KEY: &str = "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";
    const ID: &str = "evt_01J9ZK3V7Q8R5T2W4X6Y8Z0ABC";
    const AT_S: i64 = 1_760_000_000;
    const BODY: &str = r#"{"id":"evt_01J9ZK3V7Q8R5T2W4X6Y8Z0ABC","type":"charge.paid","timestamp":"2025-10-09T08:53:20.000Z","data":{"charge_id":"ch_123","amount":1050,"currency":"BRL","note":"ação ✓"}}"#;
    const SIGNED: &str = "v1,imYEamsUXo1XLjM+4DYzZGFaTHnjoQZ7KSf+gkaZ6XA=";
    const SIGNED_BY_OLD: &str = "v1,8fHgbi1sJkuit807/MvGaqFQH+CkUEM2+3I5mDZLEOw=";

    #[test]
    fn signature_matches_another_implementation() {
        assert_eq!(BODY.len(), 180);
        let (key, old) = (parse_secret(KEY).unwrap(), parse_secret(OLD_KEY).unwrap());
        assert_eq!(signatures(std::slice::from_ref(&key), ID, AT_S, BODY.as_bytes()), SIGNED);
        assert_eq!(signatures(&[key, old], ID, AT_S, BODY.as_bytes()), format!("{SIGNED} {SIGNED_BY_OLD}"));
        assert_eq!(signatures(&[], ID, AT_S, BODY.as_bytes()), "");
    }

    /// The test vector of the Standard Webhooks libraries. Its key is shorter than the secrets of this service.
    #[test]
    fn signature_matches_the_published_vector() {
        let key = STANDARD.decode("C2FVsBQIhrscChlQIMV+b5sSYspob7oD").unwrap();
        let body = br#"{"email":"test@example.com","username":"test_user"}"#;
        let signed = entry(&key, &signed_content("msg_27UH4WbU6Z5A5EzD8u03UvzRbpk", "1649367553", body));
        assert_eq!(signed, "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=");
    }

    #[test]
    fn secret_of_other_format_is_refused() {
        assert_eq!(parse_secret(KEY).unwrap().reveal(), KEY);
        for (text, wanted) in [
            ("", SecretError::Prefix),
            ("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", SecretError::Prefix),
            ("WHSEC_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", SecretError::Prefix),
            ("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", SecretError::Encoding),
            ("whsec_ AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", SecretError::Encoding),
            ("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", SecretError::Length),
            ("whsec_", SecretError::Length),
        ] {
            assert_eq!(parse_secret(text).map(|_| ()), Err(wanted), "{text}");
        }
    }

    proptest! {
        #[test]
        fn secret_parses_back_from_its_text(bytes in any::<[u8; 32]>()) {
            let secret = SigningSecret(bytes);
            assert!(parse_secret(&secret.reveal()) == Ok(secret));
        }

        #[test]
        fn signature_matches_the_published_library(bytes in any::<[u8; 32]>(), id in "[a-z]{3}_[0-9a-z]{26}", at_s in 0..i64::from(u32::MAX), body in any::<String>()) {
            let secret = SigningSecret(bytes);
            let theirs = Webhook::new(&secret.reveal()).unwrap().sign(&id, at_s, body.as_bytes()).unwrap();
            assert_eq!(signatures(&[secret], &id, at_s, body.as_bytes()), theirs);
        }
    }
}
