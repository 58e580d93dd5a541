//! Deposits: paid exactly, under, over, late and twice. Everything that arrives is credited once.

use bigdecimal::BigDecimal;
use reqwest::Method;
use serde_json::{Value, json};

use super::{crypto_shop, decimal};
use crate::support::{Engine, Receiver, Reply, Shop, centavos, eventually, id, names, on_both, own, shared, unique};

on_both! {
    paid_deposit_is_credited_and_published repeated_deposit_returns_the_original wrong_deposits_are_refused
    underpaid_deposit_is_credited_at_its_rate overpaid_and_repeated_payments_are_credited late_payment_is_credited payment_after_a_simulated_expiry_is_late
    pending_deposit_has_a_qr_code
    simulated_payment_has_the_decimals_of_its_coin quote_prices_one_deposit forged_callback_is_refused
}

/// The fields in the order of their names.
const DEPOSIT: [&str; 21] = [
    "amount",
    "completed_at",
    "confirmed_at",
    "created_at",
    "currency",
    "description",
    "expires_at",
    "external_id",
    "fee",
    "id",
    "net_amount",
    "network",
    "pay_address",
    "pay_amount",
    "pay_extra_id",
    "pay_uri",
    "rate",
    "received_amount",
    "resolution",
    "status",
    "tx_hash",
];

pub(super) fn body(currency: &str) -> Value {
    json!({ "amount": 250, "currency": currency })
}

pub(super) async fn create(shop: &Shop, body: &Value) -> Reply {
    shop.order("/crypto/deposits", body.to_string()).await
}

pub(super) async fn pay(shop: &Shop, deposit: &Value, body: Value) -> Value {
    let path = format!("/sandbox/crypto/deposits/{}/pay", id(deposit));
    shop.send(Method::POST, &path, &body).await.expect(200)
}

pub(super) async fn payments(shop: &Shop, deposit: &Value) -> Vec<Value> {
    let path = format!("/crypto/deposits/{}/payments", id(deposit));
    shop.get(&path).await.expect(200)["data"].as_array().unwrap().clone()
}

/// Waits until the coins of a deposit are credited. Returns the deposit.
pub(super) async fn until(shop: &Shop, deposit: &Value, status: &str) -> Value {
    let path = format!("/crypto/deposits/{}", id(deposit));
    eventually(&format!("{path} {status}"), || async {
        let found = shop.get(&path).await.expect(200);
        (found["status"] == status).then_some(found)
    })
    .await
}

/// Returns the value in BRL of coins at the rate of a deposit, in centavos, rounded down.
pub(super) fn worth(coins: &BigDecimal, deposit: &Value) -> i64 {
    let centavos = coins * decimal(&deposit["rate"]) * BigDecimal::from(100);
    centavos.with_scale_round(0, bigdecimal::RoundingMode::Down).to_string().parse().unwrap()
}

pub(super) async fn available(shop: &Shop) -> i64 {
    centavos(&shop.get("/balance").await.expect(200)["available_balance"])
}

async fn paid_deposit_is_credited_and_published(engine: Engine) {
    let node = shared(engine).await;
    let shop = crypto_shop(&node);
    node.cli(&["account", "fees", "--account", &shop.email, "--operation", "crypto_in", "--fixed", "1.25"]);
    let receiver = Receiver::start().await;
    let endpoint = json!({ "url": receiver.url("/hook"), "events": ["crypto.deposit.completed"] });
    shop.send(Method::POST, "/webhook-endpoints", &endpoint).await.expect(201);

    let made = create(&shop, &body("btc")).await.expect(201);
    assert_eq!(names(&made), DEPOSIT, "{made}");
    assert_eq!(
        (&made["status"], &made["resolution"], &made["received_amount"]),
        (&json!("pending"), &Value::Null, &json!("0"))
    );
    let (address, coins) = (made["pay_address"].as_str().unwrap(), made["pay_amount"].as_str().unwrap());
    assert_eq!(made["pay_uri"], format!("bitcoin:{address}?amount={coins}"));
    let amount = BigDecimal::from(250);
    assert!(decimal(&made["pay_amount"]) * decimal(&made["rate"]) >= amount, "{made}");

    pay(&shop, &made, json!({})).await;
    let done = until(&shop, &made, "completed").await;
    assert_eq!((&done["resolution"], &done["received_amount"]), (&json!("exact"), &made["pay_amount"]), "{done}");
    assert!(
        done["tx_hash"].is_string() && done["confirmed_at"].is_string() && done["completed_at"].is_string(),
        "{done}"
    );
    let gross = worth(&decimal(&made["pay_amount"]), &made);
    assert_eq!((done["fee"].to_string(), centavos(&done["net_amount"])), ("1.25".to_owned(), gross - 125), "{done}");
    assert_eq!(available(&shop).await, gross - 125);
    let received = receiver.until(1).await.remove(0).json();
    assert_eq!((&received["type"], &received["data"]), (&json!("crypto.deposit.completed"), &done));
    let confirmed = shop.get("/events?type=crypto.deposit.confirmed").await.expect(200);
    assert_eq!(confirmed["data"].as_array().unwrap().len(), 1, "{confirmed}");
    assert_eq!(shop.get("/crypto/deposits").await.expect(200)["data"], json!([done]));
    let rows = shop.statement().await;
    assert!(rows.iter().any(|row| row["kind"] == "crypto_deposit" && row["resource_id"] == made["id"]), "{rows:#?}");
    shop.check_statement().await;
    node.verify();
}

