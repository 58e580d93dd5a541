//! The store of Cais on SQLite or PostgreSQL. A group committer writes change sets. Queries read on connections of their own.
//!
//! To add an engine, implement `Engine` and `QueueEngine` in a folder named after it, and add its migrations beside the others.

mod committer;
mod config;
mod engine;
mod error;
mod hints;
mod inspection;
mod installation;
mod maintenance;
pub mod migrations;
mod postgres;
mod pulse;
mod queue;
mod reader;
mod rows;
mod sql;
mod sqlite;
mod url;

pub use config::StoreConfig;
pub use inspection::{Inspection, inspect};
pub use installation::Fact;
pub use url::{DatabaseUrl, DatabaseUrlError};

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use cais_ports::{ChangeSet, CommitError, Committed, IdGenerator, QueryError, Store};

use crate::committer::Committer;
use crate::engine::Engine;
use crate::error::Fault;
use crate::hints::Hints;
use crate::maintenance::{Pruning, Readiness, UsageWriter};
use crate::migrations::Schema;
use crate::postgres::Postgres;
use crate::queue::{Queue, QueueEngine};
use crate::reader::{Coalescer, ReadPool};
use crate::sqlite::Sqlite;
use crate::url::Address;

/// The reason why a store cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Migrations that this program needs have not run.
    #[error("the schema is too old; run `cais migrate` to apply {}", .pending.join(", "))]
    SchemaTooOld {
        /// The names of the migrations.
        pending: Vec<String>,
    },
    /// The store cannot be reached or used.
    #[error("the store cannot be opened: {0}")]
    Unavailable(String),
}

/// An open store. Clones share one store.
#[derive(Clone)]
pub struct Persistence(Arc<Inner>);

struct Inner {
    engine: Arc<dyn Engine>,
    is_sqlite: bool,
    committer: Committer,
    queue: Queue,
    hints: Arc<Hints>,
    pruning: Pruning,
    readiness: Readiness,
    usage: UsageWriter,
    by_id: Coalescer,
    pool: ReadPool,
}

impl Persistence {
    /// Opens a store to which every migration of this program was applied. Blocks while it connects. The file of a SQLite store must exist.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(config: &StoreConfig, ids: &Arc<dyn IdGenerator>) -> Result<Self, OpenError> {
        let queue_engine = engine_of(config);
        let engine: Arc<dyn Engine> = queue_engine.clone();
        migrations::schema(&mut *engine.connect_reader()?, config.url.is_sqlite())?.accept()?;
        let hints = Arc::new(Hints::default());
        Ok(Self(Arc::new(Inner {
            committer: Committer::start(&engine, ids, &hints, config)?,
            queue: Queue::start(&queue_engine, config)?,
            hints,
            pruning: Pruning::new(Arc::clone(&queue_engine)),
            usage: UsageWriter::new(queue_engine),
            readiness: Readiness::default(),
            by_id: Coalescer::start(&engine, config)?,
            pool: ReadPool::open(&engine, config)?,
            engine,
            is_sqlite: config.url.is_sqlite(),
        })))
    }

    /// Accepts no more work, finishes the accepted work, and ends the threads.
    pub async fn close(&self) {
        let inner = Arc::clone(&self.0);
        let closing = tokio::task::spawn_blocking(move || {
            inner.queue.close();
            inner.committer.close();
            inner.by_id.close();
        });
        if let Err(error) = closing.await {
            tracing::error!(%error, "store not closed cleanly; its threads may not have ended");
        }
    }

    fn engine(&self) -> Arc<dyn Engine> {
        Arc::clone(&self.0.engine)
    }

    fn queue(&self) -> &Queue {
        &self.0.queue
    }

    fn hints(&self) -> &Hints {
        &self.0.hints
    }

    fn pruning(&self) -> &Pruning {
        &self.0.pruning
    }

    fn committer(&self) -> &Committer {
        &self.0.committer
    }

    fn readiness(&self) -> &Readiness {
        &self.0.readiness
    }

    fn usage(&self) -> &UsageWriter {
        &self.0.usage
    }

    fn by_id(&self) -> &Coalescer {
        &self.0.by_id
    }

    fn pool(&self) -> &ReadPool {
        &self.0.pool
    }

    fn is_open(&self) -> bool {
        self.0.committer.is_open() && self.0.by_id.is_open() && self.0.queue.is_open()
    }

    async fn check_schema(&self) -> Result<(), QueryError> {
        let is_sqlite = self.0.is_sqlite;
        let schema: Schema = self.pool().read(move |session| migrations::schema(session, is_sqlite)).await?;
        schema.accept().map_err(|error| QueryError::Unavailable(error.to_string()))
    }
}

#[async_trait]
impl Store for Persistence {
    async fn commit(&self, change: ChangeSet) -> Result<Committed, CommitError> {
        self.0.committer.commit(change).await
    }
}

impl fmt::Debug for Persistence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Persistence").field("open", &self.is_open()).finish()
    }
}

impl From<Fault> for OpenError {
    fn from(fault: Fault) -> Self {
        Self::Unavailable(fault.to_string())
    }
}

fn engine_of(config: &StoreConfig) -> Arc<dyn QueueEngine> {
    match config.url.address() {
        Address::Sqlite(path) => Arc::new(Sqlite::new(path, config.deadline / 2)),
        Address::Postgres(_) => Arc::new(Postgres::new(&config.url, config.deadline)),
    }
}
