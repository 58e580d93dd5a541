//! When work is due, and when a lease is over, judged so that a wrong clock parks nothing.
//!
//! Instants of work are written by the clock of a node. After a clock was ahead for a moment they lie as far ahead as it was. No correct
//! clock writes an instant further ahead than the longest pause, so such an instant counts as over.

use jiff::{SignedDuration, Timestamp};

/// By how much the clocks of two nodes may differ. A difference within it ends no lease early.
pub const CLOCK_DIFFERENCE: SignedDuration = SignedDuration::from_secs(30);
/// How long the process that took an idempotency key may be at work before another takes over.
pub const CLAIM_LEASE: SignedDuration = SignedDuration::from_secs(30);
/// The lease of a claimed delivery.
pub const DELIVERY_LEASE: SignedDuration = SignedDuration::from_secs(30);

/// Judges instants that lie ahead by at most a known length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    now: Timestamp,
    beyond: Timestamp,
}

impl Due {
    /// Judges at `now` instants that were at most `longest` ahead when they were written.
    #[must_use]
    pub fn new(now: Timestamp, longest: SignedDuration) -> Self {
        let ahead = longest.saturating_add(CLOCK_DIFFERENCE);
        Self { now, beyond: now.saturating_add(ahead).unwrap_or(Timestamp::MAX) }
    }

    /// The last instant that is over.
    #[must_use]
    pub const fn now(self) -> Timestamp {
        self.now
    }

    /// The last instant that a correct clock can have written.
    #[must_use]
    pub const fn beyond(self) -> Timestamp {
        self.beyond
    }

    /// Whether the instant is over, or further ahead than it can be.
    #[must_use]
    pub fn is(self, at: Timestamp) -> bool {
        at <= self.now || at > self.beyond
    }
}
