//! The tester's controls of the processor: payments step by step, rates, and notifications.

use reqwest::Method;
use serde_json::{Value, json};

use super::{ADDRESS, crypto_shop, decimal};
use crate::support::{Engine, Node, Reply, Shop, centavos, eventually, id, on_both, own, shared};

on_both! {
    held_deposit_is_credited_when_finished failed_step_credits_nothing
    repeated_reversed_notifications_credit_once
}

async fn create(shop: &Shop, amount: u32) -> Value {
    let body = json!({ "amount": amount, "currency": "ltc" });
    shop.order("/crypto/deposits", body.to_string()).await.expect(201)
}

async fn pay(shop: &Shop, deposit: &Value, body: Value) -> Value {
    shop.send(Method::POST, &format!("/sandbox/crypto/deposits/{}/pay", id(deposit)), &body).await.expect(200)
}

async fn step(shop: &Shop, deposit: &Value, status: &str) -> Reply {
    let path = format!("/sandbox/crypto/deposits/{}/move", id(deposit));
    shop.send(Method::POST, &path, &json!({ "status": status })).await
}

async fn set(shop: &Shop, control: &str, body: Value) -> Value {
    shop.send(Method::PUT, &format!("/sandbox/crypto/{control}"), &body).await.expect(200)
}

async fn events(shop: &Shop, kind: &str) -> usize {
    shop.get(&format!("/events?type={kind}")).await.expect(200)["data"].as_array().unwrap().len()
}

/// Quotes a deposit of LTC.
async fn quote(shop: &Shop, amount: u32) -> Reply {
    let body = json!({ "side": "deposit", "currency": "ltc", "amount": amount });
    shop.send(Method::POST, "/crypto/quotes", &body).await
}

async fn held_deposit_is_credited_when_finished(engine: Engine) {
    let node = shared(engine).await;
    let shop = crypto_shop(&node);
    let made = create(&shop, 300).await;
    step(&shop, &made, "confirmed").await.refused(409, "invalid_state");
    let seen = pay(&shop, &made, json!({ "hold": true })).await;
    assert_eq!((&seen["status"], &seen["confirmed_at"]), (&json!("confirming"), &Value::Null), "{seen}");
    assert!(seen["tx_hash"].is_string(), "{seen}");
    for status in ["confirmed", "sending"] {
        let seen = step(&shop, &made, status).await.expect(200);
        assert_eq!((&seen["status"], seen["confirmed_at"].is_string()), (&json!("confirming"), true), "{seen}");
        assert_eq!((events(&shop, "crypto.deposit.confirmed").await, shop.available().await), (1, "0.00".to_owned()));
        step(&shop, &made, "confirmed").await.refused(409, "invalid_state");
    }
    let done = step(&shop, &made, "finished").await.expect(200);
    assert_eq!((&done["status"], &done["resolution"]), (&json!("completed"), &json!("exact")), "{done}");
    assert_eq!(shop.available().await, done["net_amount"].to_string());
    assert_eq!(events(&shop, "crypto.deposit.completed").await, 1);
    step(&shop, &made, "finished").await.refused(409, "invalid_state");
    node.verify();
}

async fn failed_step_credits_nothing(engine: Engine) {
    let node = shared(engine).await;
    let shop = crypto_shop(&node);
    let made = create(&shop, 300).await;
    // The chain has eight decimals.
    let path = format!("/sandbox/crypto/deposits/{}/pay", id(&made));
    let refused = shop.send(Method::POST, &path, &json!({ "amount": "0.123456789" })).await;
    refused.refused(400, "VALIDATION_ERROR");
    pay(&shop, &made, json!({ "hold": true })).await;
    let failed = step(&shop, &made, "failed").await.expect(200);
    assert_eq!((&failed["status"], &failed["received_amount"]), (&json!("failed"), &json!("0")), "{failed}");
    assert_eq!(shop.available().await, "0.00");
    // Coins arrived, and the processor reports an error: an operator decides.
    let listed = node.cli(&["crypto", "review", "list"]);
    assert!(listed["payments"].as_array().unwrap().iter().any(|row| row["deposit_id"] == made["id"]), "{listed}");
    step(&shop, &made, "done").await.refused(400, "VALIDATION_ERROR");
    node.verify();
}

