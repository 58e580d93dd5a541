//! The tokens of `POST /v1/auth`: JWTs with HS256 and a short life by the simulator's clock.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;
use ring::hmac;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Claims {
    exp: i64,
}

/// Issues a token for `email` that expires after `ttl_s` seconds.
#[must_use]
pub fn issue(key: &hmac::Key, email: &str, now: Timestamp, ttl_s: u32) -> String {
    let issued_at = now.as_second();
    let claims = json!({ "id": email, "iat": issued_at, "exp": issued_at.saturating_add(i64::from(ttl_s)) });
    let part = |value: serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", part(json!({ "alg": "HS256", "typ": "JWT" })), part(claims));
    let signature = URL_SAFE_NO_PAD.encode(hmac::sign(key, signed.as_bytes()));
    format!("{signed}.{signature}")
}

/// Returns whether a token was issued with `key` and has not expired.
#[must_use]
pub fn is_valid(key: &hmac::Key, token: &str, now: Timestamp) -> bool {
    let Some((signed, signature)) = token.rsplit_once('.') else { return false };
    let Some((_, claims)) = signed.split_once('.') else { return false };
    let is_signed = URL_SAFE_NO_PAD
        .decode(signature)
        .is_ok_and(|signature| hmac::verify(key, signed.as_bytes(), &signature).is_ok());
    let claims = URL_SAFE_NO_PAD.decode(claims).ok().and_then(|bytes| serde_json::from_slice::<Claims>(&bytes).ok());
    is_signed && claims.is_some_and(|claims| claims.exp > now.as_second())
}
