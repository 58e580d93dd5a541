//! Connections to PostgreSQL, with their settings and time limits.

use cais_ports::alerts;
use std::collections::HashSet;
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use diesel::PgConnection;
use diesel::r2d2::{ConnectionManager, ManageConnection};

use super::heads::Heads;
use crate::engine::LockWait;
use crate::error::Fault;
use crate::sql::{Connection, Query, Session};
use crate::url::DatabaseUrl;

/// The values of libpq's parameters, unless the URL sets them. PostgreSQL manual, section 34.1.2, lists their units. A lost peer is noticed
/// within about fifteen seconds, even if no data is in transit.
const PARAMETERS: [(&str, &str); 7] = [
    ("application_name", "cais"),
    ("connect_timeout", "5"),
    ("tcp_user_timeout", "10000"),
    ("keepalives", "1"),
    ("keepalives_idle", "5"),
    ("keepalives_interval", "3"),
    ("keepalives_count", "3"),
];

/// The settings of all connections that serve callers or deliveries. Each of their statements follows an index. Without these settings, a
/// plan made for a small table would still scan the table after it has grown.
pub(super) const PLANS_BY_KEY: &str = "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_bitmapscan = off; \
     SET plan_cache_mode = force_generic_plan; SET jit = off";

/// The setting for lists. Without sorts, the server can only follow an index in the order of the list, and stops at the end of the page. An
/// incremental sort within a page stays allowed.
pub(super) const WITHOUT_SORT: &str = "SET enable_sort = off";

/// The interval after which a connection's statements are planned again. Otherwise the server keeps a plan until it analyzes the table:
/// after a minute at the earliest, perhaps never. After a busy start, a plan made for an empty table can be a thousand times slower than a
/// new plan. Planning costs a millisecond for each statement in use.
const PLANNED_EVERY: Duration = Duration::from_secs(5);

/// The lock wait of a batch: several times the duration of another node's batch. If a row stays locked for longer, the few change sets that
/// need the row are set aside.
const BATCH_LOCK_MS: u32 = 150;
/// The lock wait of a change set that runs again after an earlier lock wait. The wait is short, because the lane's other change sets wait
/// meanwhile.
const PROBE_LOCK_MS: u32 = 10;
/// The longest idle time within a transaction of a lane. A batch needs only milliseconds between two statements, so a node that is idle for
/// longer is frozen or lost. The server then ends the transaction. So its locks are released before the callers of other nodes time out.
const LANE_IDLE_MS: u32 = 1_000;

/// The settings of housekeeping. No caller waits, so a statement may take a minute. The server may choose any plan without a scan of a
/// whole table.
pub(super) const HOUSEKEEPING: &str = "SET statement_timeout = 60000; SET enable_seqscan = off";

/// The settings of the audit, which compares whole tables. Without statistics the server would choose a nested loop, and read one table
/// again for each row of the other.
pub(super) const WHOLE_TABLES: &str =
    "SET default_transaction_read_only = on; SET statement_timeout = 0; SET enable_nestloop = off";

/// The setting of readers, which never write.
pub(super) const READ_ONLY: &str = "SET default_transaction_read_only = on";

/// The largest number of batch statements that stay prepared on a connection. Batches with the same kinds of writes have the same
/// statement, their shape. A service has a few dozen shapes, and each uses memory of the node and of the server.
const MAX_SHAPES: usize = 128;

/// A PostgreSQL server.
pub(crate) struct Postgres {
    url: String,
    settings: String,
    /// `true` after the language of the server's messages was checked.
    language_known: AtomicBool,
    /// The texts of the batch statements that stay prepared.
    shapes: Mutex<HashSet<String>>,
    /// The start of the next claim in each queue.
    pub(super) heads: Mutex<Heads>,
}

impl Postgres {
    /// Creates a server from its URL and the time limit of its statements.
    pub(crate) fn new(url: &DatabaseUrl, statement_timeout: Duration) -> Self {
        let url =
            PARAMETERS.iter().fold(url.expose().to_owned(), |url, (name, value)| with_parameter(&url, name, value));
        let timeout_ms = statement_timeout.as_millis();
        let mut settings = String::new();
        // If this node is lost within a transaction, the server ends the transaction soon after the node's callers time out. Until then,
        // other transactions wait for its rows.
        for (name, value) in [
            ("statement_timeout", timeout_ms),
            ("lock_timeout", timeout_ms / 2),
            ("idle_in_transaction_session_timeout", timeout_ms * 2),
        ] {
            settings.push_str(&limit(&url, name, value));
        }
        // With `off` the server would reply before the commit is durable. The operator may choose any other value.
        settings.push_str(
            "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
        );
        Self {
            url,
            settings,
            language_known: AtomicBool::new(false),
            shapes: Mutex::default(),
            heads: Mutex::default(),
        }
    }

