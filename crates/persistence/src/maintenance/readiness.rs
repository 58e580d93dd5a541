//! Checks that the store is migrated, that it accepts writes, and that the queue of webhooks is connected to it.
//!
//! Lanes and queue links that succeeded within the last 5 s count as ready. The others are probed: a lane commits an empty batch, and a
//! link executes a statement. So a repaired store becomes ready again even without traffic.

use std::fmt::Display;
use std::time::{Duration, Instant};

use cais_ports::QueryError;
use tokio::sync::Mutex;

use crate::Persistence;

/// The store is probed at most once in this interval, regardless of the number of callers.
const KEPT: Duration = Duration::from_millis(500);
/// The longest check of the schema, and the longest probe of lanes and of links. The limit is shorter than the wait of the port's caller,
/// so that the error names the failed part.
const WITHIN: Duration = Duration::from_millis(800);

/// The last result and its instant.
#[derive(Debug, Default)]
pub(crate) struct Readiness(Mutex<Option<(Instant, Result<(), QueryError>)>>);

impl Readiness {
    /// Returns the last result, or probes again.
    pub(super) async fn check(&self, store: &Persistence) -> Result<(), QueryError> {
        if !store.is_open() {
            return Err(QueryError::Unavailable("the store is closed".into()));
        }
        // Callers that arrive meanwhile wait for the same result.
        let mut last = self.0.lock().await;
        if let Some((at, answer)) = &*last
            && at.elapsed() < KEPT
        {
            return answer.clone();
        }
        let answer = ask(store).await;
        *last = Some((Instant::now(), answer.clone()));
        answer
    }
}

async fn ask(store: &Persistence) -> Result<(), QueryError> {
    let schema = within("the database does not answer, or is not migrated", store.check_schema());
    let lanes = within("no change can be written", store.committer().probe());
    let links = within("webhooks have no connection to the database", store.queue().probe());
    tokio::try_join!(schema, lanes, links).map(drop)
}

/// Probes within the time limit. The error is public. Its cause, which may name the database, is only logged.
async fn within<E: Display>(failure: &str, probe: impl Future<Output = Result<(), E>>) -> Result<(), QueryError> {
    let cause = match tokio::time::timeout(WITHIN, probe).await {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "no answer within 800 ms".to_owned(),
    };
    tracing::warn!(failure, cause, "store not ready; the readiness probe fails");
    Err(QueryError::Unavailable(failure.to_owned()))
}
