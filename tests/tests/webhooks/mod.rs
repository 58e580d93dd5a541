//! Webhooks and events from a merchant's view.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod addresses;
mod delivery;
mod disabling;
mod endpoints;
mod events;
mod failing_nodes;
mod postback;
mod receivers;
mod verify;

use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use crate::support::{Received, Receiver, Shop, eventually, id};

/// Registers an address for events. Returns the endpoint with its secret.
async fn register(shop: &Shop, url: &str, events: &[&str]) -> Value {
    shop.send(Method::POST, "/webhook-endpoints", &json!({ "url": url, "events": events })).await.expect(201)
}

/// Registers a receiver that answers 200.
async fn receiving(shop: &Shop, events: &[&str]) -> (Receiver, Value) {
    let receiver = Receiver::start().await;
    let endpoint = register(shop, &receiver.url("/hooks"), events).await;
    (receiver, endpoint)
}

/// Creates and pays a charge. Returns its id.
async fn paid(shop: &Shop, amount: &str) -> String {
    let charge = shop.charge_id(amount).await;
    shop.pay(&charge, None).await.expect(200);
    shop.until(&charge, "paid").await;
    charge
}

/// Checks the signature with the published verifier.
#[track_caller]
fn verify(received: &Received, secret: &str) {
    accepted(received, secret).unwrap_or_else(|error| panic!("{error}: {received:?}"));
}

fn accepted(received: &Received, secret: &str) -> Result<(), standardwebhooks::WebhookError> {
    let headers: HeaderMap = received
        .headers
        .iter()
        .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap()))
        .collect();
    standardwebhooks::Webhook::new(secret)?.verify(&received.body, &headers)
}

fn secret(endpoint: &Value) -> String {
    endpoint["secret"].as_str().unwrap().to_owned()
}

/// Returns all deliveries to the endpoint, newest first.
async fn deliveries(shop: &Shop, endpoint: &Value) -> Vec<Value> {
    shop.all(&format!("/webhook-endpoints/{}/deliveries?limit=200", id(endpoint))).await
}

/// Waits until the newest delivery to the endpoint has a status and a number of attempts.
async fn newest(shop: &Shop, endpoint: &Value, status: &str, attempts: usize) -> Value {
    eventually(&format!("the newest delivery is {status} after {attempts}"), || async {
        let newest = deliveries(shop, endpoint).await.into_iter().next()?;
        (newest["status"] == status && newest["attempts"].as_array().unwrap().len() == attempts).then_some(newest)
    })
    .await
}

/// Sets the clock of service and sandbox ahead.
async fn clock(shop: &Shop, offset_s: u32) {
    shop.send(Method::PUT, "/sandbox/clock", &json!({ "offset_s": offset_s })).await.expect(200);
}
