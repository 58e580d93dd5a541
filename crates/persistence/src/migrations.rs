//! The schema and its migrations. The program embeds the migrations. One process at a time, the runner, applies them under a lease row.
//! Each start of a node checks that all were applied.

use std::collections::BTreeSet;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use diesel::Connection;
use diesel::migration::{Migration, MigrationSource};
use diesel::pg::Pg;
use diesel::result::Error;
use diesel::sqlite::Sqlite as SqliteBackend;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use crate::OpenError;
use crate::error::Fault;
use crate::postgres::Postgres;
use crate::sql::{NumberRow, Query, Session};
use crate::sqlite::{Sqlite, WAL};
use crate::url::{Address, DatabaseUrl};

const POSTGRES: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");
const SQLITE: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");

/// The lease of a runner, in microseconds. After its end another runner takes over. The runner renews the lease before each migration.
const LEASE_US: i64 = 60_000_000;
/// The longest wait for the lease of another runner.
const WAIT: Duration = Duration::from_secs(90);
/// The interval between attempts to acquire the lease.
const POLL: Duration = Duration::from_millis(200);
/// On SQLite, the longest wait while another process writes the file. On PostgreSQL, the time limit of statements, except those of
/// migrations.
const SESSION_TIMEOUT: Duration = Duration::from_secs(30);

const CREATE_LEASE: &str = "CREATE TABLE IF NOT EXISTS migration_lease (name TEXT PRIMARY KEY, owner TEXT NOT NULL, lease_until BIGINT NOT NULL)";
/// The SQL of the database's current time in microseconds. Leases use this clock, because all runners share it.
pub(crate) const NOW_POSTGRES: &str = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)";
pub(crate) const NOW_SQLITE: &str = "CAST(unixepoch('subsec') * 1000000 AS BIGINT)";

/// The migrations that have run and those that have not, by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Schema {
    /// The migrations that have run.
    pub applied: Vec<String>,
    /// The migrations that have not run.
    pub pending: Vec<String>,
    /// The versions of migrations that have run and that this program does not contain.
    pub unknown: Vec<String>,
}

/// The reason why not all pending migrations ran, or why the schema could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MigrationError {
    /// Another process is applying migrations, and did not finish within 90 s.
    #[error("another runner holds the migration lease: {owner}")]
    Busy {
        /// The name of that process.
        owner: String,
    },
    /// This process took longer than its lease, and another process took over.
    #[error("the migration lease was lost")]
    LeaseLost,
    /// The database has migrations that this program does not contain, and lacks others that the program contains. Database and program
    /// have diverged.
    #[error("the database has migrations unknown to this version: {}", .0.join(", "))]
    Unknown(Vec<String>),
    /// A migration failed. Neither that migration nor any later one has run.
    #[error("a migration failed: {0}")]
    Failed(String),
    /// The database cannot be reached or used.
    #[error("the store cannot be opened: {0}")]
    Unavailable(String),
}

impl Schema {
    /// Checks that a store with this schema may be opened.
    ///
    /// A newer schema is accepted. A deployment first expands the schema, and contracts it only after all nodes run the new version. Until
    /// then, nodes of the previous version may restart on the newer schema.
    pub(crate) fn accept(self) -> Result<(), OpenError> {
        if !self.pending.is_empty() {
            return Err(OpenError::SchemaTooOld { pending: self.pending });
        }
        Ok(())
    }
}

/// Returns the migrations that have run and those that have not. Changes nothing. A missing SQLite file counts as a schema without
/// migrations.
///
/// # Errors
/// [`MigrationError::Unavailable`] if the database cannot be read.
pub fn status(url: &DatabaseUrl) -> Result<Schema, MigrationError> {
    match url.address() {
        Address::Sqlite(path) => {
            let file = Sqlite::new(path, SESSION_TIMEOUT);
            if file.exists() {
                Ok(schema(&mut file.connect("")?, true)?)
            } else {
                Ok(compare(BTreeSet::new(), &known::<SqliteBackend>(&SQLITE)?))
            }
        }
        Address::Postgres(_) => Ok(schema(&mut Postgres::new(url, SESSION_TIMEOUT).connect("")?, false)?),
    }
}

/// Runs pending migrations, and returns their names. Waits while another runner holds the lease. `owner` is the name of this runner, for
/// the errors of other runners ([`MigrationError::Busy`]). Blocks the thread. Creates the file of a SQLite store.
///
/// # Errors
/// [`MigrationError`].
pub fn migrate(url: &DatabaseUrl, owner: &str) -> Result<Vec<String>, MigrationError> {
    match url.address() {
        Address::Sqlite(path) => migrate_sqlite(path, owner),
        Address::Postgres(_) => {
            let mut connection = Postgres::new(url, SESSION_TIMEOUT).connect("SET statement_timeout = 0")?;
            under_lease(&mut connection, owner, NOW_POSTGRES, POSTGRES, false, |connection, step| {
                connection.transaction(step)
            })
        }
    }
}

