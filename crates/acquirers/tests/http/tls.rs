//! Tests mutual TLS: trusted servers, and our certificate.

use std::sync::{Arc, LazyLock};

use cais_acquirers::{BacenAcquirer, BacenConfig, Certificate, Secret};
use cais_ports::Acquirer;
use p12_keystore::{EncryptionAlgorithm, KeyStore, KeyStoreEntry, MacAlgorithm, PrivateKey, PrivateKeyChain};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};
use tokio_rustls::TlsAcceptor;

use crate::answers::{BUDGET, cob, config, json_reply, kind, order, reason, token};
use crate::server::{Act, Seen, Server};

/// The authority that adapters under test trust.
pub static TRUSTED: LazyLock<Authority> = LazyLock::new(Authority::new);

/// An authority with its certificates.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

struct Issued {
    certificate: rcgen::Certificate,
    key: KeyPair,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn issue(&self, name: &str) -> Issued {
        self.issue_until(name, 2100)
    }

    /// Issues a certificate that expires at the beginning of `year`.
    fn issue_until(&self, name: &str, year: i32) -> Issued {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_after = rcgen::date_time_ymd(year, 1, 1);
        let certificate = params.signed_by(&key, &self.0).unwrap();
        Issued { certificate, key }
    }

    pub fn pem(&self) -> Vec<u8> {
        self.0.pem().into_bytes()
    }

    /// Returns an acceptor with a certificate for `name` that expires at the beginning of `year`. Clients need no certificate.
    pub fn open_acceptor(&self, name: &str, year: i32) -> TlsAcceptor {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_protocol_versions(BOTH).unwrap();
        let server = self.issue_until(name, year);
        let config = config.with_no_client_auth().with_single_cert(server.chain(), server.private_key()).unwrap();
        TlsAcceptor::from(Arc::new(config))
    }

    /// Returns an acceptor of this authority that accepts only its clients.
    fn acceptor(&self, versions: &[&'static SupportedProtocolVersion]) -> TlsAcceptor {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        let clients =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).build().unwrap();
        let server = self.issue("localhost");
        let config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .unwrap()
            .with_client_cert_verifier(clients)
            .with_single_cert(server.chain(), server.private_key())
            .unwrap();
        TlsAcceptor::from(Arc::new(config))
    }
}

impl Issued {
    fn chain(&self) -> Vec<CertificateDer<'static>> {
        vec![CertificateDer::from(self.certificate.der().to_vec())]
    }

    fn private_key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key.serialize_der()))
    }

    fn pem(&self) -> Certificate {
        let text = format!("{}{}", self.key.serialize_pem(), self.certificate.pem());
        Certificate::new(text.into_bytes(), None)
    }

    fn pkcs12(&self, passphrase: &str, encryption: EncryptionAlgorithm, mac: MacAlgorithm) -> Vec<u8> {
        let key = PrivateKey::from_der(&self.key.serialize_der()).unwrap();
        let certificate = p12_keystore::Certificate::from_der(self.certificate.der()).unwrap();
        let mut store = KeyStore::new();
        let chain = PrivateKeyChain::new("id", key, [certificate]);
        store.add_entry("client", KeyStoreEntry::PrivateKeyChain(chain));
        store.writer(passphrase).encryption_algorithm(encryption).mac_algorithm(mac).write().unwrap()
    }
}

fn script(seen: &Seen, _: usize) -> Act {
    match seen.path.as_str() {
        "/oauth/token" => token("t", "3600"),
        _ => json_reply(201, &cob()),
    }
}

async fn create(config: &BacenConfig) -> Result<cais_ports::UpstreamCharge, cais_ports::AcquirerError> {
    let acquirer = BacenAcquirer::new(config).unwrap();
    acquirer.create_charge(&order(), BUDGET).await
}

const BOTH: &[&SupportedProtocolVersion] = &[&rustls::version::TLS13, &rustls::version::TLS12];

