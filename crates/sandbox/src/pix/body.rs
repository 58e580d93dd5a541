//! Reads request bodies, up to a maximum size.

use actix_web::{HttpMessage, HttpRequest, web};
use serde_json::Value;

use super::problem::{Kind, Problem};

/// The largest body, in bytes. A charge whose fields all have their greatest length stays below 32 KiB, with two bytes per character.
pub const MAX_BODY: usize = 64 * 1024;

/// The reason a body cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// The body has more than [`MAX_BODY`] bytes.
    #[error("the body has more than 65536 bytes")]
    TooLarge,
    /// The body did not arrive whole.
    #[error("the body could not be read: {0}")]
    Broken(String),
}

impl From<BodyError> for Problem {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge => Self::violation(Kind::BodyTooLarge, "body", &error.to_string(), ""),
            BodyError::Broken(_) => Self::new(Kind::InvalidRequest, error.to_string()),
        }
    }
}

/// Returns the body's bytes.
///
/// # Errors
/// [`BodyError`].
pub async fn bytes(payload: web::Payload) -> Result<web::Bytes, BodyError> {
    match payload.to_bytes_limited(MAX_BODY).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => Err(BodyError::Broken(error.to_string())),
        Err(_) => Err(BodyError::TooLarge),
    }
}

/// Returns whether the content type is JSON.
#[must_use]
pub fn is_json(request: &HttpRequest) -> bool {
    request.content_type().eq_ignore_ascii_case("application/json")
}

/// Parses the body as JSON.
///
/// # Errors
/// - The errors of [`bytes`].
/// - 415 unless the content type is `application/json`.
/// - A violation of type `kind` for a body that is not JSON.
pub async fn json(request: &HttpRequest, payload: web::Payload, kind: Kind) -> Result<Value, Problem> {
    if !is_json(request) {
        let detail = "the body must be application/json";
        return Err(Problem::new(Kind::UnsupportedMediaType, detail));
    }
    let bytes = bytes(payload).await?;
    serde_json::from_slice(&bytes)
        .map_err(|error| Problem::violation(kind, "body", &format!("is not JSON: {error}"), ""))
}
