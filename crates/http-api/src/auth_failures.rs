//! Failed authentications, counted by reason and limited by address, so that guessed keys cause little load on the store and the log.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::connections::network;

/// The counter of failed authentications, by reason.
pub const TOTAL: &str = "cais_auth_failures_total";
/// All values of the counter's label `reason`.
pub const REASONS: [&str; 8] =
    ["missing", "malformed", "unknown", "wrong_secret", "revoked", "expired", "address_not_allowed", LIMITED];
/// The reason of a request that was refused without reading the store, because its address had failed too often.
pub const LIMITED: &str = "limited";
/// Seconds until a limited address may retry. Its bucket has tokens again by then.
pub const RETRY_AFTER_S: u32 = 1;
/// Time in which the bucket of an address regains one token. So ten failures per second are permitted.
const EVERY: Duration = Duration::from_millis(100);
/// Failures that an address may have in a burst, for example of a client with a wrong key on many threads.
const BURST: u32 = 20;
/// Limit of tracked addresses, which need about 2 MiB of memory. All other addresses share one bucket.
const MAX_ADDRESSES: usize = 16_384;
/// The shared bucket of all addresses that are not tracked.
const OTHERS: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

/// A token bucket for each address with recent failures.
#[derive(Debug, Default)]
pub struct AuthFailures {
    /// The instant at which the bucket of each address is full again.
    full_at: Mutex<HashMap<IpAddr, Instant>>,
}

impl AuthFailures {
    /// Returns `true` while the address may fail once more.
    #[must_use]
    pub fn permits(&self, address: Option<IpAddr>, now: Instant) -> bool {
        let buckets = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        let full_at = buckets.get(&bucket(&buckets, address)).copied().unwrap_or(now);
        full_at.saturating_duration_since(now) + EVERY <= EVERY * BURST
    }

    /// Records a failed authentication: removes a token from the bucket of the address.
    pub fn record(&self, address: Option<IpAddr>, now: Instant) {
        let mut buckets = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MAX_ADDRESSES {
            buckets.retain(|_, full_at| *full_at > now);
        }
        let bucket = bucket(&buckets, address);
        let full_at = buckets.entry(bucket).or_insert(now);
        *full_at = (*full_at).max(now) + EVERY;
    }
}

/// Returns the bucket of an address: its own, or the shared one if too many addresses are tracked.
fn bucket(buckets: &HashMap<IpAddr, Instant>, address: Option<IpAddr>) -> IpAddr {
    let own = address.map_or(OTHERS, network);
    if buckets.len() < MAX_ADDRESSES || buckets.contains_key(&own) { own } else { OTHERS }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn address_may_fail_ten_times_a_second_after_a_burst() {
        let failures = AuthFailures::default();
        let start = Instant::now();
        let (address, other) = (Some("192.0.2.1".parse().unwrap()), Some("192.0.2.2".parse().unwrap()));
        let mut failed = 0;
        for tick in 0..3_000 {
            let now = start + Duration::from_millis(tick);
            if failures.permits(address, now) {
                failures.record(address, now);
                failed += 1;
            }
        }
        assert_eq!(failed, 20 + 29, "the burst, then one every 100 ms");
        assert!(failures.permits(other, start + Duration::from_secs(3)));
    }

    #[test]
    fn tracked_addresses_are_bounded() {
        let failures = AuthFailures::default();
        let now = Instant::now();
        let address = |number: usize| {
            let [a, b, c, d] = u32::try_from(number).unwrap().to_be_bytes();
            Some(IpAddr::V4(Ipv4Addr::new(a.max(1), b, c, d)))
        };
        for number in 0..MAX_ADDRESSES + 100 {
            failures.record(address(number), now);
        }
        assert!(failures.full_at.lock().unwrap().len() <= MAX_ADDRESSES + 1);
        assert!(!failures.permits(address(MAX_ADDRESSES + 200), now), "addresses beyond the limit share one bucket");
        assert!(failures.permits(address(0), now), "an empty shared bucket does not affect tracked addresses");
        // Full buckets are removed.
        failures.record(address(0), now + Duration::from_mins(1));
        assert_eq!(failures.full_at.lock().unwrap().len(), 1);
    }
}
