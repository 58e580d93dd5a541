//! Tests notifications: bodies, signatures, repeats and order.

use std::time::Duration;

use cais_sandbox::SandboxConfig;
use ring::hmac;
use serde_json::{Value, json};

use super::bed::CryptoBed;
use crate::{
    bed::{eventually, instant_sends},
    receiver::{Received, Receiver},
};

/// Returns the signature that a client computes. `serde_json` sorts the keys of a value, and no number of these bodies
/// needs another form.
fn signature(bed: &CryptoBed, body: &Value) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA512, bed.credentials.ipn_secret.as_bytes());
    let tag = hmac::sign(&key, body.to_string().as_bytes());
    tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

fn statuses(received: &[Received], field: &str) -> Vec<String> {
    received.iter().map(|ipn| ipn.body[field].as_str().unwrap().to_owned()).collect()
}

async fn start() -> (CryptoBed, Receiver) {
    let config = SandboxConfig { callback_retry_base: Duration::from_millis(20), ..instant_sends() };
    (CryptoBed::with(config).await, Receiver::start(&[]).await)
}

async fn delivered(bed: &CryptoBed, count: u64) {
    eventually(async || {
        let ipns = bed.control.ledger().unwrap().crypto.ipns;
        (ipns.owed == 0 && ipns.delivered == count).then_some(())
    })
    .await;
}

#[tokio::test]
async fn every_status_of_a_payment_is_notified_and_signed() {
    let (bed, receiver) = start().await;
    let id = bed.pay_in("trx", Some(&format!("{}/ipn", receiver.url))).await;
    bed.post(&format!("/sandbox/payment/{id}/pay"), &json!({})).await;
    delivered(&bed, 4).await;
    let mut received = receiver.received();
    received.sort_by_key(|ipn| {
        ["confirming", "confirmed", "sending", "finished"].iter().position(|s| ipn.body["payment_status"] == *s)
    });
    assert_eq!(statuses(&received, "payment_status"), ["confirming", "confirmed", "sending", "finished"]);
    let last = &received[3];
    assert_eq!(last.path, "/ipn");
    assert_eq!(last.header("x-nowpayments-sig").unwrap(), signature(&bed, &last.body));
    assert_eq!((last.body["payment_id"].to_string(), last.body["purchase_id"].is_string()), (id, true));
    assert_eq!(last.body["fee"], json!({ "currency": "trx", "depositFee": 0, "withdrawalFee": 0, "serviceFee": 2 }));
    // The text is not canonical, so that a client must sort its keys.
    assert_ne!(last.text, last.body.to_string());
}

#[tokio::test]
async fn withdrawals_are_notified_with_text_ids() {
    let (bed, receiver) = start().await;
    let mut body = super::bed::withdrawal("30", "w1");
    body["ipn_callback_url"] = receiver.url.clone().into();
    let reply = bed.post("/v1/payout", &body).await;
    bed.verify(reply.body["id"].as_str().unwrap()).await;
    delivered(&bed, 5).await;
    let received = receiver.received();
    let mut found = statuses(&received, "status");
    found.sort_unstable();
    assert_eq!(found, ["CREATING", "FINISHED", "PROCESSING", "SENDING", "WAITING"]);
    let last = received.iter().find(|ipn| ipn.body["status"] == "FINISHED").unwrap();
    assert_eq!(last.body["batch_withdrawal_id"], reply.body["id"]);
    assert_eq!((&last.body["amount"], &last.body["fee"]), (&json!("30"), &json!("1.1")));
    assert_eq!(last.header("x-nowpayments-sig").unwrap(), signature(&bed, &last.body));
}

#[tokio::test]
async fn refused_notification_is_repeated_three_times() {
    let (bed, _) = start().await;
    let receiver = Receiver::start(&[500, 404, 302]).await;
    let id = bed.pay_in("trx", Some(&receiver.url)).await;
    bed.post(&format!("/sandbox/payment/{id}/expire"), &json!({})).await;
    let received = receiver.wait_for(4).await;
    assert!(received.iter().all(|ipn| ipn.text == received[0].text));
    delivered(&bed, 1).await;
    let deaf = Receiver::start(&[500; 9]).await;
    let id = bed.pay_in("trx", Some(&deaf.url)).await;
    bed.post(&format!("/sandbox/payment/{id}/expire"), &json!({})).await;
    eventually(async || (bed.control.ledger().unwrap().crypto.ipns.abandoned == 1).then_some(())).await;
    assert_eq!(deaf.received().len(), 4);
}

#[tokio::test]
async fn held_notifications_are_sent_in_reverse_order() {
    let (bed, receiver) = start().await;
    bed.set(json!({ "ipn_paused": true, "ipn_reversed": true })).await;
    let id = bed.pay_in("trx", Some(&receiver.url)).await;
    bed.post(&format!("/sandbox/payment/{id}/pay"), &json!({})).await;
    assert_eq!(bed.payment(&id).await.body["payment_status"], "finished");
    assert_eq!(bed.control.ledger().unwrap().crypto.ipns.owed, 4);
    bed.set(json!({ "ipn_paused": false })).await;
    delivered(&bed, 4).await;
    assert_eq!(statuses(&receiver.received(), "payment_status"), ["finished", "sending", "confirmed", "confirming"]);
}

#[tokio::test]
async fn copies_and_wrong_signatures_are_sent_on_demand() {
    let (bed, receiver) = start().await;
    bed.set(json!({ "ipn_copies": 2, "ipn_signature": "wrong" })).await;
    let id = bed.pay_in("trx", Some(&receiver.url)).await;
    bed.post(&format!("/sandbox/payment/{id}/expire"), &json!({})).await;
    delivered(&bed, 1).await;
    let received = receiver.received();
    assert_eq!((received.len(), received[0].text == received[1].text), (2, true));
    let right = signature(&bed, &received[0].body);
    assert_eq!(received[0].header("x-nowpayments-sig").unwrap().len(), 128);
    assert_ne!(received[0].header("x-nowpayments-sig").unwrap(), right);
    for (kind, expected) in [("missing", None), ("malformed", Some("not a signature")), ("valid", Some(right.as_str()))]
    {
        bed.set(json!({ "ipn_copies": 1, "ipn_signature": kind })).await;
        let before = receiver.received().len();
        assert_eq!(bed.post(&format!("/sandbox/payment/{id}/ipn"), &json!({})).await.status, 200);
        let received = receiver.wait_for(before + 1).await;
        assert_eq!(received[before].header("x-nowpayments-sig"), expected);
        assert_eq!(received[before].text, received[0].text);
    }
    let silent = bed.pay_in("trx", None).await;
    assert_eq!(bed.post(&format!("/sandbox/payment/{silent}/ipn"), &json!({})).await.status, 409);
}

#[tokio::test]
async fn notification_rounds_to_the_digits_of_javascript() {
    let (bed, receiver) = start().await;
    let id = bed.pay_in("usdtbsc", Some(&receiver.url)).await;
    bed.post(&format!("/sandbox/payment/{id}/pay"), &json!({ "amount": "100.000000000000000001" })).await;
    delivered(&bed, 4).await;
    assert!(receiver.received().iter().all(|ipn| ipn.text.contains(r#""actually_paid":100,"#)));
    assert_eq!(bed.payment(&id).await.raw("actually_paid"), "100.000000000000000001");
}
