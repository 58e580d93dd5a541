//! The schedule of a delivery: the pauses between its attempts. Also the rule that disables an endpoint after long
//! failure.

use jiff::{SignedDuration, Timestamp};

use crate::ids::DeliveryId;

/// The pauses between the attempts of a delivery, in seconds. Nine pauses permit ten attempts. A resend starts the
/// schedule again.
pub const SCHEDULE_S: [u32; 9] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
/// The most by which the random jitter lengthens or shortens a pause, in percent.
const JITTER_PERCENT: i64 = 10;
/// The longest delay that a receiver can request for the next attempt (`Retry-After`). A longer delay is reduced to
/// this.
pub const MAX_RETRY_AFTER: SignedDuration = SignedDuration::from_hours(24);
/// The longest pause before an attempt: the last pause of the schedule with the greatest jitter. A due time that is
/// further ahead comes from a wrong clock, so a store treats such a delivery as due now.
pub const MAX_RETRY_PAUSE: SignedDuration = SignedDuration::from_secs(86_400 + 86_400 / 100 * JITTER_PERCENT);
/// The time for which every attempt at an endpoint must fail before the endpoint is disabled: five days.
pub const FAILING_AFTER: SignedDuration = SignedDuration::from_hours(5 * 24);

named! {
    /// The status of a delivery.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum DeliveryStatus {
        /// A further attempt follows.
        Pending = "pending",
        /// The receiver accepted the delivery.
        Succeeded = "succeeded",
        /// Every attempt of the schedule failed, or the only attempt of a test failed.
        Failed = "failed",
        /// The endpoint was disabled or deleted before it accepted the delivery.
        Cancelled = "cancelled",
    }
}

/// Returns the instant of the next attempt, if attempt number `tries` of the schedule failed at `at`. The first attempt
/// has the number 1. Returns `None` if the failed attempt was the last of the schedule.
///
/// The delivery id and `tries` decide the jitter of the pause. So deliveries that failed at the same time are not all
/// retried at the same time. `retry_after` is the delay that the receiver requested, if any. A delay that is longer
/// than the pause replaces the pause, up to [`MAX_RETRY_AFTER`].
#[must_use]
pub fn next_attempt(
    id: DeliveryId,
    tries: u32,
    at: Timestamp,
    retry_after: Option<SignedDuration>,
) -> Option<Timestamp> {
    let place = usize::try_from(tries).ok()?.checked_sub(1)?;
    let pause_s = i64::from(*SCHEDULE_S.get(place)?);
    let pause = SignedDuration::from_millis(jittered_ms(id, tries, pause_s));
    let requested = retry_after.unwrap_or(SignedDuration::ZERO).min(MAX_RETRY_AFTER);
    Some(at.saturating_add(pause.max(requested)).unwrap_or(Timestamp::MAX))
}

/// Returns whether an endpoint must be disabled after an attempt that failed at `at`. `failing_since` is the instant of
/// the first failure after the endpoint's last success or activation. `None` means that no attempt before this one has
/// failed since then.
#[must_use]
pub fn is_failing_for_good(failing_since: Option<Timestamp>, at: Timestamp) -> bool {
    failing_since.is_some_and(|since| at.duration_since(since) >= FAILING_AFTER)
}

/// Returns the pause with its jitter, in milliseconds: between 90 and 110 percent of `pause_s`.
fn jittered_ms(id: DeliveryId, tries: u32, pause_s: i64) -> i64 {
    let [.., high, low] = *id.uuid().as_bytes();
    // Without `tries`, every pause of a delivery would have the same jitter.
    let chance = i64::from(u16::from_be_bytes([high, low]).wrapping_mul(0x9E37).wrapping_add(low_half(tries)));
    let span = i64::from(u16::MAX);
    let percent_ms = pause_s.saturating_mul(10);
    let add = percent_ms.saturating_mul(JITTER_PERCENT).saturating_mul(2).saturating_mul(chance).checked_div(span);
    let least = percent_ms.saturating_mul(100_i64.saturating_sub(JITTER_PERCENT));
    least.saturating_add(add.unwrap_or(0))
}

fn low_half(tries: u32) -> u16 {
    u16::try_from(tries & 0xFFFF).unwrap_or(u16::MAX).wrapping_mul(0x79B9)
}