    /// Returns the settings of the lanes' connections.
    pub(super) fn lane_limits(&self) -> String {
        let idle = limit(&self.url, "idle_in_transaction_session_timeout", LANE_IDLE_MS);
        idle + &self.lock_limit(LockWait::Batch)
    }

    /// Returns the setting of a lane's lock wait.
    pub(super) fn lock_limit(&self, wait: LockWait) -> String {
        let wait_ms = match wait {
            LockWait::Batch => BATCH_LOCK_MS,
            LockWait::Probe => PROBE_LOCK_MS,
        };
        limit(&self.url, "lock_timeout", wait_ms)
    }

    /// Opens a connection. `settings` are executed after the settings of all connections.
    pub(crate) fn connect(&self, settings: &str) -> Result<PgConnection, Fault> {
        let mut connection = ConnectionManager::<PgConnection>::new(self.url.as_str())
            .connect()
            .map_err(|error| Fault::Lost(error.to_string()))?;
        // Conflicts are recognized by their English text. Only a privileged role may choose the language; for other roles the server's
        // language applies.
        if let Err(error) = connection.run("SET lc_messages = 'C'") {
            tracing::debug!(%error, "language of the server's messages could not be set; it stays unchanged");
        }
        if !self.language_known.swap(true, Ordering::Relaxed) {
            warn_unless_english(&mut connection);
        }
        connection.run(&self.settings)?;
        if !settings.is_empty() {
            connection.run(settings)?;
        }
        Ok(connection)
    }

    /// Opens a connection with these settings. The plans of the connection are renewed regularly.
    pub(super) fn connect_planned(&self, settings: &str) -> Result<PlannedConnection, Fault> {
        Ok(PlannedConnection { connection: self.connect(settings)?, planned_at: Instant::now() })
    }

    /// Returns whether a statement with that text stays prepared. The first [`MAX_SHAPES`] texts do.
    pub(super) fn stays_prepared(&self, text: &str) -> bool {
        let mut shapes = self.shapes.lock().unwrap_or_else(PoisonError::into_inner);
        shapes.contains(text) || (shapes.len() < MAX_SHAPES && shapes.insert(text.to_owned()))
    }
}

/// A connection whose plans are renewed regularly.
pub(crate) struct PlannedConnection {
    connection: PgConnection,
    planned_at: Instant,
}

impl Session for PlannedConnection {
    fn connection(&mut self) -> Connection<'_> {
        if self.planned_at.elapsed() >= PLANNED_EVERY {
            self.planned_at = Instant::now();
            if let Err(error) = self.connection.run("DISCARD PLANS") {
                // The error is only logged, because the next statement reports the failure. Either the transaction has failed already, or
                // the connection is lost. In both cases the COMMIT fails too, because it begins with a `SET`.
                tracing::debug!(%error, "plans of a connection could not be discarded; they stay in use");
            }
        }
        Connection::Postgres(&mut self.connection)
    }
}

/// Logs a warning if the server's messages are not in English. In another language, a conflict is not recognized and counts as
/// [`Fault::Refused`].
fn warn_unless_english(session: &mut dyn Session) {
    let query = Query::new("SELECT current_setting('lc_messages'), CAST('' AS TEXT), CAST(0 AS BIGINT)");
    match session.load::<(String, String, i64)>(&query).map(|mut rows| rows.pop()) {
        Ok(Some((language, ..))) if is_english(&language) => {}
        Ok(Some((language, ..))) => tracing::warn!(
            alert = alerts::DATABASE_LANGUAGE,
            language,
            "messages of the server are not in English; some conflicts are not recognized; set lc_messages to C for this role or database"
        ),
        Ok(None) => {}
        Err(error) => {
            tracing::debug!(%error, "language of the server's messages could not be read; it stays unchecked");
        }
    }
}

/// Returns the statement that sets a limit in milliseconds; an empty text if the URL's `options` set the limit.
fn limit(url: &str, name: &str, value_ms: impl Display) -> String {
    let mut options = parameters(url).filter_map(|(known, value)| (known == "options").then_some(value));
    if options.any(|value| value.contains(name)) { String::new() } else { format!("SET {name} = {value_ms}; ") }
}

/// Returns whether messages in that locale have the original English text.
fn is_english(language: &str) -> bool {
    let name = language.split(['.', '@']).next().unwrap_or_default();
    matches!(name, "C" | "POSIX" | "en") || name.starts_with("en_") || name.starts_with("English")
}

