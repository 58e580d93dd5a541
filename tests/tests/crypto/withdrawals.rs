//! Withdrawals: sent once, completed, rejected, decided by an operator, and continued after a crash.

use reqwest::Method;
use serde_json::{Value, json};

use super::{ADDRESS, crypto_shop};
use crate::support::{
    Engine, Institution, Node, Reply, Shop, borrowed, centavos, eventually, id, names, on_both, own, shared, unique,
};

on_both! {
    withdrawal_is_sent_once_and_completes repeated_withdrawal_returns_the_original wrong_withdrawals_are_refused
    rejected_withdrawal_gives_the_money_back failed_withdrawal_waits_for_an_operator quote_prices_one_withdrawal
    killed_service_sends_a_withdrawal_once service_killed_before_the_order_sends_nothing
    withdrawal_below_a_raised_minimum_fails sent_withdrawal_that_was_given_back_is_reported
    withdrawal_of_a_removed_processor_is_never_failed_early
}

/// The fields in the order of their names.
const WITHDRAWAL: [&str; 17] = [
    "address",
    "amount",
    "completed_at",
    "created_at",
    "crypto_amount",
    "currency",
    "description",
    "error_message",
    "external_id",
    "fee",
    "gross_amount",
    "id",
    "network",
    "network_fee",
    "rate",
    "status",
    "tx_hash",
];

pub(super) fn body(amount: u32) -> Value {
    json!({ "amount": amount, "currency": "btc", "address": ADDRESS })
}

pub(super) async fn withdraw(shop: &Shop, body: &Value) -> Reply {
    shop.order("/crypto/withdrawals", body.to_string()).await
}

pub(super) async fn until(shop: &Shop, withdrawal: &str, status: &str) -> Value {
    eventually(&format!("{withdrawal} {status}"), || async {
        let found = shop.get(&format!("/crypto/withdrawals/{withdrawal}")).await.expect(200);
        (found["status"] == status).then_some(found)
    })
    .await
}

