//! Requests of the API Pix with their token, and the answers as they came.

use std::sync::Arc;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::pix_key::PixKey;
use cais_domain::txid::Txid;
use cais_ports::{AcquirerError, UpstreamCharge};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Client, Method, Request, StatusCode, Url};
use serde::Serialize;

use super::config::{BacenConfig, BacenConfigError};
use super::read::{self, Defect, Expected};
use super::token::{Token, Tokens};
use super::wire::{Callback, REMOVED_BY_US, Revision};
use crate::deadline::Deadline;
use crate::http::{ClientSettings, Problem, Reply, build, encode_segment, of_reply, of_transport, parse_base, send};

/// One institution's API.
#[derive(Debug)]
pub(super) struct Api {
    name: AcquirerName,
    key: PixKey,
    client: Client,
    tokens: Arc<Tokens>,
    /// What a txid is appended to.
    charges: String,
    callback: Url,
    json: HeaderValue,
}

/// Why a charge could not be read.
#[derive(Debug)]
pub(super) enum FindError {
    /// There was no usable answer.
    Upstream(AcquirerError),
    /// There was one, which cannot be believed.
    Defect(Defect),
}

impl FindError {
    /// A read has no effect, so whatever it was, it may be asked again.
    pub(super) fn of_a_read(self) -> AcquirerError {
        match self {
            Self::Upstream(AcquirerError::Refused(reason)) => AcquirerError::OutcomeUnknown(reason),
            Self::Upstream(error) => error,
            Self::Defect(defect) => AcquirerError::OutcomeUnknown(defect.reason()),
        }
    }
}

impl Api {
    pub(super) fn new(config: &BacenConfig) -> Result<Self, BacenConfigError> {
        let base = parse_base(&config.base_url).map_err(BacenConfigError::BaseUrl)?;
        let base_text = base.as_str().trim_end_matches('/');
        let token_url = match &config.token_url {
            Some(text) => parse_base(text),
            None => parse_base(&format!("{base_text}/oauth/token")),
        }
        .map_err(BacenConfigError::TokenUrl)?;
        let key = encode_segment(config.pix_key.as_str());
        let callback = parse_base(&format!("{base_text}/v2/webhook/{key}")).map_err(BacenConfigError::BaseUrl)?;
        let client = build(ClientSettings {
            certificate: config.certificate.as_ref(),
            extra_root_pem: config.extra_root_pem.as_deref(),
            uses_tls: [&base, &token_url].iter().any(|url| url.scheme() == "https"),
            connect_timeout: config.timeouts.connect,
        })?;
        let tokens =
            Tokens::new(client.clone(), token_url, &config.client_id, &config.client_secret, config.timeouts.token)?;
        Ok(Self {
            name: config.name.clone(),
            key: config.pix_key.clone(),
            client,
            tokens,
            charges: format!("{base_text}/v2/cob/"),
            callback,
            json: HeaderValue::from_static("application/json"),
        })
    }

    pub(super) fn name(&self) -> &AcquirerName {
        &self.name
    }

    pub(super) fn key(&self) -> &PixKey {
        &self.key
    }

    /// `PUT /v2/cob/{txid}`, as it was answered.
    pub(super) async fn put_charge(
        &self,
        txid: &Txid,
        body: &[u8],
        deadline: Deadline,
    ) -> Result<Reply, AcquirerError> {
        let url = self.charge_url(txid)?;
        self.call(Method::PUT, &url, Some(body), deadline).await
    }

    /// Asks for the removal of a charge.
    pub(super) async fn remove_charge(&self, txid: &Txid, deadline: Deadline) -> Result<Reply, AcquirerError> {
        let url = self.charge_url(txid)?;
        let body = json(&Revision { status: REMOVED_BY_US })?;
        self.call(Method::PATCH, &url, Some(&body), deadline).await
    }

    /// Reads a charge; `None` when the institution itself, not some server before it, says that there is none.
    pub(super) async fn find(
        &self,
        expected: Expected<'_>,
        deadline: Deadline,
    ) -> Result<Option<UpstreamCharge>, FindError> {
        let url = self.charge_url(expected.txid()).map_err(FindError::Upstream)?;
        let reply = self.call(Method::GET, &url, None, deadline).await.map_err(FindError::Upstream)?;
        if reply.status == StatusCode::NOT_FOUND {
            return match Problem::read(&reply) {
                Some(problem) if problem.is_typed() => Ok(None),
                Some(_) | None => Err(FindError::Upstream(AcquirerError::OutcomeUnknown(
                    "404 without a problem of the API Pix".to_owned(),
                ))),
            };
        }
        self.charge_of(&reply, &expected).map(Some)
    }

    /// The charge that a successful answer tells.
    pub(super) fn charge_of(&self, reply: &Reply, expected: &Expected<'_>) -> Result<UpstreamCharge, FindError> {
        if !reply.status.is_success() {
            return Err(FindError::Upstream(of_reply(reply)));
        }
        if !reply.is_json {
            let defect = Defect::Unreadable("the answer is not JSON".to_owned());
            return Err(FindError::Defect(defect));
        }
        read::charge(&reply.body, expected, &self.key).map_err(FindError::Defect)
    }

    /// `PUT /v2/webhook/{chave}`.
    pub(super) async fn register_callback(&self, url: &str, deadline: Deadline) -> Result<(), AcquirerError> {
        let body = json(&Callback { webhook_url: url })?;
        let reply = self.call(Method::PUT, &self.callback, Some(&body), deadline).await?;
        if reply.status.is_success() { Ok(()) } else { Err(of_reply(&reply)) }
    }

    fn charge_url(&self, txid: &Txid) -> Result<Url, AcquirerError> {
        Url::parse(&format!("{}{txid}", self.charges))
            .map_err(|_| AcquirerError::Refused("the txid makes no address".to_owned()))
    }

    /// One request with a token. A token that is refused is renewed, and the request sent once more: a 401 is certain.
    async fn call(
        &self,
        method: Method,
        url: &Url,
        body: Option<&[u8]>,
        deadline: Deadline,
    ) -> Result<Reply, AcquirerError> {
        let token = self.tokens.get(deadline).await?;
        let reply = self.send(&method, url, body, &token, deadline).await?;
        if reply.status != StatusCode::UNAUTHORIZED {
            return Ok(reply);
        }
        tracing::warn!(acquirer = %self.name, "the access token was refused; asking for another");
        self.tokens.discard(&token);
        let token = self.tokens.get(deadline).await?;
        self.send(&method, url, body, &token, deadline).await
    }

    async fn send(
        &self,
        method: &Method,
        url: &Url,
        body: Option<&[u8]>,
        token: &Token,
        deadline: Deadline,
    ) -> Result<Reply, AcquirerError> {
        let mut request = Request::new(method.clone(), url.clone());
        let headers = request.headers_mut();
        headers.insert(AUTHORIZATION, token.header.clone());
        headers.insert(ACCEPT, self.json.clone());
        if let Some(body) = body {
            headers.insert(CONTENT_TYPE, self.json.clone());
            *request.body_mut() = Some(body.to_vec().into());
        }
        send(&self.client, request, deadline).await.map_err(of_transport)
    }
}

fn json(body: &impl Serialize) -> Result<Vec<u8>, AcquirerError> {
    serde_json::to_vec(body).map_err(|_| AcquirerError::Refused("the request cannot be written as JSON".to_owned()))
}
