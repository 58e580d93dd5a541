//! The header `Idempotency-Key`, which makes a retry safe.

use actix_web::http::header::HeaderMap;
use cais_domain::merchant::idempotency_key::IdempotencyKey;
use cais_strict_json::Issue;
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};

use super::describe::parameters;
use super::error::{ApiError, ErrorCode};

/// The header with the caller's idempotency key.
pub const IDEMPOTENCY_KEY: &str = "Idempotency-Key";

/// Returns the key of a request that creates a resource.
///
/// # Errors
/// `idempotency_key_required`, or `invalid_idempotency_key` if the key breaks the rules or is sent twice.
pub fn required_key(headers: &HeaderMap) -> Result<IdempotencyKey, ApiError> {
    let report = |code, problem: &'static str| ApiError {
        issues: vec![Issue::new(IDEMPOTENCY_KEY, problem)],
        ..ApiError::new(code)
    };
    let mut values = headers.get_all(IDEMPOTENCY_KEY);
    let first = values.next().ok_or_else(|| report(ErrorCode::IdempotencyKeyRequired, "is required"))?;
    if values.next().is_some() {
        return Err(report(ErrorCode::InvalidIdempotencyKey, "is given more than once"));
    }
    let key = first.to_str().ok().and_then(|text| IdempotencyKey::parse(text).ok());
    key.ok_or_else(|| report(ErrorCode::InvalidIdempotencyKey, "must have 8 to 255 visible ASCII characters"))
}

/// The header as a parameter in the `OpenAPI` document.
pub struct KeyHeader;

impl IntoParams for KeyHeader {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![parameters::idempotency_key()]
    }
}
