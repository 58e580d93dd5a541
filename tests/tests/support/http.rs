//! A plain client, and answers with all details that tests need.

use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{Client, RequestBuilder, Response};
use serde_json::Value;

/// Longer than all measured times, so that a hang fails with its own message.
const TIMEOUT: Duration = Duration::from_secs(90);

/// Returns a client without redirects and decoding. Each test has its own, because connections belong to its runtime.
pub fn client() -> Client {
    // An error means that the process already has a TLS provider, which suffices.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy().timeout(TIMEOUT).build().unwrap()
}

/// An answer, read to its end.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Reply {
    pub async fn of(request: RequestBuilder) -> Self {
        Self::try_of(request).await.unwrap()
    }

    /// Returns an error if the connection ended before the answer.
    pub async fn try_of(request: RequestBuilder) -> Result<Self, reqwest::Error> {
        let response: Response = request.send().await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = response.bytes().await?.to_vec();
        Ok(Self { status, headers, body })
    }

    pub fn text(&self) -> &str {
        str::from_utf8(&self.body).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.text()))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Returns `error.code`; empty for other answers.
    pub fn code(&self) -> String {
        let code = self.json().pointer("/error/code").and_then(Value::as_str).unwrap_or_default().to_owned();
        if !code.is_empty() {
            self.check_envelope();
        }
        code
    }

    /// Returns the paths of `error.issues`, in order.
    pub fn issues(&self) -> Vec<String> {
        let json = self.json();
        let issues = json.pointer("/error/issues").and_then(Value::as_array).cloned().unwrap_or_default();
        issues.iter().map(|issue| issue["path"].as_str().unwrap().to_owned()).collect()
    }

    /// Checks the status. Returns the body as an object.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        self.json()
    }

    /// Checks for an error with a status and code.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) {
        assert_eq!((self.status, self.code().as_str()), (status, code), "{}", self.text());
    }

    /// Checks the contract's envelope and its headers.
    pub fn check_envelope(&self) {
        let json = self.json();
        assert_eq!(names(&json), ["error", "request_id", "success"], "{json}");
        assert_eq!(json["success"], false);
        assert_eq!(json["request_id"].as_str(), self.header("x-request-id"));
        let error = &json["error"];
        let mut expected = vec!["code", "message", "retryable"];
        for optional in ["issues", "retry_after"] {
            if error.get(optional).is_some() {
                expected.push(optional);
            }
        }
        expected.sort_unstable();
        assert_eq!(names(error), expected, "{json}");
        assert!(error["code"].as_str().is_some_and(|code| !code.is_empty()), "{json}");
        assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{json}");
        assert!(error["retryable"].is_boolean(), "{json}");
        let retry_after = error.get("retry_after").map(|seconds| seconds.as_u64().unwrap().to_string());
        assert_eq!(retry_after.as_deref(), self.header("retry-after"), "{json}");
        for issue in error.get("issues").and_then(Value::as_array).into_iter().flatten() {
            assert_eq!(names(issue), ["message", "path"], "{json}");
        }
        if self.status >= 500 {
            let text = self.text().to_lowercase();
            for leak in ["panicked", "sqlite", "postgres", "error:", "127.0.0.1", "/src/", "reqwest"] {
                assert!(!text.contains(leak), "a cause leaks: {text}");
            }
        }
    }
}

/// Returns the names of an object's members, sorted.
pub fn names(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}
