//! Relays an account's events to a developer's machine: reads the events from the API of the service, signs them, and
//! forwards them.

use std::time::Duration;

use cais_domain::ids::EventId;
use cais_domain::merchant::webhook::WebhookUrl;
use cais_ports::secret_cipher::SigningSecret;
use cais_ports::webhooks::{Outgoing, Sent, WebhookSender};
use jiff::Timestamp;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::{Client, Response, StatusCode, Url};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::client::{plain, system_roots};
use crate::sender::{HttpSender, SenderError};

/// The largest number of events per request to the API.
const PAGE: u32 = 100;
/// The time limit of a request to the API, including connection and body.
const PAGE_TIMEOUT: Duration = Duration::from_secs(20);
/// The largest accepted page, in bytes. A usual page has a few hundred KiB.
const MAX_PAGE_BYTES: usize = 16 * 1024 * 1024;
/// The longest part of the service's error text that is shown, in characters.
const MAX_SHOWN: usize = 200;

/// An event from `GET /events`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelayedEvent {
    /// The sequence number of the event in its account.
    pub sequence: i64,
    /// The id of the event, sent as `webhook-id`.
    pub id: EventId,
    /// The name of the type. A text, because the service may be newer than this program and have further types.
    pub kind: String,
    /// The event, byte for byte as in `GET /events/{id}`.
    pub body: Vec<u8>,
}

/// The reason events cannot be relayed. Messages are safe to show on the command line.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// The address of the service is invalid.
    #[error("the address of the service must be an absolute http or https URL")]
    BaseUrl,
    /// The key is invalid.
    #[error("the API key has a character that is not allowed in keys")]
    Key,
    /// The HTTP client cannot be set up.
    #[error(transparent)]
    Setup(#[from] SenderError),
    /// No whole answer arrived.
    #[error("the service does not answer")]
    Unreachable(#[source] reqwest::Error),
    /// The status of the answer is not 200.
    #[error("the service answered {status}: {message}")]
    Refused {
        /// The status.
        status: u16,
        /// The error message of the API, or the beginning of the body if the body is no error of the API.
        message: String,
    },
    /// The answer is not a page of events.
    #[error("the answer of the service is not a list of events: {0}")]
    Unreadable(String),
}

/// A client that reads one account's events and forwards them.
pub struct Relay {
    client: Client,
    events: Url,
    authorization: HeaderValue,
    sender: HttpSender,
}

#[derive(Deserialize)]
struct Listed<'a> {
    #[serde(borrow)]
    data: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Head {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    sequence: i64,
}

#[derive(Deserialize)]
struct Refusal {
    error: RefusalError,
}

#[derive(Deserialize)]
struct RefusalError {
    message: String,
}

impl Relay {
    /// Creates a client for the service at `base_url`, with or without `/v1` at its end. The API key needs
    /// `events:read`.
    ///
    /// # Errors
    /// [`RelayError::BaseUrl`], [`RelayError::Key`], [`RelayError::Setup`].
    pub fn new(base_url: &str, api_key: &str) -> Result<Self, RelayError> {
        let events = events_url(base_url).ok_or(RelayError::BaseUrl)?;
        let mut authorization = HeaderValue::try_from(format!("Bearer {api_key}")).map_err(|_| RelayError::Key)?;
        authorization.set_sensitive(true);
        let roots = system_roots();
        let client = plain(roots.clone())?.timeout(PAGE_TIMEOUT).build().map_err(SenderError::Client)?;
        let sender = HttpSender::anywhere(roots)?;
        Ok(Self { client, events, authorization, sender })
    }

    /// Returns the sequence number of the account's newest event, or 0 if the account has no events.
    ///
    /// # Errors
    /// [`RelayError`].
    pub async fn last_sequence(&self) -> Result<i64, RelayError> {
        let newest = self.page(&[("limit", "1".to_owned())]).await?;
        Ok(newest.first().map_or(0, |event| event.sequence))
    }

    /// Returns at most one page of the events after a sequence number, the oldest first. The page is empty if there are
    /// no further events.
    ///
    /// # Errors
    /// [`RelayError`].
    pub async fn next_events(&self, after_sequence: i64) -> Result<Vec<RelayedEvent>, RelayError> {
        let query = [("after_sequence", after_sequence.to_string()), ("limit", PAGE.to_string())];
        let events = self.page(&query).await?;
        let mut last = after_sequence;
        for event in &events {
            // If the sequence numbers did not increase, the caller would read the same events for ever.
            if event.sequence <= last {
                return Err(RelayError::Unreadable(format!("event {} comes after {last}", event.sequence)));
            }
            last = event.sequence;
        }
        Ok(events)
    }

    /// Signs an event and forwards it. Any address is permitted, because the developer chose it.
    pub async fn forward(
        &self,
        url: &WebhookUrl,
        secret: &SigningSecret,
        event: &RelayedEvent,
        now: Timestamp,
    ) -> Sent {
        let secrets = std::slice::from_ref(secret);
        self.sender.send(Outgoing { url, id: event.id, at: now, secrets, body: &event.body }).await
    }

    async fn page(&self, query: &[(&str, String)]) -> Result<Vec<RelayedEvent>, RelayError> {
        let mut url = self.events.clone();
        url.query_pairs_mut().extend_pairs(query);
        let request = self.client.get(url).header(AUTHORIZATION, self.authorization.clone());
        let response = request.send().await.map_err(RelayError::Unreachable)?;
        let status = response.status();
        let body = whole(response).await?;
        if status == StatusCode::OK { read(&body) } else { Err(refusal(status, &body)) }
    }
}

fn events_url(base_url: &str) -> Option<Url> {
    let trimmed = base_url.trim().trim_end_matches('/');
    let root = trimmed.strip_suffix("/v1").unwrap_or(trimmed);
    let url = Url::parse(&format!("{root}/v1/events")).ok()?;
    let plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
    (matches!(url.scheme(), "https" | "http") && plain && url.fragment().is_none()).then_some(url)
}

async fn whole(mut response: Response) -> Result<Vec<u8>, RelayError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(RelayError::Unreachable)? {
        if body.len().saturating_add(chunk.len()) > MAX_PAGE_BYTES {
            return Err(RelayError::Unreadable(format!("the answer has over {MAX_PAGE_BYTES} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn read(body: &[u8]) -> Result<Vec<RelayedEvent>, RelayError> {
    let unreadable = |error: serde_json::Error| RelayError::Unreadable(error.to_string());
    let listed: Listed<'_> = serde_json::from_slice(body).map_err(unreadable)?;
    let event = |raw: &RawValue| {
        let head: Head = serde_json::from_str(raw.get()).map_err(unreadable)?;
        let id = EventId::parse(&head.id).map_err(|error| RelayError::Unreadable(format!("id {error}")))?;
        Ok(RelayedEvent { sequence: head.sequence, id, kind: head.kind, body: raw.get().as_bytes().to_vec() })
    };
    listed.data.into_iter().map(event).collect()
}

fn refusal(status: StatusCode, body: &[u8]) -> RelayError {
    let message = match serde_json::from_slice::<Refusal>(body) {
        Ok(refusal) => refusal.error.message,
        Err(_) => String::from_utf8_lossy(body).into_owned(),
    };
    let message = message.chars().filter(|character| !character.is_control()).take(MAX_SHOWN).collect();
    RelayError::Refused { status: status.as_u16(), message }
}
