//! The API key of a request.

use actix_web::http::header::{AUTHORIZATION, HeaderMap, HeaderName};
use cais_domain::merchant::api_key::ApiKeyToken;

use super::error::{ApiError, ErrorCode};

/// The header whose whole value is the key.
const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");
/// The scheme of `Authorization` (RFC 6750). Upper and lower case are equivalent.
const SCHEME: &str = "bearer";

/// Returns the key from `Authorization: Bearer` or `x-api-key`. If several values are sent, all of them must be equal.
///
/// # Errors
/// `missing_api_key` without either header, `invalid_api_key` if the values differ or do not have the form of a key.
pub fn presented_key(headers: &HeaderMap) -> Result<ApiKeyToken, ApiError> {
    let bearers = headers.get_all(AUTHORIZATION).map(|value| value.to_str().ok().and_then(bearer));
    let plain = headers.get_all(X_API_KEY).map(|value| value.to_str().ok());
    let mut all = bearers.chain(plain);
    let first = all.next().ok_or(ApiError::new(ErrorCode::MissingApiKey))?;
    let key = first.filter(|first| all.all(|other| other == Some(*first)));
    key.and_then(|key| ApiKeyToken::parse(key).ok()).ok_or(ApiError::new(ErrorCode::InvalidApiKey))
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case(SCHEME).then(|| key.trim_matches(' '))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use actix_web::http::header::HeaderValue;

    fn key(letter: char) -> String {
        format!("key_{}_{}", "p".repeat(12), letter.to_string().repeat(43))
    }

    fn check(headers: &[(&str, &str)], expected: Result<&str, ErrorCode>) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap());
        }
        let found = presented_key(&map).map(|token| token.expose()).map_err(|error| error.code);
        assert_eq!(found, expected.map(str::to_owned), "{headers:?}");
    }

    #[test]
    fn key_is_read_from_either_header_or_both() {
        let (a, b) = (key('a'), key('b'));
        let (bearer_a, lower_a) = (format!("Bearer {a}"), format!("bearer  {a}"));
        check(&[], Err(ErrorCode::MissingApiKey));
        check(&[("authorization", &bearer_a)], Ok(&a));
        check(&[("authorization", &lower_a)], Ok(&a));
        check(&[("x-api-key", &a)], Ok(&a));
        check(&[("authorization", &bearer_a), ("x-api-key", &a)], Ok(&a));
        check(&[("authorization", &bearer_a), ("x-api-key", &b)], Err(ErrorCode::InvalidApiKey));
        check(&[("x-api-key", &a), ("x-api-key", &b)], Err(ErrorCode::InvalidApiKey));
        check(&[("authorization", "Basic abc")], Err(ErrorCode::InvalidApiKey));
        check(&[("authorization", "Bearer")], Err(ErrorCode::InvalidApiKey));
        check(&[("x-api-key", "")], Err(ErrorCode::InvalidApiKey));
        check(&[("x-api-key", "key_short_secret")], Err(ErrorCode::InvalidApiKey));
    }
}
