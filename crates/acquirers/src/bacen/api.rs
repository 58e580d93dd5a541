//! Sends authenticated requests of the API Pix. Most methods return the raw answer.

use std::fmt;
use std::sync::Arc;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::pix_key::PixKey;
use cais_domain::txid::Txid;
use cais_ports::{AcquirerError, UpstreamCharge};
use jiff::Timestamp;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Client, Method, Request, StatusCode, Url};
use serde::Serialize;

use super::config::{BacenConfig, BacenConfigError};
use super::grant::{ClientCredentials, GrantForm};
use super::profile::Dates;
use super::read::{self, Expected};
use super::wire::{CallbackBody, REMOVED_BY_US, Registered, Revision};
use crate::deadline::Deadline;
use crate::http::{
    ClientSettings, FindError, MAX_ANSWER_BYTES, Problem, Reply, Token, Tokens, build, encode_segment, of_reply,
    of_transport, parse_base, send, text,
};

/// The problem kinds with which institutions report that a charge does not exist.
const CHARGE_ABSENT: [&str; 3] = ["CobNaoEncontrado", "NaoEncontrado", "cobranca_nao_encontrada"];

/// The largest accepted page of a list, in bytes.
const MAX_LIST_BYTES: usize = 2 * 1024 * 1024;

/// The API of one institution. `Debug` shows only the name, because the other fields contain the Pix key and secrets.
pub(crate) struct Api {
    name: AcquirerName,
    key: PixKey,
    client: Client,
    tokens: Arc<Tokens>,
    /// The address that paths such as `/v2/cob/…` are appended to.
    base: String,
    decoration: Decoration,
    dates: Dates,
    /// The address of `PUT /v2/webhook/{chave}`, with our Pix key.
    callback: Url,
    json: HeaderValue,
}

/// A header that an institution requires for the registration of a callback address.
pub(crate) type CallbackHeader = (HeaderName, HeaderValue);

/// A request before its token is added.
struct RequestParts<'a> {
    method: Method,
    url: Url,
    body: Option<&'a [u8]>,
    header: Option<CallbackHeader>,
    max_bytes: usize,
}

impl RequestParts<'_> {
    fn new(method: Method, url: Url) -> Self {
        Self { method, url, body: None, header: None, max_bytes: MAX_ANSWER_BYTES }
    }
}

impl Api {
    pub(crate) fn new(config: &BacenConfig, grant: GrantForm) -> Result<Self, BacenConfigError> {
        let base = parse_base(&config.base_url).map_err(BacenConfigError::BaseUrl)?;
        let base_text = base.as_str().trim_end_matches('/');
        let token_url = match &config.token_url {
            Some(text) => parse_base(text),
            None => parse_base(&format!("{base_text}{}", config.profile.token_path)),
        }
        .map_err(BacenConfigError::TokenUrl)?;
        let key = encode_segment(config.pix_key.as_str());
        let decoration = Decoration::new(config)?;
        let callback =
            decoration.url(base_text, &format!("/v2/webhook/{key}")).ok_or(BacenConfigError::Profile("path"))?;
        let client = build(ClientSettings {
            certificate: config.certificate.as_ref(),
            extra_root_pem: config.extra_root_pem.as_deref(),
            uses_tls: [&base, &token_url].iter().any(|url| url.scheme() == "https"),
            connect_timeout: config.timeouts.connect,
        })?;
        let credentials = ClientCredentials::new(token_url, grant, config)?;
        let tokens = Tokens::new(client.clone(), Box::new(credentials), config.timeouts.token);
        Ok(Self {
            name: config.name.clone(),
            key: config.pix_key.clone(),
            client,
            tokens,
            base: base_text.to_owned(),
            decoration,
            dates: config.profile.dates,
            callback,
            json: HeaderValue::from_static("application/json"),
        })
    }

    /// Requests an access token and discards it. Returns the institution's clock; see [`Tokens::probe`].
    pub(super) async fn check_access(&self) -> Result<Option<Timestamp>, AcquirerError> {
        self.tokens.probe().await
    }

    /// Returns the form of instants in the institution's answers.
    pub(super) fn dates(&self) -> Dates {
        self.dates
    }

    pub(crate) fn name(&self) -> &AcquirerName {
        &self.name
    }

    pub(crate) fn key(&self) -> &PixKey {
        &self.key
    }

    /// Sends `PUT /v2/cob/{txid}`. Returns the raw answer.
    pub(super) async fn put_charge(
        &self,
        txid: &Txid,
        body: &[u8],
        deadline: Deadline,
    ) -> Result<Reply, AcquirerError> {
        self.put(&charge_path(txid), body, deadline).await
    }

    /// Sends a `PATCH` that requests the removal of a charge. Returns the raw answer.
    pub(super) async fn remove_charge(&self, txid: &Txid, deadline: Deadline) -> Result<Reply, AcquirerError> {
        let body = json(&Revision { status: REMOVED_BY_US })?;
        let parts = RequestParts::new(Method::PATCH, self.url(&charge_path(txid))?);
        self.call(RequestParts { body: Some(&body), ..parts }, deadline).await
    }

