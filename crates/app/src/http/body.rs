//! Reading bodies: bounded in size and in time.

use std::time::Duration;

use actix_web::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use actix_web::web::{Bytes, BytesMut, Payload};
use futures_util::StreamExt as _;

use super::error::{ApiError, ErrorCode};
use super::issue::Issue;
use super::routes::BodyRule;

/// Largest JSON body.
pub const MAX_JSON_BYTES: usize = 64 * 1024;
/// Largest callback: an acquirer may report many payments in one.
pub const MAX_CALLBACK_BYTES: usize = 1024 * 1024;
/// How long a body may take to arrive, so that a dripping client holds a connection and nothing else for no longer.
const ARRIVES_WITHIN: Duration = Duration::from_secs(10);

/// The body that a route wants.
///
/// # Errors
/// `payload_too_large`, then `unsupported_media_type`; `VALIDATION_ERROR` when it does not arrive whole and in time.
pub async fn receive(rule: BodyRule, headers: &HeaderMap, payload: Payload) -> Result<Bytes, ApiError> {
    match rule {
        BodyRule::Unread => Ok(Bytes::new()),
        BodyRule::Callback => read(headers, payload, MAX_CALLBACK_BYTES).await,
        BodyRule::Json => {
            let body = read(headers, payload, MAX_JSON_BYTES).await?;
            if is_json(headers, body.is_empty()) {
                Ok(body)
            } else {
                Err(ApiError::new(ErrorCode::UnsupportedMediaType))
            }
        }
    }
}

async fn read(headers: &HeaderMap, mut payload: Payload, max_bytes: usize) -> Result<Bytes, ApiError> {
    let declared = headers.get("content-length").and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if declared.is_some_and(|length| length > max_bytes) {
        return Err(too_large(max_bytes));
    }
    let gather = async {
        let mut body = BytesMut::with_capacity(declared.unwrap_or_default());
        while let Some(chunk) = payload.next().await {
            let chunk = chunk.map_err(|_| unfinished("did not arrive whole"))?;
            if body.len().saturating_add(chunk.len()) > max_bytes {
                return Err(too_large(max_bytes));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body.freeze())
    };
    tokio::time::timeout(ARRIVES_WITHIN, gather).await.unwrap_or_else(|_| Err(unfinished("did not arrive in time")))
}

fn too_large(max_bytes: usize) -> ApiError {
    ApiError::new(ErrorCode::PayloadTooLarge).saying(format!("The body must have at most {max_bytes} bytes."))
}

fn unfinished(what: &'static str) -> ApiError {
    ApiError::invalid(vec![Issue::new("", what)])
}

/// Whether the body is JSON by its headers. An empty one needs no type: there is nothing that could have one.
fn is_json(headers: &HeaderMap, is_empty: bool) -> bool {
    let plain = |value: &[u8]| value.eq_ignore_ascii_case(b"identity");
    if headers.get_all(CONTENT_ENCODING).any(|value| !plain(value.as_bytes())) {
        return false;
    }
    let Some(declared) = headers.get(CONTENT_TYPE) else { return is_empty };
    let essence = declared.to_str().ok().and_then(|value| value.split(';').next()).map(str::trim);
    essence.is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"))
}
