//! The keys that change sets touch, except those of balances, blocks and event counters.

use std::collections::HashSet;

use cais_ports::{ChangeSet, IdempotencyRef, RecordKey, ReservationKey};

/// Keys of idempotency records, unique values and records.
#[derive(Debug, Default)]
pub(super) struct TouchedKeys<'a> {
    /// Idempotency records that are inserted or updated.
    pub(super) idempotency_records: HashSet<&'a IdempotencyRef>,
    /// Unique values that are reserved or freed.
    pub(super) reservations: HashSet<&'a ReservationKey>,
    /// Records that are inserted or updated.
    pub(super) records: HashSet<RecordKey>,
    /// `true` if a key is touched more than once.
    pub(super) twice: bool,
}

impl<'a> TouchedKeys<'a> {
    /// Collects the keys of change sets.
    pub(super) fn of(changes: &[&'a ChangeSet]) -> Self {
        let mut touched = Self::default();
        for change in changes {
            if let Some(idempotency) = &change.idempotency {
                touched.twice |= !touched.idempotency_records.insert(idempotency.name());
            }
            for key in change.reserve.iter().map(|reservation| &reservation.key).chain(&change.unreserve) {
                touched.twice |= !touched.reservations.insert(key);
            }
            for write in &change.writes {
                touched.twice |= !touched.records.insert(write.key());
            }
        }
        touched
    }

    /// Returns whether `self` and `other` have a key in common.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        !self.idempotency_records.is_disjoint(&other.idempotency_records)
            || !self.reservations.is_disjoint(&other.reservations)
            || !self.records.is_disjoint(&other.records)
    }

    /// Adds the keys of `other`.
    pub(super) fn extend(&mut self, other: Self) {
        self.idempotency_records.extend(other.idempotency_records);
        self.reservations.extend(other.reservations);
        self.records.extend(other.records);
    }
}