fn migrate_sqlite(path: &Path, owner: &str) -> Result<Vec<String>, MigrationError> {
    let file = Sqlite::new(path, SESSION_TIMEOUT);
    file.create()?;
    let mut connection = file.connect(WAL)?;
    under_lease(&mut connection, owner, NOW_SQLITE, SQLITE, true, |connection, step| {
        connection.immediate_transaction(step)
    })
}

/// Compares a store's migrations with those of this program.
pub(crate) fn schema(session: &mut dyn Session, is_sqlite: bool) -> Result<Schema, Fault> {
    let query = Query::new(
        "SELECT CAST(version AS TEXT), CAST(version AS TEXT), CAST(0 AS BIGINT) FROM __diesel_schema_migrations",
    );
    let applied = match session.load::<(String, String, i64)>(&query) {
        Ok(rows) => rows.into_iter().map(|(version, ..)| version).collect(),
        Err(error) => {
            let fault = Fault::from(error);
            if !matches!(fault, Fault::Refused(_)) {
                return Err(fault);
            }
            // The table does not exist: no migration has run.
            BTreeSet::new()
        }
    };
    let known = if is_sqlite { known::<SqliteBackend>(&SQLITE)? } else { known::<Pg>(&POSTGRES)? };
    Ok(compare(applied, &known))
}

/// Returns the versions and names of the embedded migrations, in order.
fn known<DB: diesel::backend::Backend>(source: &EmbeddedMigrations) -> Result<Vec<(String, String)>, Fault> {
    let migrations: Vec<Box<dyn Migration<DB>>> =
        source.migrations().map_err(|error| Fault::Corrupt(error.to_string()))?;
    let mut known: Vec<(String, String)> = migrations
        .iter()
        .map(|migration| (migration.name().version().to_string(), migration.name().to_string()))
        .collect();
    known.sort_unstable();
    Ok(known)
}

fn compare(mut applied: BTreeSet<String>, known: &[(String, String)]) -> Schema {
    let mut schema = Schema::default();
    for (version, name) in known {
        let list = if applied.remove(version) { &mut schema.applied } else { &mut schema.pending };
        list.push(name.clone());
    }
    schema.unknown = applied.into_iter().collect();
    schema
}

/// The reason why a step of a migration failed.
enum StepError {
    Database(Error),
    LeaseLost,
    Failed(String),
}

impl From<Error> for StepError {
    fn from(error: Error) -> Self {
        Self::Database(error)
    }
}

type Step<'s, C> = &'s mut dyn FnMut(&mut C) -> Result<(), StepError>;