/// Returns the names and values of the URL's parameters. The values stay percent-encoded.
fn parameters(url: &str) -> impl Iterator<Item = (&str, &str)> {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    query.split('&').filter_map(|parameter| parameter.split_once('='))
}

/// Returns the URL with the parameter, unless the URL sets it.
fn with_parameter(url: &str, name: &str, value: &str) -> String {
    let known = parameters(url).any(|(known, _)| known == name);
    match (known, url.contains('?')) {
        (true, _) => url.to_owned(),
        (false, true) => format!("{url}&{name}={value}"),
        (false, false) => format!("{url}?{name}={value}"),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::time::{Duration, Instant};

    use cais_testkit::postgres::Cluster;

    use super::{MAX_SHAPES, PLANNED_EVERY, PLANS_BY_KEY, Postgres, is_english, with_parameter};
    use crate::DatabaseUrl;
    use crate::sql::{Query, Session};

    fn server() -> Postgres {
        Postgres::new(&DatabaseUrl::parse("postgres://h/d").unwrap(), Duration::from_secs(3))
    }

    #[test]
    fn server_time_limits_follow_from_the_deadline() {
        let settings = server().settings;
        for setting in
            ["statement_timeout = 3000;", "lock_timeout = 1500;", "idle_in_transaction_session_timeout = 6000;"]
        {
            assert!(settings.contains(&format!("SET {setting}")), "{settings}");
        }
    }

    #[test]
    fn lane_limits_do_not_replace_limits_of_the_url() {
        let limits = "SET idle_in_transaction_session_timeout = 1000; SET lock_timeout = 150; ";
        assert_eq!(server().lane_limits(), limits);
        let url = DatabaseUrl::parse("postgres://h/d?options=-clock_timeout%3D50").unwrap();
        let chosen = Postgres::new(&url, Duration::from_secs(3));
        assert_eq!(chosen.lane_limits(), "SET idle_in_transaction_session_timeout = 1000; ");
        let url = DatabaseUrl::parse("postgres://lock_timeout@h/d?application_name=lock_timeout").unwrap();
        assert_eq!(Postgres::new(&url, Duration::from_secs(3)).lane_limits(), limits);
    }

    #[test]
    fn locale_shows_whether_messages_are_english() {
        for (language, english) in [
            ("C", true),
            ("C.UTF-8", true),
            ("POSIX", true),
            ("en_US.UTF-8", true),
            ("English_United States.1252", true),
            ("pt_BR.UTF-8", false),
            ("ca_ES", false),
            ("", false),
        ] {
            assert_eq!(is_english(language), english, "{language}");
        }
    }

    #[test]
    fn shapes_that_stay_prepared_are_bounded() {
        let server = server();
        let text = |number: usize| format!("SELECT {number}");
        assert!((0..MAX_SHAPES).all(|number| server.stays_prepared(&text(number))));
        assert!(!server.stays_prepared(&text(MAX_SHAPES)));
        assert!(server.stays_prepared(&text(0)));
    }

    #[test]
    fn url_parameters_take_precedence() {
        assert_eq!(with_parameter("postgres://h/d", "a", "1"), "postgres://h/d?a=1");
        assert_eq!(with_parameter("postgres://h/d?b=2", "a", "1"), "postgres://h/d?b=2&a=1");
        assert_eq!(with_parameter("postgres://h/d?a=2", "a", "1"), "postgres://h/d?a=2");
    }

    #[test]
    fn plans_older_than_the_interval_are_replaced() {
        let url = DatabaseUrl::parse(&Cluster::shared().unwrap().fresh_database().unwrap()).unwrap();
        let server = Postgres::new(&url, Duration::from_mins(1));
        let mut session = server.connect_planned(PLANS_BY_KEY).unwrap();
        session.run("CREATE TABLE t (id BIGINT PRIMARY KEY); PREPARE p AS SELECT id FROM t WHERE id = 1").unwrap();
        let mut plan = |settings: &str, age: Duration| {
            session.run(settings).unwrap();
            session.planned_at = Instant::now().checked_sub(age).unwrap();
            <dyn Session>::load::<String>(&mut session, &Query::once("EXPLAIN EXECUTE p")).unwrap().remove(0)
        };
        let kept = plan("SET enable_seqscan = off", Duration::ZERO);
        assert!(kept.contains("Index"), "{kept}");
        assert_eq!(
            plan("SET enable_seqscan = on; SET enable_indexscan = off; SET enable_indexonlyscan = off", Duration::ZERO),
            kept
        );
        let made_anew = plan("SET jit = off", PLANNED_EVERY);
        assert!(made_anew.contains("Seq Scan"), "{made_anew}");
    }
}
