//! Limits login attempts, public pages and requests of sessions with token buckets. A login attempt uses two buckets:
//! that of its e-mail, even if no user has the e-mail, and that of its IP address.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};

use cais_domain::ids::SessionId;
use jiff::{SignedDuration, Timestamp};

/// The number of attempts for one e-mail without a pause. A person may try several passwords.
const EMAIL_BURST: i32 = 10;
/// The time after which an e-mail gets one further attempt. This allows about 290 guesses per day.
const EMAIL_EVERY: SignedDuration = SignedDuration::from_mins(5);
/// The number of attempts from one IP address without a pause. All people in an office can share an address.
const ADDRESS_BURST: i32 = 60;
/// The time after which an IP address gets one further attempt.
const ADDRESS_EVERY: SignedDuration = SignedDuration::from_secs(10);
/// The number of public pages for one IP address without a pause. Many payers can share the address of a mobile
/// network.
const PAGE_BURST: i32 = 300;
/// The time after which an IP address gets one further public page. This allows about 30 open payment pages that
/// refresh every three seconds.
const PAGE_EVERY: SignedDuration = SignedDuration::from_millis(100);
/// The number of requests of one session without a pause. A person may open many pages.
const SESSION_BURST: i32 = 300;
/// The time after which a session gets one further request. This allows 600 requests per minute, as the default limit
/// of an API key. Each open page makes 20 of them, because it refreshes itself every three seconds.
const SESSION_EVERY: SignedDuration = SignedDuration::from_millis(100);
/// The largest number of e-mails that have a bucket of their own. All further e-mails share one bucket. The same limit
/// holds for IP addresses at the login, for IP addresses of public pages, and for sessions.
const MAX_TRACKED: usize = 16_384;
/// The number of segments of an IPv6 address that identify one subscriber: a /64 network.
const IPV6_NETWORK_SEGMENTS: usize = 4;

/// The login attempts, public pages and requests of sessions that this node counts.
#[derive(Debug, Default)]
pub struct Throttle {
    emails: Buckets<String>,
    addresses: Buckets<IpAddr>,
    pages: Buckets<IpAddr>,
    sessions: Buckets<SessionId>,
}

impl Throttle {
    /// Uses one attempt of `name` and one of the IP address. Returns `false` if one of them has no attempt left. Before
    /// the password was accepted, `name` is the e-mail. Afterwards it is the user's id.
    pub(super) fn take(&self, name: &str, address: Option<IpAddr>, now: Timestamp) -> bool {
        let network = address.map(network);
        // The IP address is checked first, so that one address cannot use up the attempts of all e-mails.
        network.is_none_or(|network| self.addresses.take(network, now, ADDRESS_BURST, ADDRESS_EVERY))
            && self.emails.take(name.to_owned(), now, EMAIL_BURST, EMAIL_EVERY)
    }

    /// Counts a request for a public page from the IP address. Returns `false` if the address has reached its limit.
    pub fn take_page(&self, address: Option<IpAddr>, now: Timestamp) -> bool {
        address.map(network).is_none_or(|network| self.pages.take(network, now, PAGE_BURST, PAGE_EVERY))
    }

    /// Counts a request of the session. Returns `false` if the session has reached its limit.
    pub fn take_request(&self, session: SessionId, now: Timestamp) -> bool {
        self.sessions.take(session, now, SESSION_BURST, SESSION_EVERY)
    }

    /// Restores all attempts of the e-mail, or of the user id, after a correct code or password.
    pub(super) fn restore(&self, name: &str) {
        self.emails.lock().remove(&Some(name.to_owned()));
    }
}

/// The buckets of one kind, each stored as the instant at which it is full again. The key `None` is the shared bucket.
#[derive(Debug)]
struct Buckets<K>(Mutex<HashMap<Option<K>, Timestamp>>);

impl<K> Default for Buckets<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash> Buckets<K> {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Option<K>, Timestamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, key: K, now: Timestamp, burst: i32, every: SignedDuration) -> bool {
        let mut buckets = self.lock();
        let whole = every.checked_mul(burst).unwrap_or(SignedDuration::MAX);
        // An empty bucket is full again after `whole`, so no correct instant is later. A later instant was written
        // before the clock was set back, and is ignored.
        let is_used = |full_at: Timestamp| full_at > now && full_at.duration_since(now) <= whole;
        if buckets.len() >= MAX_TRACKED {
            buckets.retain(|_, full_at| is_used(*full_at));
        }
        let key = Some(key);
        let key = if buckets.len() < MAX_TRACKED || buckets.contains_key(&key) { key } else { None };
        let full_at = buckets.get(&key).copied().filter(|full_at| is_used(*full_at)).unwrap_or(now);
        let next = full_at.saturating_add(every).unwrap_or(Timestamp::MAX);
        if next.duration_since(now) > whole {
            return false;
        }
        buckets.insert(key, next);
        true
    }
}

/// Returns the part of an IP address that identifies one subscriber: the whole IPv4 address, or the IPv6 network.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let mut segments = address.segments();
            segments.iter_mut().skip(IPV6_NETWORK_SEGMENTS).for_each(|segment| *segment = 0);
            IpAddr::V6(Ipv6Addr::from(segments))
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    #[test]
    fn email_has_a_burst_and_then_one_attempt_per_interval() {
        let throttle = Throttle::default();
        let tries = |second, times| (0..times).filter(|_| throttle.take("a@b.co", None, at(second))).count();
        assert_eq!(tries(0, 20), 10);
        assert_eq!(tries(299, 5), 0);
        assert_eq!(tries(300, 5), 1);
        assert!(throttle.take("other@b.co", None, at(300)));
        throttle.restore("a@b.co");
        assert_eq!(tries(300, 20), 10);
    }

    #[test]
    fn address_is_limited_over_all_emails() {
        let throttle = Throttle::default();
        let address = |text: &str| Some(text.parse().unwrap());
        let taken = |count: usize, from: &str| {
            (0..count).filter(|number| throttle.take(&format!("{number}@b.co"), address(from), at(0))).count()
        };
        assert_eq!(taken(100, "2001:db8::1"), 60);
        assert_eq!(taken(1, "2001:db8::2"), 0, "the same subscriber");
        assert_eq!(taken(1, "2001:db8:0:1::1"), 1);
    }

    #[test]
    fn public_pages_are_limited_by_address_apart_from_logins() {
        let throttle = Throttle::default();
        let address = |text: &str| Some(text.parse().unwrap());
        let taken = |second| (0..400).filter(|_| throttle.take_page(address("192.0.2.1"), at(second))).count();
        assert_eq!((taken(0), taken(1)), (300, 10));
        assert!(throttle.take_page(address("192.0.2.2"), at(1)));
        assert!(throttle.take("a@b.co", address("192.0.2.1"), at(1)));
    }

    #[test]
    fn tracked_emails_are_bounded_and_moved_clock_does_not_lock() {
        let throttle = Throttle::default();
        for number in 0..MAX_TRACKED + 100 {
            throttle.take(&format!("{number}@b.co"), None, at(0));
        }
        assert!(throttle.emails.lock().len() <= MAX_TRACKED + 1);
        let throttle = Throttle::default();
        while throttle.take("a@b.co", None, at(100_000)) {}
        assert!(throttle.take("a@b.co", None, at(0)));
    }
}
