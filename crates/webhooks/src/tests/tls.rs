//! Tests receivers with TLS, with and without a trusted certificate.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

use super::server::{Act, Server, answer};
use super::{NoNames, PATIENT, development, outcome, send};
use crate::sender::HttpSender;

struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn acceptor(&self, name: &str, protocols: &[&str]) -> TlsAcceptor {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &self.0).unwrap();
        let chain = vec![CertificateDer::from(certificate.der().to_vec())];
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .unwrap();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        TlsAcceptor::from(Arc::new(config))
    }

    /// Returns a sender that trusts only this authority.
    fn sender(&self) -> HttpSender {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        HttpSender::with(development(), PATIENT, Arc::new(NoNames), roots).unwrap()
    }
}

fn ok(_: &super::server::Seen, _: usize) -> Act {
    Act::Reply(answer("200 OK", "", "safe"))
}

#[tokio::test]
async fn trusted_receiver_is_called_over_http_1() {
    let authority = Authority::new();
    for (host, certified) in [("localhost", "localhost"), ("127.0.0.1", "127.0.0.1"), ("localhost.", "localhost")] {
        let server = Server::start(Some(authority.acceptor(certified, &["h2", "http/1.1"])), ok).await;
        let sender = authority.sender();
        for _ in 0..2 {
            let sent = send(&sender, &format!("https://{host}:{}/", server.port())).await;
            assert_eq!((outcome(&sent), sent.response_body.as_deref()), ("200 ok".to_owned(), Some("safe")), "{host}");
        }
        assert_eq!(server.connections(), 1);
    }
}

#[tokio::test]
async fn untrusted_receiver_receives_no_request() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let certified = Server::start(Some(authority.acceptor("localhost", &[])), ok).await;
    let other_name = Server::start(Some(authority.acceptor("other.example", &[])), ok).await;
    let other_protocol = Server::start(Some(authority.acceptor("localhost", &["h2"])), ok).await;
    for (name, sender, server) in [
        ("an authority that is not trusted", stranger.sender(), &certified),
        ("another's certificate", authority.sender(), &other_name),
        ("another protocol", authority.sender(), &other_protocol),
        ("no authority at all", super::sender(PATIENT), &certified),
    ] {
        let sent = send(&sender, &format!("https://localhost:{}/", server.port())).await;
        assert_eq!(outcome(&sent), "- tls_failed", "{name}");
        assert_eq!(server.seen().len(), 0, "{name}");
    }
}

#[tokio::test]
async fn receiver_without_tls_fails_the_handshake() {
    use tokio::io::AsyncWriteExt as _;
    for raw in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"\x15\x03\x03\x00\x02\x02\x28", b""] {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("https://127.0.0.1:{}/", listener.local_addr().unwrap().port());
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.readable().await.unwrap();
            // The request is read first, so that closing the connection does not send a reset.
            drop(stream.try_read(&mut [0; 16_000]));
            stream.write_all(raw).await.unwrap();
            stream.shutdown().await.unwrap();
        });
        assert_eq!(outcome(&send(&super::sender(PATIENT), &url).await), "- tls_failed", "{raw:?}");
        server.await.unwrap();
    }
}
