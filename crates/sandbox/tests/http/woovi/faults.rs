//! Tests faults of the API, apart from those of the institution's other routes.

use std::time::Duration;

use cais_sandbox::{Fault, FaultMode, FaultTarget};
use reqwest::Method;
use serde_json::json;

use super::bed::{MARIA, WooviBed, payment};
use crate::{
    bed::{Bed, eventually, instant_sends},
    receiver::Receiver,
};

fn set(bed: &WooviBed, mode: FaultMode, part: Option<&str>) {
    bed.control.set_faults_of(FaultTarget::Woovi, mode.into(), part).unwrap();
}

#[tokio::test]
async fn refused_request_does_no_work_at_woovi() {
    let bed = WooviBed::with(instant_sends()).await;
    let cases =
        [(FaultMode::Down, 429), (FaultMode::RateLimited, 429), (FaultMode::Error, 500), (FaultMode::Html, 200)];
    for (mode, status) in cases {
        set(&bed, mode, None);
        let response = bed.request(Method::POST, "/payment").json(&payment("p", 1, MARIA)).send().await.unwrap();
        assert_eq!(response.status(), status, "{mode:?}");
        let text = response.text().await.unwrap();
        assert_eq!(text.contains("<html>"), mode == FaultMode::Html);
    }
    set(&bed, FaultMode::RateLimited, None);
    let limited = bed.request(Method::GET, "/charge").send().await.unwrap();
    assert_eq!(limited.headers()["retry-after"], "1");
    assert_eq!(limited.text().await.unwrap(), r#"{"error":"Too many requests"}"#);
    set(&bed, FaultMode::Error, None);
    assert_eq!(bed.get("/charge").await.body, json!({ "error": "the sandbox fails on request" }));
    set(&bed, FaultMode::Ok, None);
    assert_eq!(bed.get("/payment/p").await.error(), "Payment not found");
}

#[tokio::test]
async fn lost_and_lying_answers_leave_the_work_done() {
    let bed = WooviBed::with(instant_sends()).await;
    set(&bed, FaultMode::DropReply, None);
    assert!(bed.request(Method::POST, "/payment").json(&payment("p1", 1, MARIA)).send().await.is_err());
    assert_eq!(bed.payment_status("p1").await, "CREATED", "reads are answered");
    set(&bed, FaultMode::ErrorAfter, None);
    assert_eq!(bed.approve("p1").await.status, 500);
    assert_eq!(bed.payment_status("p1").await, "CONFIRMED");
    set(&bed, FaultMode::Truncated, Some("/charge"));
    let request = bed.request(Method::POST, "/charge").json(&json!({ "correlationID": "a", "value": 100 }));
    let cut = request.send().await.unwrap();
    let text = cut.text().await.unwrap();
    assert!(text.starts_with('{') && serde_json::from_str::<serde_json::Value>(&text).is_err(), "{text}");
    assert_eq!(bed.payment_status("p1").await, "CONFIRMED", "another path");
    set(&bed, FaultMode::Ok, None);
    assert_eq!(bed.get("/charge/a").await.status, 200);
    assert_eq!(bed.control.ledger().unwrap().sent.count, 1);
}

#[tokio::test]
async fn slow_answer_comes_after_the_wait() {
    let bed = WooviBed::start().await;
    let latency = Duration::from_millis(150);
    bed.control.set_faults_of(FaultTarget::Woovi, Fault { mode: FaultMode::Slow, latency }, None).unwrap();
    let before = std::time::Instant::now();
    assert_eq!(bed.get("/account/").await.status, 200);
    assert!(before.elapsed() >= latency);
    set(&bed, FaultMode::Hang, None);
    let request = bed.request(Method::GET, "/account/").timeout(Duration::from_millis(300));
    assert!(request.send().await.unwrap_err().is_timeout());
}

#[tokio::test]
async fn fault_of_woovi_spares_the_other_routes() {
    let pix = Bed::start().await;
    let woovi = pix.sandbox.woovi_credentials();
    let status = async || {
        let request = pix.client.get(format!("{}/api/v1/account/", woovi.base_url));
        request.header("authorization", &woovi.app_id).send().await.unwrap().status().as_u16()
    };
    let set = async |body| assert_eq!(pix.put("/sandbox/faults", &body).await.status, 200);
    set(json!({ "mode": "error", "acquirer": "woovi" })).await;
    assert_eq!((status().await, pix.get("/v2/gn/saldo").await.status), (500, 200));
    set(json!({ "mode": "ok", "acquirer": "woovi" })).await;
    set(json!({ "mode": "error", "acquirer": "main" })).await;
    assert_eq!((status().await, pix.get("/v2/gn/saldo").await.status), (200, 500));
}

#[tokio::test]
async fn doubled_webhook_has_the_same_body() {
    let bed = WooviBed::start().await;
    let receiver = Receiver::start(&[]).await;
    bed.subscribe(&receiver, "OPENPIX:TRANSACTION_RECEIVED").await;
    set(&bed, FaultMode::DoubleCallback, None);
    bed.paid("a", 100).await;
    let received = receiver.wait_for(3).await;
    assert_eq!(received[1].text, received[2].text);
    eventually(async || (bed.control.ledger().unwrap().woovi.webhooks.delivered == 2).then_some(())).await;
    assert_eq!(receiver.received().len(), 3);
}
