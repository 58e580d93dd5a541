//! Checks that the store is migrated, that it accepts writes, and that the delivery queue is connected to it.
//!
//! A link is a thread with a connection for the delivery queue. A commit lane or a link that succeeded within the last 5 s counts as ready.
//! Any other is probed: a lane commits an empty batch, and a link executes a statement. So a repaired store becomes ready again even
//! without traffic.

use std::fmt::Display;
use std::time::{Duration, Instant};

use cais_ports::QueryError;
use tokio::sync::Mutex;

use crate::Persistence;

/// The time for which a result is returned again. So the store is probed at most once in this time, regardless of the number of callers.
const RESULT_LIFETIME: Duration = Duration::from_millis(500);
/// The time limit of each of the three checks: schema, lanes, links. The caller of [`Readiness::check`] waits longer, so it receives an
/// error that names the failed check.
const PROBE_TIMEOUT: Duration = Duration::from_millis(800);

/// The last result and its instant.
#[derive(Debug, Default)]
pub(crate) struct Readiness(Mutex<Option<(Instant, Result<(), QueryError>)>>);

impl Readiness {
    /// Returns the last result, or probes again.
    pub(super) async fn check(&self, store: &Persistence) -> Result<(), QueryError> {
        if !store.is_open() {
            return Err(QueryError::Unavailable("the store is closed".into()));
        }
        // Callers that arrive during a probe wait here, and return its result.
        let mut last = self.0.lock().await;
        if let Some((at, answer)) = &*last
            && at.elapsed() < RESULT_LIFETIME
        {
            return answer.clone();
        }
        let answer = probe_store(store).await;
        *last = Some((Instant::now(), answer.clone()));
        answer
    }
}

async fn probe_store(store: &Persistence) -> Result<(), QueryError> {
    let schema = within("the database does not answer, or is not migrated", store.check_schema());
    let lanes = within("no change can be written", store.committer().probe());
    let links = within("webhooks have no connection to the database", store.queue().probe());
    tokio::try_join!(schema, lanes, links).map(drop)
}

/// Runs a probe, at most for [`PROBE_TIMEOUT`]. The returned error contains only `failure`. Its cause may name the database, so it is only
/// logged.
async fn within<E: Display>(failure: &str, probe: impl Future<Output = Result<(), E>>) -> Result<(), QueryError> {
    let cause = match tokio::time::timeout(PROBE_TIMEOUT, probe).await {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "no answer within 800 ms".to_owned(),
    };
    tracing::warn!(failure, cause, "store not ready; the readiness probe fails");
    Err(QueryError::Unavailable(failure.to_owned()))
}
