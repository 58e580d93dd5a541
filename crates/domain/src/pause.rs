//! Pauses between retries.

use jiff::{SignedDuration, Timestamp};

/// The longest pause of all retries except webhook deliveries. A due time that is further ahead comes from a wrong
/// clock, so a store treats such work as due now.
pub const MAX_PAUSE: SignedDuration = SignedDuration::from_secs(300);
/// The first pause. Each further pause is twice as long.
const FIRST_PAUSE_S: i64 = 1;
/// The maximum number of doublings, which keeps the shift in range. The pause reaches its maximum earlier.
const MAX_DOUBLINGS: u32 = 16;

/// Returns the instant of the next attempt after `attempts` failed attempts: [`doubled`] after `at`.
pub(crate) fn pause(at: Timestamp, attempts: u32) -> Timestamp {
    at.saturating_add(doubled(attempts)).unwrap_or(Timestamp::MAX)
}

/// Returns one second, doubled `times` times and limited to [`MAX_PAUSE`].
#[must_use]
pub fn doubled(times: u32) -> SignedDuration {
    let seconds = FIRST_PAUSE_S.checked_shl(times.min(MAX_DOUBLINGS));
    seconds.map_or(MAX_PAUSE, SignedDuration::from_secs).min(MAX_PAUSE)
}
