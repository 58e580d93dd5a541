//! Removes rows that are no longer read, a bounded number at a time, so that other work does not wait.
//!
//! Each table is pruned separately. If one table fails, the failure is logged, and the table is pruned again in the next hourly run. The
//! other tables are not affected.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use cais_domain::ids::CallbackId;
use cais_ports::{PruneBefore, Pruned, alerts};
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use super::{clock, prune_events};
use crate::error::Fault;
use crate::queue::QueueEngine;
use crate::sql::{Query, Session, Value};

/// The largest number of rows that one statement removes, and of events that one call of [`Pruning::prune`] removes. Such a statement holds
/// the write lock of SQLite for a few milliseconds.
pub(super) const AT_A_TIME: u32 = 2_000;
/// The time for which a table is skipped after a failure. A run consists of many calls, and the next run starts an hour later. So the
/// failed table is skipped for the rest of the run, and pruned again in the next run.
const FAILURE_PAUSE: Duration = Duration::from_mins(30);
/// The greatest assumed difference between the instant in an id and the instant in its row. The clocks of nodes differ by less.
const ID_GRACE: SignedDuration = SignedDuration::from_hours(1);
/// The number of bits of an id behind its milliseconds (RFC 9562, section 5.7).
const ID_TAIL_BITS: u32 = 80;

/// Removes answered records, and unanswered ones that only their caller can resume. A later request with the same key counts as its first
/// use. Records that a worker has to take over are kept regardless of their age.
const IDEMPOTENCY_RECORDS: &str = "DELETE FROM idempotency_records WHERE (account_id, key) IN (SELECT account_id, key FROM idempotency_records \
     WHERE created_at < ? AND due_at IS NULL LIMIT ?)";
/// Removes old batch ids. An id begins with its instant of creation. So the statement reads the primary key in order, and stops at the
/// first young id.
const BATCHES: &str = "DELETE FROM commit_batches WHERE id IN (SELECT id FROM commit_batches \
     WHERE id < ? AND decided_at < ? ORDER BY id LIMIT ?)";
/// Removes old callbacks that are done. The statement stops at the first young id, like [`BATCHES`].
const CALLBACKS: &str = "DELETE FROM callbacks WHERE id IN (SELECT id FROM callbacks \
     WHERE id < ? AND received_at < ? AND state = 'done' ORDER BY id LIMIT ?)";
/// Removes unmatched callbacks, which may stand for money that is not credited yet. Unmatched callbacks are kept as long as events are, so
/// that an operator has time to review them. The statement reads a partial index, which contains only the few unmatched callbacks.
const UNMATCHED: &str = "DELETE FROM callbacks WHERE id IN (SELECT id FROM callbacks \
     WHERE received_at < ? AND state = 'unmatched' ORDER BY id LIMIT ?)";
/// Removes quotes that expired unused. Used quotes are kept, because they explain the prices of their operations.
const QUOTES: &str = "DELETE FROM crypto_quotes WHERE (account_id, id) IN (SELECT account_id, id FROM crypto_quotes \
     WHERE used_by IS NULL AND expires_at < ? ORDER BY expires_at LIMIT ?)";
/// Removes sessions after `expires_at`. A session that was ended earlier, for example by a logout, is kept until then.
const SESSIONS: &str = "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions \
     WHERE expires_at < ? ORDER BY expires_at LIMIT ?)";
/// Removes confirmations whose code has expired.
const CONFIRMATIONS: &str = "DELETE FROM confirmations WHERE id IN (SELECT id FROM confirmations \
     WHERE expires_at < ? ORDER BY expires_at LIMIT ?)";
/// Removes logged requests by age. The number of requests per account has a separate limit.
const REQUESTS: &str = "DELETE FROM api_requests WHERE (account_id, id) IN (SELECT account_id, id FROM api_requests \
     WHERE at < ? ORDER BY at LIMIT ?)";
/// Removes endpoints that were deleted before the given instant and have no deliveries left.
const ENDPOINTS: &str = "DELETE FROM webhook_endpoints WHERE (account_id, id) IN (SELECT w.account_id, w.id FROM webhook_endpoints AS w \
     WHERE w.state = 'deleted' AND w.state_at < ? AND NOT EXISTS (SELECT 1 FROM deliveries AS d \
     WHERE d.account_id = w.account_id AND d.endpoint_id = w.id) LIMIT ?)";
/// Removes stored failures that no longer count: those of an endpoint's earlier epochs, and those of removed endpoints.
const FAILURES: &str = "DELETE FROM endpoint_failures WHERE (account_id, endpoint_id, epoch) IN (\
     SELECT f.account_id, f.endpoint_id, f.epoch FROM endpoint_failures AS f LEFT JOIN webhook_endpoints AS w \
     ON w.account_id = f.account_id AND w.id = f.endpoint_id AND w.epoch = f.epoch WHERE w.id IS NULL LIMIT ?)";

/// Housekeeping and its progress. Clones share the progress.
#[derive(Clone)]
pub(crate) struct Pruning {
    engine: Arc<dyn QueueEngine>,
    /// The last account whose events were checked; empty before the first.
    checked_up_to: Arc<Mutex<String>>,
    /// The instant of the last failure of each table.
    failed: Arc<Mutex<BTreeMap<&'static str, Instant>>>,
}

