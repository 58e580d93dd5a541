//! The checks and records around every handler. `respond` surrounds the whole application, and `authenticate` surrounds the paths below
//! `/v1`.

use std::any::Any;
use std::cell::OnceCell;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use actix_web::body::BoxBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::error::InternalError;
use actix_web::http::header::{HeaderMap, HeaderValue};
use actix_web::http::{ConnectionType, Method, Uri};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage as _, HttpRequest, HttpResponse};
use cais_domain::ids::RequestId;
use cais_ports::{LoggedRequest, RateDecision};
use cais_use_cases::keys::authenticate::{AuthenticateError, Caller};
use futures_util::FutureExt as _;
use tracing::Instrument as _;

use super::body::RequestBody;
use super::connections::{Connection, ConnectionLimits};
use super::context::{RequestContext, state_of};
use super::error::{ApiError, ErrorCode};
use super::reply::{self, ReplayOf, X_CAIS_SANDBOX};
use super::state::AppState;
use super::telemetry::CompletedRequest;
use super::{auth, auth_failures, client, trace};
use crate::causes;

/// The largest number of characters of a path in the log of requests. The paths of the API are shorter.
const MAX_PATH: usize = 200;

/// Responds to a request in every case, even after a panic. Gives the request an id, and passes its trace to the handler. Renders every
/// error as its envelope, and adds the common headers to the response. Counts and logs the request.
///
/// # Errors
/// A failure can drop the request, without which no [`ServiceResponse`] can be built. The error then contains the complete response.
pub async fn respond(mut request: ServiceRequest, next: Next<BoxBody>) -> Result<ServiceResponse, Error> {
    let started = Instant::now();
    let state = state_of(request.request())?;
    // Tests that call the application directly have no connection.
    let connection = request.conn_data::<Rc<Connection>>();
    let body_within = connection.map_or(ConnectionLimits::default().body_within, |connection| connection.body_within());
    let connection = connection.map(Connection::begin_request);
    let id = RequestId::new(state.ports.ids.next_uuid());
    let method = request.method().clone();
    let context = Rc::new(RequestContext {
        id,
        client: client::address(request.request(), &state.trusted_proxies),
        body_within,
        is_head: method == Method::HEAD,
        presented: OnceCell::new(),
        caller: OnceCell::new(),
        rate: OnceCell::new(),
        route: OnceCell::new(),
    });
    let trace = trace::of(request.headers());
    let traceparent = trace.map(|trace| trace.traceparent(id));
    let trace_id = trace.map(|trace| trace.id.to_owned());
    // The span stores the causes of failures. Its level is the highest, so that no filter drops the span.
    let span = tracing::error_span!("request", request_id = %id, trace_id);
    let body = RequestBody::share(&mut request);
    if context.is_head {
        request.head_mut().method = Method::GET;
    }
    match_as_sent(&mut request);
    // The dashboard's pages read the client's address as an extension of the type `IpAddr`.
    if let Some(client) = context.client {
        request.extensions_mut().insert(client);
    }
    request.extensions_mut().insert(Rc::clone(&context));

    // Routing runs inside the future too, so that a panic of the router is caught.
    let work = trace::scope(traceparent, async move { next.call(request).await }.instrument(span.clone()));
    let result = AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|panic| Err(panicked(panic.as_ref())));
    let (request, mut response, error) = match result {
        Ok(response) => {
            let (request, response) = response.into_parts();
            let error = response.error().map(as_api_error);
            (Some(request), response, error)
        }
        Err(error) => (None, HttpResponse::new(error.as_response_error().status_code()), Some(as_api_error(&error))),
    };
    if let Some(error) = &error {
        response = reply::failure(error, id);
    }
    let replay_of = response.extensions().get::<ReplayOf>().map(|ReplayOf(first)| *first);
    let known = error.as_ref().and_then(|error| error.cause.clone());
    let cause = known.or_else(|| response.status().is_server_error().then(|| causes::of(&span)).flatten());
    let route = context.route.get_or_init(|| request.as_ref().and_then(HttpRequest::match_pattern));
    state.telemetry.record(&CompletedRequest {
        request: id,
        route: route.as_deref(),
        method: method.as_str(),
        client: context.client,
        account: context.caller.get().map(|caller| caller.account.id),
        key: context.presented.get(),
        status: response.status(),
        code: error.as_ref().map(|error| error.code.name()),
        cause: cause.as_deref(),
        trace_id: trace_id.as_deref(),
        is_expected: error.as_ref().is_some_and(|error| error.is_expected),
        replay_of,
        took: started.elapsed(),
    });
    if let Some(caller) = context.caller.get() {
        state.requests.record(caller.account.id, || LoggedRequest {
            id,
            account: caller.account.id,
            at: state.ports.clock.now(),
            method: method.as_str().to_owned(),
            path: request.as_ref().map_or_else(String::new, |request| request.path().chars().take(MAX_PATH).collect()),
            status: response.status().as_u16(),
            key: caller.key.clone(),
            took_ms: u32::try_from(started.elapsed().as_millis()).unwrap_or(u32::MAX),
        });
    }
    reply::add_headers(&mut response, replay_of.unwrap_or(id), context.rate.get().copied(), replay_of.is_some());
    if state.sandbox.is_some() {
        response.headers_mut().insert(X_CAIS_SANDBOX, HeaderValue::from_static("true"));
    }
    let mut connection = connection;
    if body.is_some_and(|mut body| !body.is_read_to_end()) {
        response.head_mut().set_connection_type(ConnectionType::Close);
        if let Some(connection) = &mut connection {
            connection.leave_body();
        }
    }
    let response = reply::held_by(response, connection);
    match request {
        Some(request) => Ok(ServiceResponse::new(request, response)),
        // The failed middleware or handler has dropped the request.
        None => Err(InternalError::from_response("the response is complete", response).into()),
    }
}

