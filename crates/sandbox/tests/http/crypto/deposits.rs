//! Tests deposits in every form: exact, under, over, late, repeated, wrong asset, failed and refunded.

use cais_sandbox::SandboxConfig;
use serde_json::{Value, json};

use super::bed::{CryptoBed, Reply};
use crate::bed::{eventually, instant_sends, pending_sends};

async fn pay(bed: &CryptoBed, id: &str, body: &Value) -> Reply {
    let reply = bed.post(&format!("/sandbox/payment/{id}/pay"), body).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    reply
}

async fn step(bed: &CryptoBed, id: &str, step: &str) -> u16 {
    bed.post(&format!("/sandbox/payment/{id}/{step}"), &json!({})).await.status
}

async fn status(bed: &CryptoBed, id: &str) -> String {
    bed.payment(id).await.body["payment_status"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn exact_deposit_finishes_and_is_credited_without_the_fee() {
    let bed = CryptoBed::with(SandboxConfig::default()).await;
    let id = bed.pay_in("trx", None).await;
    assert_eq!(pay(&bed, &id, &json!({})).await.body["payment_status"], "confirming");
    eventually(async || (status(&bed, &id).await == "finished").then_some(())).await;
    let payment = bed.payment(&id).await;
    assert_eq!((payment.raw("actually_paid"), payment.raw("outcome_amount")), ("400", "398"));
    assert_eq!(bed.balance("trx"), "40000398");
}

#[tokio::test]
async fn held_deposit_passes_every_status_by_hand() {
    let bed = CryptoBed::with(instant_sends()).await;
    let id = bed.pay_in("trx", None).await;
    pay(&bed, &id, &json!({ "hold": true })).await;
    assert_eq!(status(&bed, &id).await, "confirming");
    assert_eq!((step(&bed, &id, "refund").await, step(&bed, &id, "send").await), (409, 409));
    for (name, expected) in [("confirm", "confirmed"), ("send", "sending")] {
        assert_eq!(step(&bed, &id, name).await, 200);
        assert_eq!((status(&bed, &id).await, step(&bed, &id, name).await), (expected.to_owned(), 409));
    }
    assert_eq!(bed.balance("trx"), "40000000");
    assert_eq!(step(&bed, &id, "finish").await, 200);
    assert_eq!(step(&bed, &id, "finish").await, 409);
    assert_eq!(bed.balance("trx"), "40000398");
    assert_eq!(step(&bed, &id, "refund").await, 200);
    assert_eq!(bed.balance("trx"), "40000000");
    assert_eq!((step(&bed, &id, "other").await, step(&bed, "12", "fail").await), (404, 404));
}

#[tokio::test]
async fn lower_and_higher_deposits_end_by_their_amount() {
    let bed = CryptoBed::with(instant_sends()).await;
    let under = bed.pay_in("usdtbsc", None).await;
    pay(&bed, &under, &json!({ "amount": "99.999999999999999999" })).await;
    let reply = bed.payment(&under).await;
    assert_eq!(reply.body["payment_status"], "partially_paid");
    assert_eq!(reply.raw("actually_paid"), "99.999999999999999999");
    assert_eq!(step(&bed, &under, "finish").await, 200);
    let over = bed.pay_in("usdtbsc", None).await;
    pay(&bed, &over, &json!({ "amount": 101.5 })).await;
    assert_eq!(bed.payment(&over).await.raw("actually_paid"), "101.5");
    assert_eq!(status(&bed, &over).await, "finished");
    // The chain has 18 decimals.
    for amount in ["0", "-1", "x", "1.0000000000000000001"] {
        let body = json!({ "amount": amount });
        assert_eq!(bed.post(&format!("/sandbox/payment/{over}/pay"), &body).await.status, 400);
    }
}

#[tokio::test]
async fn further_deposit_becomes_a_finished_child() {
    let bed = CryptoBed::with(instant_sends()).await;
    let id = bed.pay_in("trx", None).await;
    pay(&bed, &id, &json!({})).await;
    let child = pay(&bed, &id, &json!({ "amount": "450" })).await;
    assert_eq!((&child.body["parent_payment_id"].to_string(), &child.body["origin_type"]), (&id, &json!("REPEATED")));
    let child = child.body["payment_id"].to_string();
    assert_eq!(bed.payment(&id).await.body["payment_extra_ids"].to_string(), format!("[{child}]"));
    assert_eq!(status(&bed, &child).await, "finished");
    assert_eq!(bed.payment(&child).await.body["order_id"], "dep_1");
    assert_eq!(bed.control.ledger().unwrap().crypto.deposits.len(), 2);
}

#[tokio::test]
async fn wrong_asset_is_a_child_that_finishes_with_any_amount() {
    let bed = CryptoBed::with(instant_sends()).await;
    let id = bed.pay_in("usdterc20", None).await;
    let child = pay(&bed, &id, &json!({ "amount": "0.5", "currency": "usdtbsc" })).await;
    let child = child.body["payment_id"].to_string();
    let reply = bed.payment(&child).await;
    assert_eq!((&reply.body["payment_status"], &reply.body["pay_currency"]), (&json!("finished"), &json!("usdtbsc")));
    assert_eq!(status(&bed, &id).await, "waiting");
}

#[tokio::test]
async fn late_deposit_belongs_to_child_or_original_as_set() {
    let bed = CryptoBed::with(instant_sends()).await;
    let id = bed.pay_in("trx", None).await;
    bed.control.set_clock_offset(8 * 86_400).unwrap();
    assert_eq!(status(&bed, &id).await, "expired");
    assert_eq!(pay(&bed, &id, &json!({})).await.body["parent_payment_id"].to_string(), id);
    bed.set(json!({ "late_deposits": "original" })).await;
    assert_eq!(pay(&bed, &id, &json!({})).await.body["payment_id"].to_string(), id);
    assert_eq!(status(&bed, &id).await, "finished");
    let fixed = bed.pay_in("trx", None).await;
    assert_eq!(step(&bed, &fixed, "expire").await, 200);
    assert_eq!(status(&bed, &fixed).await, "expired");
}

#[tokio::test]
async fn fixed_rate_expires_after_twenty_minutes() {
    let bed = CryptoBed::start().await;
    let body =
        json!({ "price_amount": 9, "price_currency": "usd", "pay_currency": "ltc", "is_fee_paid_by_user": true });
    let reply = bed.post("/v1/payment", &body).await;
    assert_eq!(
        (&reply.body["is_fixed_rate"], &reply.body["valid_until"]),
        (&json!(true), &reply.body["expiration_estimate_date"])
    );
    let id = reply.body["payment_id"].as_str().unwrap();
    bed.control.set_clock_offset(19 * 60).unwrap();
    assert_eq!(status(&bed, id).await, "waiting");
    bed.control.set_clock_offset(21 * 60).unwrap();
    assert_eq!(status(&bed, id).await, "expired");
}

#[tokio::test]
async fn case_field_decides_the_outcome_at_once() {
    let bed = CryptoBed::with(instant_sends()).await;
    for (case, expected) in [("success", "finished"), ("failed", "failed"), ("partially_paid", "partially_paid")] {
        let body = json!({ "price_amount": 100, "price_currency": "usd", "pay_currency": "trx", "case": case });
        let reply = bed.post("/v1/payment", &body).await;
        assert_eq!(reply.body["payment_status"], "waiting");
        assert_eq!(status(&bed, reply.body["payment_id"].as_str().unwrap()).await, expected);
    }
}

#[tokio::test]
async fn failed_deposit_is_not_credited() {
    let bed = CryptoBed::with(pending_sends()).await;
    let id = bed.pay_in("btc", None).await;
    pay(&bed, &id, &json!({})).await;
    assert_eq!(step(&bed, &id, "fail").await, 200);
    let reply = bed.payment(&id).await;
    assert_eq!((&reply.body["payment_status"], reply.raw("actually_paid")), (&json!("failed"), "0.00153847"));
    assert_eq!((step(&bed, &id, "refund").await, bed.balance("btc")), (200, "150".to_owned()));
}
