//! Registration of receivers: fields, limits, secrets that are shown once, and permissions.

use std::fs;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use super::{receiving, register, secret};
use crate::support::{Engine, Shop, id, names, on_both, own, shared};

on_both! {
    endpoint_is_registered_changed_and_deleted invalid_endpoint_is_refused_with_its_field account_has_at_most_twenty_endpoints secrets_are_shown_once_and_kept_sealed
    keys_need_the_scope_and_accounts_are_apart
}

const FIELDS: [&str; 7] = ["active", "created_at", "description", "disabled_reason", "events", "id", "url"];

fn path(endpoint: &Value) -> String {
    format!("/webhook-endpoints/{}", id(endpoint))
}

async fn endpoint_is_registered_changed_and_deleted(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let body =
        json!({ "url": "http://127.0.0.1:8443/a", "events": ["charge.paid", "payout.failed"], "description": "Shop" });
    let made = shop.send(Method::POST, "/webhook-endpoints", &body).await.expect(201);
    let mut with_secret = FIELDS.to_vec();
    with_secret.insert(5, "secret");
    with_secret.sort_unstable();
    assert_eq!(names(&made), with_secret);
    assert_eq!((&made["active"], &made["disabled_reason"]), (&json!(true), &Value::Null));
    assert_eq!((&made["url"], &made["description"]), (&body["url"], &body["description"]));
    assert!(id(&made).starts_with("whe_"));

    let read = shop.get(&path(&made)).await.expect(200);
    assert_eq!(names(&read), FIELDS);
    assert_eq!(read["events"], json!(["charge.paid", "payout.failed"]));
    assert_eq!(shop.all("/webhook-endpoints?limit=200").await, std::slice::from_ref(&read));

    let changed = json!({ "events": ["*"], "description": null, "active": false });
    let changed = shop.send(Method::PATCH, &path(&made), &changed).await.expect(200);
    assert_eq!((&changed["events"], &changed["active"]), (&json!(["*"]), &json!(false)));
    assert_eq!((&changed["description"], &changed["url"]), (&Value::Null, &made["url"]));
    let moved = shop.send(Method::PATCH, &path(&made), &json!({ "url": "http://127.0.0.1:8443/b" })).await.expect(200);
    assert_eq!(moved["url"], "http://127.0.0.1:8443/b");
    // The former address is free, the present one is not.
    let other = register(&shop, "http://127.0.0.1:8443/a", &["*"]).await;
    let taken = shop.send(Method::PATCH, &path(&other), &json!({ "url": "http://127.0.0.1:8443/b" })).await;
    taken.refused(400, "VALIDATION_ERROR");
    assert_eq!(taken.issues(), ["url"]);

    let deleted = shop.request(Method::DELETE, &path(&made)).send().await.unwrap();
    assert_eq!(deleted.status(), 204);
    assert_eq!(deleted.bytes().await.unwrap().len(), 0);
    shop.get(&path(&made)).await.refused(404, "not_found");
    shop.send(Method::PATCH, &path(&made), &json!({ "active": true })).await.refused(404, "not_found");
    shop.get(&format!("{}/deliveries", path(&made))).await.refused(404, "not_found");
    assert_eq!(shop.all("/webhook-endpoints?limit=200").await.len(), 1);
    register(&shop, "http://127.0.0.1:8443/b", &["*"]).await;
}

async fn invalid_endpoint_is_refused_with_its_field(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let refused = |body: Value| {
        let shop = shop.clone();
        async move {
            let reply = shop.send(Method::POST, "/webhook-endpoints", &body).await;
            reply.refused(400, "VALIDATION_ERROR");
            reply.issues()
        }
    };
    assert_eq!(refused(json!({})).await, ["url", "events"]);
    assert_eq!(refused(json!({ "url": 5, "events": "all", "secret": "mine" })).await.len(), 3);
    let good = "http://127.0.0.1:8443/x";
    assert_eq!(refused(json!({ "url": good, "events": [] })).await, ["events"]);
    assert_eq!(refused(json!({ "url": good, "events": ["charge.paid", "charge.gone"] })).await, ["events[1]"]);
    assert_eq!(refused(json!({ "url": "nowhere", "events": ["*"] })).await, ["url"]);
    assert_eq!(refused(json!({ "url": "ftp://127.0.0.1/x", "events": ["*"] })).await, ["url"]);
    assert_eq!(refused(json!({ "url": "http://me:pass@127.0.0.1/x", "events": ["*"] })).await, ["url"]);
    let long = format!("http://127.0.0.1:8443/{}", "x".repeat(500));
    assert_eq!(refused(json!({ "url": long, "events": ["*"] })).await, ["url"]);
    assert_eq!(refused(json!({ "url": good, "events": ["*"], "description": "x".repeat(201) })).await, ["description"]);
    register(&shop, good, &["*"]).await;
    assert_eq!(refused(json!({ "url": good, "events": ["*"] })).await, ["url"]);
    let unknown = "/webhook-endpoints/whe_01arz3ndektsv4rrffq69g5fav";
    shop.get(unknown).await.refused(404, "not_found");
    shop.get("/webhook-endpoints/chg_01arz3ndektsv4rrffq69g5fav").await.refused(400, "VALIDATION_ERROR");
}