/// Makes the router compare a path without decoding it. The router decodes every escape except `%25`, so every `%` is replaced by `%25`
/// first. [`super::input::Parts::segment`] reverses the replacement.
fn match_as_sent(request: &mut ServiceRequest) {
    let path = request.path();
    if path.contains('%')
        && let Ok(escaped) = path.replace('%', "%25").parse::<Uri>()
    {
        request.match_info_mut().get_mut().update(&escaped);
    }
}

fn as_api_error(error: &Error) -> ApiError {
    error.as_error::<ApiError>().cloned().unwrap_or_else(|| ApiError::internal(error.to_string()))
}

/// Returns the error of a panic, with its message for the log.
fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    ApiError::internal(format!("the handler panicked: {}", text.unwrap_or("no message"))).into()
}

/// Identifies the caller and counts the request before the route is looked up, so that callers without a key cannot find out which paths
/// exist.
///
/// # Errors
/// `missing_api_key`, `invalid_api_key`, `rate_limit_exceeded`; an error of the store.
pub async fn authenticate(request: ServiceRequest, next: Next<BoxBody>) -> Result<ServiceResponse, Error> {
    let context = RequestContext::of(request.request())?;
    let state = state_of(request.request())?;
    if let Err(error) = admit(&state, request.headers(), &context).await {
        // The route is set here, so that the log line of a rejected request contains it too. Only the patterns of
        // existing paths match, so a caller cannot add labels to the metrics.
        let _known = context.route.set(request.match_pattern());
        return Err(error.into());
    }
    next.call(request).await
}

async fn admit(state: &AppState, headers: &HeaderMap, context: &RequestContext) -> Result<(), ApiError> {
    let caller = identify(state, headers, context).await?;
    let caller = context.caller.get_or_init(|| caller);
    let rate = state.rates.count(&caller.key, state.ports.clock.now()).await;
    let rate = context.rate.get_or_init(|| rate);
    if rate.allowed { Ok(()) } else { Err(too_many(state, *rate)) }
}

async fn identify(state: &AppState, headers: &HeaderMap, context: &RequestContext) -> Result<Arc<Caller>, ApiError> {
    let presented = auth::presented_key(headers);
    if let Ok(token) = &presented {
        let _first = context.presented.set(token.prefix.clone());
        if let Some(caller) = state.keys.recognize(token, context.client) {
            return Ok(caller);
        }
    }
    if !state.failures.permits(context.client, Instant::now()) {
        let error = unauthenticated(ErrorCode::RateLimitExceeded, auth_failures::LIMITED.to_owned());
        let error = error.with_message("Too many requests without a valid API key from this address.");
        return Err(ApiError { is_expected: true, ..error.retry_after(auth_failures::RETRY_AFTER_S) });
    }
    let token = match presented {
        Ok(token) => token,
        Err(error) => {
            state.failures.record(context.client, Instant::now());
            let reason = if error.code == ErrorCode::MissingApiKey { "missing" } else { "malformed" };
            return Err(unauthenticated(error.code, reason.to_owned()));
        }
    };
    match state.keys.authenticate(&token, context.client).await {
        Ok(caller) => Ok(caller),
        Err(AuthenticateError::InvalidKey(reason)) => {
            state.failures.record(context.client, Instant::now());
            Err(unauthenticated(ErrorCode::InvalidApiKey, reason.to_string()))
        }
        Err(AuthenticateError::Unavailable(error)) => Err(error.into()),
    }
}

/// Counts a failed authentication, and returns its error. `reason` is for the log and the metrics only.
fn unauthenticated(code: ErrorCode, reason: String) -> ApiError {
    metrics::counter!(auth_failures::TOTAL, "reason" => reason.clone()).increment(1);
    ApiError::new(code).with_cause(reason)
}

fn too_many(state: &AppState, rate: RateDecision) -> ApiError {
    let left = rate.reset_s.saturating_sub(state.ports.clock.now().as_second());
    // The delay is at least one second, because an immediate retry would fall in the same window.
    let seconds = u32::try_from(left.max(1)).unwrap_or(u32::MAX);
    ApiError::new(ErrorCode::RateLimitExceeded).retry_after(seconds)
}