async fn repeated_deposit_returns_the_original(engine: Engine) {
    let node = shared(engine).await;
    let shop = crypto_shop(&node);
    let external = unique("deposit");
    let mut request_body = body("trx");
    request_body["external_id"] = json!(external);
    let key = unique("key");
    let first = shop.order_with("/crypto/deposits", &key, request_body.to_string()).await;
    let made = first.expect(201);
    assert_eq!(made["pay_uri"], made["pay_address"]);
    let again = shop.order_with("/crypto/deposits", &key, request_body.to_string()).await;
    assert_eq!((again.status, &again.body, again.header("idempotent-replayed")), (201, &first.body, Some("true")));
    let same = create(&shop, &request_body).await.expect(200);
    assert_eq!((&same["id"], &same["pay_address"]), (&made["id"], &made["pay_address"]));
    assert_eq!(shop.get(&format!("/crypto/deposits/ext:{external}")).await.expect(200)["id"], made["id"]);
    request_body["currency"] = json!("btc");
    create(&shop, &request_body).await.refused(409, "EXTERNAL_ID_CONFLICT");
}

async fn wrong_deposits_are_refused(engine: Engine) {
    let node = shared(engine).await;
    let shop = crypto_shop(&node);
    create(&shop, &json!({ "amount": 250 })).await.refused(400, "VALIDATION_ERROR");
    shop.send(Method::POST, "/crypto/deposits", &body("btc")).await.refused(400, "idempotency_key_required");
    let unsupported = create(&shop, &body("usdttrc20")).await;
    unsupported.refused(422, "unsupported_currency");
    let message = unsupported.json()["error"]["message"].clone();
    let expected = "The currency `usdttrc20` is not supported; supported are trx, usdtbsc, btc, ltc, usdterc20.";
    assert_eq!(message, expected);
    create(&shop, &json!({ "amount": 1, "currency": "btc" })).await.refused(422, "amount_below_minimum");
    let postback = json!({ "amount": 250, "currency": "btc", "postback_url": "https://shop.example/hook" });
    create(&shop, &postback).await.refused(400, "postback_url_not_registered");
    create(&node.shop(), &body("btc")).await.refused(403, "feature_disabled");
    assert_eq!(shop.get("/crypto/deposits").await.expect(200)["data"], json!([]));
}

async fn quote_prices_one_deposit(engine: Engine) {
    let node = shared(engine).await;
    let shop = crypto_shop(&node);
    let request_body = json!({ "side": "deposit", "currency": "btc", "amount": 250 });
    let quote = shop.send(Method::POST, "/crypto/quotes", &request_body).await.expect(201);
    let mut with_quote = body("btc");
    with_quote["quote_id"] = quote["id"].clone();
    let mut other = with_quote.clone();
    other["currency"] = json!("ltc");
    assert_eq!(create(&shop, &other).await.issues(), ["quote_id"]);
    let made = create(&shop, &with_quote).await.expect(201);
    assert_eq!((&made["rate"], &made["pay_amount"]), (&quote["rate"], &quote["crypto_amount"]));
    create(&shop, &with_quote).await.refused(422, "quote_expired");
}

