//! The databases that are measured: a server of our own with fsync, or a file; never one that exists already.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use cais_persistence::{DatabaseUrl, Persistence, StoreConfig, migrations};
use cais_ports::Ids;
use cais_testkit::SequentialIds;
use cais_testkit::postgres::{Cluster, Options};
use clap::ValueEnum;
use tempfile::TempDir;

/// Who migrates, as the lease names it.
const OWNER: &str = "bench";

/// Which database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// A PostgreSQL server of our own, with fsync.
    Postgres,
    /// A file, with `synchronous=FULL`.
    Sqlite,
}

impl Engine {
    /// Its name in a report.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Sqlite => "sqlite",
        }
    }
}

/// A PostgreSQL server that ends with the value.
pub struct Postgres {
    cluster: Cluster,
    programs: PathBuf,
    process: u32,
}

impl Postgres {
    /// Starts it as it is installed, with fsync.
    ///
    /// # Errors
    /// When PostgreSQL is not installed or does not start.
    pub fn start() -> Result<Self> {
        let cluster = Cluster::start(Options { fsync: true, tls: false })?;
        let programs = cluster.sql("postgres", "SELECT setting FROM pg_config WHERE name = 'BINDIR'")?.into();
        let process = cluster.sql("postgres", "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)")?;
        Ok(Self { cluster, programs, process: process.trim().parse().context("postmaster.pid")? })
    }

    /// The process from which all of its processes descend.
    #[must_use]
    pub const fn process_id(&self) -> u32 {
        self.process
    }

    /// The path of one of its programs.
    #[must_use]
    pub fn program(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }

    /// The URL of a new, empty database.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn fresh_database(&self) -> Result<String> {
        self.cluster.fresh_database()
    }

    /// Runs SQL in the database of that URL.
    ///
    /// # Errors
    /// When a statement fails.
    pub fn run(&self, url: &str, sql: &str) -> Result<()> {
        self.cluster.sql(url, sql).map(drop)
    }

    /// The one whole number that a query gives.
    ///
    /// # Errors
    /// When it fails or gives something else.
    pub fn number(&self, url: &str, sql: &str) -> Result<u64> {
        let text = self.cluster.sql(url, sql)?;
        text.trim().parse().with_context(|| format!("`{text}` where a number was expected"))
    }
}

/// An empty database for one measurement.
pub struct Place<'a> {
    url: String,
    server: Option<&'a Postgres>,
    _folder: Option<TempDir>,
}

impl<'a> Place<'a> {
    /// A new one.
    ///
    /// # Errors
    /// When the server does not answer or no folder can be made.
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

    /// Its URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Brings its schema up to date.
    ///
    /// # Errors
    /// When a migration fails.
    pub async fn migrate(&self) -> Result<()> {
        let url = DatabaseUrl::parse(&self.url)?;
        tokio::task::spawn_blocking(move || migrations::migrate(&url, OWNER).map(drop)).await?.context("the schema")
    }

    /// Migrates and opens it.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub async fn open(&self) -> Result<Persistence> {
        self.migrate().await?;
        open(&self.url).await
    }

    /// Migrates and opens it, with ids of the caller's.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub async fn open_with(&self, ids: Arc<dyn Ids>) -> Result<Persistence> {
        self.migrate().await?;
        open_with(&self.url, ids).await
    }

    /// Runs SQL where there is a server.
    ///
    /// # Errors
    /// When a statement fails.
    pub fn run(&self, sql: &str) -> Result<()> {
        self.server.map_or(Ok(()), |server| server.run(&self.url, sql))
    }

    /// Writes out what earlier work left in memory, so that each round begins alike.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn settle(&self) -> Result<()> {
        self.run("CHECKPOINT")
    }
}

/// Writes out what filled a database, and gives it the statistics and the tidiness of one that grew.
///
/// # Errors
/// When the server does not answer.
pub fn settle(engine: Engine, server: Option<&Postgres>, url: &str) -> Result<()> {
    match (engine, server) {
        (Engine::Postgres, Some(server)) => {
            server.run(url, "VACUUM ANALYZE")?;
            server.run(url, "CHECKPOINT")
        }
        (Engine::Postgres, None) | (Engine::Sqlite, _) => Ok(()),
    }
}

/// Keeps a server from counting rows, so that every statement is planned as on tables that were filled a moment ago.
///
/// # Errors
/// When the server does not answer.
pub fn leave_uncounted(server: Option<&Postgres>, url: &str) -> Result<()> {
    const UNCOUNTED: &str = "DO $$ DECLARE name TEXT; BEGIN \
         FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP \
         EXECUTE format('ALTER TABLE %I SET (autovacuum_enabled = off)', name); END LOOP; END $$";
    server.map_or(Ok(()), |server| server.run(url, UNCOUNTED))
}

/// Opens a database whose schema is there.
///
/// # Errors
/// When it cannot be opened.
pub async fn open(url: &str) -> Result<Persistence> {
    // Ids of the store's own must not meet those of the builders, which count from 0.
    open_with(url, Arc::new(SequentialIds::starting_at(1 << 40))).await
}

/// The same, with ids of the caller's.
///
/// # Errors
/// When it cannot be opened.
pub async fn open_with(url: &str, ids: Arc<dyn Ids>) -> Result<Persistence> {
    let config = StoreConfig::new(DatabaseUrl::parse(url)?);
    tokio::task::spawn_blocking(move || Persistence::open(&config, &ids)).await?.context("the store cannot be opened")
}
