//! Liveness, readiness and metrics of the process.

use std::sync::atomic::Ordering;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::HeaderValue;
use actix_web::web::Data;

use super::error::{ApiError, ErrorCode, STORE_RETRY_AFTER_S};
use super::reply;
use super::state::AppState;

/// Time limit for the readiness check of the store.
const READY_WITHIN: Duration = Duration::from_secs(1);
/// The text format of Prometheus.
const PROMETHEUS: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// Returns 200, which shows that the process responds.
pub async fn live() -> HttpResponse {
    alive()
}

fn alive() -> HttpResponse {
    reply::rendered(StatusCode::OK, &br#"{"status":"ok"}"#[..])
}

/// Returns 200 if the process and the store can serve requests.
///
/// # Errors
/// `service_unavailable` while the process is about to stop. The same error while the store does not respond, accepts no
/// writes or is not migrated, and while the webhook queue is not connected to the store. The log line of the response has
/// the cause.
pub async fn ready(state: Data<AppState>) -> Result<HttpResponse, ApiError> {
    let not_ready =
        |cause: String| ApiError::new(ErrorCode::ServiceUnavailable).retry_after(STORE_RETRY_AFTER_S).with_cause(cause);
    if state.draining.load(Ordering::Relaxed) {
        let error = not_ready("the process is about to stop".to_owned());
        return Err(ApiError { is_expected: true, ..error });
    }
    match tokio::time::timeout(READY_WITHIN, state.ports.maintenance.ready()).await {
        Ok(Ok(())) => Ok(alive()),
        Ok(Err(error)) => Err(not_ready(error.to_string())),
        Err(_) => Err(not_ready("the store did not answer in time".to_owned())),
    }
}

/// Returns all metrics.
pub async fn metrics(state: Data<AppState>) -> HttpResponse {
    metrics_process::Collector::default().collect();
    reply::bytes(StatusCode::OK, PROMETHEUS, state.metrics_handle.render())
}
