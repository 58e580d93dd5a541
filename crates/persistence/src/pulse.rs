//! When a thread of the store last worked, so that others see whether it does.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Work of that age shows that the thread works.
const FRESH: Duration = Duration::from_secs(5);

/// The last time a thread worked, shared between it and those who look. Clones are the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pulse(Arc<Mutex<Option<Instant>>>);

impl Pulse {
    /// Notes whether the database did what the thread asked for.
    pub(crate) fn note(&self, works: bool) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = works.then(Instant::now);
    }

    /// Whether the thread worked a moment ago, and has not failed since.
    pub(crate) fn is_fresh(&self) -> bool {
        let worked_at = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        worked_at.is_some_and(|worked_at| worked_at.elapsed() < FRESH)
    }
}
