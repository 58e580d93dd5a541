//! A closed loop over many connections: each connection sends its next request after the answer to the request before.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use futures_util::future::try_join_all;

use super::{Answer, Connection};
use crate::latency::Latencies;
use crate::numbers::per_second;
use crate::window::{Until, Window};

/// The requests and expected answers of one connection.
pub trait Script: Send + 'static {
    /// Returns the next whole request.
    ///
    /// # Errors
    /// If there is no request. The load then fails.
    fn request(&mut self) -> Result<&[u8]>;

    /// Checks an answer.
    ///
    /// # Errors
    /// Why the answer is unexpected. The request then counts in [`Outcome::errors`].
    fn answer(&mut self, answer: Answer<'_>) -> Result<()>;
}

/// A load: one connection for each script.
#[derive(Debug)]
pub struct Load<S> {
    /// The address of the service.
    pub address: SocketAddr,
    /// The script of each connection.
    pub scripts: Vec<S>,
    /// The end of the load.
    pub until: Until,
}

/// The result of a load.
#[derive(Debug)]
pub struct Outcome<S> {
    /// The number of requests with an expected answer.
    pub answered: u64,
    /// The number of requests with an unexpected answer.
    pub errors: u64,
    /// The first unexpected answer of the first connection that had one.
    pub first_error: Option<String>,
    /// The number of requests whose expected answer arrived in the counted time.
    pub measured: u64,
    /// The counted time: the load without its warm-up.
    pub elapsed: Duration,
    /// The time from request to answer, for each request in `measured`.
    pub latencies: Latencies,
    /// The scripts after the load.
    pub scripts: Vec<S>,
}

impl<S> Outcome<S> {
    /// Returns the counted requests per second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        per_second(self.measured, self.elapsed)
    }

    /// Returns the result if all answers were as expected.
    ///
    /// # Errors
    /// An unexpected answer ([`Outcome::first_error`]), with the numbers of requests.
    pub fn clean(self) -> Result<Self> {
        match self.first_error {
            None => Ok(self),
            Some(first) => Err(anyhow!("{} answers wrong, {} as expected; first: {first}", self.errors, self.answered)),
        }
    }
}

struct Ran<S> {
    script: S,
    answered: u64,
    errors: u64,
    first_error: Option<String>,
    measured: u64,
    latencies: Latencies,
}

impl<S: Script> Load<S> {
    /// Runs the load on its own thread.
    ///
    /// # Errors
    /// If a connection breaks or a script has no request.
    pub async fn run(self) -> Result<Outcome<S>> {
        tokio::task::spawn_blocking(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(self.run_here())
        })
        .await
        .context("the load generator")?
    }

    async fn run_here(self) -> Result<Outcome<S>> {
        let open = self.scripts.iter().map(|_| Connection::open(self.address));
        let connections = try_join_all(open).await?;
        let window = Arc::new(Window::open(self.until));
        let callers = connections.into_iter().zip(self.scripts).map(|(connection, script)| {
            let caller = tokio::spawn(caller(connection, script, Arc::clone(&window)));
            async { caller.await.context("a caller")? }
        });
        let ran = try_join_all(callers.collect::<Vec<_>>()).await?;
        Ok(sum(ran, window.elapsed()))
    }
}

async fn caller<S: Script>(mut connection: Connection, mut script: S, window: Arc<Window>) -> Result<Ran<S>> {
    let (mut answered, mut errors, mut measured) = (0_u64, 0_u64, 0_u64);
    let mut first_error = None;
    let mut latencies = Latencies::default();
    let mut asked_at = Instant::now();
    while window.next(asked_at).is_some() {
        let answer = connection.ask(script.request()?).await?;
        let answered_at = Instant::now();
        match script.answer(answer) {
            Ok(()) => {
                answered = answered.saturating_add(1);
                if window.counts(answered_at) {
                    measured = measured.saturating_add(1);
                    latencies.record(answered_at.duration_since(asked_at));
                }
            }
            Err(error) => {
                errors = errors.saturating_add(1);
                first_error.get_or_insert_with(|| error.to_string());
            }
        }
        asked_at = answered_at;
    }
    Ok(Ran { script, answered, errors, first_error, measured, latencies })
}

fn sum<S>(ran: Vec<Ran<S>>, elapsed: Duration) -> Outcome<S> {
    let mut outcome = Outcome {
        answered: 0,
        errors: 0,
        first_error: None,
        measured: 0,
        elapsed,
        latencies: Latencies::default(),
        scripts: Vec::new(),
    };
    for one in ran {
        outcome.answered = outcome.answered.saturating_add(one.answered);
        outcome.errors = outcome.errors.saturating_add(one.errors);
        outcome.measured = outcome.measured.saturating_add(one.measured);
        outcome.first_error = outcome.first_error.or(one.first_error);
        outcome.latencies.merge(one.latencies);
        outcome.scripts.push(one.script);
    }
    outcome
}
