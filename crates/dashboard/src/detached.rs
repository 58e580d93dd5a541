//! Runs work to its end even if the browser disconnects, so that no order stays half done.

use std::time::Duration;

use crate::failure::Failure;

/// The time limit of a form's work, as that of a POST of the API. The work continues after it.
const ANSWER_WITHIN: Duration = Duration::from_secs(9);

/// Returns the result of the work.
///
/// # Errors
/// [`Failure::Unavailable`] if the work exceeds the time limit or panicked.
pub(crate) async fn run<T: 'static>(work: impl Future<Output = T> + 'static) -> Result<T, Failure> {
    match tokio::time::timeout(ANSWER_WITHIN, actix_web::rt::spawn(work)).await {
        Ok(ended) => ended.map_err(|error| Failure::Unavailable(format!("the work did not end: {error}"))),
        Err(_) => Err(Failure::Unavailable("the work takes longer than the answer may".to_owned())),
    }
}
