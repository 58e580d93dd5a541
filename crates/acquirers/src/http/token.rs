//! The access token: requested by one task at a time, renewed before its end, discarded when refused.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cais_ports::AcquirerError;
use jiff::Timestamp;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::{Client, Request};
use tokio::sync::watch;

use super::exchange::{MAX_ANSWER_BYTES, Reply, TransportError, send};
use super::problem::Problem;
use crate::deadline::Deadline;

/// A token is renewed this long before its end. A token with a life below five minutes is renewed when a fifth of its life is left.
const MARGIN: Duration = Duration::from_mins(1);
/// The longest life of a token. A longer life in an answer is cut to this value.
const MAX_LIFE: Duration = Duration::from_hours(24);
/// The longest token. The token must fit into the header limits of common servers.
const MAX_TOKEN_BYTES: usize = 8 * 1024;

/// The request for a token, and the content of its answer.
pub(crate) trait TokenGrant: fmt::Debug + Send + Sync {
    /// Returns the request.
    fn request(&self) -> Request;

    /// Reads the body of a successful JSON answer; `None` if the body grants no bearer token.
    fn read(&self, body: &[u8]) -> Option<Granted>;
}

/// The token and its life in an answer.
pub(crate) struct Granted {
    pub(crate) token: String,
    pub(crate) life: Duration,
}

/// A token in use.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    /// The whole value of the header `Authorization`, marked sensitive.
    pub(crate) header: HeaderValue,
    /// The number of the token within this process.
    serial: u64,
    renew_at: Instant,
    ends_at: Instant,
}

type Outcome = Result<Token, AcquirerError>;

#[derive(Debug, Default)]
struct State {
    token: Option<Token>,
    /// The receiver of the current token request's outcome; `None` if no token request is running.
    fetching: Option<watch::Receiver<Option<Outcome>>>,
    issued: u64,
}

/// The source of tokens, with the token in use.
#[derive(Debug)]
pub(crate) struct Tokens {
    client: Client,
    grant: Box<dyn TokenGrant>,
    timeout: Duration,
    state: Mutex<State>,
}

impl Tokens {
    /// Creates a source, and sends no request. `timeout` limits one token request, connection included.
    pub(crate) fn new(client: Client, grant: Box<dyn TokenGrant>, timeout: Duration) -> Arc<Self> {
        Arc::new(Self { client, grant, timeout, state: Mutex::default() })
    }

    /// Returns a valid token. Concurrent callers share one request, and no caller can cancel it for the others.
    ///
    /// # Errors
    /// Always [`AcquirerError::Unavailable`]: without a token no API request was sent.
    pub(crate) async fn get(self: &Arc<Self>, deadline: Deadline) -> Outcome {
        let mut outcome = {
            let mut state = self.lock();
            let now = Instant::now();
            if let Some(token) = state.token.as_ref().filter(|token| now < token.renew_at) {
                return Ok(token.clone());
            }
            let outcome = self.fetching(&mut state);
            if let Some(token) = state.token.as_ref().filter(|token| now < token.ends_at) {
                // The token is still valid, so the caller does not wait for the renewal.
                return Ok(token.clone());
            }
            outcome
        };
        let result = tokio::time::timeout(deadline.left(), outcome.wait_for(Option::is_some)).await;
        match result {
            Ok(Ok(outcome)) => outcome.clone().unwrap_or_else(|| Err(unavailable("no outcome"))),
            Ok(Err(_)) => Err(unavailable("the request ended without an outcome")),
            Err(_) => Err(unavailable("no answer in time")),
        }
    }

    /// Discards the token `refused`. A newer token stays in use.
    pub(crate) fn discard(&self, refused: &Token) {
        let mut state = self.lock();
        if state.token.as_ref().is_some_and(|token| token.serial == refused.serial) {
            state.token = None;
        }
    }

    /// Returns the receiver of the current token request's outcome. If no token request is running, starts one.
    fn fetching(self: &Arc<Self>, state: &mut State) -> watch::Receiver<Option<Outcome>> {
        // If the sender was dropped without an outcome, its async runtime has ended. No outcome will follow, so a new request starts below.
        let alive = state.fetching.as_ref().filter(|outcome| outcome.has_changed().is_ok());
        if let Some(outcome) = alive {
            return outcome.clone();
        }
        let (sender, outcome) = watch::channel(None);
        state.fetching = Some(outcome.clone());
        let tokens = Arc::clone(self);
        tokio::spawn(async move {
            let fetched = tokens.fetch().await;
            let mut state = tokens.lock();
            if let Ok(token) = &fetched {
                state.token = Some(token.clone());
            }
            state.fetching = None;
            // `send_replace` also works without a waiting receiver.
            sender.send_replace(Some(fetched));
        });
        outcome
    }

    async fn fetch(&self) -> Outcome {
        self.read(&self.request().await?)
    }

    /// Requests a token and discards it. Returns the institution's clock if the answer has a `Date`.
    ///
    /// # Errors
    /// Always [`AcquirerError::Unavailable`].
    pub(crate) async fn probe(&self) -> Result<Option<Timestamp>, AcquirerError> {
        let reply = self.request().await?;
        self.read(&reply)?;
        Ok(reply.date)
    }

    /// Sends a token request. Returns the raw answer.
    pub(crate) async fn request(&self) -> Result<Reply, AcquirerError> {
        let deadline = Deadline::after(self.timeout);
        send(&self.client, self.grant.request(), MAX_ANSWER_BYTES, deadline).await.map_err(|error| match error {
            TransportError::NotSent(reason) | TransportError::Lost(reason) => unavailable(&reason),
        })
    }

    /// Returns the secret parts of the headers `Authorization`: of a token request, and of a request with the token in use.
    pub(crate) fn credentials(&self) -> Vec<String> {
        let of_token = self.lock().token.as_ref().map(|token| token.header.clone());
        let of_grant = self.grant.request().headers().get(AUTHORIZATION).cloned();
        let headers = [of_token, of_grant].into_iter().flatten();
        headers.filter_map(|header| Some(header.to_str().ok()?.split_once(' ')?.1.to_owned())).collect()
    }

    fn read(&self, reply: &Reply) -> Outcome {
        if !reply.status.is_success() {
            let problem = Problem::read(reply).map_or_else(String::new, |problem| format!(" {problem}"));
            return Err(unavailable(&format!("{}{problem}", reply.status.as_str())));
        }
        let unreadable = || unavailable("the answer cannot be read");
        if !reply.is_json {
            return Err(unreadable());
        }
        self.grant.read(&reply.body).and_then(|granted| self.accept(&granted)).ok_or_else(unreadable)
    }

    fn accept(&self, granted: &Granted) -> Option<Token> {
        let length = granted.token.len();
        if length == 0 || length > MAX_TOKEN_BYTES {
            return None;
        }
        let mut header = HeaderValue::try_from(format!("Bearer {}", granted.token)).ok()?;
        header.set_sensitive(true);
        let life = granted.life.min(MAX_LIFE);
        let now = Instant::now();
        let mut state = self.lock();
        state.issued = state.issued.wrapping_add(1);
        Some(Token {
            header,
            serial: state.issued,
            renew_at: now.checked_add(life.saturating_sub(MARGIN.min(life / 5)))?,
            ends_at: now.checked_add(life)?,
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is one assignment, so the lock's poison can be ignored.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unavailable(reason: &str) -> AcquirerError {
    AcquirerError::Unavailable(format!("no access token: {reason}"))
}
