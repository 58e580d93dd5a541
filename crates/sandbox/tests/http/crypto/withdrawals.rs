//! Tests the outcomes of withdrawals.

use serde_json::json;

use super::bed::CryptoBed;
use crate::bed::{eventually, instant_sends, pending_sends};

async fn step(bed: &CryptoBed, id: &str, step: &str) -> u16 {
    bed.post(&format!("/sandbox/withdrawal/{id}/{step}"), &json!({})).await.status
}

#[tokio::test]
async fn verified_withdrawal_finishes_with_hash_and_fee() {
    let bed = CryptoBed::start().await;
    let (batch, _) = bed.paid_out("30", "w1").await;
    eventually(async || (bed.status_of_payout(&batch).await == "FINISHED").then_some(())).await;
    let row = &bed.get(&format!("/v1/payout/{batch}")).await.body[0];
    assert_eq!((row["hash"].as_str().unwrap().len(), &row["fee"]), (64, &json!("1.1")));
    assert_eq!(bed.balance("trx"), "39999968.9");
    assert_eq!(step(&bed, &batch, "reject").await, 409);
}

#[tokio::test]
async fn rejected_withdrawal_returns_its_money() {
    let bed = CryptoBed::with(instant_sends()).await;
    bed.set(json!({ "withdrawal_fate": "reject" })).await;
    let (batch, _) = bed.paid_out("30", "w1").await;
    assert_eq!(bed.status_of_payout(&batch).await, "REJECTED");
    assert_eq!(bed.balance("trx"), "40000000");
}

#[tokio::test]
async fn failed_withdrawal_keeps_its_money_and_may_still_finish() {
    let bed = CryptoBed::with(instant_sends()).await;
    bed.set(json!({ "withdrawal_fate": "fail", "totp_once": false })).await;
    let (batch, withdrawal) = bed.paid_out("30", "w1").await;
    assert_eq!(bed.status_of_payout(&batch).await, "FAILED");
    assert_eq!(bed.balance("trx"), "39999968.9");
    assert_eq!(step(&bed, &withdrawal, "finish").await, 200);
    assert_eq!(bed.status_of_payout(&batch).await, "FINISHED");
    let (batch, withdrawal) = bed.paid_out("30", "w2").await;
    assert_eq!(bed.status_of_payout(&batch).await, "FAILED");
    assert_eq!(step(&bed, &withdrawal, "reject").await, 200);
    assert_eq!(bed.balance("trx"), "39999968.9");
}

#[tokio::test]
async fn withdrawal_stays_until_the_tester_moves_it() {
    let bed = CryptoBed::with(instant_sends()).await;
    bed.set(json!({ "withdrawal_fate": "stay" })).await;
    let (batch, withdrawal) = bed.paid_out("30", "w1").await;
    bed.control.set_clock_offset(86_400).unwrap();
    assert_eq!(bed.status_of_payout(&batch).await, "PROCESSING");
    assert_eq!((step(&bed, &withdrawal, "stay").await, step(&bed, &withdrawal, "other").await), (200, 404));
    assert_eq!(step(&bed, &withdrawal, "finish").await, 200);
    assert_eq!(bed.status_of_payout(&batch).await, "FINISHED");
    assert_eq!(step(&bed, "12", "finish").await, 404);
}

#[tokio::test]
async fn unverified_withdrawal_is_rejected_after_an_hour() {
    let bed = CryptoBed::with(pending_sends()).await;
    let reply = bed.pay_out("30", "w1").await;
    let batch = reply.body["id"].as_str().unwrap();
    assert_eq!(step(&bed, batch, "finish").await, 409);
    bed.control.set_clock_offset(3_599).unwrap();
    assert_eq!(bed.status_of_payout(batch).await, "CREATING");
    bed.control.set_clock_offset(3_601).unwrap();
    assert_eq!(bed.status_of_payout(batch).await, "REJECTED");
    assert_eq!(bed.balance("trx"), "40000000");
}

#[tokio::test]
async fn withdrawal_sent_twice_is_visible_in_the_ledger() {
    let bed = CryptoBed::with(instant_sends()).await;
    bed.set(json!({ "totp_once": false })).await;
    bed.paid_out("30", "w1").await;
    bed.paid_out("30", "w1").await;
    let ledger = bed.control.ledger().unwrap().crypto;
    assert_eq!(ledger.withdrawals.iter().map(|one| one.count).collect::<Vec<_>>(), [2, 2]);
    let cancel = format!("/v1/payout/{}/cancel", ledger.withdrawals[0].id);
    assert_eq!(bed.post(&cancel, &json!({})).await.refusal(), (400, "BAD_REQUEST"));
    assert_eq!(bed.get("/sandbox/ledger").await.body["crypto"]["withdrawals"][0]["count"], 2);
}
