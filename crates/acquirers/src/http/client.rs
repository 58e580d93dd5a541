//! Builds the one HTTP client of an acquirer, with its limits.

use std::time::Duration;

use reqwest::Client;
use reqwest::redirect::Policy;

use super::certificate::Certificate;
use super::tls::{self, TlsError};

/// Idle connections are closed before the usual load balancer (60 s) does it under our hands.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Idle connections kept per host.
const MAX_IDLE: usize = 256;
/// How often a silent connection is probed.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// What differs from acquirer to acquirer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientSettings<'a> {
    pub(crate) certificate: Option<&'a Certificate>,
    pub(crate) extra_root_pem: Option<&'a [u8]>,
    /// Whether any address is `https`; without one no root is loaded.
    pub(crate) uses_tls: bool,
    /// For DNS, TCP and TLS together.
    pub(crate) connect_timeout: Duration,
}

/// A client that follows no redirect, uses no proxy and waits for no connection longer than told.
///
/// It has no timeout of its own for whole calls: each call brings its deadline.
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
