//! The access token: requested by one task at a time, renewed before its end, discarded when refused.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cais_ports::AcquirerError;
use jiff::Timestamp;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Client, Method, Request, Url};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::watch;

use super::config::{BacenConfig, BacenConfigError};
use crate::deadline::Deadline;
use crate::http::{MAX_ANSWER_BYTES, Reply, TransportError, send};

/// The time of renewal before the end. For short tokens a fifth of their life, if shorter.
const MARGIN: Duration = Duration::from_mins(1);
/// The life of a token without one (RFC 6749 leaves it to documentation). The guess is short.
const DEFAULT_LIFE_S: u64 = 300;
/// The longest accepted life.
const MAX_LIFE_S: u64 = 24 * 60 * 60;
/// The longest token. The token must fit into the header limits of common servers.
const MAX_TOKEN_BYTES: usize = 8 * 1024;

/// The form of a token request, always with `OAuth2` client credentials (RFC 6749, 4.4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GrantForm {
    /// A form, as in the RFC.
    Form,
    /// JSON.
    Json,
}

/// A token in use.
#[derive(Debug, Clone)]
pub(super) struct Token {
    /// The whole value of the header `Authorization`, marked sensitive.
    pub(super) header: HeaderValue,
    /// The number of the token within this process.
    serial: u64,
    renew_at: Instant,
    ends_at: Instant,
}

type Outcome = Result<Token, AcquirerError>;

#[derive(Debug, Default)]
struct State {
    token: Option<Token>,
    /// The receiver of the outcome of the present request.
    fetching: Option<watch::Receiver<Option<Outcome>>>,
    issued: u64,
}

/// The source of tokens, with the token in use.
#[derive(Debug)]
pub(super) struct Tokens {
    client: Client,
    url: Url,
    grant: GrantForm,
    credentials: HeaderValue,
    timeout: Duration,
    state: Mutex<State>,
}

#[derive(Deserialize)]
struct Grant<'a> {
    access_token: String,
    token_type: Option<String>,
    /// A number. Some institutions send it as a string.
    #[serde(borrow)]
    expires_in: Option<&'a RawValue>,
}

impl GrantForm {
    const fn content_type(self) -> &'static str {
        match self {
            Self::Form => "application/x-www-form-urlencoded",
            Self::Json => "application/json",
        }
    }

    const fn body(self) -> &'static [u8] {
        match self {
            Self::Form => b"grant_type=client_credentials",
            Self::Json => br#"{"grant_type":"client_credentials"}"#,
        }
    }
}

impl Tokens {
    pub(super) fn new(
        client: Client,
        url: Url,
        grant: GrantForm,
        config: &BacenConfig,
    ) -> Result<Arc<Self>, BacenConfigError> {
        let BacenConfig { client_id, client_secret, timeouts, .. } = config;
        let id_is_plain = client_id.bytes().all(|byte| byte.is_ascii_graphic());
        if client_id.is_empty() || client_id.contains(':') || !id_is_plain {
            return Err(BacenConfigError::ClientId);
        }
        if client_secret.expose().is_empty() {
            return Err(BacenConfigError::ClientSecret);
        }
        let pair = STANDARD.encode(format!("{client_id}:{}", client_secret.expose()));
        let mut credentials =
            HeaderValue::try_from(format!("Basic {pair}")).map_err(|_| BacenConfigError::ClientSecret)?;
        credentials.set_sensitive(true);
        Ok(Arc::new(Self { client, url, grant, credentials, timeout: timeouts.token, state: Mutex::default() }))
    }

    /// Returns a valid token. Concurrent callers share one request, and no caller can cancel it for the others.
    ///
    /// # Errors
    /// Always [`AcquirerError::Unavailable`]: without a token no API request was sent.
    pub(super) async fn get(self: &Arc<Self>, deadline: Deadline) -> Outcome {
        let mut outcome = {
            let mut state = self.lock();
            let now = Instant::now();
            if let Some(token) = state.token.as_ref().filter(|token| now < token.renew_at) {
                return Ok(token.clone());
            }
            let outcome = self.fetching(&mut state);
            if let Some(token) = state.token.as_ref().filter(|token| now < token.ends_at) {
                // The token is valid for a while, so no caller waits for the renewal.
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

    /// Discards `refused`. A newer token stays.
    pub(super) fn discard(&self, refused: &Token) {
        let mut state = self.lock();
        if state.token.as_ref().is_some_and(|token| token.serial == refused.serial) {
            state.token = None;
        }
    }

    /// Returns the present request, started now if none is running.
    fn fetching(self: &Arc<Self>, state: &mut State) -> watch::Receiver<Option<Outcome>> {
        // A sender dropped without an outcome ended with its runtime, so no outcome will follow.
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
            // Waiting receivers are optional.
            sender.send_replace(Some(fetched));
        });
        outcome
    }

    async fn fetch(&self) -> Outcome {
        self.read(&self.request().await?)
    }

    /// Requests a token that is not cached. Returns the institution's clock if the answer has a `Date`.
    ///
    /// # Errors
    /// Always [`AcquirerError::Unavailable`].
    pub(super) async fn probe(&self) -> Result<Option<Timestamp>, AcquirerError> {
        let reply = self.request().await?;
        self.read(&reply)?;
        Ok(reply.date)
    }

    async fn request(&self) -> Result<Reply, AcquirerError> {
        let mut request = Request::new(Method::POST, self.url.clone());
        let headers = request.headers_mut();
        headers.insert(AUTHORIZATION, self.credentials.clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.grant.content_type()));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        *request.body_mut() = Some(self.grant.body().into());
        let deadline = Deadline::after(self.timeout);
        send(&self.client, request, MAX_ANSWER_BYTES, deadline).await.map_err(|error| match error {
            TransportError::NotSent(reason) | TransportError::Lost(reason) => unavailable(&reason),
        })
    }

    fn read(&self, reply: &Reply) -> Outcome {
        if !reply.status.is_success() {
            return Err(unavailable(reply.status.as_str()));
        }
        let unreadable = || unavailable("the answer cannot be read");
        if !reply.is_json {
            return Err(unreadable());
        }
        let grant: Grant<'_> = serde_json::from_slice(&reply.body).map_err(|_| unreadable())?;
        self.accept(&grant).ok_or_else(unreadable)
    }

    fn accept(&self, grant: &Grant<'_>) -> Option<Token> {
        let is_bearer = grant.token_type.as_ref().is_none_or(|kind| kind.eq_ignore_ascii_case("bearer"));
        let length = grant.access_token.len();
        if !is_bearer || length == 0 || length > MAX_TOKEN_BYTES {
            return None;
        }
        let mut header = HeaderValue::try_from(format!("Bearer {}", grant.access_token)).ok()?;
        header.set_sensitive(true);
        let life_s = match grant.expires_in {
            Some(text) => text.get().trim_matches('"').parse().ok()?,
            None => DEFAULT_LIFE_S,
        };
        let life = Duration::from_secs(life_s.min(MAX_LIFE_S));
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
        // Each change is one assignment, so a panic elsewhere leaves a consistent state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unavailable(why: &str) -> AcquirerError {
    AcquirerError::Unavailable(format!("no access token: {why}"))
}
