//! A small pool of connections for all reads that `coalesce` does not combine. A connection is checked before each use, and is used on a
//! blocking thread.

use std::sync::Arc;
use std::time::Duration;

use cais_ports::QueryError;
use r2d2::{ManageConnection, Pool};
use tokio::sync::Semaphore;

use crate::config::StoreConfig;
use crate::engine::Engine;
use crate::error::Fault;
use crate::sql::Session;

/// A manager that opens and checks connections of an engine.
pub(super) struct Readers(Arc<dyn Engine>);

impl ManageConnection for Readers {
    type Connection = Box<dyn Session>;
    type Error = Fault;

    fn connect(&self) -> Result<Self::Connection, Self::Error> {
        self.0.connect_reader()
    }

    fn is_valid(&self, connection: &mut Self::Connection) -> Result<(), Self::Error> {
        Ok(connection.run("SELECT 1")?)
    }

    fn has_broken(&self, _: &mut Self::Connection) -> bool {
        // The check before the next use detects a broken connection.
        false
    }
}

/// A pool of connections, with a limit of the reads that wait or run.
pub(crate) struct ReadPool {
    pool: Pool<Readers>,
    /// A permit for each read that waits or runs. Without a free permit, a read fails at once as unavailable.
    waiting: Semaphore,
    /// A permit for each connection. A read whose caller stopped waiting keeps its permit until the database replies. So the number of
    /// threads that wait for the database never exceeds the number of connections.
    turns: Arc<Semaphore>,
    deadline: Duration,
}

impl ReadPool {
    /// Opens a pool of the configured size. A read waits for a connection and its rows no longer than the configured deadline.
    pub(crate) fn open(engine: &Arc<dyn Engine>, config: &StoreConfig) -> Result<Self, Fault> {
        let size = config.read_connections.max(1);
        let pool = Pool::builder()
            .max_size(size)
            .min_idle(Some(1))
            .connection_timeout(config.deadline)
            .build(Readers(Arc::clone(engine)))
            .map_err(|error| Fault::Down(error.to_string()))?;
        let turns = usize::try_from(size).unwrap_or(Semaphore::MAX_PERMITS);
        Ok(Self {
            pool,
            waiting: Semaphore::new(config.queue.clamp(1, Semaphore::MAX_PERMITS)),
            turns: Arc::new(Semaphore::new(turns.min(Semaphore::MAX_PERMITS))),
            deadline: config.deadline,
        })
    }

    /// Runs a read on a connection of the pool.
    ///
    /// # Errors
    /// The error of the read. [`QueryError::Unavailable`] at once if too many reads wait, and at the deadline if no connection is free or
    /// the database has not replied.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut dyn Session) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, QueryError> {
        let _waiting = self.waiting.try_acquire().map_err(|_| unavailable("too many reads are waiting"))?;
        match tokio::time::timeout(self.deadline, self.run(read)).await {
            Ok(result) => result,
            Err(_) => Err(unavailable("the read took too long")),
        }
    }

    async fn run<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut dyn Session) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, QueryError> {
        let turns = Arc::clone(&self.turns);
        let turn = if let Ok(turn) = Arc::clone(&turns).try_acquire_owned() {
            turn
        } else {
            metrics::counter!("cais_db_pool_waits_total").increment(1);
            turns.acquire_owned().await.map_err(|_| unavailable("the store is closed"))?
        };
        let pool = self.pool.clone();
        let work = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            let _in_use = InUse::begin(pool.clone());
            let mut connection = pool.get().map_err(|error| Fault::Down(error.to_string()))?;
            read(&mut **connection)
        });
        match work.await {
            Ok(result) => result.map_err(QueryError::from),
            Err(error) => Err(QueryError::Unavailable(error.to_string())),
        }
    }
}

/// A guard that counts a connection in the metric of connections in use. When the guard is dropped, it also updates the metric of idle
/// connections.
struct InUse(Pool<Readers>);

impl InUse {
    fn begin(pool: Pool<Readers>) -> Self {
        metrics::gauge!("cais_db_pool_in_use").increment(1.0);
        Self(pool)
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        metrics::gauge!("cais_db_pool_in_use").decrement(1.0);
        metrics::gauge!("cais_db_pool_idle").set(self.0.state().idle_connections);
    }
}

fn unavailable(why: &str) -> QueryError {
    QueryError::Unavailable(why.to_owned())
}
