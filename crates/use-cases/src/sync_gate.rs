//! Limits the reads of acquirers on behalf of callers to one per second for each resource.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

/// The shortest time between two such reads of one resource.
const ASK_EVERY: SignedDuration = SignedDuration::from_secs(1);
/// The number of remembered resources. Beyond it, entries older than the limit are removed.
const REMEMBERED: usize = 65_536;

/// The last read of each charge, payout or refund, by the UUID of its id. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct SyncGate {
    asked: Arc<Mutex<HashMap<Uuid, Timestamp>>>,
}

impl SyncGate {
    /// Returns an empty gate.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns whether a read is allowed now, and records it if so.
    #[must_use]
    pub fn admit(&self, id: Uuid, now: Timestamp) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        // The clock of a sandbox moves in both directions, so the absolute difference counts.
        let recent = |at: &Timestamp| now.duration_since(*at).abs() < ASK_EVERY;
        if asked.get(&id).is_some_and(recent) {
            return false;
        }
        if asked.len() >= REMEMBERED {
            asked.retain(|_, at| recent(at));
        }
        if asked.len() < REMEMBERED {
            asked.insert(id, now);
        }
        true
    }
}
