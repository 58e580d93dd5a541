//! Requests access tokens with `OAuth2` client credentials (RFC 6749, 4.4). An institution requires a form or JSON as the body.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Method, Request, Url};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::config::{BacenConfig, BacenConfigError};
use super::profile::CredentialsIn;
use crate::http::{Granted, Secret, TokenGrant};

/// The assumed life of a token if the answer has no `expires_in`, in seconds. RFC 6749 permits such an answer. The value
/// is short, so that an expired token is rarely used.
const DEFAULT_LIFE_S: u64 = 300;

/// The encoding of a token request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrantForm {
    /// The encoding of HTML forms, as in the RFC.
    Form,
    /// JSON.
    Json,
}

/// The client credentials of one institution.
#[derive(Debug)]
pub(super) struct ClientCredentials {
    url: Url,
    form: GrantForm,
    /// The whole value of the header `Authorization`, marked sensitive; `None` if the body contains the credentials.
    header: Option<HeaderValue>,
    body: Secret,
}

#[derive(Deserialize)]
struct Grant<'a> {
    access_token: String,
    token_type: Option<String>,
    /// The life of the token in seconds. Some institutions send the number as a string.
    #[serde(borrow)]
    expires_in: Option<&'a RawValue>,
}

impl GrantForm {
    const fn content_type(self) -> &'static str {
        match self {
            Self::Form => "application/x-www-form-urlencoded",
            Self::Json => "application/json",
        }
    }

    /// Returns the body with these fields.
    fn body(self, fields: &[(&str, &str)], url: &Url) -> String {
        match self {
            Self::Form => {
                // A form is encoded like the query of a URL, so a copy of `url` serves as the encoder.
                let mut form = url.clone();
                form.query_pairs_mut().clear().extend_pairs(fields);
                form.query().unwrap_or_default().to_owned()
            }
            Self::Json => {
                let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned().into()));
                serde_json::Value::Object(fields.collect()).to_string()
            }
        }
    }
}

impl ClientCredentials {
    pub(super) fn new(mut url: Url, form: GrantForm, config: &BacenConfig) -> Result<Self, BacenConfigError> {
        let BacenConfig { client_id, client_secret, profile, .. } = config;
        let id_is_plain = client_id.bytes().all(|byte| byte.is_ascii_graphic());
        if client_id.is_empty() || client_id.contains(':') || !id_is_plain {
            return Err(BacenConfigError::ClientId);
        }
        if client_secret.expose().is_empty() {
            return Err(BacenConfigError::ClientSecret);
        }
        let pair = STANDARD.encode(format!("{client_id}:{}", client_secret.expose()));
        let mut header = HeaderValue::try_from(format!("Basic {pair}")).map_err(|_| BacenConfigError::ClientSecret)?;
        header.set_sensitive(true);
        let mut fields = vec![("grant_type", "client_credentials")];
        let header = match profile.credentials {
            CredentialsIn::Header => Some(header),
            CredentialsIn::Body => {
                fields.extend([("client_id", client_id.as_str()), ("client_secret", client_secret.expose())]);
                None
            }
        };
        fields.extend(profile.scope.as_deref().map(|scope| ("scope", scope)));
        if !profile.token_query.is_empty() {
            url.query_pairs_mut().extend_pairs(&profile.token_query);
        }
        let body = Secret::new(form.body(&fields, &url));
        Ok(Self { url, form, header, body })
    }
}

impl TokenGrant for ClientCredentials {
    fn request(&self) -> Request {
        let mut request = Request::new(Method::POST, self.url.clone());
        let headers = request.headers_mut();
        if let Some(header) = &self.header {
            headers.insert(AUTHORIZATION, header.clone());
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.form.content_type()));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        *request.body_mut() = Some(self.body.expose().to_owned().into());
        request
    }

    fn read(&self, body: &[u8]) -> Option<Granted> {
        let grant: Grant<'_> = serde_json::from_slice(body).ok()?;
        let is_bearer = grant.token_type.as_ref().is_none_or(|kind| kind.eq_ignore_ascii_case("bearer"));
        let life_s = match grant.expires_in {
            Some(text) => text.get().trim_matches('"').parse().ok()?,
            None => DEFAULT_LIFE_S,
        };
        is_bearer.then(|| Granted { token: grant.access_token, life: Duration::from_secs(life_s) })
    }
}
