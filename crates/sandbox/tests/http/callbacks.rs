//! Tests callbacks: content and retries.

use std::time::Duration;

use cais_sandbox::SandboxConfig;
use serde_json::json;

use crate::{
    bed::{Bed, eventually},
    receiver::Receiver,
};

const BASE: Duration = Duration::from_millis(40);

async fn start(statuses: &[u16]) -> (Bed, Receiver) {
    let bed = Bed::with(SandboxConfig { callback_retry_base: BASE, ..SandboxConfig::default() }).await;
    let receiver = Receiver::start(statuses).await;
    let path = format!("/v2/webhook/{}", bed.credentials.pix_key);
    let answer = bed.put(&path, &json!({ "webhookUrl": format!("{}/hook", receiver.url) })).await;
    assert_eq!(answer.status, 200);
    (bed, receiver)
}

async fn settled(bed: &Bed, delivered: u64, abandoned: u64) {
    eventually(async || {
        let callbacks = bed.control.ledger().unwrap().callbacks;
        (callbacks.owed == 0 && callbacks.delivered == delivered && callbacks.abandoned == abandoned).then_some(())
    })
    .await;
}

#[tokio::test]
async fn payment_and_final_return_cause_callbacks() {
    let (bed, receiver) = start(&[]).await;
    let (_, e2e) = bed.paid(1, "10.00").await;
    let received = receiver.wait_for(1).await;
    assert_eq!(received[0].path, "/hook/pix");
    let pix = bed.get(&format!("/v2/pix/{e2e}")).await.body;
    assert_eq!(received[0].body, json!({ "pix": [pix] }));
    assert_eq!(bed.request_refund(&e2e, "r1", "1.00").await.status, 201);
    bed.control.set_clock_offset(2).unwrap();
    let received = receiver.wait_for(2).await;
    assert_eq!(received[1].body["pix"][0]["devolucoes"][0]["status"], "DEVOLVIDO");
    assert_eq!(bed.request_refund(&e2e, "r2", "1.00").await.status, 201);
    bed.control.fail_refund(&e2e, "r2").unwrap();
    let received = receiver.wait_for(3).await;
    assert_eq!(received[2].body["pix"][0]["devolucoes"][1]["status"], "NAO_REALIZADO");
    settled(&bed, 3, 0).await;
    assert_eq!(receiver.received().len(), 3);
}

#[tokio::test]
async fn failed_callback_is_retried_with_growing_pauses() {
    let (bed, receiver) = start(&[500, 302, 404]).await;
    bed.paid(1, "10.00").await;
    let received = receiver.wait_for(4).await;
    settled(&bed, 1, 0).await;
    assert_eq!(receiver.received().len(), 4);
    for (index, pair) in received.windows(2).enumerate() {
        assert_eq!(pair[0].body, pair[1].body);
        let wait = BASE * 2_u32.pow(u32::try_from(index).unwrap());
        assert!(pair[1].at - pair[0].at >= wait, "attempt {index}");
    }
    assert!(received.iter().all(|request| request.path == "/hook/pix"));
}

#[tokio::test]
async fn dead_receiver_is_abandoned_and_delays_no_other() {
    let bed =
        Bed::with(SandboxConfig { callback_retry_base: Duration::from_millis(1), ..SandboxConfig::default() }).await;
    let path = format!("/v2/webhook/{}", bed.credentials.pix_key);
    let vacant = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    bed.put(&path, &json!({ "webhookUrl": format!("http://{vacant}") })).await;
    bed.paid(1, "10.00").await;
    let receiver = Receiver::start(&[]).await;
    bed.put(&path, &json!({ "webhookUrl": receiver.url })).await;
    bed.paid(2, "10.00").await;
    receiver.wait_for(1).await;
    settled(&bed, 1, 1).await;
}

#[tokio::test]
async fn account_without_webhook_has_no_callbacks() {
    let (bed, receiver) = start(&[]).await;
    bed.delete(&format!("/v2/webhook/{}", bed.credentials.pix_key)).await;
    bed.paid(1, "10.00").await;
    let callbacks = bed.control.ledger().unwrap().callbacks;
    assert_eq!((callbacks.owed, callbacks.delivered), (0, 0));
    assert!(receiver.received().is_empty());
}
