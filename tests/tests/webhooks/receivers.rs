//! Misbehaving receivers: each is distinguished in the log of attempts, and none delays the others.

use serde_json::{Value, json};

use super::{newest, paid, receiving, register};
use crate::support::{Behavior, Engine, Receiver, Shop, eventually, id, on_both, shared};

on_both! {
    each_failure_has_its_error
    endless_answer_is_a_success
    hanging_receiver_delays_no_other
    redirects_are_not_followed
    twenty_tests_of_an_endpoint_wait
}

async fn each_failure_has_its_error(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let closed = Receiver::start().await.url("/closed");
    for (behavior, status_code, word) in [
        (Some(Behavior::status(500)), json!(500), "status_not_2xx"),
        (Some(Behavior::status(404)), json!(404), "status_not_2xx"),
        (Some(Behavior::ClosesConnection), Value::Null, "connection_lost"),
        (Some(Behavior::SendsGarbage), Value::Null, "connection_lost"),
        (None, Value::Null, "connection_failed"),
    ] {
        let receiver = match &behavior {
            Some(behavior) => Some(Receiver::start_with(behavior.clone()).await),
            None => None,
        };
        let url = receiver.as_ref().map_or_else(|| closed.clone(), |receiver| receiver.url("/hooks"));
        let endpoint = register(&shop, &url, &["payout.failed"]).await;
        shop.post(&format!("/webhook-endpoints/{}/test", id(&endpoint))).await.expect(202);
        let delivery = newest(&shop, &endpoint, "failed", 1).await;
        let attempt = &delivery["attempts"][0];
        assert_eq!((&attempt["status_code"], &attempt["error"]), (&status_code, &json!(word)), "{behavior:?}");
        assert!(delivery["next_attempt_at"].is_null(), "a test is tried once");
    }
}

async fn endless_answer_is_a_success(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let body = format!("thank\u{7}you {}", "x".repeat(10_000));
    for (behavior, kept) in [
        (Behavior::SendsSlowly, None),
        (Behavior::SendsWithoutEnd, None),
        (Behavior::Answers(204, Vec::new(), Vec::new()), None),
        (Behavior::Answers(200, vec!["x-odd: \u{e9}\u{1}".into()], body.into_bytes()), Some("thank")),
    ] {
        let receiver = Receiver::start_with(behavior.clone()).await;
        let endpoint = register(&shop, &receiver.url("/hooks"), &["payout.failed"]).await;
        shop.post(&format!("/webhook-endpoints/{}/test", id(&endpoint))).await.expect(202);
        let delivery = newest(&shop, &endpoint, "succeeded", 1).await;
        let body = delivery["attempts"][0]["response_body"].as_str().unwrap_or_default();
        assert!(body.len() <= 2_048 && !body.contains('\u{7}'), "{behavior:?}: {} bytes", body.len());
        assert!(kept.is_none_or(|kept| body.starts_with(kept)), "{behavior:?}: {body}");
    }
}

async fn hanging_receiver_delays_no_other(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let (fine, _) = receiving(&shop, &["charge.paid"]).await;
    let hanging = Receiver::start_with(Behavior::NeverAnswers).await;
    let endpoint = register(&shop, &hanging.url("/hooks"), &["*"]).await;
    for _ in 0..12 {
        shop.post(&format!("/webhook-endpoints/{}/test", id(&endpoint))).await.expect(202);
    }
    hanging.until(1).await;
    for _ in 0..3 {
        paid(&shop, "2").await;
    }
    fine.until(3).await;
    // A delivery behind the hanging attempts would arrive only after a timeout.
    assert_eq!(first_attempt(&shop, &endpoint).await, None, "a hanging attempt ended before the others were delivered");
    assert!(hanging.most_under_way() <= 8, "no more at once for one endpoint");
    let timed_out = eventually("a hanging attempt times out", || first_attempt(&shop, &endpoint)).await;
    assert_eq!((&timed_out["error"], &timed_out["status_code"]), (&json!("timed_out"), &Value::Null));
}

/// Returns an attempt that ended, of any delivery to the endpoint.
async fn first_attempt(shop: &Shop, endpoint: &Value) -> Option<Value> {
    let deliveries = super::deliveries(shop, endpoint).await;
    deliveries.into_iter().find_map(|delivery| delivery["attempts"].as_array().unwrap().first().cloned())
}

async fn redirects_are_not_followed(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let elsewhere = Receiver::start().await;
    for status in [301, 302, 307, 308] {
        let location = format!("location: {}", elsewhere.url("/inside"));
        let receiver = Receiver::start_with(Behavior::Answers(status, vec![location], Vec::new())).await;
        let endpoint = register(&shop, &receiver.url("/hooks"), &["payout.failed"]).await;
        shop.post(&format!("/webhook-endpoints/{}/test", id(&endpoint))).await.expect(202);
        let delivery = newest(&shop, &endpoint, "failed", 1).await;
        let attempt = &delivery["attempts"][0];
        assert_eq!((&attempt["status_code"], &attempt["error"]), (&json!(status), &json!("redirected")));
    }
    assert_eq!(elsewhere.connections(), 0);
}

async fn twenty_tests_of_an_endpoint_wait(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let receiver = Receiver::start_with(Behavior::NeverAnswers).await;
    let endpoint = register(&shop, &receiver.url("/hooks"), &["*"]).await;
    let path = format!("/webhook-endpoints/{}/test", id(&endpoint));
    let mut accepted = 0;
    // Attempts that time out meanwhile free their slots.
    let refused = loop {
        let reply = shop.post(&path).await;
        if reply.status != 202 {
            break reply;
        }
        accepted += 1;
        assert!(accepted <= 60, "no test is refused");
    };
    assert!(accepted >= 20, "{accepted}");
    refused.refused(429, "rate_limit_exceeded");
    let error = &refused.json()["error"];
    assert_eq!((&error["retryable"], &error["retry_after"]), (&true.into(), &15.into()));
    assert_eq!(refused.header("retry-after"), Some("15"));
}
