//! Connections to PostgreSQL, on which no wait is without an end.

use std::fmt::Write as _;
use std::time::Duration;

use diesel::PgConnection;
use diesel::r2d2::{ConnectionManager, ManageConnection};

use crate::error::Fault;
use crate::sql::Session;
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
pub(super) const PLANS_BY_KEY: &str = "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; \
     SET plan_cache_mode = force_generic_plan; SET jit = off";

/// A reader writes nothing, whatever it is asked.
pub(super) const READ_ONLY: &str = "SET default_transaction_read_only = on";

/// A PostgreSQL server.
pub(crate) struct Postgres {
    url: String,
    settings: String,
}

impl Postgres {
    /// The server at that URL, whose statements may take so long.
    pub(crate) fn new(url: &DatabaseUrl, statement_timeout: Duration) -> Self {
        let url =
            PARAMETERS.iter().fold(url.expose().to_owned(), |url, (name, value)| with_parameter(&url, name, value));
        let timeout_ms = statement_timeout.as_millis();
        let mut settings = String::new();
        for (name, value) in [
            ("statement_timeout", timeout_ms),
            ("lock_timeout", timeout_ms / 2),
            ("idle_in_transaction_session_timeout", timeout_ms * 6),
        ] {
            // The user may set one in the URL's `options`.
            if !url.contains(name) {
                // Writing to a String cannot fail.
                let _ = write!(settings, "SET {name} = {value}; ");
            }
        }
        // Off would answer before the commit is durable. Any other value is the operator's choice.
        settings.push_str(
            "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
        );
        Self { url, settings }
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
        connection.run(&self.settings)?;
        if !settings.is_empty() {
            connection.run(settings)?;
        }
        Ok(connection)
    }
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
    use super::with_parameter;

    #[test]
    fn what_the_url_says_wins() {
        assert_eq!(with_parameter("postgres://h/d", "a", "1"), "postgres://h/d?a=1");
        assert_eq!(with_parameter("postgres://h/d?b=2", "a", "1"), "postgres://h/d?b=2&a=1");
        assert_eq!(with_parameter("postgres://h/d?a=2", "a", "1"), "postgres://h/d?a=2");
    }
}
