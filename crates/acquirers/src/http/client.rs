//! Builds the HTTP client of an acquirer, with its limits.

use std::time::Duration;

use reqwest::Client;
use reqwest::redirect::Policy;

use super::certificate::Certificate;
use super::tls::{self, TlsError};

/// The time before idle connections close: shorter than the 60 s of common load balancers.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// The most idle connections per host.
const MAX_IDLE: usize = 256;
/// The idle time after which TCP probes a connection.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// The settings that differ between acquirers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientSettings<'a> {
    pub(crate) certificate: Option<&'a Certificate>,
    pub(crate) extra_root_pem: Option<&'a [u8]>,
    /// True if any address is `https`. Otherwise the system's roots are not loaded.
    pub(crate) uses_tls: bool,
    /// The limit for DNS, TCP and TLS together.
    pub(crate) connect_timeout: Duration,
}

/// Builds a client that follows no redirects, uses no proxies and has a connect timeout.
///
/// The client has no timeout for whole calls, because each call has its own deadline.
pub(crate) fn build(settings: ClientSettings<'_>) -> Result<Client, TlsError> {
    let tls = tls::client_config(settings.certificate, settings.extra_root_pem, settings.uses_tls)?;
    Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(Policy::none())
        .referer(false)
        .no_proxy()
        .connect_timeout(settings.connect_timeout)
        .pool_idle_timeout(IDLE_TIMEOUT)
        .pool_max_idle_per_host(MAX_IDLE)
        .tcp_nodelay(true)
        .tcp_keepalive(KEEPALIVE)
        .build()
        .map_err(|error| TlsError::Library(rustls::Error::General(error.to_string())))
}