    /// Reads a charge. Returns `None` if the institution answers that the charge does not exist.
    pub(super) async fn find(
        &self,
        expected: Expected<'_>,
        deadline: Deadline,
    ) -> Result<Option<UpstreamCharge>, FindError> {
        let found = self.get(&charge_path(expected.txid()), &CHARGE_ABSENT, deadline).await?;
        found.map(|reply| self.charge_of(&reply, &expected)).transpose()
    }

    /// Parses the charge in an answer. An unsuccessful answer is an error.
    pub(super) fn charge_of(&self, reply: &Reply, expected: &Expected<'_>) -> Result<UpstreamCharge, FindError> {
        Ok(UpstreamCharge {
            answered_at: reply.date,
            ..read::charge(reply.success(of_reply)?, expected, (&self.key, self.dates))?
        })
    }

    /// Registers `url` as our callback address with `PUT /v2/webhook/{chave}`. `header` is the institution's extra header, if any. The
    /// answer is empty or, as at Efí, contains the registered address. Another address than `url` is an error.
    pub(crate) async fn register_callback(
        &self,
        url: &str,
        header: Option<CallbackHeader>,
        deadline: Deadline,
    ) -> Result<(), AcquirerError> {
        let body = json(&CallbackBody { webhook_url: url })?;
        let parts = RequestParts::new(Method::PUT, self.callback.clone());
        let reply = self.call(RequestParts { body: Some(&body), header, ..parts }, deadline).await?;
        if !reply.status.is_success() {
            return Err(of_reply(&reply));
        }
        if reply.body.is_empty() {
            return Ok(());
        }
        let body = reply.success(of_reply).map_err(FindError::of_a_read)?;
        let wrong = |what: &str| Err(AcquirerError::OutcomeUnknown(format!("the answer's webhookUrl {what}")));
        match serde_json::from_slice::<Registered<'_>>(body) {
            Ok(Registered { webhook_url: None }) => Ok(()),
            Ok(Registered { webhook_url: Some(value) }) if text(value).as_deref() == Some(url) => Ok(()),
            Ok(_) => wrong("is another address"),
            Err(_) => wrong("cannot be read"),
        }
    }

    /// Sends a `PUT` with a JSON body. Returns the raw answer. `path` must not need escaping.
    pub(crate) async fn put(&self, path: &str, body: &[u8], deadline: Deadline) -> Result<Reply, AcquirerError> {
        let parts = RequestParts::new(Method::PUT, self.url(path)?);
        self.call(RequestParts { body: Some(body), ..parts }, deadline).await
    }

    /// Sends a `POST` with a JSON body. Sends the request a second time only after a refused token (401). Returns the
    /// raw answer.
    pub(crate) async fn post(&self, path: &str, body: &[u8], deadline: Deadline) -> Result<Reply, AcquirerError> {
        let parts = RequestParts::new(Method::POST, self.url(path)?);
        self.call(RequestParts { body: Some(body), ..parts }, deadline).await
    }

    /// Sends a `GET`. Returns the raw answer, or `None` if the status is 404 or 400 and the problem has a kind in `absence`.
    ///
    /// Status 404 alone does not prove an absence, because a server without the path also answers 404. Efí reports some absences with 400.
    pub(crate) async fn get(
        &self,
        path: &str,
        absence: &[&str],
        deadline: Deadline,
    ) -> Result<Option<Reply>, FindError> {
        let reply = self.call(RequestParts::new(Method::GET, self.url(path)?), deadline).await?;
        let may_be_absent = matches!(reply.status, StatusCode::NOT_FOUND | StatusCode::BAD_REQUEST);
        let problem = if may_be_absent { Problem::read(&reply) } else { None };
        if problem.is_some_and(|problem| problem.is_one_of(absence)) { Ok(None) } else { Ok(Some(reply)) }
    }

    /// Sends a `GET` for a page of a list. Returns the raw answer.
    pub(super) async fn get_page(
        &self,
        path: &str,
        query: &[(&str, &str)],
        deadline: Deadline,
    ) -> Result<Reply, AcquirerError> {
        let mut url = self.url(path)?;
        url.query_pairs_mut().extend_pairs(query);
        let parts = RequestParts::new(Method::GET, url);
        self.call(RequestParts { max_bytes: MAX_LIST_BYTES, ..parts }, deadline).await
    }

    /// Sends a request of a contract trial (see [`super::contract`]). Returns the raw answer. `path` must not need escaping.
    pub(super) async fn send_trial_request(
        &self,
        method: Method,
        path: &str,
        (body, header): (Option<&[u8]>, Option<CallbackHeader>),
        deadline: Deadline,
    ) -> Result<Reply, AcquirerError> {
        let parts = RequestParts::new(method, self.url(path)?);
        self.call(RequestParts { body, header, max_bytes: MAX_LIST_BYTES, ..parts }, deadline).await
    }

    /// Requests an access token for a contract trial. Other requests do not use this token. Returns the raw answer.
    pub(super) async fn request_trial_token(&self) -> Result<Reply, AcquirerError> {
        self.tokens.request().await
    }

    /// Returns the secrets in our `Authorization` headers, so that the report of a contract trial can mask them.
    pub(super) fn credentials(&self) -> Vec<String> {
        self.tokens.credentials()
    }

    /// Returns the path and the query of a request to `path`, for a report. `mask` replaces the values of the profile's query parameters.
    pub(super) fn masked_path(&self, path: &str, mask: &str) -> String {
        let path_query = path.split_once('?').map(|(_, query)| query.to_owned());
        let added = self.decoration.query.iter().map(|(name, _)| format!("{name}={mask}"));
        let query: Vec<_> = path_query.into_iter().chain(added).collect();
        let sent = self.url(path).map_or_else(|_| path.to_owned(), |url| url.path().to_owned());
        if query.is_empty() { sent } else { format!("{sent}?{}", query.join("&")) }
    }

    fn url(&self, path: &str) -> Result<Url, AcquirerError> {
        let invalid = || AcquirerError::Refused("the path is not a valid address".to_owned());
        self.decoration.url(&self.base, path).ok_or_else(invalid)
    }

    /// Sends one request with a token. After a 401, renews the token and sends the request again. A 401 proves that the request was not
    /// executed.
    async fn call(&self, parts: RequestParts<'_>, deadline: Deadline) -> Result<Reply, AcquirerError> {
        let token = self.tokens.get(deadline).await?;
        let reply = self.send(&parts, &token, deadline).await?;
        if reply.status != StatusCode::UNAUTHORIZED {
            return Ok(reply);
        }
        tracing::warn!(acquirer = %self.name, "access token refused by the acquirer; a new one is requested");
        self.tokens.discard(&token);
        let token = self.tokens.get(deadline).await?;
        self.send(&parts, &token, deadline).await
    }

    async fn send(&self, parts: &RequestParts<'_>, token: &Token, deadline: Deadline) -> Result<Reply, AcquirerError> {
        let mut request = Request::new(parts.method.clone(), parts.url.clone());
        let headers = request.headers_mut();
        headers.insert(AUTHORIZATION, token.header.clone());
        headers.insert(ACCEPT, self.json.clone());
        for (name, value) in &self.decoration.headers {
            headers.insert(name.clone(), value.clone());
        }
        if let Some((name, value)) = &parts.header {
            headers.insert(name.clone(), value.clone());
        }
        if let Some(body) = parts.body {
            headers.insert(CONTENT_TYPE, self.json.clone());
            *request.body_mut() = Some(body.to_vec().into());
        }
        send(&self.client, request, parts.max_bytes, deadline).await.map_err(of_transport)
    }
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The path prefix, headers and query of every API request, from the institution's profile.
struct Decoration {
    path_prefix: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    query: Vec<(String, String)>,
}

