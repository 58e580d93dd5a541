//! The configuration of the NOWPayments account.

use cais_domain::acquirer_name::AcquirerName;

use crate::bacen::Timeouts;
use crate::http::{Secret, TlsError, UrlError};

/// The configuration of an account at NOWPayments. `Debug` shows no secret.
#[derive(Debug, Clone)]
pub struct NowPaymentsConfig {
    /// The processor's name in records, logs and metrics.
    pub name: AcquirerName,
    /// The address that paths such as `/v1/payment` are appended to. `http` is accepted only for this machine.
    pub base_url: String,
    /// The API key. Deposits are readable only with the key that created them.
    pub api_key: Secret,
    /// The e-mail of the login for withdrawals and lists, case-sensitive.
    pub email: String,
    /// The password of the login.
    pub password: Secret,
    /// The secret of the one-time codes that verify withdrawals, in base32.
    pub totp_secret: Secret,
    /// The secret with which NOWPayments signs callbacks (IPN).
    pub ipn_secret: Secret,
    /// Our address for callbacks. With `None`, NOWPayments uses the address in the account's settings.
    pub callback_url: Option<String>,
    /// PEM roots in addition to the system's.
    pub extra_root_pem: Option<Vec<u8>>,
    /// Time limits within the budget of a call.
    pub timeouts: Timeouts,
}

/// The reason a configuration is invalid.
#[derive(Debug, thiserror::Error)]
pub enum NowPaymentsConfigError {
    /// The address of the API is invalid.
    #[error("base_url {0}")]
    BaseUrl(UrlError),
    /// The API key is empty or not allowed in a header.
    #[error("api_key must be visible ASCII and not empty")]
    ApiKey,
    /// The login is incomplete.
    #[error("email and password must not be empty")]
    Login,
    /// The secret of the one-time codes is not base32 or too short.
    #[error("totp_secret must be base32 of at least 80 bits")]
    TotpSecret,
    /// The secret of the signatures is empty, so every sender could sign a callback.
    #[error("ipn_secret must not be empty")]
    IpnSecret,
    /// A certificate is unusable, or TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

impl NowPaymentsConfig {
    /// The address of NOWPayments' production API.
    pub const BASE_URL: &'static str = "https://api.nowpayments.io";
}
