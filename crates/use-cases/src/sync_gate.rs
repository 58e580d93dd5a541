//! How rarely readers make us ask upstream: at most once per second for each thing that is read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

/// How rarely readers of one thing make us ask upstream.
const ASK_EVERY: SignedDuration = SignedDuration::from_secs(1);
/// How many things the gate remembers before it forgets the ones that may be asked for again anyway.
const REMEMBERED: usize = 65_536;

/// Remembers when each charge, payout or refund was last asked for, by the UUID of its id. Cloning shares it.
#[derive(Debug, Clone, Default)]
pub struct SyncGate {
    asked: Arc<Mutex<HashMap<Uuid, Timestamp>>>,
}

impl SyncGate {
    /// A gate that remembers nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether it may be asked for now; if so, it is remembered.
    #[must_use]
    pub fn admit(&self, id: Uuid, now: Timestamp) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        // The clock of a sandbox moves both ways, so it is the distance that counts.
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
