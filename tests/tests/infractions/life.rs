//! An infraction from its opening to its end.

use reqwest::Method;
use serde_json::{Value, json};

use super::{balances, defend, dispute, dispute_with, fetch, held, kinds, resolve};
use crate::support::{Engine, Reply, centavos, id, names, on_both, shared};

on_both! {
    opened_infraction_blocks_money won_infraction_frees_its_money lost_infraction_returns_its_money cancelled_infraction_frees_its_money defense_fields_are_validated
    open_infraction_forbids_refunds lists_and_scopes
}

const FIELDS: [&str; 11] = [
    "amount",
    "deadline_at",
    "defense_submitted_at",
    "end_to_end_id",
    "external_id",
    "id",
    "opened_at",
    "reason",
    "reason_code",
    "resolved_at",
    "status",
];

async fn opened_infraction_blocks_money(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    shop.earn("30").await;
    let made = shop.create(r#"{"amount":25,"external_id":"order-7"}"#).await.expect(201);
    shop.pay(&id(&made), None).await.expect(200);
    shop.until_available("55.00").await;
    let claim = json!({ "reason_code": "SCAM", "amount": 20, "deadline_s": 86_400 });
    let opened = dispute_with(&shop, &id(&made), &claim).await.expect(201);
    let mut detail = FIELDS.to_vec();
    detail.extend(["defense_evidence_url", "defense_text"]);
    detail.sort_unstable();
    assert_eq!(names(&opened), detail);
    assert_eq!(
        (&opened["status"], &opened["reason_code"], centavos(&opened["amount"])),
        (&json!("open"), &json!("SCAM"), 2_000)
    );
    assert_eq!(opened["external_id"], "order-7");
    assert_eq!(opened["end_to_end_id"], shop.fetch(&id(&made)).await["end_to_end_id"]);
    assert_eq!((&opened["resolved_at"], &opened["defense_text"]), (&Value::Null, &Value::Null));
    assert_eq!(balances(&shop).await, [3_500, 0, 2_000]);
    assert_eq!(held(&shop, &opened).await, 2_000);
    let entries = shop.all("/balance/entries?kind=infraction&limit=200").await;
    assert_eq!(entries.len(), 2, "out of available, into blocked");
    for entry in &entries {
        assert_eq!((&entry["resource_id"], &entry["end_to_end_id"]), (&opened["id"], &opened["end_to_end_id"]));
    }
    let event = shop.get("/events?type=infraction.opened").await.expect(200)["data"][0].clone();
    assert_eq!(event["data"], fetch(&shop, &opened).await, "as its GET returns it");
    shop.check_statement().await;
    node.verify();
}

async fn won_infraction_frees_its_money(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let charge = shop.earn("25").await;
    let opened = dispute(&shop, &charge).await;
    assert_eq!(balances(&shop).await, [0, 0, 2_500]);
    let body =
        json!({ "defense_text": "Delivered.\nSigned for.", "defense_evidence_url": "https://shop.example/proof" });
    let defended = defend(&shop, &opened, &body).await.expect(200);
    assert_eq!((&defended["status"], &defended["defense_text"]), (&json!("under_review"), &body["defense_text"]));
    assert_eq!(defended["defense_evidence_url"], body["defense_evidence_url"]);
    assert!(defended["defense_submitted_at"].is_string());
    assert_eq!(defend(&shop, &opened, &body).await.expect(200), defended, "the same again is a repeat");
    defend(&shop, &opened, &json!({ "defense_text": "Another." })).await.refused(409, "invalid_state");
    assert_eq!(balances(&shop).await, [0, 0, 2_500], "held until it is decided");
    let won = resolve(&shop, &opened, "won").await;
    assert_eq!(won["status"], "won");
    assert!(won["resolved_at"].is_string());
    assert_eq!(balances(&shop).await, [2_500, 0, 0]);
    assert_eq!(held(&shop, &opened).await, 0);
    assert_eq!(shop.fetch(&charge).await["status"], "paid");
    assert_eq!(kinds(&shop).await, ["charge.paid", "infraction.opened", "infraction.under_review", "infraction.won"]);
    defend(&shop, &opened, &body).await.refused(409, "invalid_state");
    node.verify();
}

async fn lost_infraction_returns_its_money(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let charge = shop.earn("25").await;
    shop.earn("10").await;
    let part = dispute_with(&shop, &charge, &json!({ "amount": 5 })).await.expect(201);
    let lost = resolve(&shop, &part, "lost").await;
    assert_eq!(lost["status"], "lost");
    assert_eq!(balances(&shop).await, [3_000, 0, 0]);
    assert_eq!(shop.fetch(&charge).await["status"], "paid", "a part went back");
    // Lost money counts as refunded, so the rest is lower.
    let refund = shop.order(&format!("/charges/{charge}/refunds"), r#"{"amount":20.01}"#).await;
    refund.refused(422, "refund_exceeds_amount");
    let rest = dispute(&shop, &charge).await;
    assert_eq!(balances(&shop).await, [1_000, 0, 2_000], "no more than is left of the Pix");
    resolve(&shop, &rest, "lost").await;
    assert_eq!(balances(&shop).await, [1_000, 0, 0]);
    assert_eq!(shop.until(&charge, "refunded").await["status"], "refunded");
    let types = kinds(&shop).await;
    let about: Vec<&str> = types.iter().map(String::as_str).filter(|kind| *kind != "charge.paid").collect();
    let mut expected =
        ["infraction.opened", "infraction.lost", "infraction.opened", "infraction.lost", "charge.refunded"];
    let mut about = about;
    about.sort_unstable();
    expected.sort_unstable();
    assert_eq!(about, expected);
    shop.check_statement().await;
    node.verify();
}

async fn cancelled_infraction_frees_its_money(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let charge = shop.earn("25").await;
    for defended in [false, true] {
        let opened = dispute(&shop, &charge).await;
        if defended {
            defend(&shop, &opened, &json!({ "defense_text": "No." })).await.expect(200);
        }
        assert_eq!(resolve(&shop, &opened, "cancelled").await["status"], "cancelled");
        assert_eq!(balances(&shop).await, [2_500, 0, 0]);
    }
    node.verify();
}

async fn defense_fields_are_validated(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let charge = shop.earn("25").await;
    let opened = dispute(&shop, &charge).await;
    let refused = |body: Value| {
        let (shop, opened) = (shop.clone(), opened.clone());
        async move {
            let reply = defend(&shop, &opened, &body).await;
            reply.refused(400, "VALIDATION_ERROR");
            reply.issues()
        }
    };
    assert_eq!(refused(json!({})).await, ["defense_text"]);
    assert_eq!(refused(json!({ "defense_text": "" })).await, ["defense_text"]);
    assert_eq!(refused(json!({ "defense_text": "x".repeat(2_001) })).await, ["defense_text"]);
    assert_eq!(
        refused(json!({ "defense_text": 5, "defense_evidence_url": "http://x.example", "file": 1 })).await.len(),
        3
    );
    let long = format!("https://x.example/{}", "x".repeat(500));
    assert_eq!(refused(json!({ "defense_text": "x", "defense_evidence_url": long })).await, ["defense_evidence_url"]);
    assert_eq!(refused(json!({ "defense_text": "a\u{0}b" })).await, ["defense_text"]);
    assert_eq!(fetch(&shop, &opened).await["status"], "open");
    let text = "é".repeat(2_000);
    let defended = defend(&shop, &opened, &json!({ "defense_text": text })).await.expect(200);
    assert_eq!(defended["defense_text"], json!(text));
    for (body, path) in [
        (json!({ "amount": 0 }), "amount"),
        (json!({ "reason_code": "NONSENSE" }), "reason_code"),
        (json!({ "deadline_s": 0 }), "deadline_s"),
    ] {
        let reply = dispute_with(&shop, &charge, &body).await;
        reply.refused(400, "VALIDATION_ERROR");
        assert_eq!(reply.issues(), [path]);
    }
    let unpaid = shop.charge_id("10").await;
    dispute_with(&shop, &unpaid, &json!({})).await.refused(409, "invalid_state");
}

async fn open_infraction_forbids_refunds(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let charge = shop.earn("25").await;
    shop.earn("100").await;
    let opened = dispute_with(&shop, &charge, &json!({ "amount": 1 })).await.expect(201);
    let refunds = format!("/charges/{charge}/refunds");
    shop.order(&refunds, "{}").await.refused(422, "infraction_open");
    defend(&shop, &opened, &json!({ "defense_text": "No." })).await.expect(200);
    shop.order(&refunds, "{}").await.refused(422, "infraction_open");
    resolve(&shop, &opened, "won").await;
    shop.order(&refunds, r#"{"amount":5}"#).await.expect(201);
}

async fn lists_and_scopes(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let mut all = Vec::new();
    for outcome in ["won", "lost", "cancelled", ""] {
        let charge = shop.earn("10").await;
        let opened = dispute(&shop, &charge).await;
        if !outcome.is_empty() {
            resolve(&shop, &opened, outcome).await;
        }
        all.push(opened);
    }
    let listed = shop.all("/infractions?limit=3").await;
    let ids = |rows: &[Value]| rows.iter().map(id).collect::<Vec<_>>();
    let newest_first: Vec<Value> = all.iter().rev().cloned().collect();
    assert_eq!(ids(&listed), ids(&newest_first));
    assert_eq!(names(&listed[0]), FIELDS);
    for (status, place) in [("won", 0), ("lost", 1), ("cancelled", 2), ("open", 3)] {
        let of_status = shop.all(&format!("/infractions?status={status}&limit=200")).await;
        assert_eq!(ids(&of_status), [id(&all[place])]);
    }
    assert!(shop.all("/infractions?status=under_review&limit=200").await.is_empty());
    shop.get("/infractions?status=closed").await.refused(400, "VALIDATION_ERROR");
    shop.get("/infractions/inf_01arz3ndektsv4rrffq69g5fav").await.refused(404, "not_found");
    let stranger = node.shop();
    stranger.get(&format!("/infractions/{}", id(&all[0]))).await.refused(404, "not_found");
    defend(&stranger, &all[3], &json!({ "defense_text": "x" })).await.refused(404, "not_found");
    assert!(stranger.all("/infractions?limit=200").await.is_empty());
    let reader = shop.with_key(&node.key(&shop.email, "infractions:read"));
    reader.get("/infractions").await.expect(200);
    defend(&reader, &all[3], &json!({ "defense_text": "x" })).await.refused(403, "insufficient_scope");
    let other = shop.with_key(&node.key(&shop.email, "charges:read"));
    Reply::of(other.request(Method::GET, "/infractions")).await.refused(403, "insufficient_scope");
    assert_eq!(centavos(&all[0]["amount"]), 1_000);
}
