//! Connections for reads that are not by id: few, checked before use, and used away from the async threads.

use std::sync::Arc;
use std::time::Duration;

use cais_ports::QueryError;
use r2d2::{ManageConnection, Pool};

use crate::engine::Engine;
use crate::error::Fault;
use crate::sql::Session;

/// Makes and checks connections of an engine.
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
        // The check before the next use finds out.
        false
    }
}

/// The pool.
#[derive(Clone)]
pub(crate) struct ReadPool {
    pool: Pool<Readers>,
    deadline: Duration,
}

impl ReadPool {
    /// A pool of so many connections; a read waits for one, and for its answer, no longer than `deadline`.
    pub(crate) fn open(engine: &Arc<dyn Engine>, size: u32, deadline: Duration) -> Result<Self, Fault> {
        let pool = Pool::builder()
            .max_size(size.max(1))
            .min_idle(Some(1))
            .connection_timeout(deadline)
            .build(Readers(Arc::clone(engine)))
            .map_err(|error| Fault::Down(error.to_string()))?;
        Ok(Self { pool, deadline })
    }

    /// Runs a read on a connection of the pool.
    ///
    /// # Errors
    /// [`QueryError::Unavailable`] when no connection is free in time, or the database does not answer.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut dyn Session) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, QueryError> {
        let pool = self.pool.clone();
        let work = tokio::task::spawn_blocking(move || {
            let mut connection = pool.get().map_err(|error| Fault::Down(error.to_string()))?;
            read(&mut **connection)
        });
        match tokio::time::timeout(self.deadline, work).await {
            Ok(Ok(result)) => result.map_err(QueryError::from),
            Ok(Err(error)) => Err(QueryError::Unavailable(error.to_string())),
            Err(_) => Err(QueryError::Unavailable("the read took too long".into())),
        }
    }
}
