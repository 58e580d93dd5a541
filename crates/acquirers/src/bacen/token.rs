//! The access token: fetched by one request at a time, renewed before it ends, thrown away when it is refused.

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

/// Renewed so long before its end, or when a fifth of its life is left if that is shorter.
const MARGIN: Duration = Duration::from_mins(1);
/// Life of a token that does not tell it (RFC 6749 leaves it to the documentation); short, because it is a guess.
const DEFAULT_LIFE_S: u64 = 300;
/// Longest life that is believed.
const MAX_LIFE_S: u64 = 24 * 60 * 60;
/// Longest token; it must fit into the header limits of common servers.
const MAX_TOKEN_BYTES: usize = 8 * 1024;

/// How an institution wants to be asked for a token: always by `OAuth2` client credentials (RFC 6749, 4.4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GrantForm {
    /// As a form, which is what the RFC says.
    Form,
    /// As JSON.
    Json,
}

/// A token in use.
#[derive(Debug, Clone)]
pub(super) struct Token {
    /// The whole value of the header `Authorization`, marked sensitive.
    pub(super) header: HeaderValue,
    /// Tells it from the others of this process.
    serial: u64,
    renew_at: Instant,
    ends_at: Instant,
}

type Outcome = Result<Token, AcquirerError>;

#[derive(Debug, Default)]
struct State {
    token: Option<Token>,
    /// Where the one request under way will tell its outcome.
    fetching: Option<watch::Receiver<Option<Outcome>>>,
    issued: u64,
}

/// Where tokens come from, and the one that is in use.
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
    /// A number; some send it as a string.
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

    /// A token that is good now. However many ask, one request is made; none of them can cancel it for the others.
    ///
    /// # Errors
    /// Always [`AcquirerError::Unavailable`]: without a token nothing was asked of the API.
    pub(super) async fn get(self: &Arc<Self>, deadline: Deadline) -> Outcome {
        let mut outcome = {
            let mut state = self.lock();
            let now = Instant::now();
            if let Some(token) = state.token.as_ref().filter(|token| now < token.renew_at) {
                return Ok(token.clone());
            }
            let outcome = self.fetching(&mut state);
            if let Some(token) = state.token.as_ref().filter(|token| now < token.ends_at) {
                // Good for a little longer: nobody waits while it is renewed.
                return Ok(token.clone());
            }
            outcome
        };
        let told = tokio::time::timeout(deadline.left(), outcome.wait_for(Option::is_some)).await;
        match told {
            Ok(Ok(outcome)) => outcome.clone().unwrap_or_else(|| Err(unavailable("no outcome"))),
            Ok(Err(_)) => Err(unavailable("the request ended without an outcome")),
            Err(_) => Err(unavailable("none in time")),
        }
    }

    /// Throws `refused` away; one that replaced it meanwhile stays.
    pub(super) fn discard(&self, refused: &Token) {
        let mut state = self.lock();
        if state.token.as_ref().is_some_and(|token| token.serial == refused.serial) {
            state.token = None;
        }
    }

    /// The request under way, begun now if there is none.
    fn fetching(self: &Arc<Self>, state: &mut State) -> watch::Receiver<Option<Outcome>> {
        // A sender that is gone without an outcome died with its runtime; nobody will hear from it.
        let alive = state.fetching.as_ref().filter(|outcome| outcome.has_changed().is_ok());
        if let Some(outcome) = alive {
            return outcome.clone();
        }
        let (tell, outcome) = watch::channel(None);
        state.fetching = Some(outcome.clone());
        let tokens = Arc::clone(self);
        tokio::spawn(async move {
            let fetched = tokens.fetch().await;
            let mut state = tokens.lock();
            if let Ok(token) = &fetched {
                state.token = Some(token.clone());
            }
            state.fetching = None;
            // Nobody may be waiting any more, which is fine.
            tell.send_replace(Some(fetched));
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
        // Each change is one assignment, so a panic elsewhere leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unavailable(why: &str) -> AcquirerError {
    AcquirerError::Unavailable(format!("no access token: {why}"))
}
