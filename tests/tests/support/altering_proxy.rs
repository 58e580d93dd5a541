//! A server between a service and its acquirer that forwards every request and may alter answers.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use reqwest::{Client, Method};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::{Institution, client};

/// Alters the status and the body of an answer, by method and path of its request.
type Alteration = dyn Fn(&str, &str, &mut u16, &mut Value) + Send + Sync;

/// A running server, which ends when dropped.
pub struct AlteringProxy {
    address: SocketAddr,
    alteration: Arc<Mutex<Arc<Alteration>>>,
    traceparents: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Drop for AlteringProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl AlteringProxy {
    /// Starts a server that forwards all answers unchanged.
    pub async fn before(psp: &Institution) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let unchanged: Arc<Alteration> = Arc::new(|_, _, _, _| {});
        let alteration = Arc::new(Mutex::new(unchanged));
        let traceparents = Arc::default();
        let (of_task, seen) = (Arc::clone(&alteration), Arc::clone(&traceparents));
        let (base_url, client) = (psp.credential("base_url"), client());
        let task = tokio::spawn(async move {
            // The connections end with the server.
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (alteration, seen) = (Arc::clone(&of_task), Arc::clone(&seen));
                let (base_url, client) = (base_url.clone(), client.clone());
                connections.spawn(async move { drop(serve(stream, &client, &base_url, (&alteration, &seen)).await) });
            }
        });
        Self { address, alteration, traceparents, task }
    }

    /// Returns the environment that makes the institution behind it the acquirer `name`.
    pub fn environment(&self, psp: &Institution, name: &str) -> Vec<(String, String)> {
        let real = psp.credential("base_url");
        let own = |value: String| if value == real { format!("http://{}", self.address) } else { value };
        psp.environment(name).into_iter().map(|(key, value)| (key, own(value))).collect()
    }

    /// Returns the headers `traceparent` of all requests so far.
    pub fn traceparents(&self) -> Vec<String> {
        self.traceparents.lock().unwrap().clone()
    }

    /// Sets the alteration of answers.
    pub fn alter_answers(&self, alteration: impl Fn(&str, &str, &mut u16, &mut Value) + Send + Sync + 'static) {
        *self.alteration.lock().unwrap() = Arc::new(alteration);
    }

    /// Forwards answers unchanged again.
    pub fn stop_altering(&self) {
        self.alter_answers(|_, _, _, _| {});
    }
}

async fn serve(
    stream: TcpStream,
    client: &Client,
    base_url: &str,
    (alteration, traceparents): (&Mutex<Arc<Alteration>>, &Mutex<Vec<String>>),
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let mut words = line.split(' ');
        let (method, path) = (words.next().unwrap().to_owned(), words.next().unwrap().to_owned());
        let mut request = client.request(Method::from_bytes(method.as_bytes()).unwrap(), format!("{base_url}{path}"));
        let mut length = 0;
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            match name.to_lowercase().as_str() {
                "host" | "connection" => {}
                "traceparent" => traceparents.lock().unwrap().push(value.trim().to_owned()),
                "content-length" => length = value.trim().parse().unwrap(),
                name => request = request.header(name, value.trim()),
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await?;
        let Ok(reply) = request.body(body).send().await else { return Ok(()) };
        let mut status = reply.status().as_u16();
        let Ok(bytes) = reply.bytes().await else { return Ok(()) };
        let mut json = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        let alter = Arc::clone(&alteration.lock().unwrap());
        alter(&method, &path, &mut status, &mut json);
        let bytes = if json.is_null() { Vec::new() } else { serde_json::to_vec(&json).unwrap() };
        let head = format!(
            "HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            bytes.len()
        );
        stream.get_mut().write_all(&[head.as_bytes(), &bytes].concat()).await?;
    }
}