impl Pruning {
    /// Creates housekeeping that begins with the first account.
    pub(crate) fn new(engine: Arc<dyn QueueEngine>) -> Self {
        Self { engine, checked_up_to: Arc::default(), failed: Arc::default() }
    }

    /// Removes old rows: for each table, those older than the instant that `before` has for the table. Each table has its own transactions.
    /// Blocks the thread.
    ///
    /// # Errors
    /// [`Fault`] if the connection fails. The failure of one table is only logged.
    pub(super) fn prune(&self, before: PruneBefore) -> Result<Pruned, Fault> {
        let mut session = self.engine.connect_housekeeper()?;
        let session = &mut *session;
        if let Some(text) = self.engine.server_clock() {
            clock::check(session, text)?;
        }
        let (idempotency_records, marks, events) = (before.idempotency_records, before.marks, before.events);
        let id = first_id_at(marks);
        let pruned = Pruned {
            idempotency_records: self.table("idempotency_records", || {
                remove(session, IDEMPOTENCY_RECORDS, vec![idempotency_records.into()])
            }),
            batches: self
                .table("commit_batches", || remove(session, BATCHES, vec![id.to_string().into(), marks.into()])),
            callbacks: self.table("callbacks", || {
                let done = remove(session, CALLBACKS, vec![CallbackId::new(id).to_string().into(), marks.into()])?;
                Ok(done.saturating_add(remove(session, UNMATCHED, vec![events.into()])?))
            }),
            events: self.table("events", || self.prune_events(events)),
            crypto_quotes: self.table("crypto_quotes", || remove(session, QUOTES, vec![marks.into()])),
            requests: self.table("api_requests", || remove(session, REQUESTS, vec![before.requests.into()])),
        };
        self.table("sessions", || remove(session, SESSIONS, vec![marks.into()]));
        self.table("confirmations", || remove(session, CONFIRMATIONS, vec![marks.into()]));
        self.table("webhook_endpoints", || remove(session, ENDPOINTS, vec![events.into()]));
        self.table("endpoint_failures", || remove(session, FAILURES, Vec::new()));
        Ok(pruned)
    }

    /// Prunes one table unless it failed within [`FAILURE_PAUSE`]. Returns the number of removed rows.
    fn table(&self, table: &'static str, work: impl FnOnce() -> Result<u64, Fault>) -> u64 {
        let failed = || self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if failed().get(table).is_some_and(|failed| failed.elapsed() < FAILURE_PAUSE) {
            return 0;
        }
        match work() {
            Ok(removed) => {
                metrics::gauge!("cais_housekeeping_last_success_timestamp_seconds", "table" => table)
                    .set(unix_seconds());
                removed
            }
            Err(fault) => {
                failed().insert(table, Instant::now());
                tracing::error!(
                    alert = alerts::HOUSEKEEPING_FAILED,
                    table,
                    %fault,
                    "old rows of a table could not be removed; they stay until the next run"
                );
                0
            }
        }
    }

    /// Removes old events. Uses a writer's connection, which reads along indexes even where another plan seems cheaper. The statements need
    /// this, because they go from account to account.
    fn prune_events(&self, before: Timestamp) -> Result<u64, Fault> {
        let mut session = self.engine.connect_writer()?;
        // The lock is held for the whole pass, because two concurrent passes would only wait for each other's rows.
        let mut checked_up_to = self.checked_up_to.lock().unwrap_or_else(PoisonError::into_inner);
        prune_events::prune(&*self.engine, &mut *session, before, &mut checked_up_to)
    }
}

fn remove(session: &mut dyn Session, text: &'static str, values: Vec<Value<'_>>) -> Result<u64, Fault> {
    let query = values.into_iter().fold(Query::new(text), Query::bind).bind(AT_A_TIME);
    Ok(u64::try_from(session.execute(&query)?).unwrap_or(u64::MAX))
}

/// Returns an id that is greater than all ids created before that instant.
fn first_id_at(at: Timestamp) -> Uuid {
    let made_by = at.saturating_add(ID_GRACE).unwrap_or(Timestamp::MAX);
    Uuid::from_u128(u128::try_from(made_by.as_millisecond()).unwrap_or(0) << ID_TAIL_BITS)
}

