//! How long to wait before upstream is asked once more for an outcome that is open.

use jiff::{SignedDuration, Timestamp};

/// The first pause, in seconds; it doubles.
const FIRST_PAUSE_S: i64 = 1;
/// The longest pause, in seconds.
const MAX_PAUSE_S: i64 = 300;
/// After so many doublings the pause has long reached its greatest length.
const MAX_DOUBLINGS: u32 = 16;

/// When to ask after `attempts` attempts in vain: after 1 s, then ever later.
pub(crate) fn pause(at: Timestamp, attempts: u32) -> Timestamp {
    let seconds = FIRST_PAUSE_S.checked_shl(attempts.min(MAX_DOUBLINGS)).unwrap_or(MAX_PAUSE_S).min(MAX_PAUSE_S);
    at.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX)
}
