//! Sends authenticated requests to NOWPayments. The answers are returned unparsed.

use std::sync::Arc;

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::AcquirerError;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Client, Method, Request, StatusCode, Url};
use serde::Serialize;

use super::config::{NowPaymentsConfig, NowPaymentsConfigError};
use super::login::Login;
use crate::deadline::Deadline;
use crate::http::{ClientSettings, Reply, Token, Tokens, build, of_transport, parse_base, send};

/// The header of the API key.
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
/// The largest accepted answer, in bytes. A page of a list has 100 rows of less than 4 KiB.
const MAX_BYTES: usize = 512 * 1024;

/// The credentials of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Only the API key.
    Key,
    /// The API key, and the token that the login returned.
    Login,
}

/// The API of one account.
#[derive(Debug)]
pub(super) struct Api {
    name: AcquirerName,
    client: Client,
    tokens: Arc<Tokens>,
    /// The address that paths such as `/v1/payment` are appended to.
    base: String,
    key: HeaderValue,
    json: HeaderValue,
}

impl Api {
    pub(super) fn new(config: &NowPaymentsConfig) -> Result<Self, NowPaymentsConfigError> {
        let base = parse_base(&config.base_url).map_err(NowPaymentsConfigError::BaseUrl)?;
        let base_text = base.as_str().trim_end_matches('/').to_owned();
        let login = parse_base(&format!("{base_text}/v1/auth")).map_err(NowPaymentsConfigError::BaseUrl)?;
        let key = config.api_key.expose();
        let mut key = HeaderValue::try_from(key)
            .ok()
            .filter(|_| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic()))
            .ok_or(NowPaymentsConfigError::ApiKey)?;
        key.set_sensitive(true);
        let client = build(ClientSettings {
            certificate: None,
            extra_root_pem: config.extra_root_pem.as_deref(),
            uses_tls: base.scheme() == "https",
            connect_timeout: config.timeouts.connect,
        })?;
        let tokens = Tokens::new(client.clone(), Box::new(Login::new(login, config)?), config.timeouts.token);
        let json = HeaderValue::from_static("application/json");
        Ok(Self { name: config.name.clone(), client, tokens, base: base_text, key, json })
    }

    pub(super) fn name(&self) -> &AcquirerName {
        &self.name
    }

    /// Sends a `GET`. Returns the raw answer.
    pub(super) async fn get(
        &self,
        path: &str,
        query: &[(&str, &str)],
        access: Access,
        deadline: Deadline,
    ) -> Result<Reply, AcquirerError> {
        let mut url = self.url(path)?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        self.call(&Request::new(Method::GET, url), None, access, deadline).await
    }

    /// Sends a `POST` with a JSON body. Sends the request a second time only after a refused token (401). Returns the
    /// raw answer.
    pub(super) async fn post(
        &self,
        path: &str,
        body: &(impl Serialize + Sync),
        access: Access,
        deadline: Deadline,
    ) -> Result<Reply, AcquirerError> {
        let body = serde_json::to_vec(body)
            .map_err(|_| AcquirerError::Refused("the request cannot be written as JSON".to_owned()))?;
        self.call(&Request::new(Method::POST, self.url(path)?), Some(&body), access, deadline).await
    }

    fn url(&self, path: &str) -> Result<Url, AcquirerError> {
        Url::parse(&format!("{}{path}", self.base))
            .map_err(|_| AcquirerError::Refused("the path is not a valid address".to_owned()))
    }

    /// Sends one request. If a request with a token is answered 401, renews the token and sends the request once more.
    /// Status 401 proves that the request was not executed.
    async fn call(
        &self,
        request: &Request,
        body: Option<&[u8]>,
        access: Access,
        deadline: Deadline,
    ) -> Result<Reply, AcquirerError> {
        if access == Access::Key {
            return self.send(request, body, None, deadline).await;
        }
        let token = self.tokens.get(deadline).await?;
        let reply = self.send(request, body, Some(&token), deadline).await?;
        if reply.status != StatusCode::UNAUTHORIZED {
            return Ok(reply);
        }
        tracing::warn!(acquirer = %self.name, "access token refused by the processor; a new one is requested");
        self.tokens.discard(&token);
        let token = self.tokens.get(deadline).await?;
        self.send(request, body, Some(&token), deadline).await
    }

    async fn send(
        &self,
        request: &Request,
        body: Option<&[u8]>,
        token: Option<&Token>,
        deadline: Deadline,
    ) -> Result<Reply, AcquirerError> {
        let mut request = Request::new(request.method().clone(), request.url().clone());
        let headers = request.headers_mut();
        headers.insert(API_KEY, self.key.clone());
        headers.insert(ACCEPT, self.json.clone());
        if let Some(token) = token {
            headers.insert(AUTHORIZATION, token.header.clone());
        }
        if let Some(body) = body {
            headers.insert(CONTENT_TYPE, self.json.clone());
            *request.body_mut() = Some(body.to_vec().into());
        }
        send(&self.client, request, MAX_BYTES, deadline).await.map_err(of_transport)
    }
}