/// The processor's notifications wait, are sent three times each with the newest first, and then with a wrong signature.
async fn repeated_reversed_notifications_credit_once(engine: Engine) {
    let node = own(engine, &[]).await;
    let shop = crypto_shop(&node);
    let paused = set(&shop, "notifications", json!({ "paused": true, "reversed": true, "copies": 3 })).await;
    assert_eq!(paused, json!({ "paused": true, "reversed": true, "copies": 3, "signature": "valid" }));
    let made = create(&shop, 300).await;
    // Two payments to one address.
    pay(&shop, &made, json!({})).await;
    pay(&shop, &made, json!({ "amount": "0.5", "hold": true })).await;
    step(&shop, &made, "confirmed").await.expect(200);
    step(&shop, &made, "finished").await.expect(200);
    set(&shop, "notifications", json!({ "paused": false })).await;
    let whole = decimal(&made["pay_amount"]) + decimal(&json!("0.5"));
    let path = format!("/crypto/deposits/{}", id(&made));
    eventually("both payments are credited", || async {
        let found = shop.get(&path).await.expect(200);
        (decimal(&found["received_amount"]) == whole).then_some(())
    })
    .await;
    let sandbox = sandbox_url(&node);
    let sent = async || {
        let ledger = Reply::of(shop.client.get(format!("{sandbox}/sandbox/ledger"))).await.expect(200);
        ledger["crypto"]["ipns"].clone()
    };
    eventually("all notifications are sent", || async { (sent().await["owed"] == 0).then_some(()) }).await;
    let before = centavos(&shop.get("/balance").await.expect(200)["available_balance"]);
    let delivered = sent().await["delivered"].clone();
    // A forged repeat of the last notification changes nothing.
    set(&shop, "notifications", json!({ "signature": "wrong", "copies": 1, "reversed": false })).await;
    let ledger = Reply::of(shop.client.get(format!("{sandbox}/sandbox/ledger"))).await.expect(200);
    let payment = ledger["crypto"]["deposits"][0]["payment_id"].as_str().unwrap().to_owned();
    let repeat = shop.client.post(format!("{sandbox}/sandbox/payment/{payment}/ipn"));
    Reply::of(repeat).await.expect(200);
    eventually("the forged notification is abandoned", || async { (sent().await["abandoned"] == 1).then_some(()) })
        .await;
    assert_eq!(sent().await["delivered"], delivered);
    assert_eq!(centavos(&shop.get("/balance").await.expect(200)["available_balance"]), before);
    // Each credit publishes the event.
    assert_eq!(events(&shop, "crypto.deposit.completed").await, 2);
    let credits = shop.statement().await.into_iter().filter(|row| row["kind"] == "crypto_deposit").count();
    assert_eq!(credits, 2);
    node.verify();
}

