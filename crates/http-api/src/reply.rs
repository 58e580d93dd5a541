//! Responses: their bodies, and the headers that all of them carry.

use std::convert::Infallible;
use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::HttpResponse;
use actix_web::body::{BodySize, BodyStream, BoxBody, MessageBody, SizedStream};
use actix_web::http::StatusCode;
use actix_web::http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, REFERRER_POLICY, RETRY_AFTER,
    WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::web::Bytes;
use cais_domain::ids::RequestId;
use cais_ports::{RateDecision, ResponseKind};
use cais_use_cases::Response;
use futures_util::stream::{self, Stream};
use serde::Serialize;

use super::connections::RequestGuard;
use super::error::{ApiError, ErrorCode};
use crate::resources::values::to_json;

/// The id of a request, in its response and in the log.
const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The header that marks every response of a service that runs on the sandbox.
pub const X_CAIS_SANDBOX: HeaderName = HeaderName::from_static("x-cais-sandbox");
const RATE_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const RATE_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RATE_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
/// The referrer policy. Not `no-referrer`: browsers would then send `Origin: null` with the forms of the dashboard, and the dashboard would
/// reject these forms.
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// The largest number of bytes that are passed to the connection at a time. Without this limit, the connection would buffer a whole large
/// response for a client that reads slowly.
const PIECE_BYTES: usize = 32 * 1024;

/// The id of the first request, whose stored response is returned again. The value is attached to the new response as an extension.
#[derive(Debug, Clone, Copy)]
pub struct ReplayOf(pub RequestId);

/// Returns a response without a body.
#[must_use]
pub fn empty(status: StatusCode) -> HttpResponse {
    HttpResponse::with_body(status, Bytes::new().boxed())
}

/// Returns a response with these bytes.
#[must_use]
pub fn bytes(status: StatusCode, content_type: HeaderValue, body: impl Into<Bytes>) -> HttpResponse {
    let body = body.into();
    let body = if body.len() > PIECE_BYTES { in_pieces(body) } else { body.boxed() };
    with_type(HttpResponse::with_body(status, body), content_type)
}

/// Returns 200 with bytes that are produced as the caller reads them. A failure cuts the connection.
#[must_use]
pub fn streamed<S, E>(content_type: HeaderValue, pieces: S) -> HttpResponse
where
    S: Stream<Item = Result<Bytes, E>> + 'static,
    E: Error + 'static,
{
    with_type(HttpResponse::with_body(StatusCode::OK, BodyStream::new(pieces).boxed()), content_type)
}

/// Returns a response with a JSON body.
#[must_use]
pub fn json(status: StatusCode, body: &impl Serialize) -> HttpResponse {
    rendered(status, to_json(body))
}

/// Returns a response with a body that is JSON already.
#[must_use]
pub fn rendered(status: StatusCode, body: impl Into<Bytes>) -> HttpResponse {
    bytes(status, JSON, body)
}

/// Returns 308 to another path on this host.
#[must_use]
pub fn redirect(to: &'static str) -> HttpResponse {
    let mut response = empty(StatusCode::PERMANENT_REDIRECT);
    response.headers_mut().insert(LOCATION, HeaderValue::from_static(to));
    response
}

/// Returns the response of a use case, new or stored.
#[must_use]
pub fn stored(stored: Response) -> HttpResponse {
    let status = match stored.kind {
        ResponseKind::Created => StatusCode::CREATED,
        ResponseKind::Existing => StatusCode::OK,
        ResponseKind::InsufficientBalance => ErrorCode::InsufficientBalance.status(),
    };
    let mut response = rendered(status, stored.body);
    if let Some(first) = stored.replay_of {
        response.extensions_mut().insert(ReplayOf(first));
    }
    response
}

/// Returns the response of an error.
#[must_use]
pub fn failure(error: &ApiError, request: RequestId) -> HttpResponse {
    let mut response = rendered(error.code.status(), error.body(request));
    let headers = response.headers_mut();
    if let Some(seconds) = error.retry_after_s {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    if let Some(allow) = error.allow.as_ref().and_then(|allow| HeaderValue::from_str(allow).ok()) {
        headers.insert(ALLOW, allow);
    }
    if error.code.status() == StatusCode::UNAUTHORIZED {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// Adds the headers of every response. `shown` is the id for `x-request-id`: in a replay, the id of the first request. `rate` is `None` if
/// the request was not counted in a rate window.
pub fn add_headers(response: &mut HttpResponse, shown: RequestId, rate: Option<RateDecision>, is_replay: bool) {
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::try_from(shown.to_string()) {
        headers.insert(X_REQUEST_ID, id);
    }
    headers.insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    headers.insert(REFERRER_POLICY, SAME_ORIGIN);
    // The request has a rate window, so its caller is authenticated and the response is private: no cache may store it.
    if let Some(rate) = rate {
        headers.insert(CACHE_CONTROL, NO_STORE);
        headers.insert(RATE_LIMIT, rate.limit.into());
        headers.insert(RATE_REMAINING, rate.remaining.into());
        headers.insert(RATE_RESET, rate.reset_s.into());
    }
    if is_replay {
        headers.insert(REPLAYED, HeaderValue::from_static("true"));
    }
}

/// Returns `response`. If its body is streamed, the body keeps `request`, so that the connection counts the request as in progress until
/// the whole body was passed on.
#[must_use]
pub fn held_by(response: HttpResponse, request: Option<RequestGuard>) -> HttpResponse {
    match request {
        Some(request) if response.body().size() == BodySize::Stream => {
            response.map_body(|_, body| Held { body, _request: request }.boxed())
        }
        Some(_) | None => response,
    }
}

fn with_type(mut response: HttpResponse, content_type: HeaderValue) -> HttpResponse {
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}

fn in_pieces(mut bytes: Bytes) -> BoxBody {
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    let pieces = std::iter::from_fn(move || {
        let piece = bytes.split_to(PIECE_BYTES.min(bytes.len()));
        (!piece.is_empty()).then_some(Ok::<_, Infallible>(piece))
    });
    SizedStream::new(length, stream::iter(pieces)).boxed()
}

/// A body that owns the guard of its request, so that the request is in progress until the body is sent or dropped.
struct Held {
    body: BoxBody,
    _request: RequestGuard,
}

impl MessageBody for Held {
    type Error = Box<dyn Error>;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_next(context)
    }
}
