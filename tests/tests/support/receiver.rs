//! A receiver of webhooks that records every request, and answers as configured.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::eventually;

/// The behavior of a receiver.
#[derive(Debug, Clone)]
pub enum Behavior {
    /// Answers a status, header lines and a body.
    Answers(u16, Vec<String>, Vec<u8>),
    /// Reads the request and never answers.
    NeverAnswers,
    /// Answers 200, then one byte of the body at intervals, forever.
    SendsSlowly,
    /// Answers 200 with an endless body, as fast as possible.
    SendsWithoutEnd,
    /// Reads the request and closes the connection.
    ClosesConnection,
    /// Answers bytes that are not HTTP.
    SendsGarbage,
}

impl Behavior {
    /// Returns an answer with only a status.
    pub fn status(status: u16) -> Self {
        Self::Answers(status, Vec::new(), Vec::new())
    }
}

/// A received request.
#[derive(Debug, Clone)]
pub struct Received {
    /// Header names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Received {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or_else(|| panic!("no {name} in {:?}", self.headers), String::as_str)
    }

    pub fn kind(&self) -> String {
        self.json()["type"].as_str().unwrap().to_owned()
    }
}

#[derive(Default)]
struct Shared {
    received: Vec<Received>,
    behavior: Option<Behavior>,
    connections: usize,
    under_way: usize,
    most_under_way: usize,
}

/// A running receiver, which ends when dropped.
pub struct Receiver {
    address: SocketAddr,
    shared: Arc<Mutex<Shared>>,
    task: JoinHandle<()>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Receiver {
    /// Starts a receiver that answers 200.
    pub async fn start() -> Self {
        Self::start_with(Behavior::status(200)).await
    }

    /// Starts a receiver with the given behavior.
    pub async fn start_with(behavior: Behavior) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Mutex::new(Shared { behavior: Some(behavior), ..Shared::default() }));
        let of_task = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            // The connections end with the receiver.
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                of_task.lock().unwrap().connections += 1;
                let shared = Arc::clone(&of_task);
                connections.spawn(async move { drop(serve(stream, &shared).await) });
            }
        });
        Self { address, shared, task }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Changes the behavior.
    pub fn set_behavior(&self, behavior: Behavior) {
        self.shared.lock().unwrap().behavior = Some(behavior);
    }

    /// Returns all requests so far, in order of arrival.
    pub fn received(&self) -> Vec<Received> {
        self.shared.lock().unwrap().received.clone()
    }

    pub fn connections(&self) -> usize {
        self.shared.lock().unwrap().connections
    }

    /// Returns the largest number of concurrent requests.
    pub fn most_under_way(&self) -> usize {
        self.shared.lock().unwrap().most_under_way
    }

    /// Waits for this number of requests.
    pub async fn until(&self, count: usize) -> Vec<Received> {
        eventually(&format!("{count} webhooks arrive at {}", self.address), || async {
            let received = self.received();
            (received.len() >= count).then_some(received)
        })
        .await
    }

    /// Waits for a request of an event type. Returns the first.
    pub async fn until_kind(&self, kind: &str) -> Received {
        eventually(&format!("{kind} arrives at {}", self.address), || async {
            self.received().into_iter().find(|received| received.kind() == kind)
        })
        .await
    }
}

async fn serve(stream: TcpStream, shared: &Mutex<Shared>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    while let Some(received) = read(&mut stream).await? {
        let behavior = {
            let mut shared = shared.lock().unwrap();
            shared.received.push(received);
            shared.under_way += 1;
            shared.most_under_way = shared.most_under_way.max(shared.under_way);
            shared.behavior.clone().unwrap()
        };
        let under_way = UnderWay(shared);
        let goes_on = answer(stream.get_mut(), behavior).await;
        drop(under_way);
        if !goes_on? {
            break;
        }
    }
    Ok(())
}

/// A request without an answer yet.
struct UnderWay<'s>(&'s Mutex<Shared>);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.lock().unwrap().under_way -= 1;
    }
}

async fn answer(stream: &mut TcpStream, behavior: Behavior) -> std::io::Result<bool> {
    match behavior {
        Behavior::Answers(status, headers, body) => {
            let mut head = format!("HTTP/1.1 {status} Said\r\ncontent-length: {}\r\n", body.len());
            for line in headers {
                head.push_str(&line);
                head.push_str("\r\n");
            }
            head.push_str("\r\n");
            stream.write_all(&[head.as_bytes(), &body].concat()).await?;
            Ok(true)
        }
        Behavior::NeverAnswers => std::future::pending().await,
        Behavior::SendsSlowly => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n").await?;
            loop {
                stream.write_all(b"x").await?;
                tokio::time::sleep(std::time::Duration::from_millis(200)).await;
            }
        }
        Behavior::SendsWithoutEnd => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\n\r\n").await?;
            loop {
                stream.write_all(&[b'x'; 8_192]).await?;
            }
        }
        Behavior::ClosesConnection => Ok(false),
        Behavior::SendsGarbage => {
            stream.write_all(b"\x00\xffSSH-2.0-nothing of HTTP\r\n\r\n").await?;
            Ok(false)
        }
    }
}

/// Reads the next request; `None` after the client closed.
async fn read(stream: &mut BufReader<TcpStream>) -> std::io::Result<Option<Received>> {
    let (mut line, mut headers) = (String::new(), BTreeMap::new());
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or_default();
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(Some(Received { headers, body }))
}
