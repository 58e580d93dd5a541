//! Compares due instants and ends of leases, even if a node's clock is wrong.
//!
//! A node writes due instants by its own clock. If that clock is ahead, the due instants are too late by the same time.
//! If an instant is further ahead than the longest pause, no correct clock can have written it, so it is due now.

use jiff::{SignedDuration, Timestamp};

/// The largest accepted difference between the clocks of two nodes. A smaller difference ends no lease early.
pub const CLOCK_DIFFERENCE: SignedDuration = SignedDuration::from_secs(30);
/// The time for which a process may work on an idempotency key before another process takes over.
pub const REQUEST_LEASE: SignedDuration = SignedDuration::from_secs(30);
/// The lease of a claimed delivery.
pub const DELIVERY_LEASE: SignedDuration = SignedDuration::from_secs(30);

/// A comparison of instants that were at most a known time ahead when they were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    now: Timestamp,
    beyond: Timestamp,
}

impl Due {
    /// Creates a comparison at `now`. The instants were at most `longest` ahead when they were written.
    #[must_use]
    pub fn new(now: Timestamp, longest: SignedDuration) -> Self {
        let ahead = longest.saturating_add(CLOCK_DIFFERENCE);
        Self { now, beyond: now.saturating_add(ahead).unwrap_or(Timestamp::MAX) }
    }

    /// Returns `now`: the last instant that has passed.
    #[must_use]
    pub const fn now(self) -> Timestamp {
        self.now
    }

    /// Returns the last instant that a correct clock can have written.
    #[must_use]
    pub const fn beyond(self) -> Timestamp {
        self.beyond
    }

    /// Returns whether the instant has passed, or is too far ahead to be correct.
    #[must_use]
    pub fn is(self, at: Timestamp) -> bool {
        at <= self.now || at > self.beyond
    }
}
