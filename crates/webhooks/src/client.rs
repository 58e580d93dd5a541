//! The HTTP clients of the sender and the relay. They connect directly, and their only state is open connections.

use cais_ports::alerts;
use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, retry};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

use crate::resolver::Resolver;

/// The `User-Agent` of all requests.
const USER_AGENT: &str = concat!("Cais/", env!("CARGO_PKG_VERSION"));
/// The time before this client closes an idle connection: shorter than the 5 s after which common servers close it.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);
/// The largest number of idle connections per host. One endpoint can have 8 deliveries in flight, and two endpoints may
/// share a host.
const MAX_IDLE: usize = 16;
/// The largest number of headers of an answer. Some servers exceed 100, the default of the HTTP library.
const MAX_HEADERS: usize = 256;

/// The reason a sender cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum SenderError {
    /// The TLS library returned an error.
    #[error("TLS cannot be set up")]
    Tls(#[from] rustls::Error),
    /// The HTTP library returned an error.
    #[error("the HTTP client cannot be set up")]
    Client(#[from] reqwest::Error),
}

/// Returns the system's root certificates. If there are none, logs an alert, because then every call over TLS fails.
pub(crate) fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    // Unreadable certificates of the system are skipped, as in other clients.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        tracing::warn!(
            alert = alerts::ROOT_CERTIFICATES_MISSING,
            "system has no root certificates; webhooks to https addresses fail"
        );
    }
    roots
}

/// Builds the client that calls receivers. The client has no redirects, cookies, decompression or retries. It has no
/// proxies either, because a proxy would resolve the names without the checks of [`Resolver`].
///
/// A receiver can send informational (1xx) answers until the 15 s of an attempt are over. The HTTP library (`reqwest`)
/// limits neither their number nor their bytes, and has no setting for such limits.
pub(crate) fn for_receivers(
    roots: RootCertStore,
    resolver: Resolver,
    connect_timeout: Duration,
) -> Result<Client, SenderError> {
    let builder = plain(roots)?
        .dns_resolver(resolver)
        .connect_timeout(connect_timeout)
        .http1_ignore_invalid_headers_in_responses(true)
        .http1_allow_obsolete_multiline_headers_in_responses(true)
        .http1_allow_spaces_after_header_name_in_responses(true)
        .http1_max_headers(MAX_HEADERS);
    Ok(builder.build()?)
}

/// Returns the settings that the client for receivers and the client of the relay share.
pub(crate) fn plain(roots: RootCertStore) -> Result<ClientBuilder, SenderError> {
    let mut tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Client::builder()
        .tls_backend_preconfigured(tls)
        .http1_only()
        .user_agent(USER_AGENT)
        .redirect(Policy::none())
        .retry(retry::never())
        .referer(false)
        .no_proxy()
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
        .pool_idle_timeout(IDLE_TIMEOUT)
        .pool_max_idle_per_host(MAX_IDLE)
        .tcp_nodelay(true))
}
