//! Connections to PostgreSQL, on which no wait is without an end.

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

/// What libpq is told unless the URL says otherwise: seconds, milliseconds and counts of its manual, section 34.1.2.
/// A peer that is gone is noticed within about fifteen seconds, whether or not something is on its way to it.
const PARAMETERS: [(&str, &str); 7] = [
    ("application_name", "cais"),
    ("connect_timeout", "5"),
    ("tcp_user_timeout", "10000"),
    ("keepalives", "1"),
    ("keepalives_idle", "5"),
    ("keepalives_interval", "3"),
    ("keepalives_count", "3"),
];

/// The committer's statements and the reads by id go by primary key, always. A plan that was made while a table was small must not scan it once it is large.
pub(super) const PLANS_BY_KEY: &str = "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_bitmapscan = off; \
     SET plan_cache_mode = force_generic_plan; SET jit = off";

/// Lists come along an index and stop with the page, whatever the server counted. Without a sort, an index in the order of the list is all
/// that is left; a sort of a page that came in nearly its order stays allowed.
pub(super) const WITHOUT_SORT: &str = "SET enable_sort = off";

/// So often a connection's statements are planned anew. The server keeps a plan until it counts a table's rows, a minute later or never; a
/// plan that was right for an empty table can be a thousand times too slow for what a busy start makes of it by then. It costs a
/// millisecond for each statement that is used.
const PLANNED_EVERY: Duration = Duration::from_secs(5);

/// A batch waits so long for a row: several times what a batch of another node takes. A row that is locked for longer concerns few of
/// its change sets, and they are set aside.
const BATCH_LOCK_MS: u32 = 150;
/// Who is set aside already waits so long again, alone, while its lane's other change sets wait for it.
const PROBE_LOCK_MS: u32 = 10;
/// A batch works between two of its statements for a few milliseconds. A node that says nothing for so long is frozen or gone, and its
/// locks end while the callers of other nodes still wait for them.
const LANE_IDLE_MS: u32 = 1_000;

/// Housekeeping has no caller who waits, and no reason to read the whole of a large table. For the rest the server plans its statements as
/// it likes.
pub(super) const HOUSEKEEPING: &str = "SET statement_timeout = 60000; SET enable_seqscan = off";

/// The audit compares whole tables. A nested loop, which the server chooses for tables that it never analyzed, would read one of them
/// again for each row of the other.
pub(super) const WHOLE_TABLES: &str =
    "SET default_transaction_read_only = on; SET statement_timeout = 0; SET enable_nestloop = off";

/// A reader writes nothing, whatever it is asked.
pub(super) const READ_ONLY: &str = "SET default_transaction_read_only = on";

/// So many shapes of batches stay prepared on a connection. A service has a few dozen; each takes memory at both ends.
const MAX_SHAPES: usize = 128;

/// A PostgreSQL server.
pub(crate) struct Postgres {
    url: String,
    settings: String,
    /// Whether the language of its messages was looked at.
    language_known: AtomicBool,
    /// The texts of batches that stay prepared.
    shapes: Mutex<HashSet<String>>,
    /// Where claims go on.
    pub(super) heads: Mutex<Heads>,
}