impl Decoration {
    fn new(config: &BacenConfig) -> Result<Self, BacenConfigError> {
        let profile = &config.profile;
        let fill = |value: &str| {
            let key = config.application_key.as_ref();
            match (value.contains("{application_key}"), key) {
                (true, None) => Err(BacenConfigError::ApplicationKey),
                (true, Some(key)) => Ok(value.replace("{application_key}", key.expose())),
                (false, _) => Ok(value.replace("{client_id}", &config.client_id)),
            }
        };
        let mut headers = Vec::with_capacity(profile.headers.len());
        for (name, value) in &profile.headers {
            let name = HeaderName::try_from(name).map_err(|_| BacenConfigError::Profile("header"))?;
            let mut value = HeaderValue::try_from(fill(value)?).map_err(|_| BacenConfigError::Profile("header"))?;
            value.set_sensitive(true);
            headers.push((name, value));
        }
        let mut query = Vec::with_capacity(profile.query.len());
        for (name, value) in &profile.query {
            query.push((name.clone(), fill(value)?));
        }
        Ok(Self { path_prefix: profile.path_prefix.clone(), headers, query })
    }

    /// Returns the URL of `path`; `None` if the URL is invalid. In a path that starts with `/v2/`, the institution's prefix replaces `/v2`.
    /// Any other path, such as Efí's `/v3/gn/pix/…`, stays unchanged.
    fn url(&self, base: &str, path: &str) -> Option<Url> {
        let path = match path.strip_prefix("/v2/") {
            Some(rest) => format!("{base}{}/{rest}", self.path_prefix),
            None => format!("{base}{path}"),
        };
        let mut url = Url::parse(&path).ok()?;
        if !self.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&self.query);
        }
        Some(url)
    }
}

fn charge_path(txid: &Txid) -> String {
    format!("/v2/cob/{txid}")
}

fn json(body: &impl Serialize) -> Result<Vec<u8>, AcquirerError> {
    serde_json::to_vec(body).map_err(|_| AcquirerError::Refused("the request cannot be written as JSON".to_owned()))
}
