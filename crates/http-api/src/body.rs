//! Reads the bodies of requests, with limits of size and time.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use actix_web::HttpMessage as _;
use actix_web::dev::{Payload, ServiceRequest};
use actix_web::error::PayloadError;
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use actix_web::web::{Bytes, BytesMut};
use cais_strict_json::Issue;
use futures_util::{FutureExt as _, Stream, StreamExt as _};

use super::callbacks::MemoryPermit;
use super::error::{ApiError, ErrorCode};

/// Largest JSON body.
pub const MAX_JSON_BYTES: usize = 64 * 1024;
/// Largest callback: an acquirer may report many payments at once.
pub const MAX_CALLBACK_BYTES: usize = 1024 * 1024;

/// The body of a request, shared by the handler and the middleware. If the body was not read completely, the middleware ends the
/// connection.
#[derive(Clone)]
pub struct RequestBody(Rc<RefCell<Payload>>);

impl RequestBody {
    /// Shares the body with the handlers of `request`; `None` without a body.
    #[must_use]
    pub fn share(request: &mut ServiceRequest) -> Option<Self> {
        let payload = request.take_payload();
        if matches!(payload, Payload::None) {
            return None;
        }
        let body = Self(Rc::new(RefCell::new(payload)));
        request.set_payload(Payload::Stream { payload: Box::pin(body.clone()) });
        Some(body)
    }

    /// Returns `true` if the whole body was read. Reads the parts that have arrived, without waiting for more.
    #[must_use]
    pub fn is_read_to_end(&mut self) -> bool {
        loop {
            match self.next().now_or_never() {
                Some(None) => return true,
                Some(Some(Ok(_))) => {}
                Some(Some(Err(_))) | None => return false,
            }
        }
    }
}

impl Stream for RequestBody {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_next(context)
    }
}

/// Reads a JSON body. The body must arrive within the time `within`, so that a slow client cannot hold a connection.
///
/// # Errors
/// `payload_too_large`; `request_timeout` if the body does not arrive in time; `VALIDATION_ERROR` if the client sends only a part of the
/// body. `unsupported_media_type` is checked last.
pub async fn json(headers: &HeaderMap, payload: &mut Payload, within: Duration) -> Result<Bytes, ApiError> {
    let body = read(headers, payload, MAX_JSON_BYTES, within, |_| Ok(())).await?;
    if is_json(headers, body.is_empty()) { Ok(body) } else { Err(ApiError::new(ErrorCode::UnsupportedMediaType)) }
}

/// Reads the body of a callback. The memory of the body is reserved in `permit`.
///
/// # Errors
/// `payload_too_large`; `service_unavailable` if no more memory can be reserved; `request_timeout` if the body does not arrive in time;
/// `VALIDATION_ERROR` if the client sends only a part of the body.
pub async fn callback(
    headers: &HeaderMap,
    payload: &mut Payload,
    within: Duration,
    permit: &mut MemoryPermit<'_>,
) -> Result<Bytes, ApiError> {
    read(headers, payload, MAX_CALLBACK_BYTES, within, |bytes| permit.grow_to(bytes)).await
}

async fn read(
    headers: &HeaderMap,
    payload: &mut Payload,
    max_bytes: usize,
    within: Duration,
    mut grow_to: impl FnMut(usize) -> Result<(), ApiError>,
) -> Result<Bytes, ApiError> {
    let declared = headers.get("content-length").and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if declared.is_some_and(|length| length > max_bytes) {
        return Err(too_large(max_bytes));
    }
    let gather = async {
        // Memory is reserved for the bytes that arrived, not for the announced length, because a client can announce any length.
        let mut body = BytesMut::new();
        while let Some(chunk) = payload.next().await {
            let chunk = chunk.map_err(|_| ApiError::invalid(vec![Issue::new("", "did not arrive whole")]))?;
            if body.len().saturating_add(chunk.len()) > max_bytes {
                return Err(too_large(max_bytes));
            }
            let needed = body.len().saturating_add(chunk.len());
            if needed > body.capacity() {
                let capacity = needed.next_power_of_two().min(max_bytes);
                grow_to(capacity)?;
                body.reserve(capacity.saturating_sub(body.len()));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body.freeze())
    };
    let late = |_| Err(ApiError::new(ErrorCode::RequestTimeout));
    tokio::time::timeout(within, gather).await.unwrap_or_else(late)
}

fn too_large(max_bytes: usize) -> ApiError {
    ApiError::new(ErrorCode::PayloadTooLarge).with_message(format!("The body must have at most {max_bytes} bytes."))
}

/// Returns `true` if the headers declare JSON without a content encoding. An empty body needs no content type.
fn is_json(headers: &HeaderMap, is_empty: bool) -> bool {
    let plain = |value: &[u8]| value.eq_ignore_ascii_case(b"identity");
    if headers.get_all(CONTENT_ENCODING).any(|value| !plain(value.as_bytes())) {
        return false;
    }
    let Some(declared) = headers.get(CONTENT_TYPE) else { return is_empty };
    let essence = declared.to_str().ok().and_then(|value| value.split(';').next()).map(str::trim);
    essence.is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"))
}