impl Postgres {
    /// The server at that URL, whose statements may take so long.
    pub(crate) fn new(url: &DatabaseUrl, statement_timeout: Duration) -> Self {
        let url =
            PARAMETERS.iter().fold(url.expose().to_owned(), |url, (name, value)| with_parameter(&url, name, value));
        let timeout_ms = statement_timeout.as_millis();
        let mut settings = String::new();
        // A transaction whose client is gone goes soon after its callers have their answer: until then, whoever meets its rows waits.
        for (name, value) in [
            ("statement_timeout", timeout_ms),
            ("lock_timeout", timeout_ms / 2),
            ("idle_in_transaction_session_timeout", timeout_ms * 2),
        ] {
            settings.push_str(&limit(&url, name, value));
        }
        // Off would answer before the commit is durable. Any other value is the operator's choice.
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

    /// What the connections of lanes have instead.
    pub(super) fn lane_limits(&self) -> String {
        let idle = limit(&self.url, "idle_in_transaction_session_timeout", LANE_IDLE_MS);
        idle + &self.lock_limit(LockWait::Batch)
    }

    /// How long a lane's statements wait for a lock.
    pub(super) fn lock_limit(&self, wait: LockWait) -> String {
        let wait_ms = match wait {
            LockWait::Batch => BATCH_LOCK_MS,
            LockWait::Probe => PROBE_LOCK_MS,
        };
        limit(&self.url, "lock_timeout", wait_ms)
    }

    /// A connection with these settings on top.
    pub(crate) fn connect(&self, settings: &str) -> Result<PgConnection, Fault> {
        let mut connection = ConnectionManager::<PgConnection>::new(self.url.as_str())
            .connect()
            .map_err(|error| Fault::Lost(error.to_string()))?;
        // Conflicts are told apart by their English text. Only a privileged role may choose the language; for others it is the server's.
        if let Err(error) = connection.run("SET lc_messages = 'C'") {
            tracing::debug!(%error, "the language of the server's messages stays as it is");
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

    /// A connection with these settings whose plans are never old.
    pub(super) fn connect_planned(&self, settings: &str) -> Result<Planned, Fault> {
        Ok(Planned { connection: self.connect(settings)?, planned_at: Instant::now() })
    }

    /// Whether a statement of that text stays prepared.
    pub(super) fn stays_prepared(&self, text: &str) -> bool {
        let mut shapes = self.shapes.lock().unwrap_or_else(PoisonError::into_inner);
        shapes.contains(text) || (shapes.len() < MAX_SHAPES && shapes.insert(text.to_owned()))
    }
}

/// A connection whose plans are never old.
pub(crate) struct Planned {
    connection: PgConnection,
    planned_at: Instant,
}

impl Session for Planned {
    fn connection(&mut self) -> Connection<'_> {
        if self.planned_at.elapsed() >= PLANNED_EVERY {
            self.planned_at = Instant::now();
            if let Err(error) = self.connection.run("DISCARD PLANS") {
                // In a transaction that has failed: whatever comes next in it fails too, its COMMIT as well, which sets something first. A
                // connection that is lost fails again with what comes next.
                tracing::debug!(%error, "the plans of a connection stay as they are");
            }
        }
        Connection::Postgres(&mut self.connection)
    }
}

/// A conflict that is not recognised is taken for a refusal, and its caller gets an error instead of a second attempt.
fn warn_unless_english(session: &mut dyn Session) {
    let query = Query::new("SELECT current_setting('lc_messages'), CAST('' AS TEXT), CAST(0 AS BIGINT)");
    match session.load::<(String, String, i64)>(&query).map(|mut rows| rows.pop()) {
        Ok(Some((language, ..))) if is_english(&language) => {}
        Ok(Some((language, ..))) => tracing::warn!(
            alert = alerts::DATABASE_LANGUAGE,
            language,
            "the server's messages are not in English, so some conflicts are not recognized; set lc_messages to C for this role or database"
        ),
        Ok(None) => {}
        Err(error) => tracing::debug!(%error, "the language of the server's messages is not known"),
    }
}

/// Sets a limit in milliseconds, unless the user has set it in the URL's `options`.
fn limit(url: &str, name: &str, value_ms: impl Display) -> String {
    if url.contains(name) { String::new() } else { format!("SET {name} = {value_ms}; ") }
}

/// Whether messages of that locale are the untranslated ones; English locales have none of their own that differ.
fn is_english(language: &str) -> bool {
    let name = language.split(['.', '@']).next().unwrap_or_default();
    matches!(name, "C" | "POSIX" | "en") || name.starts_with("en_") || name.starts_with("English")
}

/// The URL with the parameter, unless it has it.
fn with_parameter(url: &str, name: &str, value: &str) -> String {
    let known = url.split_once('?').is_some_and(|(_, parameters)| {
        parameters.split('&').any(|parameter| parameter.split_once('=').is_some_and(|(known, _)| known == name))
    });
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
    fn no_wait_outlives_its_callers_for_long() {
        let settings = server().settings;
        for setting in
            ["statement_timeout = 3000;", "lock_timeout = 1500;", "idle_in_transaction_session_timeout = 6000;"]
        {
            assert!(settings.contains(&format!("SET {setting}")), "{settings}");
        }
    }

    #[test]
    fn lane_limits_leave_what_the_url_sets() {
        let limits = "SET idle_in_transaction_session_timeout = 1000; SET lock_timeout = 150; ";
        assert_eq!(server().lane_limits(), limits);
        let url = DatabaseUrl::parse("postgres://h/d?options=-clock_timeout%3D50").unwrap();
        let chosen = Postgres::new(&url, Duration::from_secs(3));
        assert_eq!(chosen.lane_limits(), "SET idle_in_transaction_session_timeout = 1000; ");
    }

    #[test]
    fn messages_are_english_or_not() {
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
    fn what_the_url_says_wins() {
        assert_eq!(with_parameter("postgres://h/d", "a", "1"), "postgres://h/d?a=1");
        assert_eq!(with_parameter("postgres://h/d?b=2", "a", "1"), "postgres://h/d?b=2&a=1");
        assert_eq!(with_parameter("postgres://h/d?a=2", "a", "1"), "postgres://h/d?a=2");
    }

    #[test]
    fn plans_are_made_anew_after_a_while() {
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
