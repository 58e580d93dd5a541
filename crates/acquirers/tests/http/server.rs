//! A scripted HTTP server on a free port. The server reads whole requests and answers raw bytes, or not at all.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::api_pix::violations_of_request;

/// The time within which a queue with a free place accepts a connection.
const QUEUED_WITHIN: Duration = Duration::from_millis(200);
/// More connections than the shortest queue holds.
const MAX_QUEUE: usize = 64;

/// A received request.
#[derive(Debug, Clone)]
pub struct Seen {
    pub method: String,
    pub path: String,
    /// Header names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl Seen {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// Returns whether the request is for an access token.
    pub fn is_token_request(&self) -> bool {
        matches!(self.path.as_str(), "/oauth/token" | "/v1/auth")
    }
}

/// The server's reaction to a request.
#[derive(Clone)]
pub enum Act {
    /// Answers and keeps the connection.
    Reply(Vec<u8>),
    /// Answers in full or in part, and closes.
    ReplyThenClose(Vec<u8>),
    /// Closes without an answer.
    Cut,
    /// Resets the connection without an answer.
    Reset,
    /// Answers in part, and resets the connection.
    ReplyThenReset(Vec<u8>),
    /// Answers in part, and then sends nothing more.
    ReplyThenHang(Vec<u8>),
    /// Never answers.
    Hang,
    /// Sends one byte at a time, forever.
    Drip(Vec<u8>),
    /// Answers once the test adds a permit.
    ReplyAfter(Arc<Semaphore>, Vec<u8>),
}

/// A connection, plain or with TLS.
trait Peer: AsyncRead + AsyncWrite + Unpin {
    /// Makes the connection end with a reset.
    fn reset(&self);
}

impl Peer for TcpStream {
    fn reset(&self) {
        self.set_zero_linger().unwrap();
    }
}

impl Peer for TlsStream<TcpStream> {
    fn reset(&self) {
        self.get_ref().0.reset();
    }
}

type Script = dyn Fn(&Seen, usize) -> Act + Send + Sync;

/// The server, which ends when dropped. Every request of the API Pix must fit its schema.
pub struct Server {
    address: SocketAddr,
    scheme: &'static str,
    seen: Arc<Mutex<Vec<Seen>>>,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Server {
    /// Starts a server. `script` receives the request and the number of earlier requests with the same method and path. Tokens are issued
    /// without the script.
    pub async fn start(script: impl Fn(&Seen, usize) -> Act + Send + Sync + 'static) -> Self {
        let script = move |seen: &Seen, nth: usize| match seen.path.as_str() {
            "/oauth/token" => super::answers::token("good", "3600"),
            "/v1/auth" => super::answers::json_reply(200, &serde_json::json!({"token": "good"})),
            _ => script(seen, nth),
        };
        Self::start_raw(None, script).await
    }

    /// Starts a server whose script also answers token requests, optionally over TLS.
    pub async fn start_raw(
        tls: Option<TlsAcceptor>,
        script: impl Fn(&Seen, usize) -> Act + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let seen = Arc::new(Mutex::new(Vec::new()));
        let script: Arc<Script> = Arc::new(script);
        let connections = Arc::new(AtomicUsize::new(0));
        let (log, accepted) = (Arc::clone(&seen), Arc::clone(&connections));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                accepted.fetch_add(1, Ordering::SeqCst);
                let (script, log, tls) = (Arc::clone(&script), Arc::clone(&log), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(stream, &*script, &log).await,
                        Some(tls) => serve_tls(stream, &tls, &*script, &log).await,
                    }
                });
            }
        });
        Self { address, scheme, seen, connections, task }
    }

    pub fn url(&self) -> String {
        let host = if self.scheme == "https" { "localhost" } else { "127.0.0.1" };
        format!("{}://{host}:{}", self.scheme, self.address.port())
    }

    /// Returns all requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Returns the methods of all requests except token requests, as in `PUT GET`.
    pub fn methods(&self) -> String {
        let seen = self.seen();
        let asked = seen.iter().filter(|seen| !seen.is_token_request());
        asked.map(|seen| seen.method.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// Returns the number of connections.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Returns the number of token requests.
    pub fn tokens(&self) -> usize {
        let seen = self.seen();
        seen.iter().filter(|seen| seen.is_token_request()).count()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
        if !std::thread::panicking() {
            for Seen { method, path, body, .. } in self.seen() {
                assert_eq!(violations_of_request(&method, &path, &body), [""; 0], "{method} {path}");
            }
        }
    }
}

/// Starts a server that accepts connections and never answers, not even the handshake of TLS.
pub async fn silent_server() -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = format!("https://127.0.0.1:{}", listener.local_addr().unwrap().port());
    let task = tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            open.push(stream);
        }
    });
    (address, task)
}

