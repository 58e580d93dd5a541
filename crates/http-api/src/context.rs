//! The facts about a request, and the extractor that passes them to handlers.

use std::cell::OnceCell;
use std::future::{Future, Ready, ready};
use std::marker::PhantomData;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpMessage as _, HttpRequest};
use cais_domain::ids::RequestId;
use cais_domain::merchant::api_key::{KeyPrefix, Scope};
use cais_ports::RateDecision;
use cais_use_cases::keys::authenticate::Caller;
use tracing::Instrument as _;

use super::error::{ApiError, ErrorCode, STORE_RETRY_AFTER_S};
use super::state::AppState;
use super::trace;

/// Time limit for the work of [`run_detached`]. The service answers a POST within 10 s; the remaining second is for transmission.
const RESPOND_WITHIN: Duration = Duration::from_secs(9);

/// The facts about a request so far. The middleware owns them, so that they are not lost in a panic of the handler.
#[derive(Debug)]
pub struct RequestContext {
    /// The request's id.
    pub id: RequestId,
    /// The address of the client; `None` if the socket has no peer address.
    pub client: Option<IpAddr>,
    /// The time limit of the body.
    pub body_within: Duration,
    /// `true` for a HEAD, which is served as a GET whose response has no body.
    pub is_head: bool,
    /// The public part of the presented key, valid or not.
    pub presented: OnceCell<KeyPrefix>,
    /// The caller, after its key is accepted.
    pub caller: OnceCell<Arc<Caller>>,
    /// The rate window of the key, after the request is counted in it.
    pub rate: OnceCell<RateDecision>,
    /// The pattern of the path; `None` if no route serves the path and the method.
    pub route: OnceCell<Option<String>>,
}

impl RequestContext {
    /// Returns the facts about a request.
    ///
    /// # Errors
    /// `internal_error` if the request did not pass the middleware, which adds the facts.
    pub fn of(request: &HttpRequest) -> Result<Rc<Self>, ApiError> {
        let found = request.extensions().get::<Rc<Self>>().cloned();
        found.ok_or_else(|| ApiError::internal("the request did not pass the middleware"))
    }
}

/// Returns the state that handlers share.
///
/// # Errors
/// `internal_error` if the application has none.
pub fn state_of(request: &HttpRequest) -> Result<Arc<AppState>, ApiError> {
    let data = request.app_data::<Data<AppState>>().map(|data| Arc::clone(data));
    data.ok_or_else(|| ApiError::internal("the application has no state"))
}

/// A scope as a type, for [`Authorized`].
pub trait Permission: 'static {
    /// The scope.
    const SCOPE: Scope;
}

/// Declares a type for each scope.
macro_rules! permissions {
    ($($(#[doc = $doc:literal])+ $name:ident)+) => {$(
        $(#[doc = $doc])+
        #[derive(Debug)]
        pub struct $name;

        impl Permission for $name {
            const SCOPE: Scope = Scope::$name;
        }
    )+};
}

permissions! {
    /// The scope to list and read charges and their refunds.
    ChargesRead
    /// The scope to create, cancel and refund charges.
    ChargesWrite
    /// The scope to list and read payouts.
    PayoutsRead
    /// The scope to create payouts.
    PayoutsWrite
    /// The scope to read the timeline.
    TransactionsRead
    /// The scope to read the balance and the statement.
    BalanceRead
    /// The scope to list and read infractions.
    InfractionsRead
    /// The scope to submit defenses.
    InfractionsWrite
    /// The scope to read crypto currencies, quotes, deposits and withdrawals.
    CryptoRead
    /// The scope to create crypto quotes, deposits and withdrawals.
    CryptoWrite
    /// The scope to read webhook endpoints and deliveries.
    WebhooksRead
    /// The scope to register, change, delete and test webhook endpoints, and to resend events.
    WebhooksWrite
    /// The scope to read events.
    EventsRead
}

/// A request whose key has the scope `P`. The extractor is the first argument of a handler, so that the scope is checked before the body is
/// read.
pub struct Authorized<P> {
    /// The state that handlers share.
    pub state: Arc<AppState>,
    /// The caller.
    pub caller: Arc<Caller>,
    /// The facts about the request.
    pub context: Rc<RequestContext>,
    permission: PhantomData<P>,
}

impl<P: Permission> FromRequest for Authorized<P> {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Self::of(request))
    }
}

impl<P: Permission> Authorized<P> {
    fn of(request: &HttpRequest) -> Result<Self, ApiError> {
        let context = RequestContext::of(request)?;
        let unknown = || ApiError::internal("a route that requires an API key was reached without a caller");
        let caller = Arc::clone(context.caller.get().ok_or_else(unknown)?);
        if !caller.scopes.contains(P::SCOPE) {
            let text = format!("The API key does not have the scope {}.", P::SCOPE);
            return Err(ApiError::new(ErrorCode::InsufficientScope).with_message(text));
        }
        // The route is set before the handler runs, so that the log line of a panic contains it.
        let _first = context.route.set(request.match_pattern());
        Ok(Self { state: state_of(request)?, caller, context, permission: PhantomData })
    }
}

/// Runs work to its end even if the caller disconnects, so that no creation stops halfway.
///
/// # Errors
/// `service_unavailable` if the work exceeds the time limit (the work continues), `internal_error` if it panicked.
pub async fn run_detached<T: 'static>(work: impl Future<Output = T> + 'static) -> Result<T, ApiError> {
    let work = trace::scope(trace::current(), work.in_current_span());
    let task = actix_web::rt::spawn(work);
    match tokio::time::timeout(RESPOND_WITHIN, task).await {
        Ok(ended) => ended.map_err(|error| ApiError::internal(format!("the work panicked or was cancelled: {error}"))),
        Err(_) => Err(ApiError::new(ErrorCode::ServiceUnavailable).retry_after(STORE_RETRY_AFTER_S)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[actix_web::test]
    async fn detached_work_keeps_the_trace_of_its_request() {
        let ran = trace::scope(Some("00-trace".into()), run_detached(async { trace::current() })).await;
        assert_eq!(ran.ok().flatten().as_deref(), Some("00-trace"));
    }
}
