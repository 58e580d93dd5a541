//! The log of answered requests, for the holder of an account. Requests wait in memory, and a worker stores them
//! together. So no request waits until its row is stored.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cais_domain::ids::AccountId;
use cais_ports::LoggedRequest;

use crate::ports::Ports;
use crate::work::{Pass, WorkError};

/// The largest number of requests that a node stores in one pass. A pass runs each second and needs one statement of a
/// few milliseconds. Further requests are only counted.
pub const MAX_PER_PASS: usize = 200;
/// After this number of stored requests, the oldest requests of an account are removed.
const TRIM_AFTER: u32 = 1_000;
/// The largest number of accounts with a count. When it is reached, all counts are removed. Housekeeping still removes
/// old requests by age.
const MAX_COUNTED: usize = 10_000;

/// The request log of one node. Clones share the log.
#[derive(Debug, Clone, Default)]
pub struct RequestLog(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// The number of requests since the last pass, both stored in memory and dropped.
    offered: AtomicUsize,
    waiting: Mutex<Vec<LoggedRequest>>,
    dropped: AtomicU64,
    /// For each account, the number of requests that were stored since its last trim.
    stored: Mutex<BTreeMap<AccountId, u32>>,
}

impl RequestLog {
    /// Adds a request, unless the limit of the pass is reached. `request` is called only if the request is added.
    pub fn record(&self, request: impl FnOnce() -> LoggedRequest) {
        if self.0.offered.fetch_add(1, Ordering::Relaxed) < MAX_PER_PASS {
            self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(request());
        } else {
            self.0.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns the number of requests that this node has dropped since its start.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }

    /// Stores the waiting requests. If this fails, they are lost.
    ///
    /// # Errors
    /// [`WorkError`] if the store does not answer.
    pub async fn store(&self, ports: &Ports) -> Result<Pass, WorkError> {
        let waiting = std::mem::take(&mut *self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        self.0.offered.store(0, Ordering::Relaxed);
        if waiting.is_empty() {
            return Ok(Pass::default());
        }
        let (done, trim) = (waiting.len(), self.due_trims(&waiting));
        let stored = ports.maintenance.record_requests(waiting, trim).await;
        if stored.is_err() {
            self.0.dropped.fetch_add(u64::try_from(done).unwrap_or(u64::MAX), Ordering::Relaxed);
        }
        stored?;
        Ok(Pass { done, more: false })
    }

    /// Counts the stored requests of each account. Returns the accounts whose oldest requests must be removed.
    fn due_trims(&self, requests: &[LoggedRequest]) -> Vec<AccountId> {
        let mut stored = self.0.stored.lock().unwrap_or_else(PoisonError::into_inner);
        if stored.len() >= MAX_COUNTED {
            stored.clear();
        }
        for request in requests {
            let count = stored.entry(request.account).or_default();
            *count = count.saturating_add(1);
        }
        let due: Vec<AccountId> = stored.iter().filter(|(_, count)| **count >= TRIM_AFTER).map(|(id, _)| *id).collect();
        for account in &due {
            stored.remove(account);
        }
        due
    }
}