#[expect(clippy::disallowed_methods, reason = "monitoring compares the value with the wall clock of the machine")]
fn unix_seconds() -> f64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    f64::from(u32::try_from(now.as_secs()).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::time::Duration;

    use cais_testkit::postgres::Cluster;

    use super::*;
    use crate::engine::Engine as _;
    use crate::postgres::Postgres;
    use crate::reader::plans::Planner;
    use crate::{DatabaseUrl, migrations};

    /// The statements that must read an index in order and stop at the first young row. Each has two expectations: the index and its
    /// condition in SQLite's plan, and the index in PostgreSQL's plan.
    const WALKS: [(&str, [&str; 2], &str); 6] = [
        (
            IDEMPOTENCY_RECORDS,
            ["idempotency_records_age", "created_at<?"],
            "idempotency_records_age on idempotency_records",
        ),
        (QUOTES, ["crypto_quotes_unused", "expires_at<?"], "crypto_quotes_unused on crypto_quotes"),
        (SESSIONS, ["sessions_age", "expires_at<?"], "sessions_age on sessions"),
        (CONFIRMATIONS, ["confirmations_age", "expires_at<?"], "confirmations_age on confirmations"),
        (BATCHES, ["PRIMARY KEY", "id<?"], "commit_batches_pkey on commit_batches"),
        (CALLBACKS, ["sqlite_autoindex_callbacks_1", "id<?"], "callbacks_pkey on callbacks"),
    ];

    /// Inserts many young rows into each table.
    const YOUNG: &str = "INSERT INTO idempotency_records (account_id, key, fingerprint, resource_id, fence, lease_until, created_at) \
         SELECT 'acc_' || n % 100, 'key-' || n, sha256('x'), 'chg_1', 1, 0, 4000000000000000 + n FROM generate_series(1, 50000) AS n; \
         INSERT INTO commit_batches (id, outcome, decided_at) SELECT 'ff' || n, 'committed', 4000000000000000 + n FROM generate_series(1, 50000) AS n; \
         INSERT INTO callbacks (id, acquirer, body, received_at, state, attempts, version) \
         SELECT 'ntc_z' || n, 'main', 'x', 4000000000000000 + n, 'done', 0, 1 FROM generate_series(1, 50000) AS n; \
         INSERT INTO crypto_quotes (account_id, id, side, currency, amount, rate, coins, fee_rule, usdt_per_coin, coin_priced_at, \
         brl_per_usd, usd_priced_at, spread, expires_at, created_at, version) \
         SELECT 'acc_' || n % 100, 'cqt_' || n, 'deposit', 'btc', 1, '1', '1', '', '1', 0, '1', 0, '0', 4000000000000000 + n, 0, 1 \
         FROM generate_series(1, 50000) AS n; \
         INSERT INTO sessions (id, user_id, keyed_hash, stage, address, agent, created_at, expires_at, seen_at, wrong_codes, sent_without_code, version) \
         SELECT 'ses_' || n, 'usr_1', sha256('x'), 'complete', '', '', 0, 4000000000000000 + n, 0, 0, 0, 1 FROM generate_series(1, 50000) AS n; \
         INSERT INTO confirmations (id, user_id, session_id, action, terms, created_at, expires_at, state, wrong_codes, version) \
         SELECT 'cnf_' || n, 'usr_1', 'ses_1', 'key.revoke', 'x', 0, 4000000000000000 + n, 'open', 0, 1 FROM generate_series(1, 50000) AS n; \
         VACUUM ANALYZE";

    #[test]
    fn walks_on_sqlite_end_at_the_first_young_row() {
        let mut planner = Planner::new();
        for (text, [index, condition], _) in WALKS {
            let steps = planner.plan(text);
            assert!(steps.iter().any(|step| step.contains(index) && step.contains(condition)), "{steps:?}");
            assert!(!steps.iter().any(|step| step.contains("SCAN")), "{steps:?}");
        }
    }

    #[test]
    fn walks_on_postgres_end_at_the_first_young_row() {
        let url = Cluster::shared().unwrap().fresh_database().unwrap();
        migrations::migrate(&DatabaseUrl::parse(&url).unwrap(), "test").unwrap();
        for statement in YOUNG.split("; ") {
            Cluster::shared().unwrap().sql(&url, statement).unwrap();
        }
        let server = Postgres::new(&DatabaseUrl::parse(&url).unwrap(), Duration::from_mins(1));
        let mut session = server.connect_housekeeper().unwrap();
        for (text, _, index) in WALKS {
            let text = format!("EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) {text}");
            let mut query = Query::once(&*text);
            if text.contains("id < ?") {
                query = query.bind(first_id_at(Timestamp::UNIX_EPOCH).to_string());
            }
            let plan: Vec<String> = session.load(&query.bind(Timestamp::UNIX_EPOCH).bind(AT_A_TIME)).unwrap();
            assert!(plan.iter().any(|line| line.contains(index)), "{plan:#?}");
            assert!(!plan.iter().any(|line| line.contains("Seq Scan") || line.contains("Rows Removed")), "{plan:#?}");
        }
    }

    #[test]
    fn ids_made_by_an_instant_are_below_its_first_id() {
        let at = Timestamp::from_millisecond(1_767_323_045_678).unwrap();
        let id = |at: Timestamp| {
            uuid::Builder::from_unix_timestamp_millis(u64::try_from(at.as_millisecond()).unwrap(), &[255; 10])
        };
        let [made, later] = [at, at + SignedDuration::from_hours(2)].map(|at| id(at).into_uuid());
        let first = first_id_at(at);
        assert!(made.to_string() < first.to_string() && first.to_string() < later.to_string());
        let [made, first, later] = [made, first, later].map(|id| CallbackId::new(id).to_string());
        assert!(made < first && first < later);
    }
}
