//! The measured databases: a PostgreSQL server that this program starts with fsync, or a SQLite file. An existing
//! database is never used.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use cais_persistence::{DatabaseUrl, Persistence, StoreConfig, migrations};
use cais_ports::IdGenerator;
use cais_testkit::SequentialIds;
use cais_testkit::postgres::{Cluster, Options};
use clap::ValueEnum;
use tempfile::TempDir;

/// The owner of the migration lease.
const OWNER: &str = "bench";

/// The database engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// A PostgreSQL server that this program starts, with fsync.
    Postgres,
    /// A SQLite file, with `synchronous=FULL`.
    Sqlite,
}

impl Engine {
    /// Returns the name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Sqlite => "sqlite",
        }
    }
}

/// A PostgreSQL server that stops when dropped.
pub struct Postgres {
    cluster: Cluster,
    programs: PathBuf,
    process: u32,
}

impl Postgres {
    /// Starts the installed server, with fsync.
    ///
    /// # Errors
    /// If PostgreSQL is not installed or does not start.
    pub fn start() -> Result<Self> {
        let cluster = Cluster::start(Options { fsync: true, tls: false })?;
        let programs = cluster.sql("postgres", "SELECT setting FROM pg_config WHERE name = 'BINDIR'")?.into();
        let process = cluster.sql("postgres", "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)")?;
        Ok(Self { cluster, programs, process: process.trim().parse().context("postmaster.pid")? })
    }

    /// Returns the id of the server's first process, the parent of its other processes.
    #[must_use]
    pub const fn process_id(&self) -> u32 {
        self.process
    }

    /// Returns the path of one of the server's programs, such as `pgbench`.
    #[must_use]
    pub fn program(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }

    /// Returns the URL of a new, empty database.
    ///
    /// # Errors
    /// If the server does not answer.
    pub fn fresh_database(&self) -> Result<String> {
        self.cluster.fresh_database()
    }

    /// Runs SQL in the database at a URL.
    ///
    /// # Errors
    /// If a statement fails.
    pub fn run(&self, url: &str, sql: &str) -> Result<()> {
        self.cluster.sql(url, sql).map(drop)
    }

    /// Runs a query and returns its result, a single whole number.
    ///
    /// # Errors
    /// If the query fails or returns anything else.
    pub fn number(&self, url: &str, sql: &str) -> Result<u64> {
        let text = self.cluster.sql(url, sql)?;
        text.trim().parse().with_context(|| format!("`{text}` where a number was expected"))
    }
}

/// An empty database for one measurement.
pub struct MeasuredDatabase<'a> {
    url: String,
    server: Option<&'a Postgres>,
    _folder: Option<TempDir>,
}

impl<'a> MeasuredDatabase<'a> {
    /// Creates an empty database.
    ///
    /// # Errors
    /// If the server does not answer or no folder can be made.
    pub fn fresh(engine: Engine, server: Option<&'a Postgres>) -> Result<Self> {
        match engine {
            Engine::Postgres => {
                let server = server.context("no server was started")?;
                Ok(Self { url: server.fresh_database()?, server: Some(server), _folder: None })
            }
            Engine::Sqlite => {
                let folder = tempfile::Builder::new().prefix("cais-bench-").tempdir()?;
                let url = format!("sqlite:{}", folder.path().join("cais.db").display());
                Ok(Self { url, server: None, _folder: Some(folder) })
            }
        }
    }

    /// Returns the database's URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Migrates the schema.
    ///
    /// # Errors
    /// If a migration fails.
    pub async fn migrate(&self) -> Result<()> {
        let url = DatabaseUrl::parse(&self.url)?;
        tokio::task::spawn_blocking(move || migrations::migrate(&url, OWNER).map(drop)).await?.context("the schema")
    }

    /// Migrates and opens the database.
    ///
    /// # Errors
    /// If the database cannot be opened.
    pub async fn open(&self) -> Result<Persistence> {
        self.migrate().await?;
        open(&self.url).await
    }

    /// Migrates and opens the database. The store takes its ids from `ids`.
    ///
    /// # Errors
    /// If the database cannot be opened.
    pub async fn open_with(&self, ids: Arc<dyn IdGenerator>) -> Result<Persistence> {
        self.migrate().await?;
        open_with(&self.url, ids).await
    }

    /// Runs SQL on PostgreSQL. Does nothing on SQLite.
    ///
    /// # Errors
    /// If a statement fails.
    pub fn run(&self, sql: &str) -> Result<()> {
        self.server.map_or(Ok(()), |server| server.run(&self.url, sql))
    }

    /// Flushes all earlier writes of PostgreSQL to disk, so that they do not slow the next round. Does nothing on
    /// SQLite.
    ///
    /// # Errors
    /// If the server does not answer.
    pub fn flush_writes(&self) -> Result<()> {
        self.run("CHECKPOINT")
    }
}

/// Gathers statistics of a filled PostgreSQL database, because a database in use has them too. Flushes all its writes
/// to disk. Does nothing on SQLite.
///
/// # Errors
/// If the server does not answer.
pub fn analyze_and_flush(engine: Engine, server: Option<&Postgres>, url: &str) -> Result<()> {
    match (engine, server) {
        (Engine::Postgres, Some(server)) => {
            server.run(url, "VACUUM ANALYZE")?;
            server.run(url, "CHECKPOINT")
        }
        (Engine::Postgres, None) | (Engine::Sqlite, _) => Ok(()),
    }
}

/// Disables the autovacuum of all tables, so that the server gathers no statistics. Statements are then planned as on
/// freshly filled tables. Does nothing if `server` is `None`.
///
/// # Errors
/// If the server does not answer.
pub fn disable_autovacuum(server: Option<&Postgres>, url: &str) -> Result<()> {
    const DISABLE_ALL: &str = "DO $$ DECLARE name TEXT; BEGIN \
         FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP \
         EXECUTE format('ALTER TABLE %I SET (autovacuum_enabled = off)', name); END LOOP; END $$";
    server.map_or(Ok(()), |server| server.run(url, DISABLE_ALL))
}

/// Opens a migrated database.
///
/// # Errors
/// If the database cannot be opened.
pub async fn open(url: &str) -> Result<Persistence> {
    // The store's ids must differ from those of the testkit's builders, which count from 0.
    open_with(url, Arc::new(SequentialIds::starting_at(1 << 40))).await
}

/// Opens a migrated database. The store takes its ids from `ids`.
///
/// # Errors
/// If the database cannot be opened.
pub async fn open_with(url: &str, ids: Arc<dyn IdGenerator>) -> Result<Persistence> {
    let config = StoreConfig::new(DatabaseUrl::parse(url)?);
    tokio::task::spawn_blocking(move || Persistence::open(&config, &ids)).await?.context("the store cannot be opened")
}
