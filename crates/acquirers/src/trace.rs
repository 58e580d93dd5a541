//! The W3C Trace Context of calls to acquirers, sent in the header `traceparent`.

use std::sync::{Arc, OnceLock};

/// A function that returns the `traceparent` of the running task.
pub type Source = fn() -> Option<Arc<str>>;

static SOURCE: OnceLock<Source> = OnceLock::new();

/// Sets the source of `traceparent` for the whole life of the process. Only the first call has an effect.
pub fn set_source(source: Source) {
    let _first = SOURCE.set(source);
}

/// Returns the `traceparent` of the running task; `None` without a source.
pub(crate) fn current() -> Option<Arc<str>> {
    SOURCE.get().and_then(|source| source())
}
