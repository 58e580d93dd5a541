//! A scripted HTTP server on a port of the system's choice: it reads whole requests and answers raw bytes, or nothing.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Seen {
    pub method: String,
    pub path: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl Seen {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// What the server does with a request.
#[derive(Clone)]
pub enum Act {
    /// Answers and keeps the connection.
    Reply(Vec<u8>),
    /// Answers, or half answers, and closes.
    ReplyThenClose(Vec<u8>),
    /// Closes without a word.
    Cut,
    /// Never answers.
    Hang,
    /// One byte at a time, for ever.
    Drip(Vec<u8>),
    /// Answers once the test gives a permit.
    ReplyAfter(Arc<Semaphore>, Vec<u8>),
}

type Script = dyn Fn(&Seen, usize) -> Act + Send + Sync;

/// The server; it ends with the value.
pub struct Server {
    address: SocketAddr,
    scheme: &'static str,
    seen: Arc<Mutex<Vec<Seen>>>,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Server {
    /// `script` gets the request and how many of its method and path came before it. Tokens are issued without asking it.
    pub async fn start(script: impl Fn(&Seen, usize) -> Act + Send + Sync + 'static) -> Self {
        let script = move |seen: &Seen, nth: usize| {
            if seen.path == "/oauth/token" {
                return super::answers::token("good", "3600");
            }
            script(seen, nth)
        };
        Self::start_raw(None, script).await
    }

    /// The same with the requests of tokens in the script, and over TLS if told.
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
        let (heard, accepted) = (Arc::clone(&seen), Arc::clone(&connections));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                accepted.fetch_add(1, Ordering::SeqCst);
                let (script, heard, tls) = (Arc::clone(&script), Arc::clone(&heard), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(stream, &*script, &heard).await,
                        Some(tls) => serve_tls(stream, &tls, &*script, &heard).await,
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

    /// Every request so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// `PUT GET …` of what was asked, requests of tokens apart.
    pub fn methods(&self) -> String {
        let seen = self.seen();
        let asked = seen.iter().filter(|seen| seen.path != "/oauth/token");
        asked.map(|seen| seen.method.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// How many connections were made.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// How many tokens were asked for.
    pub fn tokens(&self) -> usize {
        let seen = self.seen();
        seen.iter().filter(|seen| seen.path == "/oauth/token").count()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// An address where nobody listens.
pub async fn closed_port() -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port())
}

async fn serve_tls(stream: TcpStream, tls: &TlsAcceptor, script: &Script, heard: &Mutex<Vec<Seen>>) {
    match tls.accept(stream).into_fallible().await {
        Ok(stream) => serve(stream, script, heard).await,
        // Reading to the end keeps the alert from being overtaken by a reset.
        Err((_, mut stream)) => {
            let mut rest = Vec::new();
            drop(stream.read_to_end(&mut rest).await);
        }
    }
}

async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin, script: &Script, heard: &Mutex<Vec<Seen>>) {
    let mut buffer = Vec::new();
    while let Some(seen) = read_request(&mut stream, &mut buffer).await {
        let nth = {
            let mut heard = heard.lock().unwrap();
            let same = |other: &&Seen| other.method == seen.method && other.path == seen.path;
            let nth = heard.iter().filter(same).count();
            heard.push(seen.clone());
            nth
        };
        if !act(&mut stream, script(&seen, nth)).await {
            return;
        }
    }
}

/// Whether the connection goes on.
async fn act(stream: &mut (impl AsyncWrite + Unpin), act: Act) -> bool {
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
