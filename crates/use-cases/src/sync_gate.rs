//! Limits how often a caller's request causes a read at an acquirer: at most once per second for each resource
//! and node.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

/// The shortest time between two reads of one resource.
const MIN_READ_INTERVAL: SignedDuration = SignedDuration::from_secs(1);
/// The largest number of recorded resources. When it is reached, entries older than [`MIN_READ_INTERVAL`] are removed.
/// If this frees no room, a read of a new resource is permitted but not recorded.
const MAX_RECORDED: usize = 65_536;

/// The time of the last read of each resource, by the UUID of its id. Clones share the times.
#[derive(Debug, Clone, Default)]
pub struct SyncGate {
    last_reads: Arc<Mutex<HashMap<Uuid, Timestamp>>>,
}

impl SyncGate {
    /// Returns an empty gate.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns whether a read is permitted now. If it is permitted, records it.
    #[must_use]
    pub fn admit(&self, id: Uuid, now: Timestamp) -> bool {
        let mut last_reads = self.last_reads.lock().unwrap_or_else(PoisonError::into_inner);
        // The clock of a sandbox can move backwards, so the absolute difference counts.
        let recent = |at: &Timestamp| now.duration_since(*at).abs() < MIN_READ_INTERVAL;
        if last_reads.get(&id).is_some_and(recent) {
            return false;
        }
        if last_reads.len() >= MAX_RECORDED {
            last_reads.retain(|_, at| recent(at));
        }
        if last_reads.len() < MAX_RECORDED {
            last_reads.insert(id, now);
        }
        true
    }
}
