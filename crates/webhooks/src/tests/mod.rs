//! Tests the sender and the relay with scripted receivers, which write raw bytes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod hostile;
mod names;
mod relay;
mod server;
mod tls;
mod wire;

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cais_domain::ids::EventId;
use cais_domain::merchant::webhook::WebhookUrl;
use cais_ports::secret_cipher::SigningSecret;
use cais_ports::webhooks::{Outgoing, Sent, WebhookSender as _};
use jiff::Timestamp;
use rustls::RootCertStore;

use crate::resolver::Lookup;
use crate::sender::{Budgets, HttpSender, WebhookPolicy};

/// A limit that no test reaches.
const LONG: Duration = Duration::from_mins(5);
/// A limit short enough to wait for.
const SHORT: Duration = Duration::from_millis(300);

const PATIENT: Budgets = Budgets { connect: LONG, attempt: LONG, body: LONG, vetting: LONG };
const BODY: &[u8] = br#"{"id":"evt_01jvx5p2d2f0x9vj5z8m3k6h7q","type":"charge.paid","note":"n\u00e3o"}"#;

/// A resolver without names.
struct NoNames;

#[async_trait]
impl Lookup for NoNames {
    async fn lookup(&self, _name: &str) -> io::Result<Vec<IpAddr>> {
        Err(io::ErrorKind::NotFound.into())
    }
}

fn development() -> WebhookPolicy {
    WebhookPolicy { allow_insecure: true, allow_addresses: vec!["127.0.0.0/8".parse().unwrap()] }
}

fn sender(budgets: Budgets) -> HttpSender {
    HttpSender::with(development(), budgets, Arc::new(NoNames), RootCertStore::empty()).unwrap()
}

fn webhook_url(text: &str) -> WebhookUrl {
    WebhookUrl::parse(text).unwrap()
}

fn event_id() -> EventId {
    EventId::parse("evt_01jvx5p2d2f0x9vj5z8m3k6h7q").unwrap()
}

fn at() -> Timestamp {
    "2025-10-09T08:53:20.999Z".parse().unwrap()
}

async fn send(sender: &HttpSender, url: &str) -> Sent {
    send_at(sender, url, at(), BODY).await
}

async fn send_at(sender: &HttpSender, url: &str, at: Timestamp, body: &[u8]) -> Sent {
    let secrets = [SigningSecret([1; 32]), SigningSecret([2; 32])];
    let url = webhook_url(url);
    sender.send(Outgoing { url: &url, id: event_id(), at, secrets: &secrets, body }).await
}

/// Formats the outcome of an attempt: `200 ok`, `503 status_not_2xx`, `- timed_out`.
fn outcome(sent: &Sent) -> String {
    let status = sent.status_code.map_or_else(|| "-".to_owned(), |status| status.to_string());
    format!("{status} {}", sent.error.map_or("ok", cais_ports::webhooks::AttemptError::as_str))
}
