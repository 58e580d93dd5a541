//! Counters of API calls per key in the current minute. Shards divide the keys, so that threads rarely wait for a lock.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use cais_domain::merchant::api_key::KeyPrefix;
use cais_ports::{RateDecision, RateLimits};
use jiff::Timestamp;

/// The length of a window, in seconds.
const WINDOW_S: i64 = 60;
/// The number of shards, each with its own lock. With 64 shards, the threads of one machine rarely wait.
const SHARDS: usize = 64;
/// The largest number of keys per shard and minute: a million keys in all, about 60 MiB. In that minute, calls of
/// further keys are refused.
const MAX_KEYS_PER_SHARD: usize = 16_384;

/// The counters of the keys of one shard in one window.
#[derive(Debug, Default)]
struct Shard {
    /// The start of the window, in minutes of the Unix epoch.
    window: i64,
    /// The allowed calls of each key in the window.
    counts: HashMap<KeyPrefix, u32>,
}

impl Shard {
    /// Moves the shard to `window` with empty counts, unless it is there already or the call is late. Returns the
    /// window in which the call counts.
    ///
    /// A call may read the clock just before the end of a minute, but lock the shard after a call of the next minute.
    /// Such a late call counts in the next minute, because a return to the old window would clear the counts. If the
    /// clock was set back by more than one window, the shard starts `window` with empty counts.
    fn enter(&mut self, window: i64) -> i64 {
        let late = self.window.checked_sub(1) == Some(window);
        if window != self.window && !late {
            self.window = window;
            self.counts.clear();
        }
        self.window
    }

    /// Counts a call. Returns the number of earlier allowed calls of the key in the window; `None` if the call is
    /// refused. Refused calls are not counted.
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

/// A counter of the calls of each key, in windows of 60 s that start with the minutes of the Unix epoch.
///
/// The counts are exact even for concurrent calls: if more calls of a key arrive in a window, exactly the limit is
/// allowed. Each shard has the counts of one window only.
#[derive(Debug)]
pub struct MinuteWindows {
    limit: u32,
    hasher: RandomState,
    shards: Vec<Mutex<Shard>>,
}

impl MinuteWindows {
    /// Creates a counter that allows `limit` calls per key and window.
    #[must_use]
    pub fn new(limit: u32) -> Self {
        Self {
            limit,
            hasher: RandomState::new(),
            shards: std::iter::repeat_with(Mutex::default).take(SHARDS).collect(),
        }
    }

    /// Counts one call of the key, like [`RateLimits::count`], but without `async`.
    pub fn count_now(&self, key: &KeyPrefix, now: Timestamp) -> RateDecision {
        let call_window = now.as_second().div_euclid(WINDOW_S);
        let hash = usize::try_from(self.hasher.hash_one(key) >> 32).unwrap_or(0);
        let Some(shard) = self.shards.get(hash % SHARDS) else {
            return self.decision(call_window, None);
        };
        let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        let window = shard.enter(call_window);
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
    fn concurrent_calls_get_exactly_the_limit() {
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
    fn window_ends_with_the_minute() {
        let windows = MinuteWindows::new(1);
        let first = windows.count_now(&key('a'), at(60));
        assert_eq!((first.allowed, first.remaining, first.reset_s), (true, 0, 120));
        let last = windows.count_now(&key('a'), "1970-01-01T00:01:59.999999Z".parse().unwrap());
        assert_eq!((last.allowed, last.remaining, last.reset_s), (false, 0, 120));
        let next = windows.count_now(&key('a'), at(120));
        assert_eq!((next.allowed, next.remaining, next.reset_s), (true, 0, 180));
    }

    #[test]
    fn late_call_counts_in_the_new_window() {
        let windows = MinuteWindows::new(2);
        assert!(windows.count_now(&key('a'), at(120)).allowed);
        let late = windows.count_now(&key('a'), at(119));
        assert_eq!((late.allowed, late.remaining, late.reset_s), (true, 0, 180));
        assert!(!windows.count_now(&key('a'), at(121)).allowed);
    }

    #[test]
    fn clock_set_back_starts_a_new_window() {
        let windows = MinuteWindows::new(1);
        assert!(windows.count_now(&key('a'), at(86_400)).allowed);
        assert_eq!(windows.count_now(&key('a'), at(60)).reset_s, 120);
    }

    #[tokio::test]
    async fn keys_have_separate_windows() {
        let windows = MinuteWindows::new(1);
        assert!(windows.count(&key('a'), at(0)).await.allowed);
        assert!(windows.count(&key('b'), at(0)).await.allowed);
        assert!(!windows.count(&key('a'), at(1)).await.allowed);
    }

    #[test]
    fn memory_is_bounded_per_minute() {
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
