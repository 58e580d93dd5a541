//! The deadline of a call, shared by all its steps.

use std::time::{Duration, Instant};

/// The longest budget; longer budgets are cut to it.
const MAX_BUDGET: Duration = Duration::from_mins(1);

/// A deadline on the monotonic clock. Changes of the system clock do not affect it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    /// Returns the deadline `budget` from now.
    pub(crate) fn after(budget: Duration) -> Self {
        let now = Instant::now();
        Self(now.checked_add(budget.min(MAX_BUDGET)).unwrap_or(now))
    }

    /// Returns the remaining time, zero after the deadline.
    pub(crate) fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// Returns an earlier deadline that reserves time for later steps, at most a third of the remaining time.
    pub(crate) fn keeping_back(self, reserve: Duration) -> Self {
        let left = self.left();
        Self::after(left.saturating_sub(reserve.min(left / 3)))
    }
}
