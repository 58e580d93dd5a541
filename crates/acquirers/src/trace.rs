//! The W3C Trace Context of calls to acquirers, passed on in the header `traceparent`.

use std::sync::Arc;

use tokio::task::futures::TaskLocalFuture;

tokio::task_local! {
    static TRACEPARENT: Option<Arc<str>>;
}

/// Runs `work`. Calls to acquirers from the same task carry this `traceparent`.
pub fn scope<F: Future>(traceparent: Option<Arc<str>>, work: F) -> TaskLocalFuture<Option<Arc<str>>, F> {
    TRACEPARENT.scope(traceparent, work)
}

/// Returns the `traceparent` of the running task, for use in another task.
#[must_use]
pub fn current() -> Option<Arc<str>> {
    TRACEPARENT.try_with(Clone::clone).ok().flatten()
}
