//! How long work waits before it is tried once more.

use jiff::{SignedDuration, Timestamp};

/// The longest pause of all work but deliveries of webhooks: a store treats work as due that lies further ahead.
pub const MAX_PAUSE: SignedDuration = SignedDuration::from_secs(300);
/// The first pause; it doubles.
const FIRST_PAUSE_S: i64 = 1;
/// After so many doublings the pause has long reached its greatest length.
const MAX_DOUBLINGS: u32 = 16;

/// When to ask after `attempts` attempts in vain: after 1 s, then ever later.
pub(crate) fn pause(at: Timestamp, attempts: u32) -> Timestamp {
    at.saturating_add(doubled(attempts)).unwrap_or(Timestamp::MAX)
}

/// One second, doubled so often, at most [`MAX_PAUSE`].
#[must_use]
pub fn doubled(times: u32) -> SignedDuration {
    let seconds = FIRST_PAUSE_S.checked_shl(times.min(MAX_DOUBLINGS));
    seconds.map_or(MAX_PAUSE, SignedDuration::from_secs).min(MAX_PAUSE)
}
