//! A receiver of webhooks on this machine, as a merchant would run one. Each webhook is stored and answered with 204.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;
use cais_ports::SigningSecret;
use cais_webhooks::{ID_HEADER, Received, SIGNATURE_HEADER, TIMESTAMP_HEADER, TOLERANCE, verify};
use jiff::Timestamp;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Address of the receiver: a free port that only this machine reaches.
const LISTEN: &str = "127.0.0.1:0";
/// Largest accepted request; a webhook has a few KiB.
const MAX_REQUEST_BYTES: usize = 256 * 1024;
/// Limit of stored webhooks; a demonstration has a dozen.
const MAX_KEPT: usize = 1_000;
/// Time limit for a request to arrive.
const ARRIVES_WITHIN: Duration = Duration::from_secs(5);
/// The response to every complete request.
const ANSWER: &[u8] = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";

/// A webhook as received.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body, byte for byte.
    pub body: Vec<u8>,
}

impl Webhook {
    /// Returns the value of the header `name`, which must be in lower case. Returns an empty text without the header.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(found, _)| found == name).map_or("", |(_, value)| value)
    }

    /// Parses the body as JSON.
    ///
    /// # Errors
    /// The body is not JSON.
    pub fn json(&self) -> anyhow::Result<Value> {
        serde_json::from_slice(&self.body).context("the webhook is not JSON")
    }

    /// Checks the signature as a merchant should.
    ///
    /// # Errors
    /// The reason to reject the webhook.
    pub fn verify(&self, secret: &SigningSecret, now: Timestamp) -> anyhow::Result<()> {
        let received = Received {
            id: self.header(ID_HEADER),
            timestamp: self.header(TIMESTAMP_HEADER),
            signature: self.header(SIGNATURE_HEADER),
            body: &self.body,
        };
        Ok(verify(std::slice::from_ref(secret), &received, now, TOLERANCE)?)
    }
}

/// A receiver that runs until it is dropped.
#[derive(Debug)]
pub struct Receiver {
    /// Address of the receiver.
    pub address: SocketAddr,
    kept: Arc<Mutex<Vec<Webhook>>>,
    task: JoinHandle<()>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Receiver {
    /// Starts to listen.
    ///
    /// # Errors
    /// The system provides no port.
    pub async fn start() -> anyhow::Result<Self> {
        let listener = TcpListener::bind(LISTEN).await.context("no port for a receiver of webhooks")?;
        let address = listener.local_addr()?;
        let kept = Arc::new(Mutex::new(Vec::new()));
        let task = tokio::spawn(accept(listener, Arc::clone(&kept)));
        Ok(Self { address, kept, task })
    }

    /// Returns the URL for the registration of an endpoint.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/hooks", self.address)
    }

    /// Returns the first received webhook that `wanted` accepts.
    #[must_use]
    pub fn find(&self, wanted: impl Fn(&Value) -> bool) -> Option<Webhook> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|webhook| webhook.json().is_ok_and(|event| wanted(&event))).cloned()
    }
}

async fn accept(listener: TcpListener, kept: Arc<Mutex<Vec<Webhook>>>) {
    while let Ok((connection, _)) = listener.accept().await {
        let kept = Arc::clone(&kept);
        tokio::spawn(async move {
            // An incomplete or too large request is ignored, and its sender gets no response.
            let _answered = tokio::time::timeout(ARRIVES_WITHIN, receive(connection, &kept)).await;
        });
    }
}

async fn receive(mut connection: TcpStream, kept: &Mutex<Vec<Webhook>>) -> anyhow::Result<()> {
    let mut request = Vec::new();
    let webhook = loop {
        if let Some(webhook) = parse(&request) {
            break webhook;
        }
        anyhow::ensure!(request.len() <= MAX_REQUEST_BYTES, "the request is too large");
        anyhow::ensure!(connection.read_buf(&mut request).await? > 0, "the request was cut off");
    };
    {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MAX_KEPT {
            kept.push(webhook);
        }
    }
    connection.write_all(ANSWER).await?;
    Ok(connection.shutdown().await?)
}

/// Parses a request. Returns `None` while a part is missing.
fn parse(request: &[u8]) -> Option<Webhook> {
    let end = request.windows(4).position(|window| window == b"\r\n\r\n")?;
    let (head, rest) = request.split_at(end);
    let head = std::str::from_utf8(head).ok()?;
    let headers: Vec<(String, String)> = head
        .split("\r\n")
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let webhook = Webhook { headers, body: Vec::new() };
    let length: usize = webhook.header("content-length").parse().ok()?;
    let body = rest.get(4..)?.get(..length)?.to_vec();
    Some(Webhook { body, ..webhook })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn request_in_pieces_is_read_once_complete() {
        let request = b"POST /hooks HTTP/1.1\r\nWebhook-Id: evt_1\r\ncontent-length: 2\r\n\r\n{}";
        for end in 0..request.len() {
            assert!(parse(request.get(..end).unwrap()).is_none(), "{end} bytes");
        }
        let webhook = parse(request).unwrap();
        assert_eq!((webhook.header("webhook-id"), webhook.body.as_slice()), ("evt_1", b"{}".as_slice()));
    }

    #[tokio::test]
    async fn webhooks_are_stored_and_acknowledged() {
        let receiver = Receiver::start().await.unwrap();
        let mut connection = TcpStream::connect(receiver.address).await.unwrap();
        // A request may arrive in two pieces.
        connection.write_all(b"POST /hooks HTTP/1.1\r\ncontent-length: 15\r\n\r\n{\"type\":").await.unwrap();
        connection.write_all(b"\"here\"}").await.unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 204"), "{answer}");
        assert!(receiver.find(|event| event.get("type").is_some_and(|kind| kind == "here")).is_some());
        assert!(receiver.find(|event| event.get("type").is_some_and(|kind| kind == "there")).is_none());
    }
}