async fn withdrawal_is_sent_once_and_completes(engine: Engine) {
    let node = shared(engine).await;
    let shop = crypto_shop(&node);
    node.cli(&["account", "fees", "--account", &shop.email, "--operation", "crypto_out", "--fixed", "2.50"]);
    shop.earn("1000").await;
    let made = withdraw(&shop, &body(500)).await.expect(201);
    assert_eq!(names(&made), WITHDRAWAL, "{made}");
    assert_eq!(
        (&made["status"], &made["network"], &made["address"]),
        (&json!("processing"), &json!("bitcoin"), &json!(ADDRESS))
    );
    assert_eq!((made["fee"].to_string(), made["gross_amount"].to_string()), ("2.50".into(), "502.50".into()));
    assert_eq!(shop.available().await, "497.50");
    let done = until(&shop, &id(&made), "completed").await;
    assert!(
        done["tx_hash"].is_string() && done["network_fee"].is_string() && done["completed_at"].is_string(),
        "{done}"
    );
    for name in ["amount", "crypto_amount", "rate", "created_at"] {
        assert_eq!(done[name], made[name], "{name}");
    }
    assert_eq!(shop.available().await, "497.50");
    let listed = shop.get("/crypto/withdrawals").await.expect(200);
    assert_eq!(listed["data"], json!([done]));
    let events = shop.get("/events?type=crypto.withdrawal.completed").await.expect(200);
    assert_eq!(events["data"].as_array().unwrap().len(), 1, "{events}");
    assert_eq!(events["data"][0]["data"], done);
    let rows = shop.statement().await;
    let kinds: Vec<&str> = rows.iter().map(|row| row["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"crypto_withdrawal"), "{rows:#?}");
    shop.check_statement().await;
    node.verify();
}

async fn repeated_withdrawal_returns_the_original(engine: Engine) {
    let node = shared(engine).await;
    let shop = crypto_shop(&node);
    shop.earn("1000").await;
    let external = unique("withdrawal");
    let mut request_body = body(200);
    request_body["external_id"] = json!(external);
    let key = unique("key");
    let first = shop.order_with("/crypto/withdrawals", &key, request_body.to_string()).await;
    first.expect(201);
    let again = shop.order_with("/crypto/withdrawals", &key, request_body.to_string()).await;
    assert_eq!((again.status, &again.body, again.header("idempotent-replayed")), (201, &first.body, Some("true")));
    let same = withdraw(&shop, &request_body).await.expect(200);
    assert_eq!(same["id"], first.json()["id"]);
    let found = shop.get(&format!("/crypto/withdrawals/ext:{external}")).await.expect(200);
    assert_eq!(found["id"], first.json()["id"]);
    request_body["amount"] = json!(201);
    withdraw(&shop, &request_body).await.refused(409, "EXTERNAL_ID_CONFLICT");
    shop.order_with("/crypto/withdrawals", &key, request_body.to_string()).await.refused(409, "IDEMPOTENCY_CONFLICT");
    assert_eq!(shop.available().await, "800.00");
}

async fn wrong_withdrawals_are_refused(engine: Engine) {
    let node = shared(engine).await;
    let shop = crypto_shop(&node);
    let with = |name: &str, value: Value| {
        let mut request_body = body(500);
        request_body[name] = value;
        request_body
    };
    withdraw(&shop, &json!({})).await.refused(400, "VALIDATION_ERROR");
    withdraw(&shop, &with("quote_id", json!("x"))).await.refused(400, "VALIDATION_ERROR");
    shop.send(Method::POST, "/crypto/withdrawals", &body(500)).await.refused(400, "idempotency_key_required");
    withdraw(&shop, &with("currency", json!("usdttrc20"))).await.refused(422, "unsupported_currency");
    withdraw(&shop, &with("address", json!("0xdAC17F958D2ee523a2206206994597C13D831ec7")))
        .await
        .refused(422, "invalid_address");
    let reply = withdraw(&shop, &with("address", json!("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5"))).await;
    reply.refused(422, "invalid_address");
    assert!(reply.text().contains("checksum"), "{}", reply.text());
    withdraw(&shop, &body(20)).await.refused(422, "amount_below_minimum");
    withdraw(&shop, &body(500)).await.refused(422, "insufficient_balance");
    withdraw(&shop, &body(50_001)).await.refused(422, "transaction_limit_exceeded");
    let unable = node.shop();
    withdraw(&unable, &with("currency", json!("doge"))).await.refused(403, "feature_disabled");
    assert_eq!(shop.get("/crypto/withdrawals").await.expect(200)["data"], json!([]));
    shop.get("/crypto/withdrawals/ext:nothing").await.refused(404, "not_found");
}

async fn quote_prices_one_withdrawal(engine: Engine) {
    let node = shared(engine).await;
    let shop = crypto_shop(&node);
    shop.earn("1000").await;
    let quote = json!({ "side": "withdrawal", "currency": "btc", "amount": 300 });
    let quote = shop.send(Method::POST, "/crypto/quotes", &quote).await.expect(201);
    let with_quote = |amount: u32| {
        let mut request_body = body(amount);
        request_body["quote_id"] = quote["id"].clone();
        request_body
    };
    let reply = withdraw(&shop, &with_quote(301)).await;
    reply.refused(400, "VALIDATION_ERROR");
    assert_eq!(reply.issues(), ["quote_id"]);
    let other = crypto_shop(&node);
    withdraw(&other, &with_quote(300)).await.refused(404, "not_found");
    let made = withdraw(&shop, &with_quote(300)).await.expect(201);
    assert_eq!((&made["rate"], &made["crypto_amount"]), (&quote["rate"], &quote["crypto_amount"]));
    withdraw(&shop, &with_quote(300)).await.refused(422, "quote_expired");
    let detail = shop.get(&format!("/crypto/quotes/{}", id(&quote))).await.expect(200);
    assert_eq!(detail["used_by"], made["id"]);
}

async fn fail(shop: &Shop, withdrawal: &str, mode: &str) -> Value {
    let path = format!("/sandbox/crypto/withdrawals/{withdrawal}/fail");
    shop.send(Method::POST, &path, &json!({ "mode": mode })).await.expect(200)
}

async fn rejected_withdrawal_gives_the_money_back(engine: Engine) {
    let node = shared(engine).await;
    let shop = crypto_shop(&node);
    shop.earn("1000").await;
    let made = withdraw(&shop, &body(500)).await.expect(201);
    let failed = fail(&shop, &id(&made), "rejected").await;
    assert_eq!(failed["status"], "failed", "{failed}");
    assert!(failed["error_message"].is_string(), "{failed}");
    assert_eq!(shop.available().await, "1000.00");
    let events = shop.get("/events?type=crypto.withdrawal.failed").await.expect(200);
    assert_eq!(events["data"].as_array().unwrap().len(), 1, "{events}");
    shop.check_statement().await;
    let path = format!("/sandbox/crypto/withdrawals/{}/fail", id(&made));
    shop.send(Method::POST, &path, &json!({ "mode": "failed" })).await.refused(409, "invalid_state");
}

async fn failed_withdrawal_waits_for_an_operator(engine: Engine) {
    let node = shared(engine).await;
    let shop = crypto_shop(&node);
    shop.earn("1000").await;
    let made = withdraw(&shop, &body(500)).await.expect(201);
    let id = id(&made);
    let marked = fail(&shop, &id, "failed").await;
    assert_eq!(marked["status"], "processing", "{marked}");
    assert_eq!(shop.available().await, "500.00");
    let listed = node.cli(&["crypto", "review", "list"]);
    let row = listed["withdrawals"].as_array().unwrap().iter().find(|row| row["id"] == id).unwrap().clone();
    assert!(row["review_since"].is_string() && row["upstream_id"].is_string(), "{row}");
    let wrong = ["crypto", "review", "resolve", &id, "--outcome", "sent", "--note", "x"];
    assert!(node.cais.cli(&wrong).is_err());
    let resolve =
        ["crypto", "review", "resolve", &id, "--outcome", "failed", "--note", "the processor will not send it"];
    let resolved = node.cli(&resolve);
    assert_eq!(resolved["status"], "failed", "{resolved}");
    assert_eq!(until(&shop, &id, "failed").await["status"], "failed");
    assert_eq!(shop.available().await, "1000.00");
    let audit = node.cli(&["audit", "list", "--action", "crypto_withdrawal.resolve"]);
    assert!(audit.to_string().contains(&id), "{audit}");
    node.verify();
}

/// Starts a service beside `cais sandbox` as acquirer and as crypto processor, with a merchant who has R$ 1000.00.
pub(super) async fn beside(bank: &Institution, engine: Engine) -> (Node, Shop) {
    let environment = [bank.environment("main"), bank.crypto_environment()].concat();
    let node = own(engine, &borrowed(&environment)).await;
    let shop = crypto_shop(&node);
    let charge = shop.charge("1000").await;
    bank.pay(charge["txid"].as_str().unwrap()).await;
    shop.until(&id(&charge), "paid").await;
    (node, shop)
}

/// Sets a fault of the processor's paths that contain `part`.
pub(super) async fn fault(bank: &Institution, mode: &str, part: &str) {
    let fault = json!({ "mode": mode, "latency_ms": 20_000, "acquirer": "crypto", "path": part });
    bank.ask(Method::PUT, "/sandbox/faults", &fault).await.expect(200);
}

pub(super) async fn sent(bank: &Institution) -> Vec<Value> {
    bank.ledger().await["crypto"]["withdrawals"].as_array().unwrap().clone()
}

/// Waits until the key of an interrupted request is answered. Its lease ends after 30 s.
async fn answered(shop: &Shop, key: &str, request_body: &str) -> Value {
    eventually("the key is answered", || async {
        let reply = shop.order_with("/crypto/withdrawals", key, request_body.to_owned()).await;
        (reply.status == 201).then(|| reply.json())
    })
    .await
}

/// The service ends while the processor has the order and its reply is on the way, while the verification is, and after
/// the verification.
async fn killed_service_sends_a_withdrawal_once(engine: Engine) {
    for (mode, part) in [("late_reply", "/v1/payout"), ("slow", "/verify"), ("ok", "/verify")] {
        let bank = Institution::start();
        let (mut node, shop) = beside(&bank, engine).await;
        fault(&bank, mode, part).await;
        let (key, request_body) = (unique("key"), body(500).to_string());
        let request =
            shop.json(Method::POST, "/crypto/withdrawals", request_body.clone()).header("idempotency-key", &key);
        let call = tokio::spawn(Reply::try_of(request));
        let is_sent = |row: &Value| mode != "ok" || row["verifications"] == 1;
        eventually("the processor has the order", || async {
            sent(&bank).await.first().is_some_and(is_sent).then_some(())
        })
        .await;
        node.cais.kill9().unwrap();
        drop(call.await.unwrap());
        fault(&bank, "ok", part).await;
        node.cais.launch().await.unwrap();

        let shop = node.again(&shop);
        let made = answered(&shop, &key, &request_body).await;
        let done = until(&shop, &id(&made), "completed").await;
        assert!(done["tx_hash"].is_string(), "{done}");
        let sent = sent(&bank).await;
        assert_eq!(sent.len(), 1, "{part}: {sent:#?}");
        assert_eq!(shop.available().await, "500.00");
        node.verify();
        let report = node.cli(&["reconcile", "--from", made["created_at"].as_str().unwrap()]);
        assert_eq!((&report["ok"], &report["withdrawals"]), (&json!(true), &json!(1)), "{report}");
        assert_eq!(centavos(&report["exposure"]["owed"]), -50_000, "{report}");
    }
}

/// The service ends after the hold is stored and before the order leaves. The withdrawal is never sent by guess.
async fn service_killed_before_the_order_sends_nothing(engine: Engine) {
    let bank = Institution::start();
    // The order needs a token, which no earlier step of a withdrawal needs. A worker could get one before the fault.
    fault(&bank, "hang", "/v1/auth").await;
    let (mut node, shop) = beside(&bank, engine).await;
    let (key, request_body) = (unique("key"), body(500).to_string());
    let request = shop.json(Method::POST, "/crypto/withdrawals", request_body.clone()).header("idempotency-key", &key);
    let call = tokio::spawn(Reply::try_of(request));
    eventually("the money is held", || async { (shop.available().await == "500.00").then_some(()) }).await;
    node.cais.kill9().unwrap();
    drop(call.await.unwrap());
    fault(&bank, "ok", "/v1/auth").await;
    node.cais.launch().await.unwrap();

    let shop = node.again(&shop);
    let made = answered(&shop, &key, &request_body).await;
    assert_eq!((&made["status"], sent(&bank).await), (&json!("processing"), vec![]), "{made}");
    assert_eq!(shop.available().await, "500.00");
    node.verify();
}

/// The minimum of the processor rises within the life of a quote.
async fn withdrawal_below_a_raised_minimum_fails(engine: Engine) {
    let bank = Institution::start();
    let (node, shop) = beside(&bank, engine).await;
    let quote = json!({ "side": "withdrawal", "currency": "btc", "amount": 500 });
    let quote = shop.send(Method::POST, "/crypto/quotes", &quote).await.expect(201);
    bank.ask(Method::PUT, "/sandbox/crypto/coins/btc", &json!({ "min_payout": "5" })).await.expect(200);
    let mut request_body = body(500);
    request_body["quote_id"] = quote["id"].clone();
    let made = withdraw(&shop, &request_body).await.expect(201);
    assert_eq!((&made["status"], sent(&bank).await), (&json!("failed"), vec![]), "{made}");
    assert_eq!(shop.available().await, "1000.00");
    node.verify();
}

/// An operator gave the money back, and the processor sent the coins after all.
async fn sent_withdrawal_that_was_given_back_is_reported(engine: Engine) {
    let bank = Institution::start();
    let settings = json!({ "withdrawal_fate": "fail" });
    bank.ask(Method::PUT, "/sandbox/crypto/settings", &settings).await.expect(200);
    let (node, shop) = beside(&bank, engine).await;
    let made = withdraw(&shop, &body(500)).await.expect(201);
    let listed = eventually("the withdrawal waits for an operator", || async {
        let listed = node.cli(&["crypto", "review", "list"])["withdrawals"].clone();
        listed.as_array().unwrap().first().cloned()
    })
    .await;
    let batch = listed["upstream_id"].as_str().unwrap();
    let note = "the processor promised to send nothing";
    node.cli(&["crypto", "review", "resolve", &id(&made), "--outcome", "failed", "--note", note]);
    let from = ["--from", made["created_at"].as_str().unwrap()];
    let clean = node.cli(&[&["reconcile"], &from[..]].concat());
    assert_eq!(clean["differences"], json!([]), "{clean}");

    bank.ask(Method::POST, &format!("/sandbox/withdrawal/{batch}/finish"), &json!({})).await.expect(200);
    let (code, printed) = node.cais.cli_raw(&[&["reconcile", "--json"], &from[..]].concat()).unwrap();
    assert_eq!(code, Some(1), "{printed}");
    let report: Value = serde_json::from_str(printed.lines().next_back().unwrap()).unwrap();
    let difference = &report["differences"][0];
    assert_eq!(
        (&difference["kind"], &difference["resource"], &difference["ours"], &difference["theirs"]),
        (&json!("withdrawal_outcome"), &made["id"], &json!("failed"), &json!("finished")),
        "{report}"
    );
    assert_eq!(shop.available().await, "1000.00");
    node.verify();
}

/// The configuration of the processor is removed. Only an explicit decision ends its withdrawals.
async fn withdrawal_of_a_removed_processor_is_never_failed_early(engine: Engine) {
    let bank = Institution::start();
    let (mut node, shop) = beside(&bank, engine).await;
    fault(&bank, "hang", "/verify").await;
    let made = withdraw(&shop, &body(500)).await.expect(201);
    node.cais.kill9().unwrap();
    for (name, _) in bank.crypto_environment() {
        node.cais.unset(&name);
    }
    node.cais.launch().await.unwrap();
    let resolve = ["crypto", "review", "resolve", &id(&made), "--outcome", "failed", "--note", "closed"];
    assert!(node.cais.cli(&resolve).is_err());
    let error = node.cais.cli(&[&resolve[..], &["--without-processor"]].concat()).unwrap_err();
    assert!(error.to_string().contains("not marked"), "its order is minutes old: {error:#}");
    let (code, printed) =
        node.cais.cli_raw(&["reconcile", "--json", "--from", made["created_at"].as_str().unwrap()]).unwrap();
    assert_eq!(code, Some(2), "{printed}");
    assert_eq!(node.again(&shop).available().await, "500.00");
    node.verify();
}
