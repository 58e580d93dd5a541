//! The configuration of an account at Woovi.

use cais_domain::acquirer_name::AcquirerName;

use crate::bacen::Timeouts;
use crate::http::{Secret, TlsError, UrlError};

/// An account at Woovi. `Debug` shows no secret.
#[derive(Debug, Clone)]
pub struct WooviConfig {
    /// The name in records, logs and metrics.
    pub name: AcquirerName,
    /// The base of the paths `/api/v1/…`: `https`, or `http` on this machine.
    pub base_url: String,
    /// The `AppID`, the whole value of the header `Authorization`.
    pub app_id: Secret,
    /// The public keys that verify the signatures of callbacks, as PEM text. The text may contain several keys.
    pub webhook_public_key: Option<String>,
    /// The secret that verifies the older signature of callbacks, an HMAC.
    pub webhook_hmac_secret: Option<Secret>,
    /// Root certificates in PEM, in addition to the system's.
    pub extra_root_pem: Option<Vec<u8>>,
    /// Time limits within the budget of a call.
    pub timeouts: Timeouts,
}

/// The reason a configuration is invalid.
#[derive(Debug, thiserror::Error)]
pub enum WooviConfigError {
    /// The address of the API is invalid.
    #[error("base_url {0}")]
    BaseUrl(UrlError),
    /// The `AppID` is empty or not allowed in a header.
    #[error("app_id must be visible ASCII and not empty")]
    AppId,
    /// The public keys cannot be read, or are not RSA keys of 1024 bits or more.
    #[error("webhook_public_key_file must have RSA public keys in PEM, of 1024 bits or more")]
    PublicKey,
    /// The HMAC secret is empty, so every sender could sign.
    #[error("webhook_hmac_secret must not be empty")]
    HmacSecret,
    /// No key is configured, so no callback could be verified.
    #[error("webhook_public_key_file or webhook_hmac_secret is required: callbacks must be verified")]
    NoCallbackKey,
    /// A certificate is unusable, or TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

impl WooviConfig {
    /// The base of Woovi's production API.
    pub const BASE_URL: &'static str = "https://api.woovi.com";
}
