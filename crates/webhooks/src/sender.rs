//! Sends webhooks over HTTP.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use cais_domain::merchant::webhook::WebhookUrl;
use cais_ports::webhooks::{AttemptError, Outgoing, Sent, UrlRefusal, WebhookSender};
use ipnet::IpNet;
use reqwest::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Client, Method, Request, Response};
use rustls::RootCertStore;
use tokio::time::timeout;

use crate::addresses::AddressRules;
pub use crate::client::SenderError;
use crate::client::{for_receivers, system_roots};
use crate::measured::InFlight;
use crate::resolver::{Lookup, Resolver, SystemLookup, Unresolved};
use crate::signing::{ID_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER, signatures};
use crate::vetting::{Target, check_url};
use crate::{answer, failure};

/// The permitted destinations of a sender.
#[derive(Debug, Clone, Default)]
pub struct WebhookPolicy {
    /// `true` if plain `http` is permitted, for development.
    pub allow_insecure: bool,
    /// Blocks that may be called although they are not public, for development.
    pub allow_addresses: Vec<IpNet>,
}

impl WebhookPolicy {
    /// Returns a policy that permits plain `http` and all addresses, for a developer's own machine.
    pub(crate) fn anywhere() -> Self {
        let everything = [IpAddr::from([0_u8; 4]), IpAddr::from([0_u8; 16])];
        let allow_addresses = everything.into_iter().filter_map(|zero| IpNet::new(zero, 0).ok()).collect();
        Self { allow_insecure: true, allow_addresses }
    }
}

/// The time limits of a sender.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budgets {
    /// The limit for name resolution, TCP connection and TLS handshake together. The 10 s in production allow three
    /// lost SYN packets (7 s), or one repeated query to a name server (5 s).
    pub(crate) connect: Duration,
    /// The limit until the headers of the answer arrive, including the time of `connect`.
    pub(crate) attempt: Duration,
    /// The limit for the body, after the headers. The headers determine the outcome; the body is only stored in the
    /// delivery log.
    pub(crate) body: Duration,
    /// The limit for resolving a name at registration, while the merchant waits.
    pub(crate) vetting: Duration,
}

/// The time limits in production. `docs/API.md` states the 15 s of an attempt.
const BUDGETS: Budgets = Budgets {
    connect: Duration::from_secs(10),
    attempt: Duration::from_secs(15),
    body: Duration::from_secs(2),
    vetting: Duration::from_secs(2),
};

/// A sender of webhooks, with one client and its pool of connections. Share the sender, because its creation is
/// expensive.
pub struct HttpSender {
    client: Client,
    resolver: Resolver,
    rules: AddressRules,
    allow_insecure: bool,
    budgets: Budgets,
}

impl HttpSender {
    /// Creates a sender with the system's resolver and root certificates.
    ///
    /// # Errors
    /// [`SenderError`].
    pub fn new(policy: WebhookPolicy) -> Result<Self, SenderError> {
        Self::with(policy, BUDGETS, Arc::new(SystemLookup), system_roots())
    }

    /// Creates a sender that may call any address, also over plain `http`.
    pub(crate) fn anywhere(roots: RootCertStore) -> Result<Self, SenderError> {
        Self::with(WebhookPolicy::anywhere(), BUDGETS, Arc::new(SystemLookup), roots)
    }

    /// Creates a sender from its parts, which tests replace.
    pub(crate) fn with(
        policy: WebhookPolicy,
        budgets: Budgets,
        lookup: Arc<dyn Lookup>,
        roots: RootCertStore,
    ) -> Result<Self, SenderError> {
        let rules = AddressRules::new(policy.allow_addresses);
        let resolver = Resolver::new(lookup, rules.clone());
        let client = for_receivers(roots, resolver.clone(), budgets.connect)?;
        Ok(Self { client, resolver, rules, allow_insecure: policy.allow_insecure, budgets })
    }

    fn check_url(&self, url: &WebhookUrl) -> Result<Target, UrlRefusal> {
        check_url(url.as_str(), self.allow_insecure, &self.rules)
    }

    /// Returns the signed request. If the URL contains an IP address, this method checks it. The addresses of a host
    /// name are checked later, when the client resolves the name.
    fn request(&self, outgoing: &Outgoing<'_>) -> Result<Request, AttemptError> {
        let target = self.check_url(outgoing.url).map_err(|_| AttemptError::AddressNotAllowed)?;
        if outgoing.secrets.is_empty() {
            return Err(AttemptError::Unsigned);
        }
        let (id, at_s) = (outgoing.id.to_string(), outgoing.at.as_second());
        let signature = signatures(outgoing.secrets, &id, at_s, outgoing.body);
        let signature = HeaderValue::try_from(signature).map_err(|_| AttemptError::Unsigned)?;
        let id = HeaderValue::try_from(id).map_err(|_| AttemptError::Unsigned)?;
        let mut request = Request::new(Method::POST, target.url);
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(HeaderName::from_static(ID_HEADER), id);
        headers.insert(HeaderName::from_static(TIMESTAMP_HEADER), HeaderValue::from(at_s));
        headers.insert(HeaderName::from_static(SIGNATURE_HEADER), signature);
        *request.body_mut() = Some(outgoing.body.to_vec().into());
        Ok(request)
    }

    async fn attempt(&self, outgoing: &Outgoing<'_>) -> Result<Response, AttemptError> {
        let request = self.request(outgoing)?;
        match timeout(self.budgets.attempt, self.client.execute(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(failure::of_error(&error)),
            Err(_) => Err(AttemptError::TimedOut),
        }
    }

    async fn send_once(&self, outgoing: &Outgoing<'_>) -> Sent {
        let began = Instant::now();
        let outcome = self.attempt(outgoing).await;
        let duration_ms = u32::try_from(began.elapsed().as_millis()).unwrap_or(u32::MAX);
        let response = match outcome {
            Ok(response) => response,
            Err(error) => {
                let error = Some(error);
                return Sent { status_code: None, error, retry_after: None, response_body: None, duration_ms };
            }
        };
        let status = response.status();
        let error = failure::of_status(status);
        let retry_after = error.and_then(|_| answer::retry_after(response.headers(), outgoing.at));
        let response_body = answer::beginning(response, self.budgets.body).await;
        Sent { status_code: Some(status.as_u16()), error, retry_after, response_body, duration_ms }
    }
}

#[async_trait]
impl WebhookSender for HttpSender {
    async fn vet(&self, url: &WebhookUrl) -> Result<(), UrlRefusal> {
        let Some(name) = self.check_url(url)?.name else { return Ok(()) };
        match timeout(self.budgets.vetting, self.resolver.vet(&name)).await {
            Ok(Err(Unresolved::NotAllowed)) => Err(UrlRefusal::NotPublic),
            // A name is accepted if it does not resolve or resolves too slowly. A name is also accepted without a
            // look-up if all look-ups for registrations are in use. Every attempt checks the name again.
            Ok(Ok(()) | Err(Unresolved::NotFound)) | Err(_) => Ok(()),
        }
    }

    fn permits(&self, url: &WebhookUrl) -> Result<(), UrlRefusal> {
        self.check_url(url).map(drop)
    }

    async fn send<'a>(&self, outgoing: Outgoing<'a>) -> Sent {
        let in_flight = InFlight::begin();
        let sent = self.send_once(&outgoing).await;
        in_flight.end(sent.duration_ms);
        sent
    }
}
