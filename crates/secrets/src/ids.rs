//! New identifiers: increasing UUIDs of version 7 (RFC 9562, section 5.7).

use std::sync::{Arc, Mutex, PoisonError};

use cais_ports::{Clock, IdGenerator};
use ring::rand::{SecureRandom, SystemRandom};
use uuid::Uuid;

/// The length of the tail in bits: all bits of a UUID except its time, version and variant.
const TAIL_BITS: u32 = 74;
/// The number of the tail's bits after the variant. The other 12 bits are before the variant.
const LOW_BITS: u32 = 62;
/// The mask that limits the first tail of a millisecond to the lower half of the values. The upper half is reserved for
/// increments within the millisecond (RFC 9562, section 6.2, method 2).
const FRESH_MASK: u128 = (1 << (TAIL_BITS - 1)) - 1;

/// The parts of the last identifier.
#[derive(Debug, Default)]
struct Last {
    ms: u64,
    tail: u128,
}

/// A source of identifiers that contain the time of the service's clock. The identifiers increase even if the clock is
/// set back.
pub struct UuidV7 {
    clock: Arc<dyn Clock>,
    random: SystemRandom,
    last: Mutex<Last>,
}

impl UuidV7 {
    /// Returns a source that follows `clock`.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, random: SystemRandom::new(), last: Mutex::default() }
    }

    fn random(&self) -> u128 {
        let mut bytes = [0; 16];
        // Reading random bytes fails only on systems without a random source. Even then the increments keep identifiers
        // distinct within the process.
        if self.random.fill(&mut bytes).is_err() {
            tracing::error!("random source of the system failed; a new identifier can be guessed");
        }
        u128::from_be_bytes(bytes)
    }
}

impl IdGenerator for UuidV7 {
    fn next_uuid(&self) -> Uuid {
        let now_ms = u64::try_from(self.clock.now().as_millisecond()).unwrap_or(0);
        let random = self.random();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if now_ms > last.ms {
            *last = Last { ms: now_ms, tail: random & FRESH_MASK };
        } else {
            // A random step makes the next identifier unpredictable.
            let tail = last.tail + 1 + (random & u128::from(u32::MAX));
            *last = if tail >> TAIL_BITS == 0 {
                Last { ms: last.ms, tail }
            } else {
                Last { ms: last.ms + 1, tail: random & FRESH_MASK }
            };
        }
        compose(last.ms, last.tail)
    }
}

/// Combines, from the highest bit on: 48 bits of time, 4 of version, the tail's upper 12, 2 of variant, the tail's
/// lower 62.
fn compose(ms: u64, tail: u128) -> Uuid {
    let high = tail >> LOW_BITS;
    let low = tail & ((1 << LOW_BITS) - 1);
    Uuid::from_u128((u128::from(ms) << 80) | (0x7 << 76) | (high << 64) | (0b10 << 62) | low)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use jiff::Timestamp;

    use super::*;

    /// A clock that advances with each read, by a third of a millisecond. The value is in microseconds.
    struct TestClock(AtomicI64);

    impl Clock for TestClock {
        fn now(&self) -> Timestamp {
            Timestamp::from_microsecond(self.0.fetch_add(333, Ordering::SeqCst)).unwrap_or_default()
        }
    }

    #[test]
    fn identifiers_grow_also_when_the_clock_goes_back() {
        let clock = Arc::new(TestClock(AtomicI64::new(1_700_000_000_000_000)));
        let ids = UuidV7::new(clock.clone());
        let mut last = ids.next_uuid();
        for round in 0..20_000 {
            if round == 10_000 {
                clock.0.fetch_sub(60_000_000, Ordering::SeqCst);
            }
            let next = ids.next_uuid();
            assert!(next > last, "{last} then {next}");
            assert_eq!((next.get_version_num(), next.get_variant()), (7, uuid::Variant::RFC4122));
            last = next;
        }
    }

    #[test]
    fn uuid_fields_have_their_rfc_positions() {
        let uuid = compose(0x0123_4567_89ab, (1 << TAIL_BITS) - 1);
        assert_eq!(uuid.to_string(), "01234567-89ab-7fff-bfff-ffffffffffff");
    }
}
