//! Tests the API across restarts.

use std::fs;

use cais_sandbox::NewDispute;
use reqwest::Method;
use serde_json::{Value, json};

use super::bed::{MARIA, WooviBed};
use crate::{
    bed::{eventually, instant_sends, pending_sends, with_state_file},
    receiver::Receiver,
};

/// Returns the state in the answers, without the parts that depend on the port.
async fn state(bed: &WooviBed) -> Vec<String> {
    let mut answers = Vec::new();
    for path in ["/charge", "/payment", "/refund", "/transaction", "/dispute", "/account/", "/statement", "/webhook"] {
        let answer = bed.get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        answers.push(answer.body);
    }
    answers
        .into_iter()
        .map(|mut answer| {
            forget_port(&mut answer);
            answer.to_string()
        })
        .collect()
}

fn forget_port(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for field in ["brCode", "qrCodeImage", "paymentLinkUrl"] {
                fields.remove(field);
            }
            fields.values_mut().for_each(forget_port);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_port),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[tokio::test]
async fn state_of_woovi_survives_kill_and_compaction() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sandbox.jsonl");
    let bed = WooviBed::with(with_state_file(&path, pending_sends())).await;
    let webhook = json!({ "name": "w", "url": "http://127.0.0.1:1/hook", "event": "OPENPIX:CHARGE_EXPIRED" });
    assert_eq!(bed.control(Method::PUT, "/woovi/settings", &json!({ "webhooks_paused": true })).await.status, 200);
    assert_eq!(bed.post("/webhook", &json!({ "webhook": webhook })).await.status, 200);
    let customer = json!({ "name": "Dan", "email": "dan@example.com" });
    let body = json!({ "correlationID": "a", "value": 1000, "customer": customer });
    let charge = bed.post("/charge", &body).await.body["charge"].clone();
    let e2e = bed.pay(&charge, None);
    bed.post("/charge/a/refund", &json!({ "correlationID": "r", "value": 1 })).await;
    bed.charge("b", 200).await;
    bed.delete("/charge/b").await;
    bed.request_payment("created", 100, MARIA).await;
    bed.request_payment("approved", 100, MARIA).await;
    bed.approve("approved").await;
    let opened = bed.control.open_infraction(&e2e, NewDispute::default()).unwrap();
    let documents = json!({ "documents": [{ "url": "https://files.example/a", "correlationID": "d" }] });
    let evidence = format!("/dispute/{}/evidence", opened.id);
    assert_eq!(bed.post(&evidence, &documents).await.status, 200);
    bed.control.set_clock_offset(2).unwrap();
    let before = state(&bed).await;
    let copy = folder.path().join("copy.jsonl");
    fs::copy(&path, &copy).unwrap();
    for _ in 0..2 {
        let again = WooviBed::with(with_state_file(&copy, pending_sends())).await;
        let paused = json!({ "webhooks_paused": true });
        assert_eq!(again.control(Method::PUT, "/woovi/settings", &paused).await.status, 200);
        assert_eq!(again.credentials.app_id, bed.credentials.app_id);
        again.control.set_clock_offset(2).unwrap();
        assert_eq!(state(&again).await, before);
        // Used ids stay used.
        assert_eq!(again.post("/charge", &json!({ "correlationID": "b", "value": 1 })).await.status, 400);
        assert_eq!(again.request_payment("created", 100, MARIA).await.status, 400);
        let refund = json!({ "correlationID": "r", "value": 1 });
        assert_eq!(again.post("/charge/a/refund", &refund).await.status, 400);
        assert_eq!(again.post(&evidence, &documents).await.status, 200);
        let item = again.control.ledger().unwrap().infractions[0].clone();
        assert_eq!((item.defenses, item.defense.unwrap().lines().count()), (1, 1));
        again.sandbox.stop().await;
    }
}

#[tokio::test]
async fn waiting_deliveries_are_sent_after_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sandbox.jsonl");
    let receiver = Receiver::start(&[]).await;
    let bed = WooviBed::with(with_state_file(&path, instant_sends())).await;
    for event in ["OPENPIX:MOVEMENT_CONFIRMED", "OPENPIX:CHARGE_EXPIRED"] {
        bed.subscribe(&receiver, event).await;
    }
    eventually(async || (bed.control.ledger().unwrap().woovi.webhooks.owed == 0).then_some(())).await;
    assert_eq!(bed.control(Method::PUT, "/woovi/settings", &json!({ "webhooks_paused": true })).await.status, 200);
    bed.request_payment("p", 100, MARIA).await;
    bed.approve("p").await;
    assert_eq!(bed.payment_status("p").await, "CONFIRMED");
    bed.charge("a", 100).await;
    bed.sandbox.stop().await;
    assert_eq!(receiver.received().len(), 2);
    let bed = WooviBed::with(with_state_file(&path, instant_sends())).await;
    let sent = receiver.wait_for(3).await[2].body.clone();
    assert_eq!(
        (&sent["event"], &sent["payment"]["correlationID"]),
        (&json!("OPENPIX:MOVEMENT_CONFIRMED"), &json!("p"))
    );
    // The charge of the first process expires in the second one, and its event is published once.
    bed.control.set_clock_offset(86_401).unwrap();
    assert_eq!(receiver.wait_for(4).await[3].body["charge"]["correlationID"], "a");
    eventually(async || (bed.control.ledger().unwrap().woovi.webhooks.delivered == 4).then_some(())).await;
    bed.sandbox.stop().await;
    let bed = WooviBed::with(with_state_file(&path, instant_sends())).await;
    bed.control.set_clock_offset(86_401).unwrap();
    assert_eq!(bed.get("/charge/a").await.body["charge"]["status"], "EXPIRED");
    let webhooks = bed.control.ledger().unwrap().woovi.webhooks;
    assert_eq!((webhooks.owed, webhooks.delivered, receiver.received().len()), (0, 4, 4));
}
