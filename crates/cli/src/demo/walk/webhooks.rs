//! Webhooks: a receiver is registered, its webhooks are shown and verified, and its endpoint is deleted.

use anyhow::{Context, ensure};
use cais_ports::SigningSecret;
use cais_webhooks::{ID_HEADER, parse_secret};
use serde_json::Value;
use tokio::time::Instant;

use super::{OUTCOME_TIMEOUT, POLL_INTERVAL, Walk, text};
use crate::demo::client::Request;
use crate::demo::receiver::Webhook;

/// The description of the demonstration's endpoint. By this text, a later run finds and deletes the endpoints of aborted runs.
const DESCRIPTION: &str = "The demonstration's receiver";
/// Path of the webhook endpoints in the API.
const PATH: &str = "/v1/webhook-endpoints";

/// The endpoint that this run registered.
pub(super) struct Registered {
    id: String,
    secret: SigningSecret,
}

impl Walk {
    /// Deletes the endpoints of aborted runs, and registers this run's receiver.
    pub(super) async fn register(&self) -> anyhow::Result<Registered> {
        self.delete_old().await?;
        self.screen.heading("The shop registers a webhook endpoint")?;
        let url = self.receiver.url();
        let events = r#"["charge.paid","infraction.opened","infraction.won"]"#;
        let body = format!(r#"{{"url":"{url}","events":{events},"description":"{DESCRIPTION}"}}"#);
        let made = self.exchange(&request("POST", PATH.to_owned(), Some(body)), 201).await?.json()?;
        self.screen.good("the secret is shown once; every webhook is signed with it")?;
        Ok(Registered { id: text(&made, "/id")?, secret: parse_secret(&text(&made, "/secret")?)? })
    }

    /// Shows and verifies the webhook of the charge's payment, and compares it with the event.
    pub(super) async fn check_payment_webhook(&self, endpoint: &Registered, charge: &str) -> anyhow::Result<()> {
        self.screen.heading("The webhook of the payment")?;
        let webhook = self.webhook("charge.paid", charge).await?;
        self.screen.webhook(&webhook)?;
        webhook.verify(&endpoint.secret, self.clock.now())?;
        self.screen.good("signature verified (Standard Webhooks v1: HMAC-SHA256 over id, timestamp and body)")?;
        let path = format!("/v1/events/{}", webhook.header(ID_HEADER));
        let event = self.client.send(&request("GET", path.clone(), None)).await?;
        ensure!(event.status == 200 && event.body == webhook.body, "the event differs from its webhook");
        self.screen.good(&format!(
            "GET {path} returns the same bytes; `sequence` has no gaps, so a missing event is noticed"
        ))?;
        Ok(())
    }

    /// Waits for a webhook with the event type `kind` about the resource with the id `resource`.
    pub(super) async fn webhook(&self, kind: &str, resource: &str) -> anyhow::Result<Webhook> {
        let wanted = |event: &Value| {
            let at = |pointer: &str| event.pointer(pointer).and_then(Value::as_str);
            at("/type") == Some(kind) && at("/data/id") == Some(resource)
        };
        let deadline = Instant::now() + OUTCOME_TIMEOUT;
        loop {
            if let Some(webhook) = self.receiver.find(wanted) {
                return Ok(webhook);
            }
            ensure!(
                Instant::now() < deadline,
                "no webhook {kind} about {resource} arrived within {} s",
                OUTCOME_TIMEOUT.as_secs()
            );
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Deletes this run's endpoint.
    pub(super) async fn unregister(&self, endpoint: &Registered) -> anyhow::Result<()> {
        self.delete(&endpoint.id).await
    }

    /// Deletes the endpoints of aborted runs, which would otherwise use up the account's limit.
    async fn delete_old(&self) -> anyhow::Result<()> {
        let page = self.client.send(&request("GET", format!("{PATH}?limit=200"), None)).await?.json()?;
        let endpoints =
            page.pointer("/data").and_then(Value::as_array).context("the answer has no list of endpoints")?;
        for endpoint in endpoints {
            if text(endpoint, "/description").is_ok_and(|description| description == DESCRIPTION) {
                self.delete(&text(endpoint, "/id")?).await?;
            }
        }
        Ok(())
    }

    async fn delete(&self, id: &str) -> anyhow::Result<()> {
        let deleted = self.client.send(&request("DELETE", format!("{PATH}/{id}"), None)).await?;
        ensure!(deleted.status == 204, "the endpoint was not deleted: the answer has the status {}", deleted.status);
        Ok(())
    }
}

fn request(method: &'static str, path: String, body: Option<String>) -> Request {
    Request { method, path, idempotency_key: None, body }
}