async fn account_has_at_most_twenty_endpoints(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let all = join_all((0..30).map(|number| {
        let shop = shop.clone();
        async move {
            let body = json!({ "url": format!("http://127.0.0.1:8443/{number}"), "events": ["*"] });
            shop.send(Method::POST, "/webhook-endpoints", &body).await
        }
    }))
    .await;
    let (made, refused): (Vec<_>, Vec<_>) = all.into_iter().partition(|reply| reply.status == 201);
    assert_eq!(made.len(), 20);
    for reply in &refused {
        reply.refused(422, "limit_reached");
    }
    assert_eq!(shop.all("/webhook-endpoints?limit=7").await.len(), 20);
    let gone = shop.request(Method::DELETE, &path(&made[0].json())).send().await.unwrap();
    assert_eq!(gone.status(), 204);
    register(&shop, "http://127.0.0.1:8443/new", &["*"]).await;
    let full = json!({ "url": "http://127.0.0.1:8443/more", "events": ["*"] });
    shop.send(Method::POST, "/webhook-endpoints", &full).await.refused(422, "limit_reached");
}

async fn secrets_are_shown_once_and_kept_sealed(engine: Engine) {
    let mut node = own(engine, &super::super::support::OPEN).await;
    let shop = node.shop();
    let (receiver, endpoint) = receiving(&shop, &["*"]).await;
    let first = secret(&endpoint);
    assert!(first.starts_with("whsec_") && first.len() == 50, "32 bytes: {}", first.len());
    let rotated = shop.post(&format!("{}/rotate-secret", path(&endpoint))).await.expect(200);
    let second = secret(&rotated);
    assert_ne!(first, second);
    assert_eq!(shop.get(&path(&endpoint)).await.expect(200).get("secret"), None);
    shop.post(&format!("{}/test", path(&endpoint))).await.expect(202);
    receiver.until(1).await;
    node.cais.terminate().unwrap();
    // Neither the log nor the database contains them in readable form.
    let needles: Vec<Vec<u8>> = [&first, &second]
        .iter()
        .flat_map(|secret| {
            let base64 = secret.trim_start_matches("whsec_");
            [base64.as_bytes().to_vec(), decoded(base64)]
        })
        .collect();
    for file in fs::read_dir(node.cais.data_dir()).unwrap() {
        let file = file.unwrap().path();
        let bytes = if file.is_file() { fs::read(&file).unwrap() } else { continue };
        for needle in &needles {
            assert!(!bytes.windows(needle.len()).any(|window| window == needle), "a secret is in {}", file.display());
        }
    }
}

fn decoded(base64: &str) -> Vec<u8> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(base64).unwrap()
}

async fn keys_need_the_scope_and_accounts_are_apart(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let endpoint = register(&shop, "http://127.0.0.1:8443/x", &["*"]).await;
    let stranger = node.shop();
    for (method, path) in [
        (Method::GET, path(&endpoint)),
        (Method::DELETE, path(&endpoint)),
        (Method::POST, format!("{}/rotate-secret", path(&endpoint))),
        (Method::POST, format!("{}/test", path(&endpoint))),
        (Method::GET, format!("{}/deliveries", path(&endpoint))),
    ] {
        let reply = crate::support::Reply::of(stranger.request(method.clone(), &path)).await;
        reply.refused(404, "not_found");
        let reader = shop.with_key(&node.key(&shop.email, "webhooks:read"));
        let reply = crate::support::Reply::of(reader.request(method.clone(), &path)).await;
        if method == Method::GET {
            reply.expect(200);
        } else {
            reply.refused(403, "insufficient_scope");
        }
    }
    let other: Shop = shop.with_key(&node.key(&shop.email, "charges:read"));
    other.get("/webhook-endpoints").await.refused(403, "insufficient_scope");
    other.get("/events").await.refused(403, "insufficient_scope");
    node.cli(&["account", "suspend", "--account", &shop.email]);
    shop.get(&path(&endpoint)).await.expect(200);
    crate::support::eventually("a suspended account does not write", || async {
        (shop.post(&format!("{}/test", path(&endpoint))).await.status == 403).then_some(())
    })
    .await;
}
