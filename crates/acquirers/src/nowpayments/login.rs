//! The token of the account's login, needed for withdrawals and lists.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use reqwest::{Method, Request, Url};
use serde::{Deserialize, Serialize};

use super::config::{NowPaymentsConfig, NowPaymentsConfigError};
use crate::http::{Granted, TokenGrant};

/// The documented life of a token. The answer does not show it.
const LIFE: Duration = Duration::from_mins(5);

/// The login of one account.
pub(super) struct Login {
    url: Url,
    body: Vec<u8>,
}

#[derive(Serialize)]
struct Credentials<'a> {
    email: &'a str,
    password: &'a str,
}

#[derive(Deserialize)]
struct Grant {
    token: String,
}

impl Login {
    pub(super) fn new(url: Url, config: &NowPaymentsConfig) -> Result<Self, NowPaymentsConfigError> {
        let (email, password) = (config.email.as_str(), config.password.expose());
        if email.is_empty() || password.is_empty() {
            return Err(NowPaymentsConfigError::Login);
        }
        let body = serde_json::to_vec(&Credentials { email, password }).map_err(|_| NowPaymentsConfigError::Login)?;
        Ok(Self { url, body })
    }
}

impl TokenGrant for Login {
    fn request(&self) -> Request {
        let mut request = Request::new(Method::POST, self.url.clone());
        let json = HeaderValue::from_static("application/json");
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, json.clone());
        headers.insert(ACCEPT, json);
        *request.body_mut() = Some(self.body.clone().into());
        request
    }

    fn read(&self, body: &[u8]) -> Option<Granted> {
        let grant: Grant = serde_json::from_slice(body).ok()?;
        Some(Granted { token: grant.token, life: LIFE })
    }
}

/// Omits the body, which contains the password.
impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login").field("url", &self.url.as_str()).finish_non_exhaustive()
    }
}
