//! Tests the login, the address check, minimum, fee, and the creation and verification of payouts.

use serde_json::{Value, json};

use super::bed::{CryptoBed, TRON, read, withdrawal};
use crate::bed::{instant_sends, pending_sends};

#[tokio::test]
async fn login_gives_a_token_that_expires() {
    let mut bed = CryptoBed::start().await;
    let wrong = json!({ "email": bed.credentials.email.to_uppercase(), "password": bed.credentials.password });
    assert_eq!(bed.post("/v1/auth", &wrong).await.refusal(), (401, "AUTH_REQUIRED"));
    assert_eq!(bed.get("/v1/payment/").await.status, 200);
    bed.control.set_clock_offset(5 * 60 + 1).unwrap();
    assert_eq!(bed.get("/v1/payment/").await.refusal(), (401, "AUTH_REQUIRED"));
    assert_eq!(bed.pay_out("30", "w1").await.refusal(), (401, "AUTH_REQUIRED"));
    bed.login().await;
    assert_eq!(bed.get("/v1/payment/").await.status, 200);
    bed.set(json!({ "jwt_ttl_s": 0 })).await;
    bed.login().await;
    assert_eq!(bed.get("/v1/payment/").await.status, 401);
}

#[tokio::test]
async fn address_check_answers_text_or_refusal() {
    let bed = CryptoBed::start().await;
    let check = async |address: &str, coin: &str| {
        bed.post("/v1/payout/validate-address", &json!({ "address": address, "currency": coin, "extra_id": null }))
            .await
    };
    let good = check(TRON, "trx").await;
    assert_eq!((good.status, good.text.as_str()), (200, "OK"));
    assert_eq!(check("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "BTC").await.status, 200);
    let bad = check("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u", "trx").await;
    assert_eq!(bad.refusal(), (400, "BAD_CREATE_WITHDRAWAL_REQUEST"));
    assert_eq!(bad.body["message"], "Invalid payout_address: [trx] [TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u]");
    assert_eq!(check(TRON, "btc").await.status, 400);
}

#[tokio::test]
async fn minimum_and_fee_follow_the_settings() {
    let bed = CryptoBed::start().await;
    let minimum = bed.get("/v1/payout-withdrawal/min-amount/usdttrc20").await;
    assert_eq!((minimum.text.as_str(), minimum.status), (r#"{"result":10.98424792,"success":true}"#, 200));
    let fee = bed.get("/v1/payout/fee?currency=USDTERC20&amount=500").await;
    assert_eq!(fee.body, json!({ "currency": "USDTERC20", "fee": fee.body["fee"] }));
    assert_eq!(fee.raw("fee"), "1.32765969");
    bed.set(json!({ "payout_minimum_allowed": false })).await;
    assert_eq!(bed.get("/v1/payout-withdrawal/min-amount/trx").await.refusal(), (403, "ENDPOINT_NOT_ALLOWED"));
    bed.set(json!({ "payouts_allowed": false })).await;
    assert_eq!(bed.pay_out("30", "w1").await.refusal(), (403, "ENDPOINT_NOT_ALLOWED"));
}

#[tokio::test]
async fn payout_has_text_ids_and_amounts() {
    let bed = CryptoBed::with(pending_sends()).await;
    let reply = bed.pay_out("200.000001", "w1").await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let row = &reply.body["withdrawals"][0];
    assert_eq!(
        (&row["amount"], &row["status"], &row["unique_external_id"]),
        (&json!("200.000001"), &json!("WAITING"), &json!("w1"))
    );
    assert!(reply.body["id"].is_string() && row["id"].is_string());
    assert_ne!(reply.body["id"], row["id"]);
    assert_eq!((&row["hash"], &row["error"], &row["fee"]), (&Value::Null, &Value::Null, &Value::Null));
    let batch = reply.body["id"].as_str().unwrap();
    assert_eq!(bed.status_of_payout(batch).await, "CREATING");
    assert_eq!(bed.status_of_payout(row["id"].as_str().unwrap()).await, "CREATING");
    // The amount and the network fee.
    assert_eq!(bed.balance("trx"), "39999798.899999");
}

#[tokio::test]
async fn payout_is_refused_with_nothing_created() {
    let bed = CryptoBed::start().await;
    let refused = async |body: Value| {
        let reply = bed.post("/v1/payout", &body).await;
        assert_eq!(reply.refusal(), (400, "BAD_CREATE_WITHDRAWAL_REQUEST"), "{body}");
        reply
    };
    refused(withdrawal("30.0000001", "w")).await;
    refused(withdrawal("5.4", "w")).await;
    let mut bad = withdrawal("30", "w");
    bad["withdrawals"][0]["address"] = "TR7".into();
    refused(bad).await;
    let poor = refused(withdrawal("40000000", "w")).await;
    assert_eq!(poor.body["current_values"]["trx"], json!({ "requested": "40000001.1", "actualBalance": "40000000" }));
    for body in [json!({}), json!({ "withdrawals": [] }), json!({ "withdrawals": [{}] }), json!({ "withdrawals": [1] })]
    {
        assert_eq!(bed.post("/v1/payout", &body).await.refusal(), (400, "INVALID_REQUEST_PARAMS"), "{body}");
    }
    let ledger = bed.control.ledger().unwrap().crypto;
    assert_eq!((ledger.withdrawals.len(), bed.balance("trx").as_str()), (0, "40000000"));
}

#[tokio::test]
async fn verification_needs_a_fresh_code_and_ends_after_ten() {
    let bed = CryptoBed::with(instant_sends()).await;
    let reply = bed.pay_out("30", "w1").await;
    let path = format!("/v1/payout/{}/verify", reply.body["id"].as_str().unwrap());
    let code = |code: String| json!({ "verification_code": code });
    assert_eq!(bed.post(&path, &code(bed.code(5))).await.refusal(), (400, "BAD_REQUEST"));
    let verified = bed.post(&path, &code(bed.code(0))).await;
    assert_eq!((verified.status, verified.text.as_str()), (200, "OK"));
    assert_eq!(bed.post(&path, &code(bed.code(1))).await.refusal(), (400, "BAD_REQUEST"));
    let other = bed.pay_out("30", "w2").await;
    let path = format!("/v1/payout/{}/verify", other.body["id"].as_str().unwrap());
    for _ in 0..10 {
        assert_eq!(bed.post(&path, &code("000000".to_owned())).await.status, 400);
    }
    assert_eq!(bed.post(&path, &code(bed.code(0))).await.status, 400);
    assert_eq!(bed.post("/v1/payout/12/verify", &code(bed.code(0))).await.refusal(), (404, "NOT_FOUND"));
}

#[tokio::test]
async fn code_is_accepted_for_one_batch() {
    let bed = CryptoBed::with(instant_sends()).await;
    bed.paid_out("30", "w1").await;
    let other = bed.pay_out("30", "w2").await;
    let path = format!("/v1/payout/{}/verify", other.body["id"].as_str().unwrap());
    // The test may cross a step, so it repeats the first code by the clock of its verification.
    let codes = [bed.code(-1), bed.code(0)];
    let mut refused = 0;
    for code in codes {
        refused += u32::from(bed.post(&path, &json!({ "verification_code": code })).await.status == 400);
    }
    assert!(refused >= 1);
}

#[tokio::test]
async fn payout_read_has_the_shape_that_is_set() {
    let bed = CryptoBed::with(instant_sends()).await;
    let (batch, withdrawal) = bed.paid_out("30", "w1").await;
    let read = async |shape: &str| {
        bed.set(json!({ "payout_shape": shape })).await;
        bed.get(&format!("/v1/payout/{batch}")).await.body
    };
    assert_eq!(read("array").await[0]["id"], withdrawal);
    let object = read("withdrawals").await;
    assert_eq!((object["id"].to_string(), object.get("status")), (batch.clone(), None));
    assert_eq!(object["withdrawals"][0]["status"], "FINISHED");
    assert!(object["withdrawals"][0]["createdAt"].is_string());
    assert_eq!(read("payouts").await["payouts"][0]["id"], withdrawal);
    assert_eq!(read("object").await["id"], withdrawal);
    assert_eq!(bed.get("/v1/payout/12").await.refusal(), (404, "NOT_FOUND"));
}

#[tokio::test]
async fn payout_list_shows_external_ids_without_a_token() {
    let mut bed = CryptoBed::with(instant_sends()).await;
    let (batch, _) = bed.paid_out("30", "w1").await;
    assert_eq!(bed.pay_out("40", "w2").await.status, 200);
    "".clone_into(&mut bed.token);
    let all = bed.get("/v1/payout?limit=10&page=0&order_by=dateCreated&order=asc").await.body;
    let ids: Vec<_> = all["payouts"].as_array().unwrap().iter().map(|row| row["unique_external_id"].clone()).collect();
    assert_eq!(ids, ["w1", "w2"]);
    let of_batch = bed.get(&format!("/v1/payout?batch_id={batch}")).await.body;
    assert_eq!(of_batch["payouts"][0]["unique_external_id"], "w1");
    assert_eq!(bed.get("/v1/payout?status=CREATING").await.body["payouts"][0]["unique_external_id"], "w2");
    assert_eq!(bed.get("/v1/payout?unique_external_id=w1").await.status, 400);
    let naked = bed.client.get(bed.url("/v1/payout"));
    assert_eq!(read(naked.send().await.unwrap()).await.status, 403);
}
