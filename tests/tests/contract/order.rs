//! The order of checks: the first failed check is reported.

use reqwest::Method;

use crate::support::{Engine, Reply, on_both, shared, unique};

on_both! { checks_run_in_order stored_answers_before_limits }

async fn checks_run_in_order(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let reader = shop.with_key(&node.key(&shop.email, "charges:read"));
    let huge = "x".repeat(70_000);

    // All checks fail, except those that were satisfied before.
    Reply::of(shop.anonymous(Method::PATCH, "/nothing").body(huge.clone())).await.refused(401, "missing_api_key");
    Reply::of(reader.request(Method::PATCH, "/nothing").body(huge.clone())).await.refused(404, "not_found");
    Reply::of(reader.request(Method::PATCH, "/charges").body(huge.clone())).await.refused(405, "method_not_allowed");
    Reply::of(reader.request(Method::POST, "/charges").body(huge.clone())).await.refused(403, "insufficient_scope");
    let post = || shop.request(Method::POST, "/charges");
    let size_or_type = Reply::of(post().body(huge.clone())).await;
    assert!(matches!(size_or_type.status, 413 | 415), "{}", size_or_type.text());
    Reply::of(post().header("content-type", "application/json").body(huge)).await.refused(413, "payload_too_large");
    Reply::of(post().body("{")).await.refused(415, "unsupported_media_type");
    Reply::of(shop.json(Method::POST, "/charges", "{")).await.refused(400, "idempotency_key_required");
    shop.create_with("short", "{").await.refused(400, "invalid_idempotency_key");
    shop.create("{").await.refused(400, "VALIDATION_ERROR");
}

async fn stored_answers_before_limits(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let (key, external) = (unique("key"), unique("order"));
    let body = format!(r#"{{"amount":1000,"external_id":"{external}"}}"#);
    let first = shop.create_with(&key, body.clone()).await;
    first.expect(201);
    node.cli(&["account", "limits", "--account", &shop.email, "--charge", "500"]);
    crate::support::eventually("the new limit holds", || async {
        let reply = shop.create(r#"{"amount":500.01}"#).await;
        (reply.status == 422).then(|| reply.refused(422, "transaction_limit_exceeded"))
    })
    .await;
    assert_eq!(shop.create_with(&key, body.clone()).await.body, first.body);
    shop.create_with(&key, r#"{"amount":2000}"#).await.refused(409, "IDEMPOTENCY_CONFLICT");
    shop.create(body).await.expect(200);
    let above = format!(r#"{{"amount":600,"external_id":"{external}"}}"#);
    shop.create(above).await.refused(422, "transaction_limit_exceeded");
    shop.create(format!(r#"{{"amount":499,"external_id":"{external}"}}"#)).await.refused(409, "EXTERNAL_ID_CONFLICT");
    shop.create(r#"{"amount":500}"#).await.expect(201);
}
