//! Payments of deposits that wait for an operator: another coin, coins that are too late or too many.

use reqwest::Method;
use serde_json::{Value, json};

use super::deposits::{available, body, create, pay, payments, until, worth};
use super::{crypto_shop, decimal};
use crate::support::{Engine, centavos, eventually, id, names, on_both, own, shared, unique};

on_both! {
    other_coins_wait_for_an_operator payment_after_the_late_hour_is_listed_in_review
    deposit_in_review_shows_its_resolution
}

async fn other_coins_wait_for_an_operator(engine: Engine) {
    let node = shared(engine).await;
    let shop = crypto_shop(&node);
    let made = create(&shop, &body("btc")).await.expect(201);
    pay(&shop, &made, json!({ "amount": "3", "currency": "ltc" })).await;
    eventually("the payment is listed", || async {
        let listed = node.cli(&["crypto", "review", "list"]);
        let rows = listed["payments"].as_array().unwrap().clone();
        rows.into_iter().find(|row| row["deposit_id"] == made["id"])
    })
    .await;
    assert_eq!(available(&shop).await, 0);
    let waiting = payments(&shop, &made).await;
    assert_eq!(waiting.len(), 1, "{waiting:#?}");
    assert_eq!(
        names(&waiting[0]),
        [
            "credited_amount",
            "currency",
            "fee",
            "received_amount",
            "received_at",
            "resolution",
            "review_reason",
            "status",
            "tx_hash"
        ]
    );
    let fields = ["currency", "received_amount", "status", "resolution", "review_reason"].map(|name| &waiting[0][name]);
    assert_eq!(fields, ["ltc", "3", "in_review", "wrong_asset", "wrong_asset"]);
    assert!(waiting[0]["credited_amount"] == 0.0 && waiting[0]["tx_hash"].is_string(), "{waiting:#?}");

    let path = format!("/crypto/deposits/{}/payments", id(&made));
    let other = crypto_shop(&node);
    other.get(&path).await.refused(404, "not_found");
    shop.get("/crypto/deposits/ext:none/payments").await.refused(404, "not_found");
    assert_eq!(shop.get(&format!("{path}?limit=1")).await.issues(), ["limit"]);
    node.verify();
}

async fn payment_after_the_late_hour_is_listed_in_review(engine: Engine) {
    let node = own(engine, &[]).await;
    let shop = crypto_shop(&node);
    let external = unique("deposit");
    let made = create(&shop, &json!({ "amount": 250, "currency": "btc", "external_id": external })).await.expect(201);
    pay(&shop, &made, json!({})).await;
    until(&shop, &made, "completed").await;
    // An hour and the payment period of twenty minutes are over.
    shop.send(Method::PUT, "/sandbox/clock", &json!({ "offset_s": 7_200 })).await.expect(200);
    pay(&shop, &made, json!({ "amount": "0.001" })).await;
    let path = format!("/crypto/deposits/ext:{external}/payments");
    let rows = eventually("both payments are listed", || async {
        let listed = shop.get(&path).await.expect(200)["data"].as_array().unwrap().clone();
        (listed.len() == 2).then_some(listed)
    })
    .await;
    let row = |row: &Value| ["status", "resolution", "review_reason"].map(|name| row[name].clone());
    assert_eq!(row(&rows[0]), [json!("credited"), json!("exact"), Value::Null]);
    assert_eq!(row(&rows[1]), [json!("in_review"), json!("late"), json!("too_late")]);
    let gross = worth(&decimal(&made["pay_amount"]), &made);
    assert_eq!((centavos(&rows[0]["credited_amount"]), available(&shop).await), (gross, gross));
    assert_eq!(rows[1]["received_amount"], "0.001");
    let deposit = shop.get(&format!("/crypto/deposits/{}", id(&made))).await.expect(200);
    assert_eq!(deposit["received_amount"], made["pay_amount"], "coins in review are not received yet");
    let waiting = node.cli(&["crypto", "review", "list"])["payments"].clone();
    let payment = waiting.as_array().unwrap().iter().find(|row| row["deposit_id"] == made["id"]).unwrap().clone();
    let resolve =
        ["crypto", "review", "resolve-payment", payment["id"].as_str().unwrap(), "--at-rate", "--note", "agreed"];
    let resolved = node.cli(&resolve);
    assert_eq!(resolved["status"], "credited", "{resolved}");
    assert!(node.cais.cli(&resolve).is_err(), "a payment is credited once");
    let whole = decimal(&made["pay_amount"]) + decimal(&json!("0.001"));
    let credited = until(&shop, &made, "completed").await;
    assert_eq!(decimal(&credited["received_amount"]), whole, "{credited}");
    assert_eq!(available(&shop).await, gross + centavos(&resolved["credited"]));
    assert!((0..=1).contains(&(worth(&whole, &made) - available(&shop).await)), "{resolved}");
    node.verify();
}

async fn deposit_in_review_shows_its_resolution(engine: Engine) {
    let node = own(engine, &[]).await;
    let shop = crypto_shop(&node);
    let made = create(&shop, &body("btc")).await.expect(201);
    shop.send(Method::PUT, "/sandbox/clock", &json!({ "offset_s": 7_200 })).await.expect(200);
    until(&shop, &made, "expired").await;
    pay(&shop, &made, json!({})).await;
    let path = format!("/crypto/deposits/{}", id(&made));
    let shown = eventually("the late coins are shown", || async {
        let found = shop.get(&path).await.expect(200);
        (found["resolution"] == "late").then_some(found)
    })
    .await;
    assert_eq!((&shown["status"], &shown["received_amount"]), (&json!("expired"), &json!("0")), "{shown}");
    let confirmed = shop.get("/events?type=crypto.deposit.confirmed").await.expect(200);
    assert_eq!(confirmed["data"][0]["data"]["resolution"], "late", "{confirmed}");
    assert_eq!(payments(&shop, &made).await[0]["status"], "in_review");
    assert_eq!(available(&shop).await, 0);
    node.verify();
}
