//! Tests connections over real sockets: those of slow clients are ended, and other clients are served.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

use super::super::connections::{Connection, GuardedStream};
use super::super::{ConnectionLimits, ServeOptions, serve};
use super::*;

/// The pause between two bytes of a slow client.
const DRIP: Duration = Duration::from_millis(20);
/// The longest wait of a test for the server: far above every limit of these tests.
const TIMEOUT: Duration = Duration::from_secs(30);
/// A request that needs no key and has no body.
const HEALTH: &str = "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";
/// A request to an unknown path and the beginning of a body that does not end.
const UNREAD_BODY: &str = "POST /nothing HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nfff\r\n";

/// Returns limits with short times, and with at most `connections` connections in total and per address.
fn short(connections: usize) -> ConnectionLimits {
    let soon = Duration::from_millis(200);
    ConnectionLimits {
        head_within: soon,
        body_within: soon,
        write_within: soon,
        linger_within: soon,
        connections,
        per_address: u32::try_from(connections).unwrap(),
        ..ConnectionLimits::default()
    }
}

/// Serves a test bed until the test ends.
fn start(bed: &TestBed, limits: ConnectionLimits) -> SocketAddr {
    let bound = || TcpListener::bind("127.0.0.1:0").unwrap();
    let (listen, admin) = (bound(), bound());
    let address = listen.local_addr().unwrap();
    let options = ServeOptions { workers: 1, shutdown_timeout_s: 1, limits };
    let servers = serve(bed.state.clone(), listen, admin, options).unwrap();
    tokio::spawn(servers.public);
    tokio::spawn(servers.admin);
    address
}

async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(TIMEOUT, work).await.unwrap()
}

/// Sends `sent`, and returns all bytes from the server until the server closes. Returns an empty text if the server rejects the connection.
async fn conversation(address: SocketAddr, sent: &str) -> String {
    let work = async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let _refused = stream.write_all(sent.as_bytes()).await;
        let mut response = Vec::new();
        let _reset = stream.read_to_end(&mut response).await;
        String::from_utf8(response).unwrap()
    };
    within(work).await
}

/// Sends `beginning`, then single bytes until the server closes. Returns the server's response.
async fn drip(address: SocketAddr, beginning: &str) -> String {
    let (mut reader, mut writer) = TcpStream::connect(address).await.unwrap().into_split();
    let dripping = async {
        let mut sent = writer.write_all(beginning.as_bytes()).await;
        while sent.is_ok() {
            tokio::time::sleep(DRIP).await;
            sent = writer.write_all(b"x").await;
        }
        std::future::pending::<()>().await;
    };
    let mut response = Vec::new();
    let ended = reader.read_to_end(&mut response);
    within(async {
        tokio::select! { _ended = ended => (), () = dripping => () }
    })
    .await;
    String::from_utf8(response).unwrap()
}

/// Waits until a new connection is served.
async fn healthy(address: SocketAddr) {
    let request = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    within(async {
        while !conversation(address, request).await.starts_with("HTTP/1.1 200") {
            tokio::time::sleep(DRIP).await;
        }
    })
    .await;
}

/// Opens more slow connections than the server permits; see [`drip`]. Waits until the server has ended all of them and serves new
/// connections. Checks that each slow connection received responses with the statuses `expected`.
async fn check_drips(beginning: &str, expected: &[&str]) {
    const PLACES: usize = 8;
    let bed = TestBed::new().await;
    let address = start(&bed, ConnectionLimits { per_address: u32::MAX, ..short(PLACES) });
    let mut clients = JoinSet::new();
    for _ in 0..4 * PLACES {
        let beginning = beginning.to_owned();
        clients.spawn(async move { drip(address, &beginning).await });
    }
    healthy(address).await;
    for response in clients.join_all().await {
        let statuses: Vec<_> = response.split("HTTP/1.1 ").skip(1).filter_map(|one| one.split("\r\n").next()).collect();
        assert_eq!(statuses, expected, "{response}");
    }
}

#[actix_web::test]
async fn slow_first_head_is_closed_with_408() {
    check_drips("GET /healthz HTTP/1.1\r\nx-a: ", &["408 Request Timeout"]).await;
}

#[actix_web::test]
async fn slow_later_head_is_closed_with_408() {
    let beginning = format!("{HEALTH}GET /healthz HTTP/1.1\r\nx-a: ");
    check_drips(&beginning, &["200 OK", "408 Request Timeout"]).await;
}

#[actix_web::test]
async fn slow_unread_body_is_closed_after_404() {
    check_drips(UNREAD_BODY, &["404 Not Found"]).await;
}

