//! The time of day, from the same machine as the service's.

use jiff::Timestamp;

/// Returns the present instant.
#[expect(clippy::disallowed_methods, reason = "the bench stands outside of the service, whose clock is not its own")]
#[must_use]
pub fn now() -> Timestamp {
    Timestamp::now()
}

/// Returns the present instant, in microseconds since 1970.
#[must_use]
pub fn now_us() -> i64 {
    now().as_microsecond()
}
