//! The configuration of an institution's API Pix.

use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::pix_key::PixKey;

use super::profile::Profile;
use crate::http::{Certificate, Secret, TlsError, UrlError};

/// The configuration of one institution. `Debug` shows no secret.
#[derive(Debug, Clone)]
pub struct BacenConfig {
    /// The institution's name in records, logs and metrics.
    pub name: AcquirerName,
    /// The address below which the API is, such as `https://pix.example`. `http` is accepted only for this machine.
    pub base_url: String,
    /// The address that issues tokens. `None` means `base_url` followed by the profile's `token_path`.
    pub token_url: Option<String>,
    /// The id of the `OAuth2` client.
    pub client_id: String,
    /// The client's secret.
    pub client_secret: Secret,
    /// The client certificate of mutual TLS.
    pub certificate: Option<Certificate>,
    /// PEM roots in addition to the system's, for an institution with its own certificate authority.
    pub extra_root_pem: Option<Vec<u8>>,
    /// The Pix key that receives the payments.
    pub pix_key: PixKey,
    /// The differences of the institution from the standard.
    pub profile: Profile,
    /// The value for `{application_key}` in the profile, if the profile needs one.
    pub application_key: Option<Secret>,
    /// Time limits within the budget of a call.
    pub timeouts: Timeouts,
}

/// Time limits of parts of a call. The caller's budget limits the whole call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// The limit for DNS, TCP and TLS together.
    pub connect: Duration,
    /// The limit for one token request, connection included.
    pub token: Duration,
}

/// Two seconds for a connection, three for a token.
impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(2), token: Duration::from_secs(3) }
    }
}

/// The reason for which a configuration is invalid.
#[derive(Debug, thiserror::Error)]
pub enum BacenConfigError {
    /// The address of the API is invalid.
    #[error("base_url {0}")]
    BaseUrl(UrlError),
    /// The address that issues tokens is invalid.
    #[error("token_url {0}")]
    TokenUrl(UrlError),
    /// The id is empty, is not visible ASCII, or contains a colon. A colon separates id and secret in HTTP Basic (RFC 7617, 2).
    #[error("client_id must be visible ASCII without a colon")]
    ClientId,
    /// The secret is empty or not allowed in a header.
    #[error("client_secret must not be empty")]
    ClientSecret,
    /// A header or query of the profile needs the key of the application, which is missing.
    #[error("application_key is missing: each request to this institution needs it")]
    ApplicationKey,
    /// A path or header of the profile is not valid. The value is `path` or `header`.
    #[error("the profile has an invalid {0}")]
    Profile(&'static str),
    /// A certificate is unusable, or TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

impl BacenConfig {
    /// Creates a configuration without certificates, with the default profile, token address and time limits.
    #[must_use]
    pub fn new(
        name: AcquirerName,
        base_url: impl Into<String>,
        client_id: impl Into<String>,
        client_secret: Secret,
        pix_key: PixKey,
    ) -> Self {
        Self {
            name,
            base_url: base_url.into(),
            token_url: None,
            client_id: client_id.into(),
            client_secret,
            certificate: None,
            extra_root_pem: None,
            pix_key,
            profile: Profile::default(),
            application_key: None,
            timeouts: Timeouts::default(),
        }
    }
}
