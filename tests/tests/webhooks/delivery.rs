//! Deliveries: signed, immediate, to every subscribed endpoint, retried by the schedule, and resent by hand.

use reqwest::Method;
use serde_json::{Value, json};

use super::{accepted, clock, deliveries, newest, paid, receiving, register, secret, verify};
use crate::support::{Behavior, Engine, OPEN, Receiver, eventually, id, names, on_both, own, shared};

on_both! {
    event_arrives_signed_and_equals_the_listed_one subscribed_endpoints_get_each_event_once failed_delivery_follows_the_schedule
    retry_after_delays_the_next_attempt rotated_secret_signs_beside_the_previous_one tests_and_resends_are_delivered
}

async fn event_arrives_signed_and_equals_the_listed_one(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let (receiver, endpoint) = receiving(&shop, &["charge.paid"]).await;
    let charge = paid(&shop, "12.34").await;
    let received = receiver.until(1).await.remove(0);
    verify(&received, &secret(&endpoint));
    assert!(accepted(&received, "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=").is_err(), "any secret would do");
    assert_eq!(received.header("content-type"), "application/json");

    let body = received.json();
    let mut fields = names(&body);
    fields.sort_unstable();
    assert_eq!(fields, ["api_version", "data", "id", "sequence", "timestamp", "type"]);
    assert_eq!(
        (&body["type"], &body["sequence"], &body["api_version"]),
        (&json!("charge.paid"), &json!(1), &json!("1.1.0"))
    );
    assert_eq!(body["id"], received.header("webhook-id"));
    assert_eq!(body["data"], shop.fetch(&charge).await, "the resource as its GET returns it");
    let listed = shop.get(&format!("/events/{}", id(&body))).await;
    listed.expect(200);
    assert_eq!(listed.body, received.body, "the same bytes");

    let delivery = newest(&shop, &endpoint, "succeeded", 1).await;
    let mut fields = names(&delivery);
    fields.sort_unstable();
    assert_eq!(fields, ["attempts", "created_at", "event_id", "event_type", "id", "next_attempt_at", "status"]);
    assert_eq!((&delivery["event_id"], &delivery["next_attempt_at"]), (&body["id"], &Value::Null));
    let attempt = &delivery["attempts"][0];
    assert_eq!(names(attempt), ["at", "duration_ms", "error", "response_body", "status_code"]);
    assert_eq!((&attempt["status_code"], &attempt["error"]), (&json!(200), &Value::Null));
}

async fn subscribed_endpoints_get_each_event_once(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let (all, _) = receiving(&shop, &["*"]).await;
    let (some, _) = receiving(&shop, &["charge.paid", "charge.cancelled"]).await;
    let (none, _) = receiving(&shop, &["payout.failed"]).await;
    let (foreign, _) = receiving(&node.shop(), &["*"]).await;
    paid(&shop, "10").await;
    let cancelled = shop.charge_id("10").await;
    shop.post(&format!("/charges/{cancelled}/cancel")).await.expect(200);
    let body = r#"{"amount":1,"pix_key":"ana@example.com"}"#;
    let payout = shop.json(Method::POST, "/payouts", body).header("idempotency-key", "payout-of-one");
    assert!(payout.send().await.unwrap().status().is_success());
    all.until_kind("payout.completed").await;
    let kinds = |receiver: &Receiver| {
        let mut kinds: Vec<String> = receiver.received().iter().map(crate::support::Received::kind).collect();
        kinds.sort();
        kinds
    };
    assert_eq!(kinds(&all), ["charge.cancelled", "charge.paid", "payout.completed"]);
    eventually("both arrive", || async { (some.received().len() == 2).then_some(()) }).await;
    assert_eq!(kinds(&some), ["charge.cancelled", "charge.paid"]);
    // Everything else has arrived, so no further delivery follows.
    assert!(none.received().is_empty() && foreign.received().is_empty());
    let mut sequences: Vec<i64> = all.received().iter().map(|one| one.json()["sequence"].as_i64().unwrap()).collect();
    sequences.sort_unstable();
    assert_eq!(sequences, [1, 2, 3]);
}

/// The seconds between attempts.
const SCHEDULE: [u32; 9] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

async fn failed_delivery_follows_the_schedule(engine: Engine) {
    let node = own(engine, &OPEN).await;
    let shop = node.shop();
    let receiver = Receiver::start_with(Behavior::Answers(500, Vec::new(), b"no \x00 thanks".to_vec())).await;
    let endpoint = register(&shop, &receiver.url("/hooks"), &["charge.paid"]).await;
    paid(&shop, "10").await;
    let mut offset = 0;
    for (made, pause) in SCHEDULE.into_iter().enumerate() {
        let delivery = newest(&shop, &endpoint, "pending", made + 1).await;
        let attempt = &delivery["attempts"][made];
        assert_eq!((&attempt["status_code"], &attempt["error"]), (&json!(500), &json!("status_not_2xx")));
        let at: jiff::Timestamp = attempt["at"].as_str().unwrap().parse().unwrap();
        let next: jiff::Timestamp = delivery["next_attempt_at"].as_str().unwrap().parse().unwrap();
        let waits_ms = next.duration_since(at).as_millis();
        // Ten percent more or less, plus the attempt itself.
        let (least, most) = (i128::from(pause) * 900, i128::from(pause) * 1_100 + 20_000);
        assert!((least..most).contains(&waits_ms), "{made}: {waits_ms} ms instead of {pause} s");
        offset += pause + pause / 10 + 1;
        clock(&shop, offset).await;
    }
    let failed = newest(&shop, &endpoint, "failed", 10).await;
    assert_eq!(failed["next_attempt_at"], Value::Null);
    let received = receiver.until(10).await;
    assert_eq!(received.len(), 10);
    for one in &received {
        assert_eq!((&one.body, one.header("webhook-id")), (&received[0].body, received[0].header("webhook-id")));
    }
    let stamps: Vec<&str> = received.iter().map(|one| one.header("webhook-timestamp")).collect();
    assert!(stamps.windows(2).all(|pair| pair[0] < pair[1]), "signed afresh: {stamps:?}");
}

