//! Payouts: held, sent, completed, failed, reversed; found by id and by external id.

use reqwest::Method;
use serde_json::json;

use crate::support::{Engine, Reply, eventually, id, names, on_both, shared, unique};

on_both! {
    replay_survives_disabled_feature_and_suspension
    completed_payout_is_in_every_list failed_payout_returns_amount_and_fee slow_payout_is_processing_first
    payout_with_lost_reply_completes_once reversed_payout_returns_the_amount insufficient_balance_is_a_stored_answer
    repeated_external_id_returns_same_payout payout_without_permission_is_refused
}

const FIELDS: [&str; 13] = [
    "amount",
    "completed_at",
    "created_at",
    "description",
    "end_to_end_id",
    "error_message",
    "external_id",
    "fee",
    "gross_amount",
    "id",
    "net_amount",
    "pix",
    "status",
];

async fn completed_payout_is_in_every_list(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    node.cli(&[
        "account",
        "fees",
        "--account",
        &shop.email,
        "--operation",
        "pix_out",
        "--fixed",
        "0.50",
        "--percent",
        "1",
    ]);
    shop.earn("100").await;
    let body = json!({"amount": 20, "pix_key": "Ana@Example.com", "description": "aluguel", "external_id": "saida-1"});
    let made = shop.order("/payouts", body.to_string()).await;
    let payout = made.expect(201);
    assert_eq!(names(&payout), FIELDS);
    assert_eq!(names(&payout["pix"]), ["key", "recipient_document", "recipient_name"]);
    assert!(made.text().contains(r#""amount":20.00"#) && made.text().contains(r#""fee":0.70"#), "{}", made.text());
    assert!(made.text().contains(r#""gross_amount":20.70"#), "{}", made.text());
    assert_eq!(payout["pix"]["key"], "ana@example.com", "normalized");
    assert!(["processing", "completed"].contains(&payout["status"].as_str().unwrap()));
    assert_eq!(shop.available().await, "79.30", "held at once");

    let done = shop.until_payout(&id(&payout), "completed").await;
    assert!(done["pix"]["recipient_name"].is_string() && done["pix"]["recipient_document"].is_string(), "{done}");
    assert!(done["completed_at"].is_string() && done["end_to_end_id"].is_string(), "{done}");
    assert_eq!(shop.get("/payouts/ext:saida-1").await.expect(200), done);
    let listed = shop.get("/payouts").await.expect(200);
    assert_eq!((&listed["data"][0], &listed["has_more"]), (&done, &json!(false)));
    let transaction = &shop.get("/transactions?type=cash_out").await.expect(200)["data"][0];
    assert_eq!((&transaction["resource_id"], &transaction["status"]), (&done["id"], &json!("completed")));
    assert_eq!(
        transaction["id"].as_str().unwrap().trim_start_matches("txn_out_"),
        id(&done).trim_start_matches("pyt_")
    );
    shop.check_statement().await;
    assert_eq!(shop.available().await, "79.30");
    node.verify();
}

async fn failed_payout_returns_amount_and_fee(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    node.cli(&["account", "fees", "--account", &shop.email, "--operation", "pix_out", "--fixed", "0.50"]);
    shop.earn("100").await;
    let made = shop.pay_out("20", "fail@sandbox.cais").await.expect(201);
    let failed = shop.until_payout(&id(&made), "failed").await;
    assert!(failed["error_message"].as_str().is_some_and(|message| !message.is_empty()), "{failed}");
    assert_eq!((&failed["completed_at"], shop.available().await.as_str()), (&json!(null), "100.00"));
    shop.check_statement().await;
    node.verify();
}

async fn slow_payout_is_processing_first(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    shop.earn("100").await;
    let made = shop.pay_out("20", "slow@sandbox.cais").await.expect(201);
    assert_eq!(made["status"], "processing");
    assert_eq!(shop.available().await, "80.00");
    shop.until_payout(&id(&made), "completed").await;
    assert_eq!(shop.available().await, "80.00");
    node.verify();
}

async fn payout_with_lost_reply_completes_once(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    shop.earn("100").await;
    let key = unique("key");
    let body = json!({"amount": 20, "pix_key": "lost@sandbox.cais"}).to_string();
    let lost = shop.order_with("/payouts", &key, body.clone()).await;
    let made = lost.expect(201);
    assert!(["processing", "completed"].contains(&made["status"].as_str().unwrap()), "{made}");
    let again = shop.order_with("/payouts", &key, body).await;
    assert_eq!((again.body, again.headers.get("idempotent-replayed").is_some()), (lost.body, true));
    shop.until_payout(&id(&made), "completed").await;
    assert_eq!(shop.available().await, "80.00");
    assert_eq!(shop.all("/payouts?limit=200").await.len(), 1);
    node.verify();
}

async fn reversed_payout_returns_the_amount(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    node.cli(&["account", "fees", "--account", &shop.email, "--operation", "pix_out", "--fixed", "0.50"]);
    shop.earn("100").await;
    let made = id(&shop.pay_out("20", "ana@example.com").await.expect(201));
    shop.until_payout(&made, "completed").await;
    let reversed = shop.post(&format!("/sandbox/payouts/{made}/reverse")).await.expect(200);
    assert_eq!(reversed["id"], made.as_str());
    let reversed = shop.until_payout(&made, "reversed").await;
    assert!(reversed["completed_at"].is_string(), "{reversed}");
    shop.until_available("99.50").await;
    let again = shop.post(&format!("/sandbox/payouts/{made}/reverse")).await;
    again.refused(409, "invalid_state");
    assert_eq!(shop.available().await, "99.50", "the fee is not given back, and nothing twice");
    shop.check_statement().await;
    node.verify();
}

async fn insufficient_balance_is_a_stored_answer(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let key = unique("key");
    let body = json!({"amount": 20, "pix_key": "ana@example.com", "external_id": "cedo"}).to_string();
    let short = shop.order_with("/payouts", &key, body.clone()).await;
    short.refused(422, "insufficient_balance");
    let message = "Insufficient available balance: 20.00 needed, 0.00 available.";
    assert_eq!(short.json()["error"]["message"], message);
    shop.get("/payouts/ext:cedo").await.refused(404, "not_found");
    assert_eq!(shop.all("/payouts?limit=200").await.len(), 0);
    shop.earn("100").await;
    let again = shop.order_with("/payouts", &key, body.clone()).await;
    assert_eq!((again.status, again.body, again.headers.get("idempotent-replayed").is_some()), (422, short.body, true));
    assert_eq!(again.headers.get("x-request-id"), short.headers.get("x-request-id"));
    let made = shop.order("/payouts", body).await.expect(201);
    assert_eq!(made["external_id"], "cedo");
    node.verify();
}

async fn repeated_external_id_returns_same_payout(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    shop.earn("100").await;
    // A charge may have the same external id.
    shop.create(r#"{"amount":2,"external_id":"um"}"#).await.expect(201);
    let body = |amount: &str, key: &str| format!(r#"{{"amount":{amount},"pix_key":"{key}","external_id":"um"}}"#);
    let made = shop.order("/payouts", body("20", "+55 (11) 98765-4321")).await.expect(201);
    let same = shop.order("/payouts", body("20.0", "+5511987654321")).await;
    assert_eq!(same.expect(200)["id"], made["id"], "normalized keys are compared");
    shop.order("/payouts", body("21", "+5511987654321")).await.refused(409, "EXTERNAL_ID_CONFLICT");
    shop.order("/payouts", body("20", "ana@example.com")).await.refused(409, "EXTERNAL_ID_CONFLICT");
    shop.until_payout(&id(&made), "completed").await;
    let late = shop.order("/payouts", body("20", "+5511987654321")).await.expect(200);
    assert_eq!(late["status"], "completed", "the current state");
    assert_eq!(shop.available().await, "80.00");
    // The external id of another account.
    node.shop().get("/payouts/ext:um").await.refused(404, "not_found");
    node.shop().get(&format!("/payouts/{}", id(&made))).await.refused(404, "not_found");
}

async fn payout_without_permission_is_refused(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    shop.earn("10").await;
    let body = r#"{"amount":1,"pix_key":"ana@example.com"}"#;
    let reader = shop.with_key(&node.key(&shop.email, "payouts:read,transactions:read,balance:read"));
    reader.order("/payouts", body).await.refused(403, "insufficient_scope");
    reader.get("/payouts").await.expect(200);
    let writer = shop.with_key(&node.key(&shop.email, "payouts:write"));
    for path in ["/payouts", "/transactions", "/balance/entries"] {
        writer.get(path).await.refused(403, "insufficient_scope");
    }
    Reply::of(shop.json(Method::POST, "/payouts", body)).await.refused(400, "idempotency_key_required");
    node.unapproved_shop().order("/payouts", body).await.refused(403, "kyc_not_approved");
    node.cli(&["account", "features", "--account", &shop.email, "--disable", "pix_out"]);
    // A node caches keys for a few seconds.
    eventually("the feature is off", || async {
        let reply = shop.order("/payouts", body).await;
        (reply.status == 403).then(|| reply.refused(403, "feature_disabled"))
    })
    .await;
    node.cli(&["account", "limits", "--account", &shop.email, "--payout", "0.50"]);
    node.cli(&["account", "features", "--account", &shop.email, "--enable", "pix_out"]);
    eventually("the limit is lower", || async {
        let reply = shop.order("/payouts", body).await;
        (reply.status == 422).then(|| reply.refused(422, "transaction_limit_exceeded"))
    })
    .await;
    node.verify();
}

async fn replay_survives_disabled_feature_and_suspension(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    shop.earn("100").await;
    let (key, body) = (unique("key"), r#"{"amount":10,"pix_key":"ana@example.com"}"#);
    let first = shop.order_with("/payouts", &key, body).await;
    first.expect(201);
    for change in [&["features", "--disable", "pix_out"][..], &["suspend"][..]] {
        let (command, rest) = change.split_first().unwrap();
        let arguments = [&["account", command, "--account", &shop.email], rest].concat();
        node.cli(&arguments);
        // A new key reads the current account; a used key is cached for a few seconds.
        let shop = shop.with_key(&node.key(&shop.email, "all"));
        let again = shop.order_with("/payouts", &key, body).await;
        assert_eq!((again.status, &again.body), (201, &first.body));
        assert_eq!(again.header("idempotent-replayed"), Some("true"));
        let other = r#"{"amount":11,"pix_key":"ana@example.com"}"#;
        shop.order_with("/payouts", &key, other).await.refused(409, "IDEMPOTENCY_CONFLICT");
        assert_eq!(shop.order("/payouts", body).await.status, 403);
    }
    node.verify();
}
