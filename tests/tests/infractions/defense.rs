//! A defense: sent once, never lost, refused after the deadline.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use super::{defend, dispute_with, fetch, until};
use crate::support::{Engine, Institution, Node, Shop, borrowed, eventually, id, on_both, own, shared};

on_both! {
    defense_after_deadline_is_refused concurrent_defenses_are_sent_once defense_with_lost_reply_is_found unconfirmed_defense_is_kept_and_retried
    defense_submitted_at_the_acquirer_is_shown
}

async fn defense_after_deadline_is_refused(engine: Engine) {
    let node = own(engine, &[]).await;
    let shop = node.shop();
    let charge = shop.earn("20").await;
    let opened = dispute_with(&shop, &charge, &json!({ "deadline_s": 3_600 })).await.expect(201);
    let late = dispute_with(&shop, &charge, &json!({ "deadline_s": 3_600 })).await.expect(201);
    shop.send(Method::PUT, "/sandbox/clock", &json!({ "offset_s": 3_500 })).await.expect(200);
    defend(&shop, &opened, &json!({ "defense_text": "In time." })).await.expect(200);
    shop.send(Method::PUT, "/sandbox/clock", &json!({ "offset_s": 3_601 })).await.expect(200);
    defend(&shop, &late, &json!({ "defense_text": "Too late." })).await.refused(422, "deadline_passed");
    assert_eq!(fetch(&shop, &late).await["defense_text"], Value::Null);
    assert_eq!(fetch(&shop, &opened).await["status"], "under_review");
}

async fn concurrent_defenses_are_sent_once(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let charge = shop.earn("20").await;
    let opened = dispute_with(&shop, &charge, &json!({})).await.expect(201);
    let replies = join_all((0..16).map(|number| {
        let (shop, opened) = (shop.clone(), opened.clone());
        async move { defend(&shop, &opened, &json!({ "defense_text": format!("Defense {}.", number % 2) })).await }
    }))
    .await;
    let stored = until(&shop, &opened, "under_review").await;
    let taken = replies.iter().filter(|reply| reply.status == 200).count();
    assert!(taken >= 1);
    for reply in &replies {
        match reply.status {
            200 => assert_eq!(reply.json()["defense_text"], stored["defense_text"]),
            503 => assert_eq!(reply.code(), "service_unavailable"),
            _ => reply.refused(409, "invalid_state"),
        }
    }
    let events = shop.get("/events?type=infraction.under_review").await.expect(200);
    assert_eq!(events["data"].as_array().unwrap().len(), 1);
}

/// Starts a service with an external acquirer, a merchant and a known infraction. Returns its id there and here.
async fn disputed(engine: Engine) -> (Institution, Node, Shop, String, Value) {
    let psp = Institution::start();
    let environment = psp.environment("main");
    let node = own(engine, &borrowed(&environment)).await;
    let shop = node.shop();
    eventually("the callback address is registered", || psp.callback_url()).await;
    let charge = shop.charge("20").await;
    let pix = psp.pay(charge["txid"].as_str().unwrap()).await;
    shop.until_available("20.00").await;
    let upstream = psp.dispute(&pix, &json!({})).await;
    let opened =
        eventually("the infraction is known", || async { shop.all("/infractions?limit=200").await.pop() }).await;
    (psp, node, shop, upstream, opened)
}

async fn defense_with_lost_reply_is_found(engine: Engine) {
    let (psp, node, shop, upstream, opened) = disputed(engine).await;
    psp.faults("drop_reply").await;
    let body = json!({ "defense_text": "Delivered.", "defense_evidence_url": "https://shop.example/proof" });
    let reply = defend(&shop, &opened, &body).await;
    if reply.status != 200 {
        reply.refused(503, "service_unavailable");
        // Meanwhile another defense is refused.
        defend(&shop, &opened, &json!({ "defense_text": "Another." })).await.refused(409, "invalid_state");
    }
    psp.faults("ok").await;
    let found = until(&shop, &opened, "under_review").await;
    assert_eq!(found["defense_text"], body["defense_text"]);
    assert_eq!(defend(&shop, &opened, &body).await.expect(200), found);
    let item = psp.infraction(&upstream).await;
    assert_eq!((&item["defesas"], &item["requests"]), (&json!(1), &json!(1)), "sent once: {item}");
    assert!(item["defesa"].as_str().unwrap().contains("https://shop.example/proof"), "{item}");
    node.verify();
}

async fn unconfirmed_defense_is_kept_and_retried(engine: Engine) {
    let (psp, node, shop, upstream, opened) = disputed(engine).await;
    let body = json!({ "defense_text": "Delivered." });
    psp.faults("error").await;
    defend(&shop, &opened, &body).await.refused(503, "service_unavailable");
    // The defense is retried a minute later. Until then it is neither forgotten nor repeated.
    psp.faults("ok").await;
    let kept = fetch(&shop, &opened).await;
    assert_eq!((&kept["status"], &kept["defense_text"]), (&json!("open"), &body["defense_text"]));
    assert_eq!(kept["defense_submitted_at"], Value::Null);
    defend(&shop, &opened, &json!({ "defense_text": "Another." })).await.refused(409, "invalid_state");
    defend(&shop, &opened, &body).await.refused(503, "service_unavailable");
    assert!(psp.infraction(&upstream).await["requests"].as_u64().unwrap() <= 1);
    node.verify();
}

async fn defense_submitted_at_the_acquirer_is_shown(engine: Engine) {
    let (psp, _node, shop, upstream, opened) = disputed(engine).await;
    psp.defend(&upstream, "Given at the acquirer's own desk.").await;
    let reply = defend(&shop, &opened, &json!({ "defense_text": "Given here." })).await;
    assert!(matches!(reply.status, 409 | 200), "{}", reply.text());
    let now = until(&shop, &opened, "under_review").await;
    assert_eq!(now["defense_text"], "Given at the acquirer's own desk.", "theirs is the one that counts");
    assert!(now["defense_submitted_at"].is_string());
    assert_eq!(psp.infraction(&upstream).await["defesas"], 1);
    assert_eq!(id(&now), id(&opened));
}
