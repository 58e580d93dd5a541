//! Endpoints without deliveries: gone, failing for days, or deactivated by the merchant.

use reqwest::Method;
use serde_json::{Value, json};

use super::{clock, deliveries, newest, paid, receiving, register};
use crate::support::{Behavior, Engine, OPEN, Receiver, Shop, centavos, eventually, id, on_both, own, shared};

on_both! {
    gone_receiver_is_disabled
    five_days_of_failures_disable_an_endpoint
    deliveries_wait_while_endpoint_is_inactive
    cancelled_delivery_of_disabled_endpoint_stays_so
}

async fn until_disabled(shop: &Shop, endpoint: &Value, reason: &str) {
    eventually(&format!("disabled: {reason}"), || async {
        let now = shop.get(&format!("/webhook-endpoints/{}", id(endpoint))).await.expect(200);
        (now["disabled_reason"] == reason && now["active"] == false).then_some(())
    })
    .await;
}

async fn gone_receiver_is_disabled(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let (watcher, _) = receiving(&shop, &["webhook_endpoint.disabled"]).await;
    let gone = Receiver::start_with(Behavior::status(410)).await;
    let endpoint = register(&shop, &gone.url("/hooks"), &["*"]).await;
    // Several deliveries at once disable the endpoint once, with one event.
    for _ in 0..4 {
        shop.post(&format!("/webhook-endpoints/{}/test", id(&endpoint))).await;
    }
    until_disabled(&shop, &endpoint, "gone").await;
    let event = watcher.until(1).await.remove(0);
    assert_eq!((event.kind().as_str(), &event.json()["data"]["id"]), ("webhook_endpoint.disabled", &endpoint["id"]));
    assert_eq!(event.json()["data"]["disabled_reason"], "gone");
    assert_eq!(event.json()["data"].get("secret"), None);
    let events = shop.get("/events?type=webhook_endpoint.disabled").await.expect(200);
    assert_eq!(events["data"].as_array().unwrap().len(), 1);
    for delivery in deliveries(&shop, &endpoint).await {
        // A test delivery has one attempt. Its endpoint may be disabled before the attempt, or while the attempt is open.
        let is_tried = delivery["attempts"].as_array().unwrap().len() == 1;
        let status = delivery["status"].as_str().unwrap();
        assert!(status == "cancelled" || is_tried && status == "failed", "{delivery}");
    }
    shop.post(&format!("/webhook-endpoints/{}/test", id(&endpoint))).await.refused(409, "invalid_state");
    // The merchant activates the endpoint again.
    gone.set_behavior(Behavior::status(200));
    let path = format!("/webhook-endpoints/{}", id(&endpoint));
    let active = shop.send(Method::PATCH, &path, &json!({ "active": true })).await.expect(200);
    assert_eq!((&active["active"], &active["disabled_reason"]), (&json!(true), &Value::Null));
    paid(&shop, "10").await;
    gone.until_kind("charge.paid").await;
    newest(&shop, &endpoint, "succeeded", 1).await;
}

async fn five_days_of_failures_disable_an_endpoint(engine: Engine) {
    let node = own(engine, &OPEN).await;
    let shop = node.shop();
    let failing = Receiver::start_with(Behavior::status(500)).await;
    let endpoint = register(&shop, &failing.url("/hooks"), &["charge.paid"]).await;
    let sometimes = Receiver::start_with(Behavior::status(500)).await;
    let spared = register(&shop, &sometimes.url("/hooks"), &["charge.paid"]).await;
    paid(&shop, "10").await;
    newest(&shop, &endpoint, "pending", 1).await;
    newest(&shop, &spared, "pending", 1).await;
    clock(&shop, 4 * 86_400).await;
    newest(&shop, &endpoint, "pending", 2).await;
    // A success restarts the count of days.
    sometimes.set_behavior(Behavior::status(200));
    newest(&shop, &spared, "pending", 2).await;
    clock(&shop, 4 * 86_400 + 400).await;
    newest(&shop, &spared, "succeeded", 3).await;
    sometimes.set_behavior(Behavior::status(500));
    clock(&shop, 5 * 86_400 + 3_600).await;
    until_disabled(&shop, &endpoint, "failing").await;
    paid(&shop, "10").await;
    newest(&shop, &spared, "pending", 1).await;
    let spared = shop.get(&format!("/webhook-endpoints/{}", id(&spared))).await.expect(200);
    assert_eq!(spared["active"], true);
}

async fn deliveries_wait_while_endpoint_is_inactive(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let receiver = Receiver::start_with(Behavior::status(500)).await;
    let endpoint = register(&shop, &receiver.url("/hooks"), &["charge.paid"]).await;
    let path = format!("/webhook-endpoints/{}", id(&endpoint));
    paid(&shop, "10").await;
    newest(&shop, &endpoint, "pending", 1).await;
    shop.send(Method::PATCH, &path, &json!({ "active": false })).await.expect(200);
    receiver.set_behavior(Behavior::status(200));
    paid(&shop, "11").await;
    let waiting = newest(&shop, &endpoint, "pending", 0).await;
    let listed = deliveries(&shop, &endpoint).await;
    assert_eq!(listed.len(), 2);
    assert!(listed.iter().all(|one| one["status"] == "pending" && one["next_attempt_at"].is_null()), "{listed:?}");
    shop.post(&format!("{path}/deliveries/{}/resend", id(&waiting))).await.refused(409, "invalid_state");

    shop.send(Method::PATCH, &path, &json!({ "active": true })).await.expect(200);
    eventually("both are delivered", || async {
        let listed = deliveries(&shop, &endpoint).await;
        listed.iter().all(|one| one["status"] == "succeeded").then_some(())
    })
    .await;
    let mut amounts: Vec<i64> =
        receiver.until(3).await.iter().map(|one| centavos(&one.json()["data"]["amount"])).collect();
    amounts.sort_unstable();
    assert_eq!(amounts, [1_000, 1_000, 1_100], "the first delivery had an earlier attempt as well");
}

async fn cancelled_delivery_of_disabled_endpoint_stays_so(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let receiver = Receiver::start_with(Behavior::status(500)).await;
    let endpoint = register(&shop, &receiver.url("/hooks"), &["charge.paid"]).await;
    let path = format!("/webhook-endpoints/{}", id(&endpoint));
    paid(&shop, "10").await;
    let waiting = newest(&shop, &endpoint, "pending", 1).await;
    receiver.set_behavior(Behavior::status(410));
    shop.post(&format!("{path}/test")).await;
    until_disabled(&shop, &endpoint, "gone").await;
    let cancelled = deliveries(&shop, &endpoint).await.pop().unwrap();
    assert_eq!((&cancelled["status"], &cancelled["next_attempt_at"]), (&json!("cancelled"), &Value::Null));
    paid(&shop, "10").await;
    receiver.set_behavior(Behavior::status(200));
    shop.send(Method::PATCH, &path, &json!({ "active": true })).await.expect(200);
    paid(&shop, "11").await;
    let arrived = newest(&shop, &endpoint, "succeeded", 1).await;
    assert_eq!(arrived["event_type"], "charge.paid");
    let statuses: Vec<Value> =
        deliveries(&shop, &endpoint).await.iter().map(|delivery| delivery["status"].clone()).collect();
    // The second test failed, or was cancelled before its outcome was stored.
    assert_eq!(statuses.len(), 3, "no delivery of the event in between: {statuses:?}");
    assert_eq!((&statuses[0], &statuses[2]), (&json!("succeeded"), &json!("cancelled")));
    shop.post(&format!("{path}/deliveries/{}/resend", id(&waiting))).await.refused(409, "invalid_state");
}