async fn underpaid_deposit_is_credited_at_its_rate(engine: Engine) {
    let node = shared(engine).await;
    let shop = crypto_shop(&node);
    let made = create(&shop, &body("ltc")).await.expect(201);
    let half = (decimal(&made["pay_amount"]) / BigDecimal::from(2)).with_scale(8);
    pay(&shop, &made, json!({ "amount": half.to_plain_string() })).await;
    let done = until(&shop, &made, "underpaid").await;
    assert_eq!((&done["resolution"], decimal(&done["received_amount"])), (&json!("underpaid"), half.clone()), "{done}");
    assert_eq!(available(&shop).await, worth(&half, &made));
    node.verify();
}

async fn overpaid_and_repeated_payments_are_credited(engine: Engine) {
    let node = shared(engine).await;
    let shop = crypto_shop(&node);
    let made = create(&shop, &body("trx")).await.expect(201);
    let more = decimal(&made["pay_amount"]) + BigDecimal::from(10);
    pay(&shop, &made, json!({ "amount": more.to_plain_string() })).await;
    let done = until(&shop, &made, "completed").await;
    assert_eq!((&done["resolution"], decimal(&done["received_amount"])), (&json!("overpaid"), more.clone()), "{done}");
    assert_eq!(available(&shop).await, worth(&more, &made));

    // A further payment to the same address has an identifier of its own.
    pay(&shop, &made, json!({ "amount": "100" })).await;
    let whole = more + BigDecimal::from(100);
    let path = format!("/crypto/deposits/{}", id(&made));
    eventually("the second payment is credited", || async {
        let found = shop.get(&path).await.expect(200);
        (decimal(&found["received_amount"]) == whole).then_some(())
    })
    .await;
    // Each payment is rounded down on its own.
    let difference = worth(&whole, &made) - available(&shop).await;
    assert!((0..=1).contains(&difference), "{difference}");
    shop.check_statement().await;
    node.verify();
}

async fn late_payment_is_credited(engine: Engine) {
    let node = own(engine, &[]).await;
    let shop = crypto_shop(&node);
    let made = create(&shop, &body("btc")).await.expect(201);
    // The payment period is twenty minutes.
    shop.send(Method::PUT, "/sandbox/clock", &json!({ "offset_s": 1_500 })).await.expect(200);
    until(&shop, &made, "expired").await;
    pay(&shop, &made, json!({})).await;
    let path = format!("/crypto/deposits/{}", id(&made));
    let done = eventually("the late coins are credited", || async {
        let found = shop.get(&path).await.expect(200);
        (found["resolution"] == "late").then_some(found)
    })
    .await;
    assert_eq!(done["received_amount"], made["pay_amount"], "{done}");
    assert_eq!(available(&shop).await, worth(&decimal(&made["pay_amount"]), &made));
    node.verify();
}

async fn payment_after_a_simulated_expiry_is_late(engine: Engine) {
    let node = shared(engine).await;
    let shop = crypto_shop(&node);
    let made = create(&shop, &body("btc")).await.expect(201);
    let path = format!("/sandbox/crypto/deposits/{}/expire", id(&made));
    let expired = shop.post(&path).await.expect(200);
    let end = |deposit: &Value| deposit["expires_at"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert_eq!(expired["status"], "expired");
    assert!(end(&expired) < end(&made), "{expired}");
    pay(&shop, &made, json!({})).await;
    let done = until(&shop, &made, "completed").await;
    assert_eq!(done["resolution"], "late", "{done}");
    assert_eq!(payments(&shop, &made).await[0]["resolution"], "late");
    let again = shop.post(&path).await;
    again.refused(409, "invalid_state");
    assert!(again.text().contains("The crypto processor refused: "), "{}", again.text());
    assert_eq!(available(&shop).await, worth(&decimal(&made["pay_amount"]), &made));
}

async fn pending_deposit_has_a_qr_code(engine: Engine) {
    let node = shared(engine).await;
    let shop = crypto_shop(&node);
    let made = create(&shop, &body("btc")).await.expect(201);
    let path = format!("/crypto/deposits/{}/qr.png", id(&made));
    let reply = shop.get(&path).await;
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("image/png")));
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    assert!(reply.body.starts_with(b"\x89PNG\r\n\x1a\n"));
    let other = create(&shop, &body("btc")).await.expect(201);
    let other = shop.get(&format!("/crypto/deposits/{}/qr.png", id(&other))).await;
    assert_ne!(reply.body, other.body, "each address has an image of its own");
    pay(&shop, &made, json!({})).await;
    until(&shop, &made, "completed").await;
    shop.get(&path).await.refused(409, "invalid_state");
    crypto_shop(&node).get(&path).await.refused(404, "not_found");
}

