//! Removes what nobody asks for any more, a bounded number of rows at a time, so that nobody waits for it.

use std::sync::{Arc, Mutex, PoisonError};

use cais_ports::{PruneBefore, Pruned};
use jiff::Timestamp;

use super::prune_events;
use crate::error::Fault;
use crate::queue::QueueEngine;
use crate::sql::{Query, Session};

/// Rows of one table that one call removes at most: the write lock of SQLite is held for a few milliseconds.
pub(super) const AT_A_TIME: u32 = 2_000;

/// Answered ones, and unanswered ones that wait for their caller alone: whoever did not come back by now begins anew. What a worker has
/// to take over stays, however old it is.
const CLAIMS: &str = "DELETE FROM idempotency_claims WHERE (account_id, key) IN (SELECT account_id, key FROM idempotency_claims \
     WHERE created_at < ? AND due_at IS NULL LIMIT ?)";
/// Marks are made in the order of their ids, so the walk along the key stops early.
const MARKS: &str =
    "DELETE FROM commit_batches WHERE id IN (SELECT id FROM commit_batches WHERE decided_at < ? ORDER BY id LIMIT ?)";
/// Unmatched ones stay for an operator to look into: they may be money that belongs to nobody yet.
const NOTICES: &str = "DELETE FROM notices WHERE id IN (SELECT id FROM notices WHERE received_at < ? AND state = 'done' ORDER BY id LIMIT ?)";
/// Those of which nothing is left to be read.
const ENDPOINTS: &str = "DELETE FROM webhook_endpoints WHERE (account_id, id) IN (SELECT w.account_id, w.id FROM webhook_endpoints AS w \
     WHERE w.state = 'deleted' AND w.state_at < ? AND NOT EXISTS (SELECT 1 FROM deliveries AS d \
     WHERE d.account_id = w.account_id AND d.endpoint_id = w.id) LIMIT ?)";
/// Those of epochs that are over.
const FAILURES: &str = "DELETE FROM endpoint_failures WHERE (account_id, endpoint_id, epoch) IN (\
     SELECT f.account_id, f.endpoint_id, f.epoch FROM endpoint_failures AS f LEFT JOIN webhook_endpoints AS w \
     ON w.account_id = f.account_id AND w.id = f.endpoint_id AND w.epoch = f.epoch WHERE w.id IS NULL LIMIT ?)";

/// Housekeeping, and how far it has come. Clones go on where the others are.
#[derive(Clone)]
pub(crate) struct Pruning {
    engine: Arc<dyn QueueEngine>,
    /// The last account whose events were looked at; none before the first.
    looked_at: Arc<Mutex<String>>,
}

impl Pruning {
    /// Begins with the first account.
    pub(crate) fn new(engine: Arc<dyn QueueEngine>) -> Self {
        Self { engine, looked_at: Arc::default() }
    }

    /// Removes what is older than its instant, each table in transactions of its own. Blocks.
    pub(super) fn prune(&self, before: PruneBefore) -> Result<Pruned, Fault> {
        let engine = &*self.engine;
        let mut session = engine.connect_writer()?;
        let mut pruned = Pruned {
            claims: remove(&mut *session, CLAIMS, before.claims)?,
            batches: remove(&mut *session, MARKS, before.marks)?,
            notices: remove(&mut *session, NOTICES, before.marks)?,
            events: 0,
        };
        // Two at once would only wait for each other.
        let mut looked_at = self.looked_at.lock().unwrap_or_else(PoisonError::into_inner);
        pruned.events = prune_events::prune(engine, &mut *session, before.events, &mut looked_at)?;
        drop(looked_at);
        remove(&mut *session, ENDPOINTS, before.events)?;
        session.execute(&Query::new(FAILURES).bind(AT_A_TIME))?;
        Ok(pruned)
    }
}

fn remove(session: &mut dyn Session, text: &'static str, before: Timestamp) -> Result<u64, Fault> {
    let removed = session.execute(&Query::new(text).bind(before).bind(AT_A_TIME))?;
    Ok(u64::try_from(removed).unwrap_or(u64::MAX))
}
