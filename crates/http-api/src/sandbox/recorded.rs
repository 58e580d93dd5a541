//! Waits until the service has recorded a change that a request to `/v1/sandbox` made at the simulated institution.

use std::time::Duration;

use tokio::time::Instant;

use crate::error::{ApiError, ErrorCode, STORE_RETRY_AFTER_S};

/// Time limit for the service to record a change at the institution. Usually the service needs a few milliseconds.
const RECORDED_WITHIN: Duration = Duration::from_secs(5);
/// Pause between two reads, until the change is recorded.
const READ_EVERY: Duration = Duration::from_millis(50);

/// Reads until the value shows the change, and returns that value. The service records the change after a callback of the
/// institution, or within `read` itself.
///
/// # Errors
/// An error of `read`; `service_unavailable` after [`RECORDED_WITHIN`] without the change.
pub(super) async fn recorded<T>(
    read: impl AsyncFn() -> Result<T, ApiError>,
    is_done: impl Fn(&T) -> bool,
) -> Result<T, ApiError> {
    let deadline = Instant::now() + RECORDED_WITHIN;
    loop {
        let value = read().await?;
        if is_done(&value) {
            return Ok(value);
        }
        if Instant::now() >= deadline {
            let message =
                "The institution made the change, but the service has not recorded it yet: read the resource later.";
            let error = ApiError::new(ErrorCode::ServiceUnavailable).retry_after(STORE_RETRY_AFTER_S);
            return Err(error.with_message(message).with_cause("the service does not show the change of the sandbox"));
        }
        tokio::time::sleep(READ_EVERY).await;
    }
}
