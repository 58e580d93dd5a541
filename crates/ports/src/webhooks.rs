//! Sending a webhook to its receiver, and judging where a receiver may be.

use async_trait::async_trait;
use cais_domain::ids::EventId;
use cais_domain::webhook::WebhookUrl;
use jiff::{SignedDuration, Timestamp};

use crate::secret_cipher::SigningSecret;

/// Why an attempt failed before there was an answer, or because of it. Its word is what merchants see: never more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttemptError {
    /// The address is one that this service does not call.
    AddressNotAllowed,
    /// Its name does not resolve.
    NameNotResolved,
    /// No connection.
    ConnectionFailed,
    /// The connection ended, or what came was no HTTP.
    ConnectionLost,
    /// No secure connection: its certificate, for example.
    TlsFailed,
    /// Not within 15 s.
    TimedOut,
    /// It answered with a redirect, which is not followed.
    Redirected,
    /// It answered with another status than 2xx.
    Refused,
    /// The endpoint's secret cannot be read: the service runs with another master key.
    Unsigned,
}

impl AttemptError {
    /// The word on the wire and in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AddressNotAllowed => "address_not_allowed",
            Self::NameNotResolved => "name_not_resolved",
            Self::ConnectionFailed => "connection_failed",
            Self::ConnectionLost => "connection_lost",
            Self::TlsFailed => "tls_failed",
            Self::TimedOut => "timed_out",
            Self::Redirected => "redirected",
            Self::Refused => "status_not_2xx",
            Self::Unsigned => "secret_not_readable",
        }
    }
}

/// Why an address may not be registered. The texts may be shown to the user of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlRefusal {
    /// Not an address at all.
    #[error("must be an absolute URL")]
    Malformed,
    /// Not `https`, and `http` is not allowed here.
    #[error("must begin with https://")]
    Scheme,
    /// It carries a user name or password.
    #[error("must not carry a user name or password")]
    Credentials,
    /// Its port is one of other services.
    #[error("must have port 443, 8443 or one from 1024 on")]
    Port,
    /// It is, or leads to, an address that is not public.
    #[error("must lead to a public address")]
    NotPublic,
}

/// One attempt to send.
#[derive(Debug, Clone, Copy)]
pub struct Outgoing<'a> {
    /// Where it goes.
    pub url: &'a WebhookUrl,
    /// The event: the receiver tells repeats by it.
    pub id: EventId,
    /// When it is sent; signed with it.
    pub at: Timestamp,
    /// What signs, the current secret first.
    pub secrets: &'a [SigningSecret],
    /// What is sent.
    pub body: &'a [u8],
}

/// What came of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The status that the receiver answered with.
    pub status_code: Option<u16>,
    /// Why it failed; `None` for a success.
    pub error: Option<AttemptError>,
    /// How long the receiver asks to be left alone.
    pub retry_after: Option<SignedDuration>,
    /// The beginning of the answer's body, at most 2 KiB, without control characters.
    pub response_body: Option<String>,
    /// How long it took, in milliseconds.
    pub duration_ms: u32,
}

/// Sends webhooks.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// Whether the address may be registered. Its name is resolved, unless too many others are being resolved for this; one that does not
    /// resolve may be registered, because [`WebhookSender::send`] judges it anew.
    async fn vet(&self, url: &WebhookUrl) -> Result<(), UrlRefusal>;

    /// The same, without resolving names.
    ///
    /// # Errors
    /// [`UrlRefusal`].
    fn permits(&self, url: &WebhookUrl) -> Result<(), UrlRefusal>;

    /// Signs and sends, once; the address is judged anew. Takes at most 15 s until the answer's headers, and little more for its body.
    async fn send<'a>(&self, outgoing: Outgoing<'a>) -> Sent;
}
