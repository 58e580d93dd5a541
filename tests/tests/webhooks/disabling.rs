//! Endpoints that stop being called: because they say so, because they fail for days, or because their merchant wants it.

use reqwest::Method;
use serde_json::{Value, json};

use super::{clock, deliveries, newest, paid, receiving, register};
use crate::support::{Engine, Manner, OPEN, Receiver, Shop, centavos, eventually, id, on_both, own, shared};

on_both! { a_receiver_that_is_gone five_days_of_failures what_waits_is_cancelled_and_stays_so }

async fn until_disabled(shop: &Shop, endpoint: &Value, reason: &str) {
    eventually(&format!("disabled: {reason}"), || async {
        let now = shop.get(&format!("/webhook-endpoints/{}", id(endpoint))).await.expect(200);
        (now["disabled_reason"] == reason && now["active"] == false).then_some(())
    })
    .await;
}

async fn a_receiver_that_is_gone(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let (watcher, _) = receiving(&shop, &["webhook_endpoint.disabled"]).await;
    let gone = Receiver::that(Manner::status(410)).await;
    let endpoint = register(&shop, &gone.url("/hooks"), &["*"]).await;
    // Several at once: it is disabled, and told, once.
    for _ in 0..4 {
        shop.post(&format!("/webhook-endpoints/{}/test", id(&endpoint))).await;
    }
    until_disabled(&shop, &endpoint, "gone").await;
    let told = watcher.until(1).await.remove(0);
    assert_eq!((told.kind().as_str(), &told.json()["data"]["id"]), ("webhook_endpoint.disabled", &endpoint["id"]));
    assert_eq!(told.json()["data"]["disabled_reason"], "gone");
    assert_eq!(told.json()["data"].get("secret"), None);
    let events = shop.get("/events?type=webhook_endpoint.disabled").await.expect(200);
    assert_eq!(events["data"].as_array().unwrap().len(), 1);
    for delivery in deliveries(&shop, &endpoint).await {
        // A test is tried once: it has failed, or was cancelled before its attempt.
        let tried = delivery["attempts"].as_array().unwrap().len();
        assert_eq!(delivery["status"], if tried == 1 { "failed" } else { "cancelled" }, "{delivery}");
    }
    shop.post(&format!("/webhook-endpoints/{}/test", id(&endpoint))).await.refused(409, "invalid_state");
    // It is called again once its merchant wants it.
    gone.becomes(Manner::status(200));
    let path = format!("/webhook-endpoints/{}", id(&endpoint));
    let active = shop.send(Method::PATCH, &path, &json!({ "active": true })).await.expect(200);
    assert_eq!((&active["active"], &active["disabled_reason"]), (&json!(true), &Value::Null));
    paid(&shop, "10").await;
    gone.until_kind("charge.paid").await;
    newest(&shop, &endpoint, "succeeded", 1).await;
}

async fn five_days_of_failures(engine: Engine) {
    let node = own(engine, &OPEN).await;
    let shop = node.shop();
    let failing = Receiver::that(Manner::status(500)).await;
    let endpoint = register(&shop, &failing.url("/hooks"), &["charge.paid"]).await;
    let sometimes = Receiver::that(Manner::status(500)).await;
    let spared = register(&shop, &sometimes.url("/hooks"), &["charge.paid"]).await;
    paid(&shop, "10").await;
    newest(&shop, &endpoint, "pending", 1).await;
    newest(&shop, &spared, "pending", 1).await;
    clock(&shop, 4 * 86_400).await;
    newest(&shop, &endpoint, "pending", 2).await;
    // One success in between, and the days are counted anew.
    sometimes.becomes(Manner::status(200));
    newest(&shop, &spared, "pending", 2).await;
    clock(&shop, 4 * 86_400 + 400).await;
    newest(&shop, &spared, "succeeded", 3).await;
    sometimes.becomes(Manner::status(500));
    clock(&shop, 5 * 86_400 + 3_600).await;
    until_disabled(&shop, &endpoint, "failing").await;
    paid(&shop, "10").await;
    newest(&shop, &spared, "pending", 1).await;
    let spared = shop.get(&format!("/webhook-endpoints/{}", id(&spared))).await.expect(200);
    assert_eq!(spared["active"], true);
}

async fn what_waits_is_cancelled_and_stays_so(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let failing = Receiver::that(Manner::status(500)).await;
    let endpoint = register(&shop, &failing.url("/hooks"), &["charge.paid"]).await;
    let path = format!("/webhook-endpoints/{}", id(&endpoint));
    paid(&shop, "10").await;
    let waiting = newest(&shop, &endpoint, "pending", 1).await;
    shop.send(Method::PATCH, &path, &json!({ "active": false })).await.expect(200);
    let cancelled = deliveries(&shop, &endpoint).await.remove(0);
    assert_eq!((&cancelled["status"], &cancelled["next_attempt_at"]), (&json!("cancelled"), &Value::Null));
    paid(&shop, "10").await;
    failing.becomes(Manner::status(200));
    shop.send(Method::PATCH, &path, &json!({ "active": true })).await.expect(200);
    paid(&shop, "11").await;
    let arrived = failing.until(2).await.remove(1);
    assert_eq!(
        centavos(&arrived.json()["data"]["amount"]),
        1_100,
        "not the one that was cancelled, nor the one in between"
    );
    assert_eq!(deliveries(&shop, &endpoint).await.len(), 2);
    let again = format!("{path}/deliveries/{}/resend", id(&waiting));
    shop.post(&again).await.refused(409, "invalid_state");
}
