//! Our TLS configuration: the crypto provider `ring`, the roots of the system and of the institution, and our client
//! certificate. Each client has its own configuration; no process-wide setting is used.

use std::sync::Arc;

use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

use super::certificate::{Certificate, CertificateError, read_pem_certificates};

/// The reason TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The client certificate is unusable.
    #[error("the client certificate {0}")]
    Certificate(CertificateError),
    /// The extra root is unusable.
    #[error("the extra root certificate {0}")]
    ExtraRoot(CertificateError),
    /// Neither the system nor the configuration has roots, so no server could be verified.
    #[error("no trusted root certificate found: install the system's, or configure an extra one")]
    NoRoots,
    /// The TLS library refused the input, such as a key of another certificate.
    #[error("TLS cannot be set up")]
    Library(#[from] rustls::Error),
}

/// Builds the configuration with trusted roots and our certificate. The system's roots are loaded if `needs_roots`.
pub(super) fn client_config(
    identity: Option<&Certificate>,
    extra_root_pem: Option<&[u8]>,
    needs_roots: bool,
) -> Result<ClientConfig, TlsError> {
    let mut roots = RootCertStore::empty();
    if let Some(pem) = extra_root_pem {
        let extra = read_pem_certificates(pem).map_err(TlsError::ExtraRoot)?;
        if extra.is_empty() {
            return Err(TlsError::ExtraRoot(CertificateError::NoCertificate));
        }
        for root in extra {
            roots.add(root)?;
        }
    }
    if needs_roots {
        // Unreadable certificates of the system are skipped, as in other clients. If no root remains, the code below returns an error.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err(TlsError::NoRoots);
        }
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots);
    let mut config = match identity {
        Some(certificate) => {
            let identity = certificate.identity().map_err(TlsError::Certificate)?;
            builder.with_client_auth_cert(identity.chain, identity.key)?
        }
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
