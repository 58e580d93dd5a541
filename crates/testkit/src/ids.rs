//! Consecutive identifiers, so that a test can be repeated exactly.

use std::sync::atomic::{AtomicU64, Ordering};

use cais_ports::IdGenerator;
use uuid::{Builder, Uuid};

/// 2026-01-01T00:00:00Z, the instant in the first identifier.
const FIRST_MS: u64 = 1_767_225_600_000;

/// UUIDs of version 7. Each has a timestamp, and a number after the timestamp. From one UUID to the next, the timestamp
/// grows by one millisecond, and the number by one.
#[derive(Debug)]
pub struct SequentialIds {
    next: AtomicU64,
}

impl SequentialIds {
    /// Creates a generator whose numbers start at `first`; the default starts at 0. Two generators return different
    /// identifiers as long as neither reaches the start of the other.
    #[must_use]
    pub const fn starting_at(first: u64) -> Self {
        Self { next: AtomicU64::new(first) }
    }
}

impl Default for SequentialIds {
    fn default() -> Self {
        Self::starting_at(0)
    }
}

impl IdGenerator for SequentialIds {
    fn next_uuid(&self) -> Uuid {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut rest = [0; 10];
        for (slot, byte) in rest.iter_mut().skip(2).zip(number.to_be_bytes()) {
            *slot = byte;
        }
        Builder::from_unix_timestamp_millis(FIRST_MS.saturating_add(number), &rest).into_uuid()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_version_7_and_increasing() {
        let ids = SequentialIds::starting_at(255);
        let (first, second) = (ids.next_uuid(), ids.next_uuid());
        assert!(first < second);
        assert_eq!(first.get_version_num(), 7);
        assert_eq!(first, SequentialIds::starting_at(255).next_uuid());
    }
}
