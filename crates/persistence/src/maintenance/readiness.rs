//! Whether the store takes writes and its webhooks can be delivered.
//!
//! Lanes and links of the queue that worked a moment ago count as working. The others are asked: a lane commits an empty batch, a link of
//! the queue sends a statement. So readiness returns by itself, also without traffic.

use std::fmt::Display;
use std::time::{Duration, Instant};

use cais_ports::QueryError;
use tokio::sync::Mutex;

use crate::Persistence;

/// The store is asked once in so long, however many callers ask.
const KEPT: Duration = Duration::from_millis(500);
/// How long lanes and links may take: less than the caller of the port waits, so that the answer names what does not work.
const WITHIN: Duration = Duration::from_millis(800);

/// The last answer.
#[derive(Debug, Default)]
pub(crate) struct Readiness(Mutex<Option<(Instant, Result<(), QueryError>)>>);

impl Readiness {
    /// Returns the last answer, or asks for a new one.
    pub(super) async fn check(&self, store: &Persistence) -> Result<(), QueryError> {
        if !store.is_open() {
            return Err(QueryError::Unavailable("the store is closed".into()));
        }
        // Callers that come meanwhile wait for the same answer.
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

/// Asks, and waits only so long. The error is for everybody to read; its cause, which may name the database, is logged.
async fn within<E: Display>(failure: &str, probe: impl Future<Output = Result<(), E>>) -> Result<(), QueryError> {
    let cause = match tokio::time::timeout(WITHIN, probe).await {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "no answer in time".to_owned(),
    };
    tracing::warn!(failure, cause, "the store is not ready; no request should come here");
    Err(QueryError::Unavailable(failure.to_owned()))
}
