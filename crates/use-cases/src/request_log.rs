//! The log of answered API requests, which the dashboard shows for each account. The rows wait in memory until a worker
//! stores them together, so that no response waits for the store.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use cais_domain::ids::AccountId;
use cais_ports::LoggedRequest;

use crate::ports::Ports;
use crate::work::{Pass, WorkError};

/// The largest number of requests that a node stores in one pass. A pass runs each second and needs one statement of a
/// few milliseconds. Beyond this number, requests are dropped and counted.
pub const MAX_PER_PASS: usize = 200;
/// After this number of stored requests of an account, only its newest [`cais_ports::MAX_LOGGED_REQUESTS`] are kept.
const TRIM_AFTER: u32 = 1_000;
/// The largest number of accounts in `dropped`, and in `stored`. A map that has reached it is cleared, so that all its
/// counts start again at zero. Housekeeping still removes old requests by age.
const MAX_COUNTED: usize = 10_000;

/// The request log of one node. Clones share the log.
#[derive(Debug, Clone, Default)]
pub struct RequestLog(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    waiting: Mutex<Waiting>,
    /// For each account, the number of requests that this node has dropped since its start.
    dropped: Mutex<BTreeMap<AccountId, u64>>,
    /// For each account, the number of requests that were stored since its last trim.
    stored: Mutex<BTreeMap<AccountId, u32>>,
}

/// The requests of the next pass, by account.
#[derive(Debug, Default)]
struct Waiting {
    requests: BTreeMap<AccountId, Vec<LoggedRequest>>,
    count: usize,
}

impl Waiting {
    /// Adds a request of `account`. If the pass is full, the account with the most requests loses its newest request to
    /// the new one. If that account does not have at least two more requests than `account`, the new request is lost.
    /// Returns the account that lost a request.
    fn add(&mut self, account: AccountId, request: impl FnOnce() -> LoggedRequest) -> Option<AccountId> {
        let mut loser = None;
        if self.count < MAX_PER_PASS {
            self.count = self.count.saturating_add(1);
        } else {
            let own = self.requests.get(&account).map_or(0, Vec::len);
            let most = self.requests.iter_mut().max_by_key(|(_, requests)| requests.len());
            let Some((loudest, requests)) = most.filter(|(_, requests)| requests.len() > own.saturating_add(1)) else {
                return Some(account);
            };
            requests.pop();
            loser = Some(*loudest);
        }
        self.requests.entry(account).or_default().push(request());
        loser
    }
}

impl RequestLog {
    /// Adds a request of the account. If the pass is full, this request or a request of another account is dropped, and
    /// counted. `request` is called only if its result is added.
    pub fn record(&self, account: AccountId, request: impl FnOnce() -> LoggedRequest) {
        let loser = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner).add(account, request);
        if let Some(loser) = loser {
            self.count_dropped(loser);
        }
    }

    /// Returns the number of requests of the account that this node has dropped since its start, or since the counts
    /// started again at zero.
    #[must_use]
    pub fn dropped(&self, account: AccountId) -> u64 {
        let dropped = self.0.dropped.lock().unwrap_or_else(PoisonError::into_inner);
        dropped.get(&account).copied().unwrap_or_default()
    }

    fn count_dropped(&self, account: AccountId) {
        let mut dropped = self.0.dropped.lock().unwrap_or_else(PoisonError::into_inner);
        if dropped.len() >= MAX_COUNTED && !dropped.contains_key(&account) {
            dropped.clear();
        }
        let count = dropped.entry(account).or_default();
        *count = count.saturating_add(1);
    }

    /// Stores the waiting requests. If the store fails, these requests are lost and counted as dropped.
    ///
    /// # Errors
    /// [`WorkError`] if the store does not answer.
    pub async fn store(&self, ports: &Ports) -> Result<Pass, WorkError> {
        let waiting = std::mem::take(&mut *self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        if waiting.count == 0 {
            return Ok(Pass::default());
        }
        let requests: Vec<LoggedRequest> = waiting.requests.into_values().flatten().collect();
        let accounts: Vec<AccountId> = requests.iter().map(|request| request.account).collect();
        let trim = self.due_trims(&accounts);
        let stored = ports.maintenance.record_requests(requests, trim).await;
        if stored.is_err() {
            for account in &accounts {
                self.count_dropped(*account);
            }
        }
        stored?;
        Ok(Pass { done: accounts.len(), more: false })
    }

    /// Counts the stored requests of each account. Returns the accounts whose oldest requests must be removed.
    fn due_trims(&self, accounts: &[AccountId]) -> Vec<AccountId> {
        let mut stored = self.0.stored.lock().unwrap_or_else(PoisonError::into_inner);
        if stored.len() >= MAX_COUNTED {
            stored.clear();
        }
        for account in accounts {
            let count = stored.entry(*account).or_default();
            *count = count.saturating_add(1);
        }
        let due: Vec<AccountId> = stored.iter().filter(|(_, count)| **count >= TRIM_AFTER).map(|(id, _)| *id).collect();
        for account in &due {
            stored.remove(account);
        }
        due
    }
}
