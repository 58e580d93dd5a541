//! Runs work to its end even if the browser disconnects, so that no order stays half done.

use std::time::Duration;

use crate::failure::Failure;

/// The time limit for the work of a form, equal to the limit for a POST of the API. The work continues after the limit.
const RESPOND_WITHIN: Duration = Duration::from_secs(9);

/// Runs the work in a task of its own, and returns its result.
///
/// # Errors
/// [`Failure::Unavailable`] if the work exceeds the time limit or panics.
pub(crate) async fn run<T: 'static>(work: impl Future<Output = T> + 'static) -> Result<T, Failure> {
    match tokio::time::timeout(RESPOND_WITHIN, actix_web::rt::spawn(work)).await {
        Ok(ended) => ended
            .map_err(|error| Failure::Unavailable(format!("the work of the form panicked or was cancelled: {error}"))),
        Err(_) => Err(Failure::Unavailable("the work of the form exceeded the time limit and continues".to_owned())),
    }
}
