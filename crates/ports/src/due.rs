//! Decides whether a due instant or the end of a lease has passed, even if a node's clock was wrong.
//!
//! A node writes due instants by its own clock. If that clock is ahead, the due instants are too late by the same time.
//! If an instant is further ahead than the longest pause, no correct clock can have written it, so it is due now.

use jiff::{SignedDuration, Timestamp};

/// The largest accepted difference between the clocks of two nodes. [`Due`] adds it to the longest pause, so an instant
/// from a clock with a smaller difference is never treated as too far ahead.
pub const CLOCK_DIFFERENCE: SignedDuration = SignedDuration::from_secs(30);
/// The time for which a process may work on an idempotency key before another process takes over.
pub const REQUEST_LEASE: SignedDuration = SignedDuration::from_secs(30);
/// The lease of a claimed delivery.
pub const DELIVERY_LEASE: SignedDuration = SignedDuration::from_secs(30);

/// The rule that decides whether instants are due at `now`. A correct clock writes each of them at most a known time
/// ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    now: Timestamp,
    beyond: Timestamp,
}

impl Due {
    /// Creates the rule for `now`. A correct clock writes the instants at most `longest` ahead.
    #[must_use]
    pub fn new(now: Timestamp, longest: SignedDuration) -> Self {
        let ahead = longest.saturating_add(CLOCK_DIFFERENCE);
        Self { now, beyond: now.saturating_add(ahead).unwrap_or(Timestamp::MAX) }
    }

    /// Returns `now`. Every instant up to it is due.
    #[must_use]
    pub const fn now(self) -> Timestamp {
        self.now
    }

    /// Returns the last instant that a correct clock can have written. Every later instant is due too.
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
