//! The simulator's clock: the machine's time plus an offset set by the tester.

use std::sync::atomic::{AtomicI64, Ordering};

use jiff::{SignedDuration, Timestamp};

/// The largest offset in either direction, in seconds: about ten years. Usual deadlines are shorter, and the limits of [`Timestamp`] are
/// far away.
pub const MAX_OFFSET_S: i64 = 320_000_000;

/// The source of all instants that the simulator records.
#[derive(Debug, Default)]
pub struct Clock {
    offset_s: AtomicI64,
}

impl Clock {
    /// Returns the simulated instant, truncated to milliseconds, the precision of the wire format. So a recorded instant equals the instant
    /// in the answer. A list request whose start or end is that instant includes the object.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        let shifted =
            machine_time().saturating_add(SignedDuration::from_secs(self.offset_s())).unwrap_or(Timestamp::MAX);
        Timestamp::from_millisecond(shifted.as_millisecond()).unwrap_or(shifted)
    }

    /// Returns the current offset in seconds.
    #[must_use]
    pub fn offset_s(&self) -> i64 {
        self.offset_s.load(Ordering::SeqCst)
    }

    /// Sets the clock `offset_s` seconds ahead of the machine's clock; a negative offset sets it behind. Returns `false`, and changes
    /// nothing, if the offset is out of range.
    pub fn set_offset_s(&self, offset_s: i64) -> bool {
        let allowed = (-MAX_OFFSET_S..=MAX_OFFSET_S).contains(&offset_s);
        if allowed {
            self.offset_s.store(offset_s, Ordering::SeqCst);
        }
        allowed
    }
}

#[expect(clippy::disallowed_methods, reason = "the sandbox simulates another company's system, with its own clock")]
fn machine_time() -> Timestamp {
    Timestamp::now()
}
