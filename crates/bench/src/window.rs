//! The counted period of a load, for all of its callers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The end of a load.
#[derive(Debug, Clone, Copy)]
pub enum Until {
    /// After a warm-up that does not count, and a counted time.
    Time {
        /// The uncounted time.
        warm_up: Duration,
        /// The counted time.
        measured: Duration,
    },
    /// After a number of calls, all counted.
    Calls(u64),
}

impl Until {
    /// Returns a counted time of `seconds`, after a warm-up of half a second that does not count.
    #[must_use]
    pub const fn seconds(seconds: u64) -> Self {
        Self::Time { warm_up: Duration::from_millis(500), measured: Duration::from_secs(seconds) }
    }
}

/// A running load.
#[derive(Debug)]
pub struct Window {
    began: Instant,
    counts_from: Instant,
    ends_at: Option<Instant>,
    /// The number of calls after which the load ends; `u64::MAX` if the load ends after a time.
    calls: u64,
    /// The number of the next call.
    next_call: AtomicU64,
}

impl Window {
    /// Starts the load.
    #[must_use]
    pub fn open(until: Until) -> Self {
        let began = Instant::now();
        let (counts_from, ends_at, calls) = match until {
            Until::Time { warm_up, measured } => {
                let counts_from = began.checked_add(warm_up).unwrap_or(began);
                (counts_from, counts_from.checked_add(measured), u64::MAX)
            }
            Until::Calls(calls) => (began, None, calls),
        };
        Self { began, counts_from, ends_at, calls, next_call: AtomicU64::new(0) }
    }

    /// Returns the number of the next call, from 0. Returns `None` at the end of the load.
    #[must_use]
    pub fn next(&self, now: Instant) -> Option<u64> {
        if self.ends_at.is_some_and(|end| now >= end) {
            return None;
        }
        let number = self.next_call.fetch_add(1, Ordering::Relaxed);
        (number < self.calls).then_some(number)
    }

    /// Returns whether a call that ended at `ended_at` counts.
    #[must_use]
    pub fn counts(&self, ended_at: Instant) -> bool {
        ended_at >= self.counts_from && self.ends_at.is_none_or(|end| ended_at <= end)
    }

    /// Returns the counted time. A load without an end time is counted until this call, so all callers must have ended
    /// before.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        match self.ends_at {
            Some(end) => end.duration_since(self.counts_from),
            None => self.began.elapsed(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_of_calls_ends_with_them() {
        let window = Window::open(Until::Calls(2));
        let now = Instant::now();
        assert_eq!([window.next(now), window.next(now), window.next(now)], [Some(0), Some(1), None]);
        assert!(window.counts(now));
    }

    #[test]
    fn load_of_time_does_not_count_its_warm_up() {
        let window = Window::open(Until::seconds(3));
        assert!(!window.counts(window.began));
        assert!(window.counts(window.began + Duration::from_secs(3)));
        assert!(!window.counts(window.began + Duration::from_secs(4)));
        assert_eq!(window.next(window.began + Duration::from_secs(4)), None);
        assert_eq!(window.elapsed(), Duration::from_secs(3));
    }
}