async fn retry_after_delays_the_next_attempt(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let receiver = Receiver::start_with(Behavior::Answers(429, vec!["retry-after: 3600".into()], Vec::new())).await;
    let endpoint = register(&shop, &receiver.url("/hooks"), &["*"]).await;
    paid(&shop, "10").await;
    let delivery = newest(&shop, &endpoint, "pending", 1).await;
    let waits = |delivery: &Value| {
        let at: jiff::Timestamp = delivery["attempts"][0]["at"].as_str().unwrap().parse().unwrap();
        let next: jiff::Timestamp = delivery["next_attempt_at"].as_str().unwrap().parse().unwrap();
        next.duration_since(at).as_secs()
    };
    assert!((3_600..3_700).contains(&waits(&delivery)), "{delivery}");
    // A value below the schedule, a value above a day, and an invalid value.
    for (pause, least, most) in [("0", 4, 60), ("999999999", 86_400, 86_500), ("soon\x01", 4, 60)] {
        let receiver =
            Receiver::start_with(Behavior::Answers(503, vec![format!("retry-after: {pause}")], Vec::new())).await;
        let endpoint = register(&shop, &receiver.url("/hooks"), &["*"]).await;
        paid(&shop, "10").await;
        let delivery = newest(&shop, &endpoint, "pending", 1).await;
        assert!((least..most).contains(&waits(&delivery)), "{pause}: {delivery}");
    }
}

async fn rotated_secret_signs_beside_the_previous_one(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let (receiver, endpoint) = receiving(&shop, &["*"]).await;
    let rotate = format!("/webhook-endpoints/{}/rotate-secret", id(&endpoint));
    let second = secret(&shop.post(&rotate).await.expect(200));
    let test = format!("/webhook-endpoints/{}/test", id(&endpoint));
    shop.post(&test).await.expect(202);
    let received = receiver.until(1).await.remove(0);
    verify(&received, &secret(&endpoint));
    verify(&received, &second);
    let third = secret(&shop.send(Method::POST, &rotate, &json!({ "grace_seconds": 0 })).await.expect(200));
    shop.post(&test).await.expect(202);
    let received = receiver.until(2).await.remove(1);
    verify(&received, &third);
    assert!(accepted(&received, &second).is_err(), "no grace, no signature");
    for grace in [json!(-1), json!(604_801), json!("a day"), json!(1.5)] {
        let reply = shop.send(Method::POST, &rotate, &json!({ "grace_seconds": grace })).await;
        reply.refused(400, "VALIDATION_ERROR");
        assert_eq!(reply.issues(), ["grace_seconds"]);
    }
}

async fn tests_and_resends_are_delivered(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let (receiver, endpoint) = receiving(&shop, &["charge.paid"]).await;
    let at = format!("/webhook-endpoints/{}", id(&endpoint));
    let test = shop.post(&format!("{at}/test")).await.expect(202);
    assert_eq!(test["event_type"], "webhook.test");
    let received = receiver.until(1).await.remove(0);
    verify(&received, &secret(&endpoint));
    assert_eq!((received.kind().as_str(), &received.json()["sequence"]), ("webhook.test", &Value::Null));
    assert_eq!(shop.get("/events").await.expect(200)["data"], json!([]));
    shop.get(&format!("/events/{}", received.header("webhook-id"))).await.refused(404, "not_found");

    paid(&shop, "10").await;
    let original = receiver.until(2).await.remove(1);
    let delivery = newest(&shop, &endpoint, "succeeded", 1).await;
    let again = shop.post(&format!("{at}/deliveries/{}/resend", id(&delivery))).await.expect(202);
    assert_eq!((&again["id"], &again["event_id"]), (&delivery["id"], &delivery["event_id"]));
    let resent = receiver.until(3).await.remove(2);
    assert_eq!((&resent.body, resent.header("webhook-id")), (&original.body, original.header("webhook-id")));
    newest(&shop, &endpoint, "succeeded", 2).await;

    // An endpoint that was registered after the event receives a resent event.
    let (late, late_endpoint) = receiving(&shop, &["*"]).await;
    let sent = shop.post(&format!("/events/{}/resend", original.header("webhook-id"))).await.expect(202);
    assert_eq!(sent["data"].as_array().unwrap().len(), 2);
    assert_eq!(late.until(1).await[0].body, original.body);
    receiver.until(4).await;
    assert_eq!(deliveries(&shop, &late_endpoint).await.len(), 1);
    assert_eq!(deliveries(&shop, &endpoint).await.len(), 2, "the test and the event, each one delivery");
    shop.post("/events/evt_01arz3ndektsv4rrffq69g5fav/resend").await.refused(404, "not_found");
    shop.post(&format!("{at}/deliveries/dlv_01arz3ndektsv4rrffq69g5fav/resend")).await.refused(404, "not_found");
}
