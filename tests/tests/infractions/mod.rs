//! Infractions from a merchant's view: blocked, explained, defended, resolved once.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod crash;
mod defense;
mod life;
mod operators;
mod review;
mod several;
mod shortfalls;
mod storms;
mod upstream;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Reply, Shop, centavos, eventually, id};

/// Disputes the charge in the built-in sandbox.
async fn dispute_with(shop: &Shop, charge: &str, body: &Value) -> Reply {
    shop.send(Method::POST, &format!("/sandbox/charges/{charge}/infraction"), body).await
}

/// Disputes the charge with defaults. Returns the infraction.
async fn dispute(shop: &Shop, charge: &str) -> Value {
    dispute_with(shop, charge, &json!({})).await.expect(201)
}

/// Resolves the infraction in the built-in sandbox.
async fn resolve(shop: &Shop, infraction: &Value, outcome: &str) -> Value {
    let path = format!("/sandbox/infractions/{}/resolve", id(infraction));
    shop.send(Method::POST, &path, &json!({ "outcome": outcome })).await.expect(200)
}

async fn fetch(shop: &Shop, infraction: &Value) -> Value {
    shop.get(&format!("/infractions/{}", id(infraction))).await.expect(200)
}

async fn until(shop: &Shop, infraction: &Value, status: &str) -> Value {
    eventually(&format!("{} is {status}", id(infraction)), || async {
        let now = fetch(shop, infraction).await;
        (now["status"] == status).then_some(now)
    })
    .await
}

async fn defend(shop: &Shop, infraction: &Value, body: &Value) -> Reply {
    shop.send(Method::POST, &format!("/infractions/{}/defense", id(infraction)), body).await
}

/// Returns available, pending and blocked money, in centavos.
async fn balances(shop: &Shop) -> [i64; 3] {
    let balance = shop.get("/balance").await.expect(200);
    let three = ["available_balance", "pending_balance", "blocked_balance"].map(|part| centavos(&balance[part]));
    assert_eq!(three.iter().sum::<i64>(), centavos(&balance["total_balance"]), "{balance}");
    three
}

/// Returns the held amount by the statement: the sum of the infraction's entries on `blocked`.
async fn held(shop: &Shop, infraction: &Value) -> i64 {
    let entries = shop.all("/balance/entries?bucket=blocked&limit=200").await;
    entries
        .iter()
        .filter(|entry| entry["resource_id"] == infraction["id"])
        .map(|entry| centavos(&entry["amount"]))
        .sum()
}

/// Returns the types of all events, oldest first.
async fn kinds(shop: &Shop) -> Vec<String> {
    let events = shop.all("/events?limit=200").await;
    events.iter().rev().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}