/// Returns the address of the built-in sandbox.
fn sandbox_url(node: &Node) -> String {
    let file = std::fs::read(node.cais.data_dir().join("sandbox.json")).unwrap();
    serde_json::from_slice::<Value>(&file).unwrap()["base_url"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn moved_rates_stop_quotes_until_they_return() {
    let node = own(Engine::Sqlite, &[]).await;
    let shop = crypto_shop(&node);
    let first = quote(&shop, 3_000).await.expect(201);
    let refused = async |reason: &str| {
        let reply = quote(&shop, 3_000).await;
        reply.refused(503, "service_unavailable");
        assert!(reply.json()["error"]["retry_after"].is_u64(), "{reason}: {}", reply.text());
    };
    let alerts = || node.cais.log().matches(r#""alert":"crypto_rate_jumped""#).count();
    assert_eq!(alerts(), 0);
    // The price of the coin jumps by a factor of ten. A deposit without a quote is refused too, and not created.
    let coin = set(&shop, "coins", json!({ "currency": "ltc", "price": "800" })).await;
    assert_eq!((&coin["price"], &coin["priced"], &coin["enabled"]), (&json!("800"), &json!(true), &json!(true)));
    refused("jump").await;
    assert_eq!(alerts(), 1);
    shop.order("/crypto/deposits", r#"{"amount":3000,"currency":"ltc"}"#.to_owned())
        .await
        .refused(503, "service_unavailable");
    assert_eq!(shop.get("/crypto/deposits").await.expect(200)["data"], json!([]));
    set(&shop, "coins", json!({ "currency": "ltc", "price": "80" })).await;
    quote(&shop, 3_000).await.expect(201);
    // The coin has no price.
    set(&shop, "coins", json!({ "currency": "ltc", "priced": false })).await;
    refused("no price").await;
    let listed = shop.get("/crypto/currencies").await.expect(200);
    let row = listed["data"].as_array().unwrap().iter().find(|row| row["currency"] == "ltc").unwrap();
    assert_eq!((&row["cash_in"], &row["min_deposit"]), (&json!(false), &Value::Null), "{row}");
    set(&shop, "coins", json!({ "currency": "ltc", "priced": true })).await;
    // The dollar jumps by a factor of ten.
    let dollar = set(&shop, "dollar", json!({ "rate": "54.321" })).await;
    assert_eq!(dollar["rate"], "54.321");
    refused("dollar").await;
    set(&shop, "dollar", json!({ "rate": "5.4321" })).await;
    // The dollar's rate is stale, then missing.
    let stale = set(&shop, "dollar", json!({ "age_days": 8 })).await;
    assert!(stale["published_on"].is_string(), "{stale}");
    refused("stale").await;
    assert_eq!(set(&shop, "dollar", json!({ "age_days": 365 })).await, json!({ "rate": null, "published_on": null }));
    refused("missing").await;
    set(&shop, "dollar", json!({ "age_days": 0 })).await;
    // A move within the bounds changes the rate, and a moved minimum is in force at once.
    set(&shop, "coins", json!({ "currency": "ltc", "price": "88", "min_deposit": "5" })).await;
    let moved = quote(&shop, 3_000).await.expect(201);
    let factor = decimal(&json!("1.1"));
    assert_eq!(decimal(&moved["rate"]), decimal(&first["rate"]) * factor);
    quote(&shop, 2_000).await.refused(422, "amount_below_minimum");
    node.verify();
}

#[tokio::test]
async fn balance_and_switch_of_a_coin_bind_withdrawals() {
    let node = own(Engine::Sqlite, &[]).await;
    let shop = crypto_shop(&node);
    shop.earn("1000").await;
    set(&shop, "coins", json!({ "currency": "btc", "balance": "0" })).await;
    let body = json!({ "amount": 500, "currency": "btc", "address": ADDRESS });
    let refused = shop.order("/crypto/withdrawals", body.to_string()).await;
    refused.refused(502, "acquirer_unavailable");
    assert_eq!(shop.available().await, "1000.00");
    set(&shop, "coins", json!({ "currency": "btc", "balance": "1" })).await;
    shop.order("/crypto/withdrawals", body.to_string()).await.expect(201);
    set(&shop, "coins", json!({ "currency": "ltc", "enabled": false })).await;
    let body = json!({ "amount": 300, "currency": "ltc" });
    shop.order("/crypto/deposits", body.to_string()).await.refused(502, "acquirer_unavailable");
    set(&shop, "coins", json!({ "currency": "ltc", "enabled": true })).await;
    shop.order("/crypto/deposits", body.to_string()).await.expect(201);
    let wrong = json!({ "currency": "doge", "price": "0", "balance": 1 });
    let reply = shop.send(Method::PUT, "/sandbox/crypto/coins", &wrong).await;
    reply.refused(400, "VALIDATION_ERROR");
    assert_eq!(reply.issues(), ["currency", "price", "balance"]);
    let reader = shop.with_key(&node.key(&shop.email, "crypto:read"));
    reader.send(Method::PUT, "/sandbox/crypto/dollar", &json!({})).await.refused(403, "insufficient_scope");
    node.verify();
}
