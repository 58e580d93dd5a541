//! The time of day. The service runs on the same machine and reads the same clock.

use jiff::Timestamp;

/// Returns the current instant.
#[expect(
    clippy::disallowed_methods,
    reason = "the benchmark is not part of the service and reads the clock of the machine"
)]
#[must_use]
pub fn now() -> Timestamp {
    Timestamp::now()
}

/// Returns the current instant, in microseconds since 1970.
#[must_use]
pub fn now_us() -> i64 {
    now().as_microsecond()
}
