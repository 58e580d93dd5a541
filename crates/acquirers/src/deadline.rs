//! The instant at which a call gives up, shared by all its steps.

use std::time::{Duration, Instant};

/// Longest budget that is kept; a longer one is a mistake of the caller.
const MAX_BUDGET: Duration = Duration::from_mins(1);

/// When to give up. Measured by the monotonic clock: moving the service's clock does not move it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    /// `budget` from now.
    pub(crate) fn after(budget: Duration) -> Self {
        let now = Instant::now();
        Self(now.checked_add(budget.min(MAX_BUDGET)).unwrap_or(now))
    }

    /// What is left of it; zero once it has passed.
    pub(crate) fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// The same deadline, with so much kept back for later steps, but never more than a third of what is left.
    pub(crate) fn keeping_back(self, reserve: Duration) -> Self {
        let left = self.left();
        Self::after(left.saturating_sub(reserve.min(left / 3)))
    }
}