async fn simulated_payment_has_the_decimals_of_its_coin(engine: Engine) {
    let node = shared(engine).await;
    let shop = crypto_shop(&node);
    let made = create(&shop, &body("btc")).await.expect(201);
    let path = format!("/sandbox/crypto/deposits/{}/pay", id(&made));
    for wrong in [
        json!({ "amount": "0.0000000001" }),
        json!({ "amount": "1.0000001", "currency": "trx" }),
        json!({ "amount": "1.2.3" }),
    ] {
        let reply = shop.send(Method::POST, &path, &wrong).await;
        reply.refused(400, "VALIDATION_ERROR");
        assert_eq!(reply.issues(), ["amount"], "{wrong}");
    }
    assert!(payments(&shop, &made).await.is_empty());
    pay(&shop, &made, json!({ "amount": "0.00000001" })).await;
    until(&shop, &made, "underpaid").await;
}

/// The sandbox signs its callbacks with a wrong secret. The coins are credited by a read, once.
async fn forged_callback_is_refused(engine: Engine) {
    let node = own(engine, &[]).await;
    let shop = crypto_shop(&node);
    let file = std::fs::read(node.cais.data_dir().join("sandbox.json")).unwrap();
    let sandbox: Value = serde_json::from_slice(&file).unwrap();
    let sandbox = sandbox["base_url"].as_str().unwrap();
    let wrong =
        shop.client.put(format!("{sandbox}/sandbox/crypto/settings")).json(&json!({ "ipn_signature": "wrong" }));
    Reply::of(wrong).await.expect(200);
    let made = create(&shop, &body("trx")).await.expect(201);
    pay(&shop, &made, json!({})).await;
    eventually("a callback is refused and counted", || async {
        let metrics = node.cais.http_admin().unwrap().get("/metrics").await.unwrap();
        let text = String::from_utf8(metrics.body).unwrap();
        let refused = |line: &str| {
            line.starts_with("cais_http_requests_total")
                && line.contains("/callbacks/")
                && line.contains(r#"status="400""#)
        };
        text.lines().any(refused).then_some(())
    })
    .await;
    assert!(node.cais.log().contains(r#""alert":"callback_signature_invalid""#));
    let ledger = Reply::of(shop.client.get(format!("{sandbox}/sandbox/ledger"))).await.expect(200);
    assert_eq!(ledger["crypto"]["ipns"]["delivered"], 0, "{}", ledger["crypto"]);
    until(&shop, &made, "completed").await;
    assert_eq!(available(&shop).await, worth(&decimal(&made["pay_amount"]), &made));
    let report = node.cli(&["ledger", "report"]);
    assert_eq!(centavos(&report["owed"]), worth(&decimal(&made["pay_amount"]), &made), "{report}");
    assert!(report["coins"].as_array().unwrap().iter().any(|row| row["currency"] == "trx"), "{report}");
    let compared = node.cli(&["reconcile", "--from", made["created_at"].as_str().unwrap()]);
    assert_eq!((&compared["ok"], &compared["deposits"]), (&json!(true), &json!(1)), "{compared}");
    assert_eq!(compared["exposure"]["owed"], report["owed"], "{compared}");
    eventually("the coins at the processor are shown", || async {
        let metrics = node.cais.http_admin().unwrap().get("/metrics").await.unwrap();
        let text = String::from_utf8(metrics.body).unwrap();
        let has = |name: &str| text.lines().any(|line| line.starts_with(name) && !line.ends_with(" NaN"));
        (has("cais_crypto_owed_brl ") && has(r#"cais_crypto_held_brl{currency="btc"} "#)).then_some(())
    })
    .await;
    node.verify();
    let unsigned = |path: &str| shop.client.post(format!("{}{path}", node.base())).body("{}");
    assert_eq!(Reply::of(unsigned("/callbacks/nowpayments/00000000000000000000000000000000")).await.status, 404);
}
