//! When a load begins to count and when it ends, for all of its callers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// When a load ends.
#[derive(Debug, Clone, Copy)]
pub enum Until {
    /// After a time that counts, behind one that does not.
    Time {
        /// Warms up.
        warm_up: Duration,
        /// Counts.
        measured: Duration,
    },
    /// After so many calls, all of which count.
    Calls(u64),
}

impl Until {
    /// So many seconds, behind half of one that does not count.
    #[must_use]
    pub const fn seconds(seconds: u64) -> Self {
        Self::Time { warm_up: Duration::from_millis(500), measured: Duration::from_secs(seconds) }
    }
}

/// A load that has begun.
#[derive(Debug)]
pub struct Window {
    began: Instant,
    counts_from: Instant,
    ends_at: Option<Instant>,
    calls: u64,
    taken: AtomicU64,
}

impl Window {
    /// Begins now.
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
        Self { began, counts_from, ends_at, calls, taken: AtomicU64::new(0) }
    }

    /// The number of the next call, from 0; `None` when the load is over.
    #[must_use]
    pub fn next(&self, now: Instant) -> Option<u64> {
        if self.ends_at.is_some_and(|end| now >= end) {
            return None;
        }
        let number = self.taken.fetch_add(1, Ordering::Relaxed);
        (number < self.calls).then_some(number)
    }

    /// Whether a call that ended at that instant counts.
    #[must_use]
    pub fn counts(&self, ended_at: Instant) -> bool {
        ended_at >= self.counts_from && self.ends_at.is_none_or(|end| ended_at <= end)
    }

    /// How long it counted, once all callers are done.
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
    fn a_load_of_calls_ends_with_them() {
        let window = Window::open(Until::Calls(2));
        let now = Instant::now();
        assert_eq!([window.next(now), window.next(now), window.next(now)], [Some(0), Some(1), None]);
        assert!(window.counts(now));
    }

    #[test]
    fn a_load_of_time_does_not_count_its_warm_up() {
        let window = Window::open(Until::seconds(3));
        assert!(!window.counts(window.began));
        assert!(window.counts(window.began + Duration::from_secs(3)));
        assert!(!window.counts(window.began + Duration::from_secs(4)));
        assert_eq!(window.next(window.began + Duration::from_secs(4)), None);
        assert_eq!(window.elapsed(), Duration::from_secs(3));
    }
}
