//! The trace that calls to acquirers belong to (W3C Trace Context), passed on in their header `traceparent`.

use std::sync::Arc;

use tokio::task::futures::TaskLocalFuture;

tokio::task_local! {
    static TRACEPARENT: Option<Arc<str>>;
}

/// Runs `work`; its calls to acquirers, made in the same task, carry this `traceparent`.
pub fn scope<F: Future>(traceparent: Option<Arc<str>>, work: F) -> TaskLocalFuture<Option<Arc<str>>, F> {
    TRACEPARENT.scope(traceparent, work)
}

/// The `traceparent` of the running task, to hand it to another task.
#[must_use]
pub fn current() -> Option<Arc<str>> {
    TRACEPARENT.try_with(Clone::clone).ok().flatten()
}
