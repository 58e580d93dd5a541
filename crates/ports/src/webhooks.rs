//! Sends webhooks, and checks the addresses of receivers.

use async_trait::async_trait;
use cais_domain::ids::EventId;
use cais_domain::merchant::webhook::WebhookUrl;
use jiff::{SignedDuration, Timestamp};

use crate::secret_cipher::SigningSecret;

/// The reason why an attempt failed. Merchants see only the name of the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttemptError {
    /// The service refuses to call this address, for example because the address is not public.
    AddressNotAllowed,
    /// The host name does not resolve.
    NameNotResolved,
    /// The connection failed.
    ConnectionFailed,
    /// The connection ended before the answer, or the answer was not HTTP.
    ConnectionLost,
    /// The TLS handshake failed, for example because of an invalid certificate.
    TlsFailed,
    /// No answer came within 15 s.
    TimedOut,
    /// The answer was a redirect. Redirects are not followed.
    Redirected,
    /// The status of the answer was not 2xx.
    Refused,
    /// The endpoint's secret cannot be decrypted, because the service runs with another master key.
    Unsigned,
}

impl AttemptError {
    /// Returns the name in the API and in the store.
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

/// The reason why an address cannot be registered. Messages are safe to show to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlRefusal {
    /// The text is not an address.
    #[error("must be an absolute URL")]
    Malformed,
    /// The scheme is not `https`. Plain `http` is accepted only if the configuration permits it.
    #[error("must begin with https://")]
    Scheme,
    /// The address contains a user name or password.
    #[error("must not contain a user name or password")]
    Credentials,
    /// The port is below 1024 and not 443. Port 80 is accepted only if the configuration permits plain `http`.
    #[error("must have port 443, or a port from 1024 on")]
    Port,
    /// The host is an IP address that is not public, or a name that resolves to one.
    #[error("must lead to a public address")]
    NotPublic,
}

/// An attempt to send an event.
#[derive(Debug, Clone, Copy)]
pub struct Outgoing<'a> {
    /// The address of the receiver.
    pub url: &'a WebhookUrl,
    /// The id of the event. Receivers detect repeats by it.
    pub id: EventId,
    /// The instant of sending. The signature covers it.
    pub at: Timestamp,
    /// The secrets with which the request is signed. The current secret comes first.
    pub secrets: &'a [SigningSecret],
    /// The body of the request.
    pub body: &'a [u8],
}

/// The result of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The HTTP status of the answer. `None` if no answer arrived.
    pub status_code: Option<u16>,
    /// The reason of the failure. `None` if the attempt succeeded.
    pub error: Option<AttemptError>,
    /// The pause that a failed answer requested with `Retry-After`, if any.
    pub retry_after: Option<SignedDuration>,
    /// The start of the answer's body, at most 2 KiB, without control characters. `None` if there is no body.
    pub response_body: Option<String>,
    /// The duration, in milliseconds.
    pub duration_ms: u32,
}

/// A sender of webhooks.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// Checks that the address may be registered. The host name is resolved, unless too many names are being resolved.
    /// A name that does not resolve may be registered, because [`WebhookSender::send`] checks the address again.
    async fn vet(&self, url: &WebhookUrl) -> Result<(), UrlRefusal>;

    /// Checks the address without resolving its host name.
    ///
    /// # Errors
    /// [`UrlRefusal`].
    fn permits(&self, url: &WebhookUrl) -> Result<(), UrlRefusal>;

    /// Checks the address again, then signs and sends once. The answer's headers must arrive within 15 s. The body may
    /// take 2 s more.
    async fn send<'a>(&self, outgoing: Outgoing<'a>) -> Sent;
}
