//! A client without conveniences, and answers with everything that a test may ask of them.

use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{Client, RequestBuilder, Response};
use serde_json::Value;

/// Longer than anything that is measured, so that a hang fails with its own message.
const TIMEOUT: Duration = Duration::from_secs(90);

/// A client that follows nothing and hides nothing. Each test has its own, because connections belong to its runtime.
pub fn client() -> Client {
    // An error means that the process has a TLS provider already, which serves as well.
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

    /// `Err` when the connection ended before the answer did.
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

    /// `error.code`; empty for what is no error.
    pub fn code(&self) -> String {
        let code = self.json().pointer("/error/code").and_then(Value::as_str).unwrap_or_default().to_owned();
        if !code.is_empty() {
            self.check_envelope();
        }
        code
    }

    /// The paths of `error.issues`, in their order.
    pub fn issues(&self) -> Vec<String> {
        let json = self.json();
        let issues = json.pointer("/error/issues").and_then(Value::as_array).cloned().unwrap_or_default();
        issues.iter().map(|issue| issue["path"].as_str().unwrap().to_owned()).collect()
    }

    /// The status, and the body as an object, or a failure that shows both.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        self.json()
    }

    /// A failure with that status and code.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) {
        assert_eq!((self.status, self.code().as_str()), (status, code), "{}", self.text());
    }

    /// Exactly the contract's envelope, and what belongs to it in the headers.
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

/// The names of an object's members, sorted.
pub fn names(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}
