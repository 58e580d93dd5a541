//! The simulator's own clock: the machine's time plus an offset that a tester moves.

use std::sync::atomic::{AtomicI64, Ordering};

use jiff::{SignedDuration, Timestamp};

/// Largest offset either way, in seconds (about ten years): enough for every deadline, far from the ends of the calendar.
pub const MAX_OFFSET_S: i64 = 320_000_000;

/// Where every instant that the simulator records comes from.
#[derive(Debug, Default)]
pub struct Clock {
    offset_s: AtomicI64,
}

impl Clock {
    /// The simulated instant, cut to milliseconds because that is what the wire shows:
    /// an inclusive filter by a time that was read back must find the object again.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        let shifted =
            machine_time().saturating_add(SignedDuration::from_secs(self.offset_s())).unwrap_or(Timestamp::MAX);
        Timestamp::from_millisecond(shifted.as_millisecond()).unwrap_or(shifted)
    }

    /// The offset in seconds that is in force.
    #[must_use]
    pub fn offset_s(&self) -> i64 {
        self.offset_s.load(Ordering::SeqCst)
    }

    /// Puts the clock `offset_s` seconds ahead of (or behind) the machine's; `false` when that is out of range.
    pub fn set_offset_s(&self, offset_s: i64) -> bool {
        let allowed = (-MAX_OFFSET_S..=MAX_OFFSET_S).contains(&offset_s);
        if allowed {
            self.offset_s.store(offset_s, Ordering::SeqCst);
        }
        allowed
    }
}

#[expect(clippy::disallowed_methods, reason = "another company's system: its clock is its own, and this is it")]
fn machine_time() -> Timestamp {
    Timestamp::now()
}
