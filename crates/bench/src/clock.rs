//! The time of day, as the service under test has it from the same machine.

use jiff::Timestamp;

/// The instant now.
#[expect(clippy::disallowed_methods, reason = "the bench stands outside of the service, whose clock is not its own")]
#[must_use]
pub fn now() -> Timestamp {
    Timestamp::now()
}

/// The instant now, in microseconds since 1970.
#[must_use]
pub fn now_us() -> i64 {
    now().as_microsecond()
}
