//! Addresses of receivers: only public ones, unless the operator permits others.

use reqwest::Method;
use serde_json::json;

use super::{newest, paid, register};
use crate::support::{Engine, Receiver, id, on_both, own};

on_both! { private_addresses_are_refused_in_every_spelling address_that_became_private_is_not_called }

const REFUSED: [&str; 26] = [
    "https://127.0.0.1/x",
    "https://2130706433/x",
    "https://0x7f.1/x",
    "https://0177.0.0.1/x",
    "https://127.1/x",
    "https://0/x",
    "https://10.1.2.3/x",
    "https://172.16.0.1/x",
    "https://192.168.0.1/x",
    "https://169.254.169.254/latest/meta-data",
    "https://100.64.0.1/x",
    "https://198.18.0.1/x",
    "https://224.0.0.1/x",
    "https://255.255.255.255/x",
    "https://[::1]/x",
    "https://[::]/x",
    "https://[::ffff:127.0.0.1]/x",
    "https://[::ffff:7f00:1]/x",
    "https://[::127.0.0.1]/x",
    "https://[64:ff9b::7f00:1]/x",
    "https://[fe80::1]/x",
    "https://[fd00::1]/x",
    "https://[2002:7f00:1::]/x",
    "https://localhost/x",
    "https://localhost./x",
    "https://LOCALHOST/x",
];

async fn private_addresses_are_refused_in_every_spelling(engine: Engine) {
    let node = own(engine, &[]).await;
    let shop = node.shop();
    for url in
        REFUSED.into_iter().chain(["http://example.com/x", "https://user@example.com/x", "https:///x", "//x", ""])
    {
        let reply = shop.send(Method::POST, "/webhook-endpoints", &json!({ "url": url, "events": ["*"] })).await;
        assert_eq!((reply.status, reply.issues()), (400, vec!["url".to_owned()]), "{url}: {}", reply.text());
    }
    // An unresolvable name is accepted, but a postback must be registered.
    let endpoint = register(&shop, "https://receiver.invalid/x", &["*"]).await;
    let moved = json!({ "url": "https://[::1]/x" });
    let moved = shop.send(Method::PATCH, &format!("/webhook-endpoints/{}", id(&endpoint)), &moved).await;
    moved.refused(400, "VALIDATION_ERROR");
    paid(&shop, "10").await;
    let delivery = newest(&shop, &endpoint, "pending", 1).await;
    assert_eq!(delivery["attempts"][0]["error"], "name_not_resolved", "{delivery}");
}

/// The address was registered while permitted; then the service was restarted with other settings.
async fn address_that_became_private_is_not_called(engine: Engine) {
    let mut node = own(engine, &crate::support::OPEN).await;
    let shop = node.shop();
    let receiver = Receiver::start().await;
    let endpoint = register(&shop, &receiver.url("/hooks"), &["*"]).await;
    node.cais.terminate().unwrap();
    node.cais.set("CAIS_WEBHOOKS__ALLOW_ADDRESSES", "10.0.0.0/8");
    node.cais.launch().await.unwrap();
    let shop = node.again(&shop);
    paid(&shop, "10").await;
    let delivery = newest(&shop, &endpoint, "pending", 1).await;
    let attempt = &delivery["attempts"][0];
    assert_eq!((&attempt["error"], &attempt["status_code"]), (&json!("address_not_allowed"), &json!(null)));
    assert_eq!(receiver.connections(), 0);
    let body = json!({ "amount": 10, "postback_url": receiver.url("/hooks") }).to_string();
    shop.create(body).await.refused(400, "postback_url_not_registered");
}
