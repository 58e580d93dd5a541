//! Headers of every kind of answer.

use reqwest::Method;
use serde_json::json;

use super::resources::is_id;
use crate::support::{Engine, Reply, on_both, shared, unique};

on_both! { request_id_is_on_every_answer rate_headers_are_on_every_authenticated_answer replays_are_marked retry_after_is_on_temporary_errors }

/// Returns one answer of every kind.
async fn every_kind(shop: &crate::support::Shop) -> Vec<(u16, Reply)> {
    let root = |path: &str| shop.client.get(format!("{}{path}", shop.base));
    let huge = "x".repeat(70_000);
    let mut replies = Vec::new();
    for (status, request) in [
        (200, shop.request(Method::GET, "/charges")),
        (200, shop.request(Method::GET, "/balance")),
        (201, shop.creation(&unique("key"), r#"{"amount":10}"#)),
        (400, shop.creation(&unique("key"), "{")),
        (400, shop.request(Method::GET, "/charges?limit=0")),
        (401, shop.anonymous(Method::GET, "/charges")),
        (401, shop.anonymous(Method::GET, "/nothing")),
        (404, shop.request(Method::GET, "/nothing")),
        (404, root("/nothing")),
        (405, shop.request(Method::PUT, "/charges")),
        (413, shop.creation(&unique("key"), huge)),
        (415, shop.request(Method::POST, "/charges").header("idempotency-key", unique("key")).body("{}")),
        (422, shop.creation(&unique("key"), r#"{"amount":50000.01}"#)),
        (501, shop.request(Method::GET, "/cards")),
        (200, root("/healthz")),
        (200, root("/readyz")),
        (200, root("/v1/openapi.json")),
    ] {
        let reply = Reply::of(request).await;
        assert_eq!(reply.status, status, "{}", reply.text());
        replies.push((status, reply));
    }
    replies
}

async fn request_id_is_on_every_answer(engine: Engine) {
    let shop = shared(engine).await.shop();
    let mut seen = std::collections::BTreeSet::new();
    for (status, reply) in every_kind(&shop).await {
        let id = reply.header("x-request-id").unwrap_or_else(|| panic!("{status}: {:?}", reply.headers)).to_owned();
        assert!(is_id(&json!(id), "req"), "{id}");
        assert!(seen.insert(id.clone()), "{id} twice");
        if status >= 400 {
            reply.check_envelope();
        }
    }
    // A client's own id is not adopted, because it can be any text.
    let own = shop.request(Method::GET, "/charges").header("x-request-id", "mine");
    assert_ne!(Reply::of(own).await.header("x-request-id"), Some("mine"));
}

async fn rate_headers_are_on_every_authenticated_answer(engine: Engine) {
    let shop = shared(engine).await.shop();
    let number = |reply: &Reply, name: &str| {
        let text = reply.header(name).unwrap_or_else(|| panic!("{name} is missing: {} {}", reply.status, reply.text()));
        text.parse::<i64>().unwrap()
    };
    for method_and_path in [
        (Method::GET, "/charges"),
        (Method::GET, "/nothing"),
        (Method::PUT, "/charges"),
        (Method::GET, "/cards"),
        (Method::GET, "/charges?limit=0"),
        (Method::POST, "/charges"),
    ] {
        let reply = Reply::of(shop.request(method_and_path.0, method_and_path.1)).await;
        assert_eq!(number(&reply, "x-ratelimit-limit"), 600);
        assert!((0..600).contains(&number(&reply, "x-ratelimit-remaining")));
        let reset = number(&reply, "x-ratelimit-reset");
        assert_eq!(reset % 60, 0, "the end of a minute");
    }
    for request in
        [shop.creation(&unique("key"), "x".repeat(70_000)), shop.request(Method::POST, "/charges").body("{}")]
    {
        let reply = Reply::of(request).await;
        assert_eq!(number(&reply, "x-ratelimit-limit"), 600, "{}", reply.status);
    }
}

async fn replays_are_marked(engine: Engine) {
    let shop = shared(engine).await.shop();
    let key = unique("key");
    let first = shop.create_with(&key, r#"{"amount":10,"description":"x"}"#).await;
    first.expect(201);
    assert_eq!(first.header("idempotent-replayed"), None);
    let again = shop.create_with(&key, r#" { "description": "x", "amount": 1e1 } "#).await;
    assert_eq!((again.status, &again.body), (201, &first.body));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.header("x-request-id"), first.header("x-request-id"));
    assert_eq!(again.header("content-type"), first.header("content-type"));
    assert!(again.header("x-ratelimit-limit").is_some());
}

async fn retry_after_is_on_temporary_errors(engine: Engine) {
    // An outage would disturb other tests on a shared service.
    let node = crate::support::own(engine, &[]).await;
    let shop = node.shop();
    shop.faults("down").await;
    let reply = shop.create(r#"{"amount":10}"#).await;
    reply.refused(502, "acquirer_unavailable");
    // The sandbox refuses connections, and the service can still end the fault.
    let sandbox = std::fs::read_to_string(node.cais.data_dir().join("sandbox.json")).unwrap();
    let sandbox: serde_json::Value = serde_json::from_str(&sandbox).unwrap();
    let address = sandbox["base_url"].as_str().unwrap().trim_start_matches("http://").to_owned();
    let refused = std::net::TcpStream::connect(&address).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    shop.faults("ok").await;
    drop(std::net::TcpStream::connect(&address).unwrap());
    let error = &reply.json()["error"];
    assert_eq!((&error["retryable"], &error["retry_after"]), (&true.into(), &10.into()), "{}", reply.text());
    assert_eq!(reply.header("retry-after"), Some("10"));
}
