//! Records when a thread of the store last worked, so that readiness checks can see that it runs.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Work of that age shows that the thread runs.
const FRESH: Duration = Duration::from_secs(5);

/// The last success of a thread, shared with the readiness check. Clones share one value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pulse(Arc<Mutex<Option<Instant>>>);

impl Pulse {
    /// Records whether the database executed the thread's last request.
    pub(crate) fn note(&self, works: bool) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = works.then(Instant::now);
    }

    /// Returns whether the thread worked a moment ago, and has not failed since.
    pub(crate) fn is_fresh(&self) -> bool {
        let worked_at = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        worked_at.is_some_and(|worked_at| worked_at.elapsed() < FRESH)
    }
}
