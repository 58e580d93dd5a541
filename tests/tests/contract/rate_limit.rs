//! The window of 60 seconds per key.

use reqwest::Method;

use crate::support::{Engine, Reply, on_both, own};

on_both! { each_key_has_a_window }

const LIMIT: i64 = 20;

async fn each_key_has_a_window(engine: Engine) {
    let node = own(engine, &[("CAIS_RATE_LIMIT_PER_MINUTE", "20")]).await;
    let (shop, other) = (node.shop(), node.shop());
    let number = |reply: &Reply, name: &str| reply.header(name).unwrap().parse::<i64>().unwrap();

    let mut before: Option<(i64, i64)> = None;
    let mut refused = None;
    // Two full windows cannot begin without a refusal or a reset of the first.
    for _ in 0..=2 * LIMIT {
        let reply = shop.get("/charges").await;
        assert_eq!(number(&reply, "x-ratelimit-limit"), LIMIT);
        let now = (number(&reply, "x-ratelimit-reset"), number(&reply, "x-ratelimit-remaining"));
        if reply.status == 429 {
            refused = Some(reply);
            break;
        }
        reply.expect(200);
        if let Some((reset, remaining)) = before.filter(|(reset, _)| *reset == now.0) {
            assert_eq!(now, (reset, remaining - 1), "each call counts one");
        } else {
            assert_eq!(now.1, LIMIT - 1, "a new window is full");
        }
        before = Some(now);
    }
    let reply = refused.unwrap();
    reply.refused(429, "rate_limit_exceeded");
    assert_eq!(before.map(|(_, remaining)| remaining), Some(0), "all of them were given");
    assert_eq!(number(&reply, "x-ratelimit-remaining"), 0);
    let json = reply.json();
    assert_eq!(json["error"]["retryable"], true);
    assert!((1..=60).contains(&json["error"]["retry_after"].as_i64().unwrap()), "{json}");

    other.get("/charges").await.expect(200);
    // The limit applies after the key, before path, method and body.
    let window = number(&reply, "x-ratelimit-reset");
    for request in [
        shop.request(Method::GET, "/nothing"),
        shop.request(Method::PUT, "/charges"),
        shop.request(Method::GET, "/cards"),
    ] {
        let reply = Reply::of(request).await;
        if number(&reply, "x-ratelimit-reset") == window {
            reply.refused(429, "rate_limit_exceeded");
        }
    }
    Reply::of(shop.anonymous(Method::GET, "/charges")).await.refused(401, "missing_api_key");
}
