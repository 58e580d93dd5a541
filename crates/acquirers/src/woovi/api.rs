//! Sends authenticated requests to Woovi. The answers are returned unparsed.

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::AcquirerError;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Client, Method, Request, Url};
use serde::Serialize;

use super::config::{WooviConfig, WooviConfigError};
use crate::deadline::Deadline;
use crate::http::{ClientSettings, MAX_ANSWER_BYTES, Reply, build, of_transport, parse_base, send};

/// The largest accepted page of a list, in bytes. A page has at most 100 rows of about 4 KiB, because each row repeats its charge and both
/// parties.
const MAX_LIST_BYTES: usize = 2 * 1024 * 1024;

/// The API of one account.
#[derive(Debug)]
pub(super) struct Api {
    name: AcquirerName,
    client: Client,
    /// The base of the paths `/api/v1/…`.
    base: String,
    app_id: HeaderValue,
    json: HeaderValue,
}

impl Api {
    pub(super) fn new(config: &WooviConfig) -> Result<Self, WooviConfigError> {
        let base = parse_base(&config.base_url).map_err(WooviConfigError::BaseUrl)?;
        let app_id = config.app_id.expose();
        let mut header = HeaderValue::try_from(app_id)
            .ok()
            .filter(|_| !app_id.is_empty() && app_id.bytes().all(|byte| byte.is_ascii_graphic()))
            .ok_or(WooviConfigError::AppId)?;
        header.set_sensitive(true);
        let client = build(ClientSettings {
            certificate: None,
            extra_root_pem: config.extra_root_pem.as_deref(),
            uses_tls: base.scheme() == "https",
            connect_timeout: config.timeouts.connect,
        })?;
        Ok(Self {
            name: config.name.clone(),
            client,
            base: base.as_str().trim_end_matches('/').to_owned(),
            app_id: header,
            json: HeaderValue::from_static("application/json"),
        })
    }

    pub(super) fn name(&self) -> &AcquirerName {
        &self.name
    }

    /// Sends a `GET`. Returns the raw answer. `path` must not need escaping.
    pub(super) async fn get(&self, path: &str, deadline: Deadline) -> Result<Reply, AcquirerError> {
        self.call(Method::GET, (path, &[]), None, MAX_ANSWER_BYTES, deadline).await
    }

    /// Sends a `GET` for a list. Returns the raw answer.
    pub(super) async fn get_list(
        &self,
        path: &str,
        query: &[(&str, &str)],
        deadline: Deadline,
    ) -> Result<Reply, AcquirerError> {
        self.call(Method::GET, (path, query), None, MAX_LIST_BYTES, deadline).await
    }

    /// Sends a `POST` with a JSON body once. Returns the raw answer.
    pub(super) async fn post(
        &self,
        (path, query): (&str, &[(&str, &str)]),
        body: &(impl Serialize + Sync),
        deadline: Deadline,
    ) -> Result<Reply, AcquirerError> {
        let body = serde_json::to_vec(body)
            .map_err(|_| AcquirerError::Refused("the request cannot be written as JSON".to_owned()))?;
        self.call(Method::POST, (path, query), Some(body), MAX_ANSWER_BYTES, deadline).await
    }

    /// Sends a `DELETE`. Returns the raw answer.
    pub(super) async fn delete(&self, path: &str, deadline: Deadline) -> Result<Reply, AcquirerError> {
        self.call(Method::DELETE, (path, &[]), None, MAX_ANSWER_BYTES, deadline).await
    }

    async fn call(
        &self,
        method: Method,
        (path, query): (&str, &[(&str, &str)]),
        body: Option<Vec<u8>>,
        max_bytes: usize,
        deadline: Deadline,
    ) -> Result<Reply, AcquirerError> {
        let mut url = Url::parse(&format!("{}/api/v1{path}", self.base))
            .map_err(|_| AcquirerError::Refused("the path is not a valid address".to_owned()))?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let mut request = Request::new(method, url);
        let headers = request.headers_mut();
        headers.insert(AUTHORIZATION, self.app_id.clone());
        headers.insert(ACCEPT, self.json.clone());
        if let Some(body) = body {
            headers.insert(CONTENT_TYPE, self.json.clone());
            *request.body_mut() = Some(body.into());
        }
        send(&self.client, request, max_bytes, deadline).await.map_err(of_transport)
    }
}