#[tokio::test]
async fn certificate_is_accepted_in_every_format() {
    let authority = Authority::new();
    let client = authority.issue("client");
    let modern = (EncryptionAlgorithm::PbeWithHmacSha256AndAes256, MacAlgorithm::HmacSha256);
    let legacy = (EncryptionAlgorithm::PbeWithShaAnd3KeyTripleDesCbc, MacAlgorithm::HmacSha1);
    let files = [
        client.pem(),
        Certificate::new(client.pkcs12("pass", modern.0, modern.1), Some(Secret::new("pass"))),
        Certificate::new(client.pkcs12("", modern.0, modern.1), None),
        Certificate::new(client.pkcs12("", legacy.0, legacy.1), None),
    ];
    for versions in [BOTH, &[&rustls::version::TLS12]] {
        let server = Server::start_raw(Some(authority.acceptor(versions)), script).await;
        for file in &files {
            let mut config = config(&server.url());
            config.extra_root_pem = Some(authority.pem());
            config.certificate = Some(file.clone());
            let result = create(&config).await;
            assert_eq!(kind(&result), "ok", "{file:?}: {}", reason(&result));
        }
    }
}

#[tokio::test]
async fn refused_tls_handshake_is_certain() {
    let authority = Authority::new();
    let stranger = Authority::new();
    let own = authority.issue("client").pem();
    let foreign = stranger.issue("client").pem();
    let tokens = Server::start_raw(None, script).await;
    for versions in [BOTH, &[&rustls::version::TLS12]] {
        let server = Server::start_raw(Some(authority.acceptor(versions)), script).await;
        for (name, root, certificate) in [
            ("no certificate", Some(authority.pem()), None),
            ("a foreign certificate", Some(authority.pem()), Some(&foreign)),
            ("a server we do not trust", Some(stranger.pem()), Some(&own)),
        ] {
            let mut config = config(&server.url());
            config.extra_root_pem = root;
            config.certificate = certificate.cloned();
            let result = create(&config).await;
            assert_eq!(kind(&result), "unavailable", "{name}: {}", reason(&result));
            // With a cached token, so that the charge's own request is refused.
            config.token_url = Some(format!("{}/oauth/token", tokens.url()));
            let result = create(&config).await;
            assert_eq!(kind(&result), "unavailable", "{name}: {}", reason(&result));
            assert!(reason(&result).contains("no connection"), "{name}: {}", reason(&result));
        }
        assert!(server.seen().is_empty());
    }
}

#[test]
fn certificate_in_every_format_shows_its_expiry_date() {
    let authority = Authority::new();
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["client".to_owned()]).unwrap();
    params.not_after = rcgen::date_time_ymd(2031, 3, 4);
    let client = Issued { certificate: params.signed_by(&key, &authority.0).unwrap(), key };
    let p12 = client.pkcs12("pass", EncryptionAlgorithm::PbeWithHmacSha256AndAes256, MacAlgorithm::HmacSha256);
    for file in [client.pem(), Certificate::new(p12.clone(), Some(Secret::new("pass")))] {
        assert_eq!(file.expires_at().unwrap().to_string(), "2031-03-04T00:00:00Z");
    }
    assert!(Certificate::new(p12, None).expires_at().is_err());
}

#[test]
fn unusable_certificate_file_is_named() {
    let authority = Authority::new();
    let client = authority.issue("client");
    let other = authority.issue("client");
    let p12 = client.pkcs12("pass", EncryptionAlgorithm::PbeWithHmacSha256AndAes256, MacAlgorithm::HmacSha256);
    let only_certificate = client.certificate.pem().into_bytes();
    let mixed = format!("{}{}", client.certificate.pem(), other.key.serialize_pem()).into_bytes();
    for (name, certificate, message) in [
        ("wrong passphrase", Certificate::new(p12.clone(), Some(Secret::new("other"))), "or the passphrase is wrong"),
        ("no passphrase", Certificate::new(p12, None), "or the passphrase is wrong"),
        ("no key", Certificate::new(only_certificate, None), "has no private key"),
        ("another's key", Certificate::new(mixed, None), "TLS cannot be set up"),
    ] {
        let mut config = config("http://127.0.0.1:9");
        config.certificate = Some(certificate);
        let error = BacenAcquirer::new(&config).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains(message), "{name}: {error}");
    }
}