/// A server whose queue of connections is full, so that a new connection is never made.
pub struct FullServer {
    address: SocketAddr,
    _listener: TcpListener,
    _waiting: Vec<std::net::TcpStream>,
}

impl FullServer {
    /// Starts a server that accepts no connection, and fills its queue.
    pub fn start() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(0).unwrap();
        let address = listener.local_addr().unwrap();
        let waiting = std::iter::from_fn(|| std::net::TcpStream::connect_timeout(&address, QUEUED_WITHIN).ok());
        let waiting = waiting.take(MAX_QUEUE).collect::<Vec<_>>();
        assert!(waiting.len() < MAX_QUEUE, "the queue is never full");
        Self { address, _listener: listener, _waiting: waiting }
    }

    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }
}

/// Returns an address without a listener.
pub async fn closed_port() -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port())
}

async fn serve_tls(stream: TcpStream, tls: &TlsAcceptor, script: &Script, log: &Mutex<Vec<Seen>>) {
    match tls.accept(stream).into_fallible().await {
        Ok(stream) => serve(stream, script, log).await,
        // The stream is read to its end, because a reset could overtake the alert.
        Err((_, mut stream)) => {
            let mut rest = Vec::new();
            drop(stream.read_to_end(&mut rest).await);
        }
    }
}

async fn serve(mut stream: impl Peer, script: &Script, log: &Mutex<Vec<Seen>>) {
    let mut buffer = Vec::new();
    while let Some(seen) = read_request(&mut stream, &mut buffer).await {
        let nth = {
            let mut log = log.lock().unwrap();
            let same = |other: &&Seen| other.method == seen.method && other.path == seen.path;
            let nth = log.iter().filter(same).count();
            log.push(seen.clone());
            nth
        };
        if !act(&mut stream, script(&seen, nth)).await {
            return;
        }
    }
}

/// Performs the reaction. Returns whether the connection stays open.
async fn act(stream: &mut impl Peer, act: Act) -> bool {
    match act {
        Act::ReplyAfter(gate, bytes) => {
            gate.acquire().await.unwrap().forget();
            stream.write_all(&bytes).await.is_ok() && stream.flush().await.is_ok()
        }
        Act::Reply(bytes) => stream.write_all(&bytes).await.is_ok() && stream.flush().await.is_ok(),
        Act::ReplyThenClose(bytes) => {
            drop(stream.write_all(&bytes).await);
            drop(stream.shutdown().await);
            false
        }
        Act::Cut => false,
        Act::Reset => {
            stream.reset();
            false
        }
        Act::ReplyThenReset(bytes) => {
            drop(stream.write_all(&bytes).await);
            drop(stream.flush().await);
            stream.reset();
            false
        }
        Act::ReplyThenHang(bytes) => {
            drop(stream.write_all(&bytes).await);
            drop(stream.flush().await);
            std::future::pending().await
        }
        Act::Hang => std::future::pending().await,
        Act::Drip(bytes) => {
            let mut ticks = tokio::time::interval(Duration::from_millis(20));
            for byte in bytes.iter().cycle() {
                ticks.tick().await;
                if stream.write_all(&[*byte]).await.is_err() || stream.flush().await.is_err() {
                    break;
                }
            }
            false
        }
    }
}

async fn read_request(stream: &mut (impl AsyncRead + Unpin), buffer: &mut Vec<u8>) -> Option<Seen> {
    let head_end = loop {
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(buffer.drain(..head_end + 4).collect()).ok()?;
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers.get("content-length").map_or(0, |text| text.parse().unwrap());
    while buffer.len() < length {
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
    let body = String::from_utf8(buffer.drain(..length).collect()).ok()?;
    Some(Seen { method, path, headers, body })
}
