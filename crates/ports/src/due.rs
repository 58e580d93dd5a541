//! Due instants of work and ends of leases, robust against wrong clocks.
//!
//! Due instants are written by the clock of a node. A node whose clock is ahead writes due instants that are too late
//! by the same time. An instant beyond the longest pause cannot come from a correct clock, so it is due now.

use jiff::{SignedDuration, Timestamp};

/// The tolerated difference between the clocks of two nodes. Smaller differences end no lease early.
pub const CLOCK_DIFFERENCE: SignedDuration = SignedDuration::from_secs(30);
/// The time that a process may work on an idempotency key before another takes over.
pub const REQUEST_LEASE: SignedDuration = SignedDuration::from_secs(30);
/// The lease of a claimed delivery.
pub const DELIVERY_LEASE: SignedDuration = SignedDuration::from_secs(30);

/// Compares instants that lie ahead by at most a known length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    now: Timestamp,
    beyond: Timestamp,
}

impl Due {
    /// Creates a comparison at `now` for instants at most `longest` ahead when written.
    #[must_use]
    pub fn new(now: Timestamp, longest: SignedDuration) -> Self {
        let ahead = longest.saturating_add(CLOCK_DIFFERENCE);
        Self { now, beyond: now.saturating_add(ahead).unwrap_or(Timestamp::MAX) }
    }

    /// Returns the last instant that is over.
    #[must_use]
    pub const fn now(self) -> Timestamp {
        self.now
    }

    /// Returns the last instant that a correct clock can have written.
    #[must_use]
    pub const fn beyond(self) -> Timestamp {
        self.beyond
    }

    /// Returns whether the instant is over, or impossibly far ahead.
    #[must_use]
    pub fn is(self, at: Timestamp) -> bool {
        at <= self.now || at > self.beyond
    }
}
