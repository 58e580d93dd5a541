//! Access: keys, scopes and accounts.

use reqwest::Method;
use serde_json::json;

use crate::support::{Engine, Reply, on_both, own, shared};

on_both! { keys_are_sent_in_either_header scopes foreign_charges revoked_keys expired_keys accounts_without_permission_are_refused }

async fn keys_are_sent_in_either_header(engine: Engine) {
    let node = shared(engine).await;
    let (shop, other) = (node.shop(), node.shop());
    let ask = async |headers: &[(&str, &str)]| {
        let request = shop.anonymous(Method::GET, "/charges");
        Reply::of(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))).await
    };
    let bearer = format!("Bearer {}", shop.key);
    ask(&[("authorization", &bearer)]).await.expect(200);
    ask(&[("x-api-key", &shop.key)]).await.expect(200);
    ask(&[("authorization", &bearer), ("x-api-key", &shop.key)]).await.expect(200);

    ask(&[]).await.refused(401, "missing_api_key");
    let wrong_secret = format!("{}{}", &shop.key[..shop.key.len() - 4], "0000");
    let unknown = format!("key_{}_{}", "0".repeat(12), "0".repeat(43));
    for wrong in [
        vec![("authorization", bearer.as_str()), ("x-api-key", other.key.as_str())],
        vec![("authorization", bearer.as_str()), ("x-api-key", "nonsense")],
        vec![("x-api-key", wrong_secret.as_str())],
        vec![("x-api-key", unknown.as_str())],
        vec![("x-api-key", "nonsense")],
        vec![("x-api-key", &shop.key[..shop.key.len() - 1])],
        vec![("authorization", "Bearer nonsense")],
    ] {
        ask(&wrong).await.refused(401, "invalid_api_key");
    }
    for header in ["Basic abc", shop.key.as_str()] {
        assert_eq!(ask(&[("authorization", header)]).await.status, 401, "{header}");
    }
    let reply = ask(&[("x-api-key", "nonsense")]).await;
    assert_eq!(reply.json()["error"]["retryable"], false);
}

async fn scopes(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let id = shop.charge_id("10").await;
    let with = |scopes: &str| shop.with_key(&node.key(&shop.email, scopes));
    let reader = with("charges:read");
    let writer = with("charges:write");
    let neither = with("payouts:read,payouts:write,events:read");
    let cancel = format!("/charges/{id}/cancel");
    let read = format!("/charges/{id}");

    reader.get("/charges").await.expect(200);
    reader.get(&read).await.expect(200);
    writer.create(r#"{"amount":10}"#).await.expect(201);
    with("balance:read").get("/balance").await.expect(200);

    for (reply, scope) in [
        (writer.get("/charges").await, "charges:read"),
        (writer.get(&read).await, "charges:read"),
        (neither.get(&read).await, "charges:read"),
        (reader.create(r#"{"amount":10}"#).await, "charges:write"),
        (reader.post(&cancel).await, "charges:write"),
        (reader.pay(&id, None).await, "charges:write"),
        (reader.get("/balance").await, "balance:read"),
        (neither.get("/balance").await, "balance:read"),
    ] {
        reply.refused(403, "insufficient_scope");
        assert!(reply.json()["error"]["message"].as_str().unwrap().contains(scope), "{}", reply.text());
    }
    writer.post(&cancel).await.expect(200);
}

async fn foreign_charges(engine: Engine) {
    let node = shared(engine).await;
    let (shop, other) = (node.shop(), node.shop());
    let made = shop.create(r#"{"amount":10,"external_id":"order-1"}"#).await.expect(201);
    let id = made["id"].as_str().unwrap();
    for path in [format!("/charges/{id}"), "/charges/ext:order-1".to_owned()] {
        other.get(&path).await.refused(404, "not_found");
        other.post(&format!("{path}/cancel")).await.refused(404, "not_found");
    }
    other.pay(id, None).await.refused(404, "not_found");
    assert_eq!(other.all_charges().await, Vec::<serde_json::Value>::new());
    // Another account may use the same name.
    other.create(r#"{"amount":11,"external_id":"order-1"}"#).await.expect(201);
    assert_eq!(shop.fetch(id).await["status"], "pending");
}

async fn revoked_keys(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let second = shop.with_key(&node.key(&shop.email, "all"));
    second.get("/charges").await.expect(200);
    let prefix = second.key.split('_').nth(1).unwrap();
    let begun = std::time::Instant::now();
    node.cli(&["key", "revoke", prefix]);
    crate::support::eventually("the key is refused", || async {
        let reply = second.get("/charges").await;
        (reply.status == 401).then(|| reply.refused(401, "invalid_api_key"))
    })
    .await;
    assert!(begun.elapsed().as_secs() < 8, "within 5 s, and a few for a busy machine: {:?}", begun.elapsed());
    shop.get("/charges").await.expect(200);
}

async fn expired_keys(engine: Engine) {
    // The test moves the clock of the whole service.
    let node = own(engine, &[]).await;
    let shop = node.shop();
    let made = node.cli(&[
        "key",
        "create",
        "--account",
        &shop.email,
        "--name",
        "short",
        "--scopes",
        "all",
        "--expires-in-days",
        "2",
    ]);
    let short = shop.with_key(made["key"].as_str().unwrap());
    let clock = async |days: i64| {
        let body = serde_json::json!({ "offset_s": days * 86_400 });
        shop.send(Method::PUT, "/sandbox/clock", &body).await.expect(200);
    };
    clock(1).await;
    short.get("/charges").await.expect(200);
    clock(3).await;
    short.get("/charges").await.refused(401, "invalid_api_key");
    shop.get("/charges").await.expect(200);
}

async fn accounts_without_permission_are_refused(engine: Engine) {
    let node = shared(engine).await;
    let body = r#"{"amount":10}"#;

    let pending = node.unapproved_shop();
    pending.create(body).await.refused(403, "kyc_not_approved");
    pending.get("/charges").await.expect(200);
    pending.get("/balance").await.expect(200);
    pending.create("{").await.refused(400, "VALIDATION_ERROR");

    let off = node.shop();
    node.cli(&["account", "features", "--account", &off.email, "--disable", "pix_in"]);
    off.create(body).await.refused(403, "feature_disabled");

    let suspended = node.shop();
    node.cli(&["account", "suspend", "--account", &suspended.email]);
    suspended.create(body).await.refused(403, "account_suspended");
    suspended.create(r#"{"amount":50000.01}"#).await.refused(403, "account_suspended");
    suspended.create("{").await.refused(400, "VALIDATION_ERROR");
    for (path, body) in [("clock", json!({"offset_s": 0})), ("faults", json!({"mode": "ok"}))] {
        let moved = suspended.send(Method::PUT, &format!("/sandbox/{path}"), &body).await;
        moved.refused(403, "account_suspended");
    }
    suspended.get("/charges").await.expect(200);
    node.cli(&["account", "resume", "--account", &suspended.email]);
    crate::support::eventually("the account writes again", || async {
        (suspended.create(body).await.status == 201).then_some(())
    })
    .await;
}
