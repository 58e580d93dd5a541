//! Reads request bodies within bounds.

use actix_web::{HttpMessage, HttpRequest, web};
use serde_json::Value;

use super::problem::{Kind, Problem};

/// Largest body in bytes. A charge with everything it may carry stays below 32 KiB.
pub const MAX_BODY: usize = 64 * 1024;

/// The body's bytes.
///
/// # Errors
/// 413 beyond [`MAX_BODY`], 400 when the client stops sending.
pub async fn bytes(payload: web::Payload) -> Result<web::Bytes, Problem> {
    match payload.to_bytes_limited(MAX_BODY).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => Err(Problem::new(Kind::InvalidRequest, format!("the body could not be read: {error}"))),
        Err(_) => Err(Problem::violation(Kind::BodyTooLarge, "body", "has more than 65536 bytes", "")),
    }
}

/// The body as JSON.
///
/// # Errors
/// Those of [`bytes`], 415 unless it is `application/json`, and a violation of type `kind` when it is not JSON.
pub async fn json(request: &HttpRequest, payload: web::Payload, kind: Kind) -> Result<Value, Problem> {
    if !request.content_type().eq_ignore_ascii_case("application/json") {
        let detail = "the body must be application/json";
        return Err(Problem::new(Kind::UnsupportedMediaType, detail));
    }
    let bytes = bytes(payload).await?;
    serde_json::from_slice(&bytes)
        .map_err(|error| Problem::violation(kind, "body", &format!("is not JSON: {error}"), ""))
}
