//! HTTP for tests: a call, and the whole reply.

use std::time::Duration;

use anyhow::{Context as _, Result};
use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder};
use serde_json::Value;

/// The time limit of a reply: longer than the service's own time limit for a request.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A client of one base URL, with or without an API key.
#[derive(Debug, Clone)]
pub struct Http {
    client: reqwest::Client,
    base: String,
    key: Option<String>,
}

/// The reply of the service.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, byte for byte.
    pub body: Vec<u8>,
}

/// Returns a client that follows no redirects and has a time limit.
pub(crate) fn client() -> Result<reqwest::Client> {
    // An error means that another test of this process has already installed the crypto provider, so errors are ignored.
    drop(rustls::crypto::ring::default_provider().install_default());
    let client = reqwest::Client::builder().timeout(TIMEOUT).no_proxy();
    let client = client.redirect(reqwest::redirect::Policy::none());
    client.build().context("cannot make an HTTP client")
}

impl Http {
    pub(super) fn new(client: reqwest::Client, base: &str, key: Option<&str>) -> Self {
        Self { client, base: base.to_owned(), key: key.map(str::to_owned) }
    }

    /// Creates a client of any base URL.
    ///
    /// # Errors
    /// If TLS cannot be set up.
    pub fn to(base: &str) -> Result<Self> {
        Ok(Self::new(client()?, base, None))
    }

    /// Creates a request with the key, to be completed and passed to [`Http::send`].
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.base));
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    /// Sends the request and reads the whole reply.
    ///
    /// # Errors
    /// If no complete reply arrives.
    pub async fn send(&self, request: RequestBuilder) -> Result<Reply> {
        let response = request.send().await?;
        Ok(Reply {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            body: response.bytes().await?.to_vec(),
        })
    }

    /// Sends a GET.
    ///
    /// # Errors
    /// As [`Http::send`].
    pub async fn get(&self, path: &str) -> Result<Reply> {
        self.send(self.request(Method::GET, path)).await
    }

    /// Sends a DELETE.
    ///
    /// # Errors
    /// As [`Http::send`].
    pub async fn delete(&self, path: &str) -> Result<Reply> {
        self.send(self.request(Method::DELETE, path)).await
    }

    /// Sends a POST with a JSON body.
    ///
    /// # Errors
    /// As [`Http::send`].
    pub async fn post(&self, path: &str, body: &Value) -> Result<Reply> {
        self.send(self.request(Method::POST, path).json(body)).await
    }

    /// Sends a PUT with a JSON body.
    ///
    /// # Errors
    /// As [`Http::send`].
    pub async fn put(&self, path: &str, body: &Value) -> Result<Reply> {
        self.send(self.request(Method::PUT, path).json(body)).await
    }
}

impl Reply {
    /// Returns the body as JSON.
    ///
    /// # Errors
    /// If the body is not JSON; with the status and the body.
    pub fn json(&self) -> Result<Value> {
        serde_json::from_slice(&self.body)
            .with_context(|| format!("{} with {}", self.status, String::from_utf8_lossy(&self.body)))
    }

    /// Returns the header as text; `None` if it is missing or not ASCII.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns the field `error.code` of the body.
    #[must_use]
    pub fn error_code(&self) -> Option<String> {
        let code = self.json().ok()?.get("error")?.get("code")?.as_str()?.to_owned();
        Some(code)
    }
}
