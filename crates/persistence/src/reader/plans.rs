//! SQLite's plans of statements, for tests. SQLite plans only by rules, while PostgreSQL uses statistics.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use tempfile::TempDir;

use crate::engine::Engine as _;
use crate::sql::{Query, Session};
use crate::sqlite::Sqlite;
use crate::{DatabaseUrl, migrations};

/// An empty store for plans only.
pub(crate) struct Planner {
    session: Box<dyn Session>,
    _folder: TempDir,
}

impl Planner {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cais.db");
        migrations::migrate(&DatabaseUrl::parse(&format!("sqlite:{}", path.display())).unwrap(), "test").unwrap();
        let session = Sqlite::new(&path, Duration::from_secs(1)).connect_reader().unwrap();
        Self { session, _folder: folder }
    }

    /// Returns the steps of the statement.
    pub(crate) fn plan(&mut self, text: &str) -> Vec<String> {
        let query = Query::once(format!("EXPLAIN QUERY PLAN {}", text.replace('?', "1")));
        self.session
            .load::<(String, String, String, String)>(&query)
            .unwrap()
            .into_iter()
            .map(|(.., step)| step)
            .collect()
    }
}
