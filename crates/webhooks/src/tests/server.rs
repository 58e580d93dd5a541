//! A scripted receiver on a free port. The receiver reads whole requests, and writes any bytes as its answer.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// A received request.
#[derive(Debug, Clone)]
pub struct Seen {
    pub method: String,
    pub target: String,
    /// Header names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Seen {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// The receiver's reaction to a request.
#[derive(Clone)]
pub enum Act {
    /// Writes an answer and keeps the connection open.
    Reply(Vec<u8>),
    /// Writes an answer or a part of it, and closes the connection.
    ReplyThenClose(Vec<u8>),
    /// Writes an answer or a part of it, and then nothing more. The connection stays open.
    ReplyThenHang(Vec<u8>),
    /// Writes the first bytes, and then repeats the second bytes as fast as possible.
    Flood(Vec<u8>, Vec<u8>),
    /// Writes the first bytes, and then repeats the second bytes, one byte every 20 ms.
    Drip(Vec<u8>, Vec<u8>),
    /// Closes the connection without an answer.
    Cut,
}

type Script = dyn Fn(&Seen, usize) -> Act + Send + Sync;

/// The receiver, which ends when dropped.
pub struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Server {
    /// Starts a receiver with the same reaction to every request.
    pub async fn always(act: Act) -> Self {
        Self::start(None, move |_, _| act.clone()).await
    }

    /// Starts a receiver. `script` chooses the reaction from the request and the number of earlier requests.
    pub async fn start(tls: Option<TlsAcceptor>, script: impl Fn(&Seen, usize) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let connections = Arc::new(AtomicUsize::new(0));
        let script: Arc<Script> = Arc::new(script);
        let (log, accepted) = (Arc::clone(&seen), Arc::clone(&connections));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                accepted.fetch_add(1, Ordering::SeqCst);
                let (script, log, tls) = (Arc::clone(&script), Arc::clone(&log), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(stream, &*script, &log).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                serve(stream, &*script, &log).await;
                            }
                        }
                    }
                });
            }
        });
        Self { address, seen, connections, task }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port())
    }

    /// Returns all requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Returns the number of connections accepted so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Returns a port without a listener, reserved until the socket is dropped.
pub fn closed_port() -> (TcpSocket, u16) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let port = socket.local_addr().unwrap().port();
    (socket, port)
}

/// Returns the bytes of a whole answer. Each header in `headers` ends with `\r\n`.
pub fn answer(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin, script: &Script, log: &Mutex<Vec<Seen>>) {
    let mut buffer = Vec::new();
    while let Some(seen) = read_request(&mut stream, &mut buffer).await {
        let nth = {
            let mut log = log.lock().unwrap();
            log.push(seen.clone());
            log.len() - 1
        };
        if act(&mut stream, script(&seen, nth)).await.is_none() {
            return;
        }
    }
}

/// Performs the reaction. Returns `None` if the connection ends.
async fn act(stream: &mut (impl AsyncWrite + Unpin), act: Act) -> Option<()> {
    match act {
        Act::Reply(bytes) => write(stream, &bytes).await,
        Act::ReplyThenClose(bytes) => {
            write(stream, &bytes).await?;
            stream.shutdown().await.ok()?;
            None
        }
        Act::ReplyThenHang(bytes) => {
            write(stream, &bytes).await?;
            std::future::pending().await
        }
        Act::Flood(bytes, more) => {
            write(stream, &bytes).await?;
            loop {
                write(stream, &more).await?;
            }
        }
        Act::Drip(bytes, more) => {
            write(stream, &bytes).await?;
            let mut ticks = tokio::time::interval(Duration::from_millis(20));
            for byte in more.iter().cycle() {
                ticks.tick().await;
                write(stream, &[*byte]).await?;
            }
            None
        }
        Act::Cut => None,
    }
}

async fn write(stream: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> Option<()> {
    stream.write_all(bytes).await.ok()?;
    stream.flush().await.ok()
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
    let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.get("content-length").map_or(Ok(0), |length| length.parse::<usize>()).ok()?;
    while buffer.len() < length {
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
    let body = buffer.drain(..length).collect();
    Some(Seen { method, target, headers, body })
}