#[actix_web::test]
async fn slow_read_body_is_rejected_and_ended() {
    let bed = TestBed::new().await;
    let address = start(&bed, short(8));
    let head = format!(
        "POST /v1/charges HTTP/1.1\r\nhost: x\r\nx-api-key: {}\r\nidempotency-key: long-enough\r\n\
         content-type: application/json\r\ncontent-length: 1000\r\n\r\n{{",
        bed.key
    );
    let response = drip(address, &head).await;
    assert!(response.starts_with("HTTP/1.1 408") && response.contains("connection: close"), "{response}");
    assert!(response.contains(r#""code":"request_timeout""#) && response.contains(r#""retryable":true"#), "{response}");
}

#[actix_web::test]
async fn malformed_head_is_rejected_with_envelope() {
    let bed = TestBed::new().await;
    let address = start(&bed, short(8));
    let large = format!("{HEALTH}GET /healthz HTTP/1.1\r\nx-a: {}", "a".repeat(200_000));
    for (sent, status, code) in [
        ("", 408, "request_timeout"),
        ("GET /healthz HTTP/1.1\r\n", 408, "request_timeout"),
        ("nonsense\r\n\r\n", 400, "malformed_request"),
        ("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\nnonsense\r\n\r\n", 400, "malformed_request"),
        (&large, 431, "headers_too_large"),
    ] {
        let response = conversation(address, sent).await;
        let last = response.rfind("HTTP/1.1 ").and_then(|begin| response.get(begin..)).unwrap();
        let (head, body) = last.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{response}");
        let body: Value = serde_json::from_str(body).unwrap();
        assert_eq!(body.pointer("/error/code"), Some(&code.into()), "{response}");
        let id = body.pointer("/request_id").unwrap().as_str().unwrap();
        assert!(head.contains(&format!("x-request-id: {id}")) && head.contains("connection: close"), "{response}");
        assert!(head.contains("x-cais-sandbox: true"), "the bed has the sandbox: {response}");
    }
}

#[actix_web::test]
async fn response_to_unread_body_announces_the_close() {
    let bed = TestBed::new().await;
    let address = start(&bed, short(8));
    let response = conversation(address, UNREAD_BODY).await;
    assert!(response.starts_with("HTTP/1.1 404") && response.contains("connection: close"), "{response}");
}

#[actix_web::test]
async fn unread_body_that_has_arrived_keeps_the_connection() {
    let bed = TestBed::new().await;
    let address = start(&bed, short(8));
    let with_body = "GET /healthz HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n";
    let closing = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let response = conversation(address, &format!("{with_body}{closing}")).await;
    assert_eq!(response.matches("HTTP/1.1 200").count(), 2, "{response}");
}

#[actix_web::test]
async fn connection_with_stalled_reader_is_closed() {
    let bed = TestBed::new().await;
    // The limit is one connection, so `/healthz` is served only after the reader's connection has ended.
    let address = start(&bed, short(1));
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(2_048).unwrap();
    let mut reader = socket.connect(address).await.unwrap();
    // All responses together exceed the buffers of both sockets by far.
    let many = "GET /v1/openapi.json HTTP/1.1\r\nhost: x\r\n\r\n".repeat(20);
    reader.write_all(many.as_bytes()).await.unwrap();
    // The first bytes prove that the reader is connected.
    within(reader.readable()).await.unwrap();
    healthy(address).await;
    drop(reader);
}

#[actix_web::test]
async fn large_response_arrives_whole() {
    let bed = TestBed::new().await;
    let address = start(&bed, ConnectionLimits { write_within: TIMEOUT, ..short(8) });
    let response = conversation(address, "GET /v1/openapi.json HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    let document = super::super::openapi::document().unwrap();
    assert!(head.contains(&format!("content-length: {}", document.len())), "{head}");
    assert!(body == document, "the document was changed on its way");
}

/// The HTTP library buffers all bytes until the stream returns `Pending`. So the stream returns `Pending` after about 16 KiB.
#[actix_web::test]
async fn large_body_is_read_in_small_parts() {
    const BODY: usize = 100 * 1024;
    let bed = TestBed::new().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (socket, _) = listener.accept().await.unwrap();
    let mut stream = GuardedStream::new(socket, Connection::new(short(1), None), Arc::clone(&bed.state));
    within(client.write_all("x".repeat(BODY).as_bytes())).await.unwrap();
    let mut buffer = [0; 1024];
    let mut read = 0;
    while let Some(bytes) = stream.read(&mut buffer).now_or_never() {
        read += bytes.unwrap();
    }
    assert!((1..=17 * 1024).contains(&read), "{read}");
    let mut rest = vec![0; BODY - read];
    within(stream.read_exact(&mut rest)).await.unwrap();
}

#[actix_web::test]
async fn connections_beyond_an_address_share_are_closed() {
    let bed = TestBed::new().await;
    let limits = ConnectionLimits { per_address: 2, head_within: TIMEOUT, ..short(8) };
    let address = start(&bed, limits);
    let mut open = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(HEALTH.as_bytes()).await.unwrap();
        within(stream.readable()).await.unwrap();
        open.push(stream);
    }
    assert_eq!(conversation(address, HEALTH).await, "");
    open.pop();
    healthy(address).await;
}
