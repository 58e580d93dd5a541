//! What must be known of an institution to use its API Pix.

use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::pix_key::PixKey;

use crate::http::{Certificate, Secret, TlsError, UrlError};

/// An institution of the API Pix. Its `Debug` shows no secret.
#[derive(Debug, Clone)]
pub struct BacenConfig {
    /// What records, logs and metrics call it.
    pub name: AcquirerName,
    /// What the paths `/v2/…` are appended to: `https`, or `http` on this machine.
    pub base_url: String,
    /// Where tokens are issued; `None` is `/oauth/token` below `base_url`.
    pub token_url: Option<String>,
    /// `OAuth2` client.
    pub client_id: String,
    /// Its secret.
    pub client_secret: Secret,
    /// The client certificate of mutual TLS.
    pub certificate: Option<Certificate>,
    /// Roots to trust besides the system's, PEM: of an institution with its own authority.
    pub extra_root_pem: Option<Vec<u8>>,
    /// The key that receives.
    pub pix_key: PixKey,
    /// Limits within the budget of a call.
    pub timeouts: Timeouts,
}

/// Limits in time; whole calls are limited by the budget that each call brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For DNS, TCP and TLS together.
    pub connect: Duration,
    /// For one request of a token, connection included.
    pub token: Duration,
}

/// Two seconds to connect, three for a token.
impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(2), token: Duration::from_secs(3) }
    }
}

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BacenConfigError {
    /// The address of the API.
    #[error("base_url {0}")]
    BaseUrl(UrlError),
    /// The address of tokens.
    #[error("token_url {0}")]
    TokenUrl(UrlError),
    /// HTTP Basic separates id and secret by a colon (RFC 7617, 2).
    #[error("client_id must be visible ASCII without a colon")]
    ClientId,
    /// Empty, or not to be written into a header.
    #[error("client_secret must not be empty")]
    ClientSecret,
    /// Certificates or TLS.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

impl BacenConfig {
    /// A configuration without certificates, with the usual address of tokens and the usual limits.
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
            timeouts: Timeouts::default(),
        }
    }
}
