//! Removes what nobody asks for any more, a bounded number of rows at a time, so that nobody waits for it.

use cais_ports::Pruned;
use jiff::Timestamp;

use crate::engine::Engine;
use crate::error::Fault;
use crate::sql::{Query, Session};

/// Rows of one table that one call removes at most: the write lock of SQLite is held for a few milliseconds.
const AT_A_TIME: u32 = 2_000;

/// Answered ones, and unanswered ones that wait for their caller alone: whoever did not come back by now begins anew. What a worker has
/// to take over stays, however old it is.
const CLAIMS: &str = "DELETE FROM idempotency_claims WHERE (account_id, key) IN (SELECT account_id, key FROM idempotency_claims \
     WHERE created_at < ? AND due_at IS NULL LIMIT ?)";
/// Marks are made in the order of their ids, so the walk along the key stops early.
const MARKS: &str =
    "DELETE FROM commit_batches WHERE id IN (SELECT id FROM commit_batches WHERE decided_at < ? ORDER BY id LIMIT ?)";
/// Unmatched ones stay for an operator to look into: they may be money that belongs to nobody yet.
const NOTICES: &str = "DELETE FROM notices WHERE id IN (SELECT id FROM notices WHERE received_at < ? AND state = 'done' ORDER BY id LIMIT ?)";

/// Removes claims that are over, marks of batches and notices that are done, each in a transaction of its own.
pub(super) fn prune(engine: &dyn Engine, claims_before: Timestamp, marks_before: Timestamp) -> Result<Pruned, Fault> {
    let mut session = engine.connect_writer()?;
    Ok(Pruned {
        claims: remove(&mut *session, CLAIMS, claims_before)?,
        batches: remove(&mut *session, MARKS, marks_before)?,
        notices: remove(&mut *session, NOTICES, marks_before)?,
    })
}

fn remove(session: &mut dyn Session, text: &'static str, before: Timestamp) -> Result<u64, Fault> {
    let removed = session.execute(&Query::new(text).bind(before).bind(AT_A_TIME))?;
    Ok(u64::try_from(removed).unwrap_or(u64::MAX))
}
