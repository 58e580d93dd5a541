//! Records the last success of a thread of the store, for readiness checks.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The age up to which a success shows that the thread works.
const FRESH: Duration = Duration::from_secs(5);

/// The last success of a thread, shared with the readiness check. Clones share one value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pulse(Arc<Mutex<Option<Instant>>>);

impl Pulse {
    /// Records whether the database executed the thread's last request.
    pub(crate) fn record(&self, works: bool) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = works.then(Instant::now);
    }

    /// Returns whether the thread succeeded within [`FRESH`] and has not failed since.
    pub(crate) fn is_fresh(&self) -> bool {
        let worked_at = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        worked_at.is_some_and(|worked_at| worked_at.elapsed() < FRESH)
    }
}
