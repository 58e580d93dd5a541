//! A clock that moves only when a test moves it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cais_ports::Clock;
use jiff::{Timestamp, Unit};

use crate::builders::start;

/// A clock that stands still until a call of [`ManualClock::set`] or [`ManualClock::advance`].
#[derive(Debug)]
pub struct ManualClock {
    now: Mutex<Timestamp>,
}

impl ManualClock {
    /// Creates a clock at that instant, truncated to whole microseconds, because stores keep no smaller part.
    #[must_use]
    pub fn new(at: Timestamp) -> Self {
        Self { now: Mutex::new(whole_microseconds(at)) }
    }

    /// Moves to that instant, forward or backward.
    pub fn set(&self, at: Timestamp) {
        *self.lock() = whole_microseconds(at);
    }

    /// Moves forward, at most to [`Timestamp::MAX`], and returns the new instant.
    pub fn advance(&self, by: Duration) -> Timestamp {
        let mut now = self.lock();
        *now = whole_microseconds(now.saturating_add(by).unwrap_or(Timestamp::MAX));
        *now
    }

    fn lock(&self) -> MutexGuard<'_, Timestamp> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The clock begins at [`start`], the first instant of built records.
impl Default for ManualClock {
    fn default() -> Self {
        Self::new(start())
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.lock()
    }
}

fn whole_microseconds(at: Timestamp) -> Timestamp {
    let round = jiff::TimestampRound::new().smallest(Unit::Microsecond).mode(jiff::RoundMode::Trunc);
    at.round(round).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_moves_only_on_request_by_whole_microseconds() {
        let clock = ManualClock::default();
        assert_eq!(clock.now(), start());
        let later = clock.advance(Duration::from_nanos(1_999));
        assert_eq!(later.duration_since(start()).as_nanos(), 1_000);
        assert_eq!(clock.now(), later);
        clock.set(start());
        assert_eq!(clock.now(), start());
        assert_eq!(clock.advance(Duration::MAX), whole_microseconds(Timestamp::MAX));
    }
}
