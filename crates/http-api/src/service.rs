//! The steps of every request: authentication, rate limit, route, permission, handler, response.

use std::any::Any;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::http::ConnectionType;
use actix_web::http::header::HeaderValue;
use actix_web::web::Payload;
use actix_web::{HttpRequest, HttpResponse};
use cais_domain::api_key::{KeyPrefix, Scope};
use cais_domain::ids::RequestId;
use cais_ports::RateDecision;
use cais_use_cases::keys::authenticate::{AuthenticateError, Caller};
use futures_util::FutureExt as _;
use tracing::Instrument as _;

use super::call::Call;
use super::connections::{Connection, ConnectionLimits};
use super::error::{ApiError, ErrorCode};
use super::reply::{Reply, X_CAIS_SANDBOX};
use super::routes::{Access, Found, Handler, Route, Router, needs_key};
use super::state::AppState;
use super::telemetry::Answered;
use super::{auth, auth_failures, body, client, trace};
use crate::causes;

/// The facts about a request so far, which outlive a panic of its handler.
struct Visit {
    id: RequestId,
    client: Option<IpAddr>,
    body_within: Duration,
    presented: Option<KeyPrefix>,
    route: Option<usize>,
    caller: Option<Arc<Caller>>,
    rate: Option<RateDecision>,
}

/// Responds to a request in every case, also after a panic.
pub async fn answer(
    state: Arc<AppState>,
    router: Arc<Router>,
    request: HttpRequest,
    mut payload: Payload,
) -> HttpResponse {
    let started = Instant::now();
    // Tests that call the application directly have no connection.
    let connection = request.conn_data::<Rc<Connection>>();
    let body_within = connection.map_or(ConnectionLimits::default().body_within, |connection| connection.body_within());
    let mut connection = connection.map(Connection::begin_request);
    let id = RequestId::new(state.ports.ids.next_uuid());
    let client = client::address(&request, &state.trusted_proxies);
    let trace = trace::of(request.headers());
    let trace_id = trace.map(|trace| trace.id);
    let traceparent = trace.map(|trace| trace.traceparent(id));
    // The span has the highest level, so that no filter drops it: the causes of failures are stored in it.
    let span = tracing::error_span!("request", request_id = %id, trace_id);
    let mut visit = Visit { id, client, body_within, presented: None, route: None, caller: None, rate: None };
    let work = handle(&state, &router, &request, &mut payload, &mut visit).instrument(span.clone());
    let work = trace::scope(traceparent, work);
    let result = AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|panic| Err(panicked(panic.as_ref())));

    let error = result.as_ref().err().cloned();
    let reply = result.unwrap_or_else(|error| Reply::failure(&error, id));
    let known = error.as_ref().and_then(|error| error.cause.clone());
    let cause = known.or_else(|| reply.status.is_server_error().then(|| causes::of(&span)).flatten());
    state.telemetry.record(&Answered {
        request: id,
        route: visit.route,
        method: request.method().as_str(),
        client: visit.client,
        account: visit.caller.as_ref().map(|caller| caller.account.id),
        key: visit.presented.as_ref(),
        status: reply.status,
        code: error.as_ref().map(|error| error.code.name()),
        cause: cause.as_deref(),
        trace_id,
        is_expected: error.as_ref().is_some_and(|error| error.is_expected),
        replay_of: reply.replay_of,
        took: started.elapsed(),
    });
    let body_unread = !body::is_over(&mut payload);
    if let Some(connection) = connection.as_mut().filter(|_| body_unread) {
        connection.leave_body();
    }
    let mut response = reply.held_by(connection).into_response(id, visit.rate, error.as_ref());
    if body_unread {
        response.head_mut().set_connection_type(ConnectionType::Close);
    }
    if state.sandbox.is_some() {
        response.headers_mut().insert(X_CAIS_SANDBOX, HeaderValue::from_static("true"));
    }
    response
}

/// Returns the error of a panic, with its message for the log.
fn panicked(panic: &(dyn Any + Send)) -> ApiError {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    ApiError::internal(format!("the handler panicked: {}", text.unwrap_or("without a word")))
}

