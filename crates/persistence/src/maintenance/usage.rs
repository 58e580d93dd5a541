//! Writes the use of the API: the last use of each API key, and logged requests. The writer has its own connection, so that payments do not
//! wait for it.

use std::sync::{Arc, Mutex, PoisonError};

use cais_domain::ids::AccountId;
use cais_ports::{KeyUse, LoggedRequest, MAX_LOGGED_REQUESTS};

use crate::error::Fault;
use crate::queue::QueueEngine;
use crate::sql::{Query, Session};

/// The largest number of rows in one statement. With eight values per row, the statement stays below SQLite's limit of 32,766 values.
const ROWS: usize = 500;
/// Removes all logged requests of an account except the newest [`MAX_LOGGED_REQUESTS`].
const TRIM: &str = "DELETE FROM api_requests WHERE account_id = ? AND id <= \
     (SELECT id FROM api_requests WHERE account_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?)";

/// The writer of the use of the API. Clones share its connection, which is opened at the first use, and again after a failure.
#[derive(Clone)]
pub(crate) struct UsageWriter {
    engine: Arc<dyn QueueEngine>,
    session: Arc<Mutex<Option<Box<dyn Session>>>>,
}

impl UsageWriter {
    /// Creates a writer without a connection.
    pub(crate) fn new(engine: Arc<dyn QueueEngine>) -> Self {
        Self { engine, session: Arc::default() }
    }

    /// Stores the last uses of API keys. A stored use that is later stays. Blocks the thread.
    pub(super) fn key_uses(&self, uses: &[KeyUse]) -> Result<(), Fault> {
        self.with(|session| {
            for rows in uses.chunks(ROWS) {
                let values = vec!["(CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS TEXT))"; rows.len()].join(", ");
                let text = format!(
                    "UPDATE api_keys SET last_used_at = v.column2, last_used_address = v.column3 FROM (VALUES {values}) AS v \
                     WHERE api_keys.prefix = v.column1 AND (api_keys.last_used_at IS NULL OR api_keys.last_used_at < v.column2)"
                );
                let bind = |query: Query<'static>, used: &KeyUse| {
                    query.bind(used.key.to_string()).bind(used.at).bind(used.address.clone())
                };
                session.execute(&rows.iter().fold(Query::once(text), bind))?;
            }
            Ok(())
        })
    }

    /// Stores logged requests. Then removes the surplus of each account in `trim`; see [`TRIM`]. Blocks the thread.
    pub(super) fn requests(&self, requests: &[LoggedRequest], trim: &[AccountId]) -> Result<(), Fault> {
        self.with(|session| {
            for rows in requests.chunks(ROWS) {
                let values = vec!["(?, ?, ?, ?, ?, ?, ?, ?)"; rows.len()].join(", ");
                let text = format!(
                    "INSERT INTO api_requests (account_id, id, at, method, path, status, key_prefix, took_ms) VALUES {values} \
                     ON CONFLICT DO NOTHING"
                );
                session.execute(&rows.iter().fold(Query::once(text), bind_request))?;
            }
            for account in trim {
                let query = Query::new(TRIM).bind(*account).bind(*account).bind(MAX_LOGGED_REQUESTS);
                session.execute(&query)?;
            }
            Ok(())
        })
    }

    /// Runs work on the connection. After a failure the next call opens another connection.
    fn with(&self, work: impl FnOnce(&mut dyn Session) -> Result<(), Fault>) -> Result<(), Fault> {
        let mut slot = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let mut session = match slot.take() {
            Some(session) => session,
            None => self.engine.connect_housekeeper()?,
        };
        work(&mut *session)?;
        *slot = Some(session);
        Ok(())
    }
}

fn bind_request(query: Query<'static>, request: &LoggedRequest) -> Query<'static> {
    query
        .bind(request.account)
        .bind(request.id)
        .bind(request.at)
        .bind(request.method.clone())
        .bind(request.path.clone())
        .bind(i64::from(request.status))
        .bind(request.key.to_string())
        .bind(request.took_ms)
}
