//! The one HTTP client of a sender: it goes where it is told, straight, and remembers nothing but open connections.

use cais_ports::alerts;
use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, retry};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

use crate::resolver::Resolver;

/// What senders of webhooks call themselves.
const USER_AGENT: &str = concat!("Cais/", env!("CARGO_PKG_VERSION"));
/// Idle connections are closed before the usual servers, 5 s for several, do it under our hands.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);
/// Idle connections kept per host: twice what is in flight for one endpoint, because endpoints may share a host.
const MAX_IDLE: usize = 16;
/// The most headers of an answer that are read; none of ours matters, but some servers have over the usual 100.
const MAX_HEADERS: usize = 256;

/// Why a sender cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum SenderError {
    /// The TLS library.
    #[error("TLS cannot be set up")]
    Tls(#[from] rustls::Error),
    /// The HTTP library.
    #[error("the HTTP client cannot be set up")]
    Client(#[from] reqwest::Error),
}

/// The certificates that the system trusts. Without any, every receiver with TLS fails, and the log says why.
pub(crate) fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    // Broken certificates of the system are left out, as every client does.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        tracing::warn!(
            alert = alerts::ROOT_CERTIFICATES_MISSING,
            "the system has no root certificates; no https address can be called"
        );
    }
    roots
}

/// A client for receivers. It follows no redirect, uses no proxy (which would resolve names itself), keeps no cookie, unpacks
/// nothing, and sends once.
///
/// Informational (1xx) answers have no limit but the 15 s of an attempt. The HTTP library counts neither them nor the bytes before the final
/// head. The library's connector layers see no bytes. The library also drops the request extension that would carry a callback for such answers.
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

/// What all clients here have in common.
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