/// Runs the checks in their order, then the handler.
async fn handle(
    state: &Arc<AppState>,
    router: &Router,
    request: &HttpRequest,
    payload: &mut Payload,
    visit: &mut Visit,
) -> Result<Reply, ApiError> {
    let path = request.uri().path();
    let found = router.find(request.method().as_str(), path);
    if let Found::Route { index, .. } = found {
        visit.route = Some(index);
    }
    if needs_key(path) {
        let caller = authenticate(state, request, visit).await?;
        let key = &visit.caller.insert(caller).key;
        let rate = state.rates.count(key, state.ports.clock.now()).await;
        visit.rate = Some(rate);
        if !rate.allowed {
            return Err(too_many(state, rate));
        }
    }
    let (route, params) = match found {
        Found::Route { route, params, .. } => (route, params),
        Found::OtherMethods { allow } => {
            return Err(ApiError { allow: Some(allow), ..ApiError::new(ErrorCode::MethodNotAllowed) });
        }
        Found::Nothing => {
            let text = "The path does not exist. The paths of the API begin with /v1, and /docs lists them.";
            return Err(ApiError::new(ErrorCode::NotFound).with_message(text));
        }
    };
    let caller = permitted(route, visit.caller.as_ref())?;
    if matches!(route.access, Access::SecretPath) {
        state.callbacks.admit(&params)?;
    }
    // Held until the response: the body may stay in memory until then.
    let mut room = state.callbacks.room();
    let body = body::receive(route.body, request.headers(), payload, visit.body_within, &mut room).await?;
    let call = Call { state, id: visit.id, request, params, body };
    dispatch(route, &call, caller).await
}

async fn authenticate(state: &AppState, request: &HttpRequest, visit: &mut Visit) -> Result<Arc<Caller>, ApiError> {
    let token = match auth::presented_key(request.headers()) {
        Ok(token) => token,
        Err(error) => {
            let reason = if error.code == ErrorCode::MissingApiKey { "missing" } else { "malformed" };
            return Err(unauthenticated(error.code, reason.to_owned()));
        }
    };
    visit.presented = Some(token.prefix.clone());
    if let Some(caller) = state.keys.recognise(&token, visit.client) {
        return Ok(caller);
    }
    if !state.failures.permits(visit.client, Instant::now()) {
        let error = unauthenticated(ErrorCode::RateLimitExceeded, auth_failures::LIMITED.to_owned());
        let error = error.with_message("Too many requests with an invalid API key from this address.");
        return Err(ApiError { is_expected: true, ..error.retry_after(auth_failures::RETRY_AFTER_S) });
    }
    match state.keys.authenticate(&token, visit.client).await {
        Ok(caller) => Ok(caller),
        Err(AuthenticateError::InvalidKey(reason)) => {
            state.failures.record(visit.client, Instant::now());
            Err(unauthenticated(ErrorCode::InvalidApiKey, reason.to_string()))
        }
        Err(AuthenticateError::Unavailable(error)) => Err(error.into()),
    }
}

/// Returns the error for an unauthenticated caller; `reason` is for the log and the metrics only.
fn unauthenticated(code: ErrorCode, reason: String) -> ApiError {
    metrics::counter!(auth_failures::TOTAL, "reason" => reason.clone()).increment(1);
    ApiError::new(code).with_cause(reason)
}

fn too_many(state: &AppState, rate: RateDecision) -> ApiError {
    let left = rate.reset_s.saturating_sub(state.ports.clock.now().as_second());
    // At least one second: an immediate retry would fall in the same window.
    let seconds = u32::try_from(left.max(1)).unwrap_or(u32::MAX);
    ApiError::new(ErrorCode::RateLimitExceeded).retry_after(seconds)
}

/// Returns the caller if the route requires one and the key is permitted; `None` for an open route.
fn permitted<'c>(route: &Route, caller: Option<&'c Arc<Caller>>) -> Result<Option<&'c Arc<Caller>>, ApiError> {
    match (route.access, caller) {
        (Access::Open | Access::SecretPath, _) => Ok(None),
        (Access::AnyKey, Some(caller)) => Ok(Some(caller)),
        (Access::Scoped(scope), Some(caller)) if caller.scopes.contains(scope) => Ok(Some(caller)),
        (Access::Scoped(scope), Some(_)) => Err(lacks(scope)),
        (Access::AnyKey | Access::Scoped(_), None) => Err(ApiError::new(ErrorCode::MissingApiKey)),
    }
}

fn lacks(scope: Scope) -> ApiError {
    ApiError::new(ErrorCode::InsufficientScope).with_message(format!("The API key does not have the scope {scope}."))
}

async fn dispatch(route: &Route, call: &Call<'_>, caller: Option<&Arc<Caller>>) -> Result<Reply, ApiError> {
    match (route.handler, caller) {
        (Handler::Open(handle), _) => handle(call).await,
        (Handler::Keyed(handle), Some(caller)) => handle(call, caller).await,
        (Handler::Keyed(_), None) => Err(ApiError::internal("a route for callers with a key was reached without one")),
    }
}
