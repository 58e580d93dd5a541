//! Tests the processor across restarts.

use std::fs;

use serde_json::json;

use super::bed::CryptoBed;
use crate::{
    bed::{eventually, instant_sends, pending_sends, with_state_file},
    receiver::Receiver,
};

#[tokio::test]
async fn payments_payouts_and_credentials_survive_kill() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sandbox.jsonl");
    let bed = CryptoBed::with(with_state_file(&path, instant_sends())).await;
    let id = bed.pay_in("usdtbsc", None).await;
    bed.post(&format!("/sandbox/payment/{id}/pay"), &json!({ "amount": "100.000000000000000001" })).await;
    bed.post(&format!("/sandbox/payment/{id}/pay"), &json!({})).await;
    let (batch, _) = bed.paid_out("30", "w1").await;
    let before = (
        bed.payment(&id).await.text,
        bed.get(&format!("/v1/payout/{batch}")).await.text,
        bed.get("/v1/balance").await.text,
    );
    let copy = folder.path().join("copy.jsonl");
    fs::copy(&path, &copy).unwrap();
    for _ in 0..2 {
        let again = CryptoBed::with(with_state_file(&copy, instant_sends())).await;
        assert_eq!(again.credentials.api_key, bed.credentials.api_key);
        let after = (
            again.payment(&id).await.text,
            again.get(&format!("/v1/payout/{batch}")).await.text,
            again.get("/v1/balance").await.text,
        );
        assert_eq!(after, before);
        let fresh = again.pay_in("trx", None).await;
        assert_ne!(fresh, id);
        again.sandbox.stop().await;
    }
}

#[tokio::test]
async fn deposit_and_its_notifications_continue_after_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sandbox.jsonl");
    let bed = CryptoBed::with(with_state_file(&path, pending_sends())).await;
    let receiver = Receiver::start(&[]).await;
    bed.set(json!({ "ipn_paused": true })).await;
    let id = bed.pay_in("trx", Some(&receiver.url)).await;
    bed.post(&format!("/sandbox/payment/{id}/pay"), &json!({})).await;
    bed.sandbox.stop().await;
    assert!(receiver.received().is_empty());
    let bed = CryptoBed::with(with_state_file(&path, instant_sends())).await;
    assert_eq!(receiver.wait_for(1).await[0].body["payment_status"], "confirming");
    assert_eq!(bed.payment(&id).await.body["payment_status"], "confirming");
    bed.control.set_clock_offset(3_601).unwrap();
    receiver.wait_for(4).await;
    eventually(async || (bed.control.ledger().unwrap().crypto.ipns.owed == 0).then_some(())).await;
    assert_eq!(bed.payment(&id).await.body["payment_status"], "finished");
}

#[test]
fn simulators_assign_different_ids() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (one, other) = (CryptoBed::start().await, CryptoBed::start().await);
        assert_ne!(one.pay_in("trx", None).await, other.pay_in("trx", None).await);
        assert_ne!(one.credentials.ipn_secret, other.credentials.ipn_secret);
    });
}
