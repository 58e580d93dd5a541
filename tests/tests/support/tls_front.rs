//! A server with TLS before an institution, which accepts client certificates and records requests.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

use super::Institution;

/// A running server, which ends when dropped.
pub struct TlsFront {
    address: SocketAddr,
    /// `http://ADDRESS` of the institution.
    upstream: String,
    authority: CertifiedIssuer<'static, KeyPair>,
    seen: Arc<Mutex<Seen>>,
    task: JoinHandle<()>,
}

/// The recorded facts of all connections.
#[derive(Default)]
struct Seen {
    /// The client's certificate of the newest connection; `None` without one.
    certificate: Option<Vec<u8>>,
    requests: Vec<u8>,
}

/// A client certificate with its private key.
pub struct ClientCertificate {
    /// The private key and the certificate.
    pub pem: String,
    /// The end of the certificate.
    pub expires_at: Timestamp,
    der: Vec<u8>,
}

impl Drop for TlsFront {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl TlsFront {
    /// Starts a server that forwards all connections to an institution.
    pub async fn before(psp: &Institution) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let acceptor = acceptor(&authority);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let upstream = psp.credential("base_url");
        let target = upstream.trim_start_matches("http://").to_owned();
        let seen: Arc<Mutex<Seen>> = Arc::default();
        let log = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            // The connections end with the server.
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, target, log) = (acceptor.clone(), target.clone(), Arc::clone(&log));
                connections.spawn(async move { drop(forward(stream, &acceptor, &target, &log).await) });
            }
        });
        Self { address, upstream, authority, seen, task }
    }

    /// Returns an environment whose addresses of the institution are replaced by those of this server.
    pub fn environment(&self, environment: Vec<(String, String)>) -> Vec<(String, String)> {
        let own = format!("https://localhost:{}", self.address.port());
        environment.into_iter().map(|(key, value)| (key, value.replace(&self.upstream, &own))).collect()
    }

    /// Returns the certificate of the authority that issued the certificates of server and clients.
    pub fn authority_pem(&self) -> String {
        self.authority.pem()
    }

    /// Issues a client certificate that expires at the beginning of the day after some `days`, in UTC.
    #[expect(clippy::disallowed_methods, reason = "the certificate is judged by the machine's clock")]
    pub fn issue(&self, days: i64) -> ClientCertificate {
        let day = Timestamp::now().to_zoned(TimeZone::UTC).date().checked_add(jiff::Span::new().days(days)).unwrap();
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["client".to_owned()]).unwrap();
        let month = u8::try_from(day.month()).unwrap();
        params.not_after = rcgen::date_time_ymd(i32::from(day.year()), month, u8::try_from(day.day()).unwrap());
        let certificate = params.signed_by(&key, &self.authority).unwrap();
        ClientCertificate {
            pem: format!("{}{}", key.serialize_pem(), certificate.pem()),
            expires_at: day.to_zoned(TimeZone::UTC).unwrap().timestamp(),
            der: certificate.der().to_vec(),
        }
    }

    /// Returns whether the newest connection presented this certificate.
    pub fn has_seen(&self, certificate: &ClientCertificate) -> bool {
        self.seen.lock().unwrap().certificate.as_deref() == Some(certificate.der.as_slice())
    }

    /// Returns all bytes that clients sent, as a text.
    pub fn requests(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap().requests).into_owned()
    }
}

fn acceptor(authority: &CertifiedIssuer<'static, KeyPair>) -> TlsAcceptor {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(authority.der().clone()).unwrap();
    let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let clients = clients.allow_unauthenticated().build().unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let server = params.signed_by(&key, authority).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_client_cert_verifier(clients).with_single_cert(vec![server.der().clone()], key).unwrap();
    TlsAcceptor::from(Arc::new(config))
}

async fn forward(stream: TcpStream, acceptor: &TlsAcceptor, target: &str, log: &Mutex<Seen>) -> std::io::Result<()> {
    let stream = acceptor.accept(stream).await?;
    let certificate =
        stream.get_ref().1.peer_certificates().and_then(|chain| chain.first()).map(|first| first.to_vec());
    log.lock().unwrap().certificate = certificate;
    let (mut from_client, mut to_client) = tokio::io::split(stream);
    let (mut from_upstream, mut to_upstream) = TcpStream::connect(target).await?.into_split();
    let requests = async {
        let mut buffer = vec![0; 16 * 1024];
        loop {
            let length = from_client.read(&mut buffer).await?;
            let Some(bytes) = buffer.get(..length).filter(|bytes| !bytes.is_empty()) else {
                return to_upstream.shutdown().await;
            };
            log.lock().unwrap().requests.extend_from_slice(bytes);
            to_upstream.write_all(bytes).await?;
        }
    };
    let answers = async {
        tokio::io::copy(&mut from_upstream, &mut to_client).await?;
        to_client.shutdown().await
    };
    tokio::try_join!(requests, answers).map(drop)
}
