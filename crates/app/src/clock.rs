//! The clock of the service: the machine's time plus an offset. Only the controls of the sandbox change the offset.

use std::sync::atomic::{AtomicI64, Ordering};

use cais_ports::Clock;
use jiff::{SignedDuration, Timestamp};

/// The largest offset into the past or the future, in seconds: about ten years, as in the sandbox.
pub const MAX_OFFSET_S: i64 = 320_000_000;

/// The system clock plus an offset, in whole microseconds.
#[derive(Debug, Default)]
pub struct OffsetClock {
    offset_s: AtomicI64,
}

impl OffsetClock {
    /// Returns a clock with the machine's time.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the seconds by which the clock is ahead of the machine's clock.
    #[must_use]
    pub fn offset_s(&self) -> i64 {
        self.offset_s.load(Ordering::SeqCst)
    }

    /// Sets the offset to `offset_s` seconds, and returns `true`. An offset beyond [`MAX_OFFSET_S`] changes nothing and returns `false`.
    pub fn set_offset_s(&self, offset_s: i64) -> bool {
        let allowed = (-MAX_OFFSET_S..=MAX_OFFSET_S).contains(&offset_s);
        if allowed {
            self.offset_s.store(offset_s, Ordering::SeqCst);
        }
        allowed
    }
}

impl Clock for OffsetClock {
    fn now(&self) -> Timestamp {
        #[expect(clippy::disallowed_methods, reason = "this is the clock's adapter")]
        let machine = Timestamp::now();
        let shifted = machine.saturating_add(SignedDuration::from_secs(self.offset_s())).unwrap_or(machine);
        // The time is truncated to microseconds, which the stores keep. A finer time would differ from the time that is read back.
        Timestamp::from_microsecond(shifted.as_microsecond()).unwrap_or(shifted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_offset_moves_time_within_bounds() {
        let clock = OffsetClock::new();
        let before = clock.now();
        assert!(clock.set_offset_s(3_600));
        assert!(clock.now().duration_since(before) >= SignedDuration::from_secs(3_600));
        assert!(!clock.set_offset_s(MAX_OFFSET_S + 1));
        assert_eq!(clock.offset_s(), 3_600);
        assert_eq!(clock.now().subsec_nanosecond() % 1_000, 0);
    }
}
