//! A reply of a handler, and its HTTP response.

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
use cais_ports::RateDecision;
use cais_use_cases::Response;
use futures_util::stream::{self, Stream};

use super::connections::RequestGuard;
use super::error::ApiError;

/// The id of a request, in its response and in the log.
pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Marks every response of a service that runs on the sandbox.
pub const X_CAIS_SANDBOX: HeaderName = HeaderName::from_static("x-cais-sandbox");
const RATE_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const RATE_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RATE_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
/// Not `no-referrer`, because browsers would then send `Origin: null`.
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The body of a response.
#[derive(Debug)]
pub enum Content {
    /// Complete bytes.
    Whole(Bytes),
    /// Bytes that are produced as the caller reads them. A failure cuts the connection.
    Streamed(BoxBody),
}

impl<T: Into<Bytes>> From<T> for Content {
    fn from(bytes: T) -> Self {
        Self::Whole(bytes.into())
    }
}

/// Bytes that are passed to the connection at a time, so that a slow reader does not hold a copy of a large response.
const PIECE_BYTES: usize = 32 * 1024;

impl Content {
    fn into_body(self) -> BoxBody {
        match self {
            Self::Whole(bytes) if bytes.len() > PIECE_BYTES => in_pieces(bytes),
            Self::Whole(bytes) => bytes.boxed(),
            Self::Streamed(body) => body,
        }
    }
}

fn in_pieces(mut bytes: Bytes) -> BoxBody {
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    let pieces = std::iter::from_fn(move || {
        let piece = bytes.split_to(PIECE_BYTES.min(bytes.len()));
        (!piece.is_empty()).then_some(Ok::<_, Infallible>(piece))
    });
    SizedStream::new(length, stream::iter(pieces)).boxed()
}

/// A body that keeps its request open until the body is sent or dropped.
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

/// The reply of a handler.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The type of the body; `None` without a body.
    pub content_type: Option<HeaderValue>,
    /// The body.
    pub body: Content,
    /// The request whose response is replayed.
    pub replay_of: Option<RequestId>,
    /// Headers of this response only.
    pub extra: Vec<(HeaderName, HeaderValue)>,
}

impl Reply {
    /// Returns 200 with a JSON body.
    #[must_use]
    pub fn json(body: impl Into<Content>) -> Self {
        Self { status: StatusCode::OK, content_type: Some(JSON), body: body.into(), replay_of: None, extra: Vec::new() }
    }

    /// Returns 200 with a body of another type.
    #[must_use]
    pub fn typed(content_type: HeaderValue, body: impl Into<Content>) -> Self {
        Self { content_type: Some(content_type), ..Self::json(body) }
    }

    /// Returns 200 with a streamed body.
    #[must_use]
    pub fn streamed<S, E>(content_type: HeaderValue, pieces: S) -> Self
    where
        S: Stream<Item = Result<Bytes, E>> + 'static,
        E: std::error::Error + 'static,
    {
        let body = Content::Streamed(BodyStream::new(pieces).boxed());
        Self { content_type: Some(content_type), body, ..Self::empty() }
    }

    /// Returns 200 without a body.
    #[must_use]
    pub fn empty() -> Self {
        Self { content_type: None, ..Self::json(Bytes::new()) }
    }

    /// Returns 308 to another path on this host.
    #[must_use]
    pub fn redirect(to: &'static str) -> Self {
        let extra = vec![(LOCATION, HeaderValue::from_static(to))];
        Self { status: StatusCode::PERMANENT_REDIRECT, extra, ..Self::empty() }
    }

    /// Returns the reply for a response of a use case.
    ///
    /// # Errors
    /// `internal_error` if the status is invalid.
    pub fn answer(answer: Response) -> Result<Self, ApiError> {
        let status = StatusCode::from_u16(answer.status).map_err(|error| ApiError::internal(error.to_string()))?;
        Ok(Self { status, replay_of: answer.replay_of, ..Self::json(answer.body) })
    }

    /// Returns the reply for an error.
    #[must_use]
    pub fn failure(error: &ApiError, request: RequestId) -> Self {
        Self { status: error.code.status(), ..Self::json(error.body(request)) }
    }

    /// Returns the reply; its request ends after the whole body was passed to the connection.
    #[must_use]
    pub fn held_by(self, request: Option<RequestGuard>) -> Self {
        let Some(request) = request else { return self };
        let body = match self.body {
            Content::Whole(bytes) => Content::Whole(bytes),
            Content::Streamed(body) => Content::Streamed(Held { body, _request: request }.boxed()),
        };
        Self { body, ..self }
    }

    /// Returns the HTTP response with the common headers.
    #[must_use]
    pub fn into_response(
        self,
        request: RequestId,
        rate: Option<RateDecision>,
        error: Option<&ApiError>,
    ) -> HttpResponse {
        let mut response = HttpResponse::with_body(self.status, self.body.into_body());
        let headers = response.headers_mut();
        let shown = self.replay_of.unwrap_or(request);
        if let Ok(id) = HeaderValue::try_from(shown.to_string()) {
            headers.insert(X_REQUEST_ID, id);
        }
        if let Some(content_type) = self.content_type {
            headers.insert(CONTENT_TYPE, content_type);
        }
        headers.insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
        headers.insert(REFERRER_POLICY, SAME_ORIGIN);
        // A caller with a rate window is authenticated, and no cache may store its responses.
        if let Some(rate) = rate {
            headers.insert(CACHE_CONTROL, NO_STORE);
            headers.insert(RATE_LIMIT, rate.limit.into());
            headers.insert(RATE_REMAINING, rate.remaining.into());
            headers.insert(RATE_RESET, rate.reset_s.into());
        }
        if self.replay_of.is_some() {
            headers.insert(REPLAYED, HeaderValue::from_static("true"));
        }
        for (name, value) in self.extra {
            headers.insert(name, value);
        }
        if let Some(error) = error {
            tell(&mut response, error);
        }
        response
    }
}

/// Adds the headers of an error.
fn tell(response: &mut HttpResponse<BoxBody>, error: &ApiError) {
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
}
