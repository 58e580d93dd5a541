//! Concurrent repeated requests: one effect, one answer.

#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::Value;

use crate::support::{Engine, Reply, Shop, eventually, on_both, shared, unique};

on_both! { concurrent_repeats_of_a_key_make_one_charge concurrent_keys_with_one_external_id_make_one_charge key_with_another_body_is_refused keys_belong_to_accounts concurrent_charges_with_own_keys_are_all_credited }

const STORM: usize = 64;

async fn storm(shop: &Shop, call: impl Fn(usize) -> (String, String)) -> Vec<Reply> {
    join_all((0..STORM).map(|index| {
        let (key, body) = call(index);
        async move { shop.create_with(&key, body).await }
    }))
    .await
}

async fn concurrent_repeats_of_a_key_make_one_charge(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let (key, body) = (unique("key"), r#"{"amount":10,"external_id":"order-1"}"#);
    let replies = storm(&shop, |_| (key.clone(), body.to_owned())).await;

    let mut fresh = Vec::new();
    for reply in &replies {
        match (reply.status, reply.header("idempotent-replayed")) {
            (201, None) => fresh.push(reply.clone()),
            (201, Some("true")) => {}
            _ => {
                reply.refused(409, "idempotency_key_in_progress");
                assert!(reply.header("retry-after").is_some());
            }
        }
    }
    assert_eq!(fresh.len(), 1, "one request created the charge");
    for reply in storm(&shop, |_| (key.clone(), body.to_owned())).await {
        assert_eq!((reply.status, reply.header("idempotent-replayed")), (201, Some("true")), "{}", reply.text());
        assert_eq!(reply.body, fresh[0].body, "a replay has the same bytes");
        assert_eq!(reply.header("x-request-id"), fresh[0].header("x-request-id"));
    }
    assert_eq!(shop.all_charges().await.len(), 1);
    node.verify();
}

async fn concurrent_keys_with_one_external_id_make_one_charge(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let body = r#"{"amount":10,"external_id":"order-1"}"#;
    let keys: Vec<String> = (0..STORM).map(|_| unique("key")).collect();
    let replies = storm(&shop, |index| (keys[index].clone(), body.to_owned())).await;
    let made: Vec<&Reply> = replies.iter().filter(|reply| reply.status == 201).collect();
    assert_eq!(made.len(), 1);
    let original = made[0].json();
    for reply in &replies {
        match reply.status {
            201 => {}
            200 => assert_eq!(reply.json(), original),
            _ => reply.refused(409, "external_id_in_progress"),
        }
    }
    for (key, before) in keys.iter().zip(&replies) {
        let after = shop.create_with(key, body).await;
        assert_eq!(after.json(), original);
        let expected = if before.status == 201 { 201 } else { 200 };
        assert_eq!(after.status, expected, "a repeat returns the stored answer, or the charge of the external id");
    }
    shop.create(r#"{"amount":11,"external_id":"order-1"}"#).await.refused(409, "EXTERNAL_ID_CONFLICT");
    assert_eq!(shop.all_charges().await.len(), 1);
}

async fn key_with_another_body_is_refused(engine: Engine) {
    let shop = shared(engine).await.shop();
    let key = unique("key");
    let bodies = [r#"{"amount":10}"#, r#"{"amount":11}"#];
    let replies = storm(&shop, |index| (key.clone(), bodies[index % 2].to_owned())).await;
    let made: Vec<Value> = replies.iter().filter(|reply| reply.status == 201).map(Reply::json).collect();
    assert!(!made.is_empty());
    assert!(made.iter().all(|charge| *charge == made[0]));
    let amount = made[0]["amount"].to_string();
    let winner = usize::from(amount != "10.00");
    for (index, reply) in replies.iter().enumerate() {
        if index % 2 != winner {
            reply.refused(409, "IDEMPOTENCY_CONFLICT");
        }
    }
    assert_eq!(shop.all_charges().await.len(), 1);
    // Blanks and the spelling of a number do not make another body.
    let spelled = format!(" {{ \"amount\" : {}0e-1 }} ", 10 + winner);
    let again = shop.create_with(&key, spelled).await;
    assert_eq!((again.status, again.header("idempotent-replayed")), (201, Some("true")), "{}", again.text());
}

async fn keys_belong_to_accounts(engine: Engine) {
    let node = shared(engine).await;
    let (shop, other) = (node.shop(), node.shop());
    let key = unique("key");
    let one = shop.create_with(&key, r#"{"amount":10}"#).await.expect(201);
    let two = other.create_with(&key, r#"{"amount":11}"#).await.expect(201);
    assert_ne!(one["id"], two["id"]);
    // All API keys of an account share its idempotency keys.
    let colleague = shop.with_key(&node.key(&shop.email, "charges:write"));
    let again = colleague.create_with(&key, r#"{"amount":10}"#).await;
    assert_eq!((again.expect(201), again.header("idempotent-replayed")), (one, Some("true")));
}

async fn concurrent_charges_with_own_keys_are_all_credited(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let replies = storm(&shop, |_| (unique("key"), r#"{"amount":10}"#.to_owned())).await;
    let ids: std::collections::BTreeSet<String> =
        replies.iter().map(|reply| crate::support::id(&reply.expect(201))).collect();
    assert_eq!(ids.len(), STORM);
    let payments = ids.iter().map(|id| {
        let path = format!("/sandbox/charges/{id}/pay");
        Reply::of(shop.json(Method::POST, &path, "{}"))
    });
    for paid in join_all(payments).await {
        paid.expect(200);
    }
    eventually("the whole amount is available", || async { (shop.available().await == "640.00").then_some(()) }).await;
    node.verify();
}