/// Acquires the lease, runs the pending migrations, and releases the lease.
///
/// Each migration locks the lease row until it is committed. A runner that takes over waits for that lock, so two migrations never run
/// together.
fn under_lease<C, DB>(
    connection: &mut C,
    owner: &str,
    now: &str,
    source: EmbeddedMigrations,
    is_sqlite: bool,
    transact: impl Fn(&mut C, Step<'_, C>) -> Result<(), StepError>,
) -> Result<Vec<String>, MigrationError>
where
    C: Session + MigrationHarness<DB>,
    DB: diesel::backend::Backend,
{
    acquire_lease(connection, owner, now)?;
    let done = run_pending(connection, owner, now, source, is_sqlite, transact);
    let release = Query::new("DELETE FROM migration_lease WHERE name = 'schema' AND owner = ?").bind(owner);
    if let Err(error) = connection.execute(&release) {
        tracing::warn!(%error, "migration lease could not be released; it stays until it expires");
    }
    done
}

fn run_pending<C, DB>(
    connection: &mut C,
    owner: &str,
    now: &str,
    source: EmbeddedMigrations,
    is_sqlite: bool,
    transact: impl Fn(&mut C, Step<'_, C>) -> Result<(), StepError>,
) -> Result<Vec<String>, MigrationError>
where
    C: Session + MigrationHarness<DB>,
    DB: diesel::backend::Backend,
{
    let failed = |error: Box<dyn std::error::Error + Send + Sync>| MigrationError::Failed(error.to_string());
    // This call also creates the table of migrations.
    let pending = connection.pending_migrations(source).map_err(failed)?;
    let unknown = schema(connection, is_sqlite)?.unknown;
    if !unknown.is_empty() && !pending.is_empty() {
        return Err(MigrationError::Unknown(unknown));
    }
    let renew =
        format!("UPDATE migration_lease SET lease_until = {now} + {LEASE_US} WHERE name = 'schema' AND owner = ?");
    let mut names = Vec::new();
    for migration in pending {
        let name = migration.name().to_string();
        transact(connection, &mut |connection| {
            if connection.execute(&Query::new(renew.as_str()).bind(owner))? != 1 {
                return Err(StepError::LeaseLost);
            }
            connection.run_migration(&*migration).map(|_| ()).map_err(|error| StepError::Failed(error.to_string()))
        })
        .map_err(|error| match error {
            StepError::Database(error) => MigrationError::Failed(format!("{name}: {error}")),
            StepError::LeaseLost => MigrationError::LeaseLost,
            StepError::Failed(text) => MigrationError::Failed(format!("{name}: {text}")),
        })?;
        tracing::info!(name, "migration applied");
        names.push(name);
    }
    Ok(names)
}

fn acquire_lease(connection: &mut dyn Session, owner: &str, now: &str) -> Result<(), MigrationError> {
    let take = format!(
        "INSERT INTO migration_lease (name, owner, lease_until) VALUES ('schema', ?, {now} + {LEASE_US}) \
         ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, lease_until = excluded.lease_until \
         WHERE migration_lease.lease_until < {now}"
    );
    let started = Instant::now();
    let mut holder = String::new();
    loop {
        // An error is ignored: if two runners create the table at once, one of them fails. Its next attempt finds the table.
        if connection.run(CREATE_LEASE).is_ok() {
            if connection.execute(&Query::new(take.as_str()).bind(owner)).map_err(Fault::from)? == 1 {
                return Ok(());
            }
            let read = Query::new("SELECT owner, owner, lease_until FROM migration_lease WHERE name = 'schema'");
            holder =
                connection.load::<NumberRow>(&read).map_err(Fault::from)?.pop().map_or(holder, |(owner, ..)| owner);
        }
        if started.elapsed() >= WAIT {
            return Err(MigrationError::Busy { owner: holder });
        }
        thread::sleep(POLL);
    }
}

impl From<Fault> for MigrationError {
    fn from(fault: Fault) -> Self {
        Self::Unavailable(fault.to_string())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn both_engines_have_the_same_migrations() {
        assert_eq!(known::<Pg>(&POSTGRES).unwrap(), known::<SqliteBackend>(&SQLITE).unwrap());
    }

    /// The schema uses none of these features. So it runs on every server with PostgreSQL's dialect, also on one sharded by account.
    #[test]
    fn schema_uses_only_common_server_features() {
        let words = [
            "SERIAL",
            "NEXTVAL",
            "TRIGGER",
            "DEFERRABLE",
            "EXCLUDE",
            "DOMAIN",
            "NOTIFY",
            "PG_ADVISORY",
            "NUMERIC",
            "REAL",
            "FLOAT",
        ];
        for engine in ["postgres", "sqlite"] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations").join(engine);
            let folders: Vec<_> = std::fs::read_dir(folder).unwrap().collect();
            assert!(!folders.is_empty());
            for migration in folders {
                let text = std::fs::read_to_string(migration.unwrap().path().join("up.sql")).unwrap();
                let statements: String =
                    text.lines().filter(|line| !line.starts_with("--")).collect::<String>().to_uppercase();
                let found = words.iter().find(|word| statements.contains(*word));
                assert_eq!(found, None, "{text}");
            }
        }
    }

    #[test]
    fn unknown_migrations_are_reported() {
        let known = [("1".to_owned(), "1_a".to_owned()), ("2".to_owned(), "2_b".to_owned())];
        let schema = compare(["1".to_owned(), "9".to_owned()].into(), &known);
        assert_eq!(
            schema,
            Schema { applied: vec!["1_a".into()], pending: vec!["2_b".into()], unknown: vec!["9".into()] }
        );
        assert_eq!(schema.accept(), Err(OpenError::SchemaTooOld { pending: vec!["2_b".into()] }));
        let newer = compare(["1".to_owned(), "2".to_owned(), "9".to_owned()].into(), &known);
        assert_eq!(newer.accept(), Ok(()), "nodes of the previous version may restart during a rollout");
    }

    #[test]
    fn migrations_can_be_reverted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cais.db");
        let url = DatabaseUrl::parse(&format!("sqlite:{}", path.display())).unwrap();
        let first = migrate(&url, "test").unwrap();
        assert_eq!(first.len(), status(&url).unwrap().applied.len());
        let mut connection = Sqlite::new(&path, SESSION_TIMEOUT).connect("").unwrap();
        MigrationHarness::<SqliteBackend>::revert_all_migrations(&mut connection, SQLITE).unwrap();
        assert_eq!(status(&url).unwrap().pending, first);
        assert_eq!(migrate(&url, "test").unwrap(), first);
        assert_eq!(migrate(&url, "test").unwrap(), Vec::<String>::new());
    }
}
