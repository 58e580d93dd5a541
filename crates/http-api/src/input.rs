//! The data of a request: its path, its query and its body. All problems are reported together.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::pin::Pin;
use std::rc::Rc;

use actix_web::dev::Payload;
use actix_web::http::header::HeaderMap;
use actix_web::web::Bytes;
use actix_web::{FromRequest, HttpRequest};
use cais_domain::merchant::idempotency_key::IdempotencyKey;
use cais_ports::Fingerprint;
use cais_strict_json::{Fields, Issues, Node, read};

use super::context::{RequestContext, state_of};
use super::error::ApiError;
use super::fingerprint::fingerprint;
use super::query::Query;
use super::state::AppState;
use super::{body, idempotency};

/// The parts of a request while they are read.
pub struct Parts<'r> {
    /// The state that handlers share.
    pub state: &'r AppState,
    request: &'r HttpRequest,
    body: &'r [u8],
    json: OnceCell<Node<'r>>,
}

impl<'r> Parts<'r> {
    /// Returns the segment of the path with that name, still percent-encoded.
    #[must_use]
    pub fn segment(&self, name: &str) -> Cow<'r, str> {
        segment(self.request, name)
    }

    /// Reads the query. Parameters that are not in `known` are problems, which are added to `issues`.
    #[must_use]
    pub fn query(&self, known: &[&'static str], issues: &Issues) -> Query {
        Query::read(self.request.query_string(), known, issues)
    }

    /// Returns the headers.
    #[must_use]
    pub fn headers(&self) -> &'r HeaderMap {
        self.request.headers()
    }

    /// Returns the JSON of the body. Only the first call parses the body and adds problems to `issues`.
    pub fn json(&self, issues: &Issues) -> &Node<'r> {
        self.json.get_or_init(|| read(self.body, issues))
    }

    /// Returns the JSON of the body; `None` without a body.
    pub fn optional_json(&self, issues: &Issues) -> Option<&Node<'r>> {
        (!self.body.is_empty()).then(|| self.json(issues))
    }
}

/// Returns the segment of the path with that name, still percent-encoded. Reverses the escaping of `%` by the middleware.
#[must_use]
pub fn segment<'r>(request: &'r HttpRequest, name: &str) -> Cow<'r, str> {
    let segment = request.match_info().get(name).unwrap_or_default();
    if segment.contains('%') { segment.replace("%25", "%").into() } else { segment.into() }
}

/// A part of a request that a handler needs: its query, a name in its path, or its body.
pub trait Part: Sized {
    /// `true` if the part is in the body. If no part is in the body, the body stays unread.
    const IN_BODY: bool = false;

    /// Reads the part. Problems are added to `issues`; `None` if no value can be read.
    fn read(parts: &Parts<'_>, issues: &Issues) -> Option<Self>;
}

impl<A: Part, B: Part> Part for (A, B) {
    const IN_BODY: bool = A::IN_BODY || B::IN_BODY;

    fn read(parts: &Parts<'_>, issues: &Issues) -> Option<Self> {
        let (a, b) = (A::read(parts, issues), B::read(parts, issues));
        a.zip(b)
    }
}

impl<A: Part, B: Part, C: Part> Part for (A, B, C) {
    const IN_BODY: bool = <((A, B), C)>::IN_BODY;

    fn read(parts: &Parts<'_>, issues: &Issues) -> Option<Self> {
        <((A, B), C)>::read(parts, issues).map(|((a, b), c)| (a, b, c))
    }
}

impl<A: Part, B: Part, C: Part, D: Part> Part for (A, B, C, D) {
    const IN_BODY: bool = <((A, B, C), D)>::IN_BODY;

    fn read(parts: &Parts<'_>, issues: &Issues) -> Option<Self> {
        <((A, B, C), D)>::read(parts, issues).map(|((a, b, c), d)| (a, b, c, d))
    }
}

/// A query without parameters.
#[derive(Debug, Clone, Copy)]
pub struct NoQuery;

impl Part for NoQuery {
    fn read(parts: &Parts<'_>, issues: &Issues) -> Option<Self> {
        if !parts.request.query_string().is_empty() {
            let _empty = parts.query(&[], issues);
        }
        Some(Self)
    }
}

/// A type of body that is read from JSON.
pub trait JsonBody: Sized {
    /// Reads the body. Problems are added to `issues`; `None` if no value can be read.
    fn read(body: &Node<'_>, issues: &Issues) -> Option<Self>;
}

/// A required JSON body.
#[derive(Debug)]
pub struct Json<T>(pub T);

impl<T: JsonBody> Part for Json<T> {
    const IN_BODY: bool = true;

    fn read(parts: &Parts<'_>, issues: &Issues) -> Option<Self> {
        T::read(parts.json(issues), issues).map(Self)
    }
}

/// A JSON body that may be omitted.
#[derive(Debug)]
pub struct OptionalJson<T>(pub T);

impl<T: JsonBody + Default> Part for OptionalJson<T> {
    const IN_BODY: bool = true;

    fn read(parts: &Parts<'_>, issues: &Issues) -> Option<Self> {
        parts.optional_json(issues).map_or_else(|| Some(T::default()), |body| T::read(body, issues)).map(Self)
    }
}

/// An optional body without fields.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFields;

impl JsonBody for NoFields {
    fn read(body: &Node<'_>, issues: &Issues) -> Option<Self> {
        Fields::of(body, "", issues)?.finish();
        Some(Self)
    }
}

/// The data of a request. Unknown parameters and fields are problems.
///
/// # Errors
/// First the errors of [`body::json`], then `VALIDATION_ERROR` with every problem.
pub struct Input<T>(pub T);

impl<T: Part + 'static> FromRequest for Input<T> {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, mut payload) = (request.clone(), payload.take());
        Box::pin(async move {
            let body = if T::IN_BODY { receive(&request, &mut payload).await? } else { Bytes::new() };
            let state = state_of(&request)?;
            let parts = Parts { state: &state, request: &request, body: &body, json: OnceCell::new() };
            Ok(Self(all(&parts)?))
        })
    }
}

/// The data of a request that creates a resource under an idempotency key.
///
/// # Errors
/// The errors of [`Input`], `idempotency_key_required` and `invalid_idempotency_key`. The key is checked after the size and the type of the
/// body, and before the data.
pub struct Creation<T> {
    /// The key.
    pub key: IdempotencyKey,
    /// The fingerprint of the request, by which a repeat is recognized.
    pub fingerprint: Fingerprint,
    /// The data.
    pub input: T,
}

impl<T: Part + 'static> FromRequest for Creation<T> {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, mut payload) = (request.clone(), payload.take());
        Box::pin(async move {
            let body = receive(&request, &mut payload).await?;
            let key = idempotency::required_key(request.headers())?;
            let state = state_of(&request)?;
            let parts = Parts { state: &state, request: &request, body: &body, json: OnceCell::new() };
            let input = all(&parts)?;
            let fingerprint = fingerprint("POST", request.uri().path(), parts.json(&Issues::default()));
            Ok(Self { key, fingerprint, input })
        })
    }
}

async fn receive(request: &HttpRequest, payload: &mut Payload) -> Result<Bytes, ApiError> {
    let context: Rc<RequestContext> = RequestContext::of(request)?;
    body::json(request.headers(), payload, context.body_within).await
}

fn all<T: Part>(parts: &Parts<'_>) -> Result<T, ApiError> {
    let issues = Issues::default();
    let read = T::read(parts, &issues);
    Ok(issues.unless_any(read)?)
}
