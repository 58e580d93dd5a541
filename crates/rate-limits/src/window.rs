//! The counters of the current minute, spread over shards so that keys rarely wait for each other.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use cais_domain::api_key::KeyPrefix;
use cais_ports::{RateDecision, RateLimits};
use jiff::Timestamp;

/// Length of a window, in seconds.
const WINDOW_S: i64 = 60;
/// Locks: enough that the threads of one machine seldom meet at one.
const SHARDS: usize = 64;
/// Keys that one shard counts in one minute: a million in all, about 60 MiB. A key beyond that is refused.
const MAX_KEYS_PER_SHARD: usize = 16_384;

/// The counters of some keys in one window.
#[derive(Debug, Default)]
struct Shard {
    /// Which window, in windows since 1970.
    window: i64,
    counts: HashMap<KeyPrefix, u32>,
}

impl Shard {
    /// Makes `window` the shard's, and returns the one in which the call counts.
    ///
    /// A call that read the clock just before the minute turned and came to the lock after it counts in the new minute:
    /// going back would forget the calls counted there. A clock that was set back further than that starts afresh.
    fn enter(&mut self, window: i64) -> i64 {
        let late = self.window.checked_sub(1) == Some(window);
        if window != self.window && !late {
            self.window = window;
            self.counts.clear();
        }
        self.window
    }

    /// Counts a call; the number of calls of that key before it, or `None` when it is not allowed.
    fn count(&mut self, key: &KeyPrefix, limit: u32) -> Option<u32> {
        if let Some(count) = self.counts.get_mut(key) {
            if *count >= limit {
                return None;
            }
            let before = *count;
            *count = before.saturating_add(1);
            return Some(before);
        }
        if limit == 0 || self.counts.len() >= MAX_KEYS_PER_SHARD {
            return None;
        }
        self.counts.insert(key.clone(), 1);
        Some(0)
    }
}

/// Counts the calls of each key in windows of 60 s aligned to the Unix epoch's minutes.
///
/// Exact: of any number of simultaneous calls in one window, the limit's number is allowed. Its memory holds one minute's keys.
#[derive(Debug)]
pub struct MinuteWindows {
    limit: u32,
    hasher: RandomState,
    shards: Vec<Mutex<Shard>>,
}

impl MinuteWindows {
    /// Windows of `limit` calls per key.
    #[must_use]
    pub fn new(limit: u32) -> Self {
        Self {
            limit,
            hasher: RandomState::new(),
            shards: std::iter::repeat_with(Mutex::default).take(SHARDS).collect(),
        }
    }

    /// Counts one call of the key; what [`RateLimits::count`] says without waiting for anything.
    pub fn count_now(&self, key: &KeyPrefix, now: Timestamp) -> RateDecision {
        let asked = now.as_second().div_euclid(WINDOW_S);
        let hash = usize::try_from(self.hasher.hash_one(key) >> 32).unwrap_or(0);
        let Some(shard) = self.shards.get(hash % SHARDS) else {
            return self.decision(asked, None);
        };
        let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        let window = shard.enter(asked);
        let before = shard.count(key, self.limit);
        drop(shard);
        self.decision(window, before)
    }

    fn decision(&self, window: i64, before: Option<u32>) -> RateDecision {
        RateDecision {
            allowed: before.is_some(),
            limit: self.limit,
            remaining: before.map_or(0, |before| self.limit.saturating_sub(before.saturating_add(1))),
            reset_s: window.saturating_add(1).saturating_mul(WINDOW_S),
        }
    }
}

#[async_trait]
impl RateLimits for MinuteWindows {
    async fn count(&self, key: &KeyPrefix, now: Timestamp) -> RateDecision {
        self.count_now(key, now)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn key(name: char) -> KeyPrefix {
        KeyPrefix::parse(&name.to_string().repeat(12)).unwrap()
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn sixty_four_threads_get_exactly_the_limit() {
        let windows = MinuteWindows::new(600);
        let allowed = AtomicU32::new(0);
        let barrier = Barrier::new(64);
        std::thread::scope(|scope| {
            for _ in 0..64 {
                scope.spawn(|| {
                    barrier.wait();
                    for _ in 0..20 {
                        if windows.count_now(&key('a'), at(90)).allowed {
                            allowed.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                });
            }
        });
        assert_eq!(allowed.load(Ordering::SeqCst), 600);
    }

    #[test]
    fn the_window_ends_with_the_minute() {
        let windows = MinuteWindows::new(1);
        let first = windows.count_now(&key('a'), at(60));
        assert_eq!((first.allowed, first.remaining, first.reset_s), (true, 0, 120));
        let last = windows.count_now(&key('a'), "1970-01-01T00:01:59.999999Z".parse().unwrap());
        assert_eq!((last.allowed, last.remaining, last.reset_s), (false, 0, 120));
        let next = windows.count_now(&key('a'), at(120));
        assert_eq!((next.allowed, next.remaining, next.reset_s), (true, 0, 180));
    }

    #[test]
    fn a_call_that_comes_late_over_the_edge_does_not_reopen_the_window() {
        let windows = MinuteWindows::new(2);
        assert!(windows.count_now(&key('a'), at(120)).allowed);
        let late = windows.count_now(&key('a'), at(119));
        assert_eq!((late.allowed, late.remaining, late.reset_s), (true, 0, 180));
        assert!(!windows.count_now(&key('a'), at(121)).allowed);
    }

    #[test]
    fn a_clock_that_is_set_back_starts_afresh() {
        let windows = MinuteWindows::new(1);
        assert!(windows.count_now(&key('a'), at(86_400)).allowed);
        assert_eq!(windows.count_now(&key('a'), at(60)).reset_s, 120);
    }

    #[tokio::test]
    async fn keys_do_not_share() {
        let windows = MinuteWindows::new(1);
        assert!(windows.count(&key('a'), at(0)).await.allowed);
        assert!(windows.count(&key('b'), at(0)).await.allowed);
        assert!(!windows.count(&key('a'), at(1)).await.allowed);
    }

    #[test]
    fn memory_is_bounded_within_a_minute_and_freed_after_it() {
        let mut shard = Shard::default();
        for number in 0..MAX_KEYS_PER_SHARD {
            let prefix = KeyPrefix::parse(&format!("{number:012}")).unwrap();
            assert_eq!(shard.count(&prefix, 5), Some(0));
        }
        assert_eq!(shard.count(&key('a'), 5), None);
        shard.enter(1);
        assert_eq!(shard.count(&key('a'), 5), Some(0));
        assert_eq!(shard.counts.len(), 1);
    }
}
