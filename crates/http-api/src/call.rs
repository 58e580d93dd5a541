//! A request as handlers receive it, and a way to run work detached from the request.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::web::Bytes;
use cais_domain::ids::RequestId;
use tracing::Instrument as _;

use super::error::{ApiError, ErrorCode, STORE_RETRY_AFTER_S};
use super::routes::Params;
use super::state::AppState;
use super::trace;

/// Time limit of a POST's work. Its response is due within 10 s; the rest is for transmission.
const ANSWER_WITHIN: Duration = Duration::from_secs(9);

/// A request that passed every check that does not need its contents.
pub struct Call<'r> {
    /// The state that handlers share.
    pub state: &'r Arc<AppState>,
    /// The request's id.
    pub id: RequestId,
    /// The request itself, for its headers.
    pub request: &'r HttpRequest,
    /// The values of the names in the path's pattern.
    pub params: Params<'r>,
    /// The body; empty if the route reads none.
    pub body: Bytes,
}

impl Call<'_> {
    /// Returns the query string; empty without one.
    #[must_use]
    pub fn query(&self) -> &str {
        self.request.query_string()
    }
}

/// Runs work to its end even if the caller disconnects, so that no creation stays half done.
///
/// # Errors
/// `service_unavailable` if the work exceeds the time limit (the work continues), `internal_error` if it panicked.
pub async fn run_detached<T: 'static>(work: impl Future<Output = T> + 'static) -> Result<T, ApiError> {
    let work = trace::scope(trace::current(), work.in_current_span());
    let task = actix_web::rt::spawn(work);
    match tokio::time::timeout(ANSWER_WITHIN, task).await {
        Ok(ended) => ended.map_err(|error| ApiError::internal(format!("the work did not end: {error}"))),
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
