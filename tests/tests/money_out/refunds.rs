//! Refunds: partial, repeated, failing, and refused with a reason.

use serde_json::json;

use crate::support::{Engine, centavos, eventually, id, names, on_both, shared, unique};

on_both! { extra_payments_are_refunded partial_refunds_add_up failed_refund_returns_its_money invalid_refunds_are_refused external_ids refund_beyond_balance_is_refused refund_keeps_the_fee }

async fn partial_refunds_add_up(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    shop.create(r#"{"amount":100,"external_id":"pedido 1"}"#).await.expect(201);
    let charge = shop.get("/charges/ext:pedido%201").await.expect(200);
    let charge = id(&charge);
    shop.pay(&charge, None).await.expect(200);
    shop.until(&charge, "paid").await;
    let body = json!({"amount": 30.5, "reason": "devolução", "external_id": "dev-1"}).to_string();
    let key = unique("key");
    let made = shop.order_with("/charges/ext:pedido%201/refunds", &key, body.clone()).await;
    let refund = made.expect(201);
    assert_eq!(
        names(&refund),
        ["amount", "charge_id", "completed_at", "created_at", "external_id", "id", "reason", "return_id", "status"]
    );
    assert!(made.text().contains(r#""amount":30.50"#));
    assert_eq!((&refund["charge_id"], &refund["reason"]), (&json!(charge), &json!("devolução")));
    assert_eq!(shop.available().await, "69.50", "held at once");
    let again = shop.order_with("/charges/ext:pedido%201/refunds", &key, body).await;
    assert_eq!((again.status, again.body), (201, made.body));

    let done = eventually("the refund completes", || async {
        let refunds = shop.refunds(&charge).await;
        (refunds[0]["status"] == "completed").then(|| refunds[0].clone())
    })
    .await;
    assert!(done["completed_at"].is_string() && done["return_id"].is_string(), "{done}");
    let path = format!("/refunds/{}", id(&refund));
    for path in [path.as_str(), "/refunds/ext:dev-1"] {
        assert_eq!(shop.get(path).await.expect(200), done);
        node.shop().get(path).await.refused(404, "not_found");
        let writer = shop.with_key(&node.key(&shop.email, "charges:write"));
        writer.get(path).await.refused(403, "insufficient_scope");
    }
    shop.get("/refunds/rfd_01h455vb4pex5vsknk084sn02q").await.refused(404, "not_found");
    shop.get("/refunds/chg_01h455vb4pex5vsknk084sn02q").await.refused(400, "VALIDATION_ERROR");
    assert_eq!(shop.fetch(&charge).await["status"], "paid", "in part");
    shop.order(&format!("/charges/{charge}/refunds"), "{}").await.expect(201);
    let refunded = shop.until(&charge, "refunded").await;
    assert_eq!((centavos(&refunded["amount"]), shop.available().await.as_str()), (10_000, "0.00"));
    let refunds = shop.refunds(&charge).await;
    assert_eq!(refunds.len(), 2);
    assert_eq!(refunds[1]["id"], refund["id"], "newest first");
    let transaction = &shop.get("/transactions?status=refunded").await.expect(200)["data"][0];
    assert_eq!(transaction["resource_id"], charge.as_str());
    shop.check_statement().await;
    node.verify();
}

async fn extra_payments_are_refunded(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let charge = shop.charge_id("10").await;
    for (amount, available) in [("4", "4.00"), ("15", "19.00"), ("10", "29.00")] {
        shop.pay(&charge, Some(amount)).await.expect(200);
        shop.until_available(available).await;
    }
    let path = format!("/charges/{charge}/refunds");
    let events = shop.all("/events?type=payment.unexpected&limit=200").await;
    for (event, left) in events.iter().zip(["19.00", "14.00", "10.00"]) {
        let data = &event["data"];
        let (pix, amount) = (&data["end_to_end_id"], &data["amount"]);
        let more = json!({"end_to_end_id": pix, "amount": 15.01}).to_string();
        shop.order(&path, more).await.refused(422, "refund_exceeds_amount");
        let body = format!(r#"{{"end_to_end_id":{pix},"amount":{amount}}}"#);
        let key = unique("key");
        let made = shop.order_with(&path, &key, body.clone()).await;
        assert_eq!(centavos(&made.expect(201)["amount"]), centavos(amount));
        let again = shop.order_with(&path, &key, body).await;
        assert_eq!((again.status, again.body), (201, made.body));
        shop.until_available(left).await;
    }
    eventually("all three complete", || async {
        let refunds = shop.refunds(&charge).await;
        (refunds.len() == 3 && refunds.iter().all(|one| one["status"] == "completed")).then_some(())
    })
    .await;
    assert_eq!(shop.fetch(&charge).await["status"], "paid", "only the excess was returned");
    let unknown = json!({"end_to_end_id": "E1234567820260102030400000000099"}).to_string();
    shop.order(&path, unknown).await.refused(404, "not_found");
    let malformed = shop.order(&path, r#"{"end_to_end_id":"E1"}"#).await;
    malformed.refused(400, "VALIDATION_ERROR");
    assert_eq!(malformed.issues(), ["end_to_end_id"]);
    shop.order(&path, "{}").await.expect(201);
    shop.until(&charge, "refunded").await;
    assert_eq!(shop.available().await, "0.00");
    shop.check_statement().await;
    node.verify();
}

async fn failed_refund_returns_its_money(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let charge = shop.earn("100").await;
    let made = shop.order(&format!("/charges/{charge}/refunds"), r#"{"amount":40}"#).await.expect(201);
    let failed = shop.post(&format!("/sandbox/refunds/{}/fail", id(&made))).await.expect(200);
    assert_eq!(failed["id"], made["id"]);
    eventually("the refund fails", || async { (shop.refunds(&charge).await[0]["status"] == "failed").then_some(()) })
        .await;
    assert_eq!(shop.available().await, "100.00");
    shop.post(&format!("/sandbox/refunds/{}/fail", id(&made))).await.refused(409, "invalid_state");
    // The whole amount can be refunded again.
    shop.order(&format!("/charges/{charge}/refunds"), "{}").await.expect(201);
    shop.until(&charge, "refunded").await;
    shop.check_statement().await;
    node.verify();
}

async fn invalid_refunds_are_refused(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let charge = shop.earn("100").await;
    let path = format!("/charges/{charge}/refunds");
    shop.order(&path, r#"{"amount":100.01}"#).await.refused(422, "refund_exceeds_amount");
    let reader = shop.with_key(&node.key(&shop.email, "charges:read"));
    reader.order(&path, "{}").await.refused(403, "insufficient_scope");
    assert_eq!(reader.refunds(&charge).await.len(), 0);
    node.shop().order(&path, "{}").await.refused(404, "not_found");
    node.shop().get(&path).await.refused(404, "not_found");
    shop.order("/charges/chg_01m801z3yzedkvzahh8g8wp925/refunds", "{}").await.refused(404, "not_found");
    let (pending, cancelled) = (shop.charge_id("10").await, shop.charge_id("10").await);
    shop.post(&format!("/charges/{cancelled}/cancel")).await.expect(200);
    for charge in [pending, cancelled] {
        shop.order(&format!("/charges/{charge}/refunds"), "{}").await.refused(409, "invalid_state");
    }
    shop.order(&path, "{}").await.expect(201);
    shop.until(&charge, "refunded").await;
    shop.order(&path, "{}").await.refused(409, "invalid_state");
}

async fn external_ids(engine: Engine) {
    let shop = shared(engine).await.shop();
    let (one, two) = (shop.earn("100").await, shop.earn("100").await);
    let path = |charge: &str| format!("/charges/{charge}/refunds");
    let made = shop.order(&path(&one), r#"{"amount":10,"external_id":"d"}"#).await.expect(201);
    let same = shop.order(&path(&one), r#"{"amount":10,"external_id":"d"}"#).await.expect(200);
    assert_eq!(same["id"], made["id"]);
    shop.order(&path(&one), r#"{"amount":11,"external_id":"d"}"#).await.refused(409, "EXTERNAL_ID_CONFLICT");
    shop.order(&path(&two), r#"{"amount":10,"external_id":"d"}"#).await.refused(409, "EXTERNAL_ID_CONFLICT");
    assert_eq!(shop.refunds(&one).await.len(), 1);
}

async fn refund_beyond_balance_is_refused(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let charge = shop.earn("100").await;
    let payout = shop.pay_out("80", "ana@example.com").await.expect(201);
    let (path, key) = (format!("/charges/{charge}/refunds"), unique("key"));
    let short = shop.order_with(&path, &key, "{}").await;
    short.refused(422, "insufficient_balance");
    let message = "Insufficient available balance: 100.00 needed, 20.00 available.";
    assert_eq!(short.json()["error"]["message"], message);
    assert_eq!(shop.refunds(&charge).await.len(), 0);
    shop.earn("80").await;
    let again = shop.order_with(&path, &key, "{}").await;
    assert_eq!((again.status, again.body), (422, short.body), "an answer that stays");
    shop.order(&path, "{}").await.expect(201);
    shop.until(&charge, "refunded").await;
    shop.until_payout(&id(&payout), "completed").await;
    assert_eq!(shop.available().await, "0.00");
    node.verify();
}

async fn refund_keeps_the_fee(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    node.cli(&["account", "fees", "--account", &shop.email, "--operation", "pix_in", "--fixed", "1"]);
    let shop = shop.with_key(&node.key(&shop.email, "all"));
    let (charge, _) = (shop.earn("100").await, shop.earn("100").await);
    shop.order(&format!("/charges/{charge}/refunds"), "{}").await.expect(201);
    shop.until(&charge, "refunded").await;
    assert_eq!(shop.available().await, "98.00", "99.00 twice, less the 100.00 that went back");
    shop.check_statement().await;
    node.verify();
}
