//! Our client certificate from an institution, as a PEM or a PKCS#12 file.

use std::fmt;

use jiff::Timestamp;
use p12_keystore::Pkcs12Archive;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use x509_cert::der::Decode;

use cais_ports::Secret;

/// The text that every PEM file contains. A PKCS#12 file is binary and does not contain it.
const PEM_MARK: &[u8] = b"-----BEGIN ";
/// The largest number of certificates that are read from a file; further ones are ignored. Real chains have two or three.
const MAX_CHAIN: usize = 10;

/// The content of a certificate file: a PKCS#12 file, or PEM with the certificate, its chain and its unencrypted key.
#[derive(Clone)]
pub struct Certificate {
    bytes: Vec<u8>,
    passphrase: Option<Secret>,
}

/// The reason a certificate file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    /// The PEM text is broken.
    #[error("is not valid PEM")]
    BrokenPem,
    /// The file is neither PEM nor PKCS#12, or the passphrase is wrong.
    #[error("is neither PEM nor a PKCS#12 file, or the passphrase is wrong")]
    Unopened,
    /// The file has no certificate.
    #[error("has no certificate")]
    NoCertificate,
    /// A certificate in the file is not X.509.
    #[error("has a certificate that cannot be read")]
    BrokenCertificate,
    /// The file has no unencrypted private key.
    #[error("has no private key that can be read")]
    NoKey,
}

/// A chain that starts with our certificate, and the private key of our certificate.
pub(super) struct Identity {
    pub(super) chain: Vec<CertificateDer<'static>>,
    pub(super) key: PrivateKeyDer<'static>,
}

impl Certificate {
    /// Creates a certificate from the bytes of a file. The format is detected. Without a passphrase, a PKCS#12 file is
    /// opened with the empty passphrase.
    #[must_use]
    pub fn new(bytes: Vec<u8>, passphrase: Option<Secret>) -> Self {
        Self { bytes, passphrase }
    }

    /// Returns the instant at which the client certificate expires. The other certificates of its chain are not read.
    ///
    /// # Errors
    /// [`CertificateError`].
    pub fn expires_at(&self) -> Result<Timestamp, CertificateError> {
        let identity = self.identity()?;
        let own = identity.chain.first().ok_or(CertificateError::NoCertificate)?;
        let read = x509_cert::Certificate::from_der(own).map_err(|_| CertificateError::BrokenCertificate)?;
        let end = read.tbs_certificate().validity().not_after.to_unix_duration();
        let seconds = i64::try_from(end.as_secs()).map_err(|_| CertificateError::BrokenCertificate)?;
        Timestamp::from_second(seconds).map_err(|_| CertificateError::BrokenCertificate)
    }

    /// Opens the file.
    pub(super) fn identity(&self) -> Result<Identity, CertificateError> {
        let is_pem = self.bytes.windows(PEM_MARK.len()).any(|window| window == PEM_MARK);
        if is_pem { self.open_pem() } else { self.open_pkcs12() }
    }

    fn open_pem(&self) -> Result<Identity, CertificateError> {
        let chain = read_pem_certificates(&self.bytes)?;
        if chain.is_empty() {
            return Err(CertificateError::NoCertificate);
        }
        let key = PrivateKeyDer::from_pem_slice(&self.bytes).map_err(|_| CertificateError::NoKey)?;
        Ok(Identity { chain, key })
    }

    fn open_pkcs12(&self) -> Result<Identity, CertificateError> {
        let passphrase = self.passphrase.as_ref().map_or("", Secret::expose);
        let archive = Pkcs12Archive::from_pkcs12(&self.bytes, passphrase).map_err(|_| CertificateError::Unopened)?;
        let key = archive.keys.first().ok_or(CertificateError::NoKey)?;
        // The certificate of the key must come first in the chain, but can be at any position in the file. Some files link certificate and
        // key by an id. In other files, the order stays.
        let is_own = |id: &Option<Vec<u8>>| match (id, &key.local_key_id) {
            (Some(certificate), Some(key)) => certificate.as_slice() == key.as_ref(),
            (None | Some(_), None) | (None, Some(_)) => false,
        };
        let (own, others): (Vec<_>, Vec<_>) = archive.certs.iter().partition(|bag| is_own(&bag.local_key_id));
        let chain: Vec<_> = own
            .into_iter()
            .chain(others)
            .take(MAX_CHAIN)
            .map(|bag| CertificateDer::from(bag.cert.as_der().to_vec()))
            .collect();
        if chain.is_empty() {
            return Err(CertificateError::NoCertificate);
        }
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.key.as_der().to_vec()));
        Ok(Identity { chain, key })
    }
}

/// Returns the certificates of a PEM text.
pub(super) fn read_pem_certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
    CertificateDer::pem_slice_iter(pem)
        .take(MAX_CHAIN)
        .collect::<Result<_, _>>()
        .map_err(|_| CertificateError::BrokenPem)
}

/// Shows only the size, because the file contains the key.
impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Certificate({} bytes, ***)", self.bytes.len())
    }
}
