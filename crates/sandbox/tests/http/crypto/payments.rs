//! Tests the creation, reading and listing of payments.

use serde_json::{Value, json};

use super::bed::{CryptoBed, read};

#[tokio::test]
async fn payment_has_text_ids_on_creation_and_numbers_on_read() {
    let bed = CryptoBed::start().await;
    let body = json!({
        "price_amount": "100.10", "price_currency": "usd", "pay_currency": "usdtbsc", "order_id": "dep_1",
        "order_description": "Deposit", "ipn_callback_url": "http://127.0.0.1:1/ipn",
    });
    let created = bed.post("/v1/payment", &body).await;
    assert_eq!(created.status, 201, "{created:?}");
    assert_eq!(created.body["payment_status"], "waiting");
    let id = created.body["payment_id"].as_str().unwrap();
    assert_eq!((created.raw("price_amount"), created.raw("pay_amount")), ("100.1", "100.1"));
    assert!(created.body["purchase_id"].is_string());
    assert_eq!((&created.body["network"], &created.body["network_precision"]), (&json!("bsc"), &json!(18)));
    for absent in ["amount_received", "payin_extra_id", "burning_percent", "time_limit"] {
        assert_eq!(created.body.get(absent), Some(&Value::Null), "{absent}");
    }
    let read = bed.payment(id).await;
    assert_eq!(read.body["payment_id"].to_string(), id);
    assert!(read.body["purchase_id"].is_number());
    assert_eq!((&read.body["burning_percent"], &read.body["actually_paid"]), (&json!("null"), &json!(0)));
    assert_eq!(read.body["pay_address"], created.body["pay_address"]);
    assert_eq!(read.body.get("parent_payment_id"), None);
    bed.set(json!({ "pay_amount_as_text": true })).await;
    assert_eq!(bed.payment(id).await.body["pay_amount"], "100.1");
}

#[tokio::test]
async fn addresses_are_valid_and_differ() {
    use cais_domain::crypto::{Address, Currency};
    let bed = CryptoBed::start().await;
    for currency in Currency::ALL {
        let address = async || {
            let id = bed.pay_in(currency.code(), None).await;
            bed.payment(&id).await.body["pay_address"].as_str().unwrap().to_owned()
        };
        let (one, other) = (address().await, address().await);
        assert_eq!(Address::parse(currency, &one).map(|_| ()), Ok(()), "{currency} {one}");
        assert_ne!(one, other);
    }
}

#[tokio::test]
async fn amount_to_pay_rounds_up_and_minimum_binds() {
    let bed = CryptoBed::start().await;
    let pay = async |amount: &str, coin: &str| {
        let body = json!({ "price_amount": amount, "price_currency": "usd", "pay_currency": coin });
        bed.post("/v1/payment", &body).await
    };
    assert_eq!(pay("100", "btc").await.raw("pay_amount"), "0.00153847");
    assert_eq!(pay("5.2", "btc").await.status, 201);
    assert_eq!(pay("5.19", "btc").await.refusal(), (400, "AMOUNT_MINIMAL_ERROR"));
    assert_eq!(pay("100", "doge").await.refusal(), (400, "CURRENCY_UNAVAILABLE"));
    assert_eq!(bed.put("/sandbox/crypto/coins/btc", &json!({ "min_deposit": "1" })).await.status, 200);
    assert_eq!(pay("100", "btc").await.refusal(), (400, "AMOUNT_MINIMAL_ERROR"));
}

#[tokio::test]
async fn request_is_checked_strictly() {
    let bed = CryptoBed::start().await;
    let good = json!({ "price_amount": 100, "price_currency": "usd", "pay_currency": "trx" });
    let changes = [
        json!({ "price_amount": null }),
        json!({ "price_amount": "ten" }),
        json!({ "price_amount": 0 }),
        json!({ "unknown": 1 }),
        json!({ "case": "other" }),
        json!({ "is_fixed_rate": "maybe" }),
        json!({ "payout_address": "x" }),
        json!({ "ipn_callback_url": "ftp://example.com" }),
    ];
    for change in changes {
        let mut body = good.clone();
        body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        assert_eq!(bed.post("/v1/payment", &body).await.refusal(), (400, "INVALID_REQUEST_PARAMS"), "{change}");
    }
    assert_eq!(bed.post("/v1/payment", &json!([])).await.status, 400);
    assert_eq!(bed.get("/v1/payment/abc").await.refusal(), (400, "INVALID_REQUEST_PARAMS"));
    assert_eq!(bed.get("/v1/payment/12").await.refusal(), (404, "NOT_FOUND"));
}

#[tokio::test]
async fn repeated_request_creates_another_payment() {
    let bed = CryptoBed::start().await;
    assert_ne!(bed.pay_in("trx", None).await, bed.pay_in("trx", None).await);
    assert_eq!(bed.control.ledger().unwrap().crypto.payments, 2);
}

#[tokio::test]
async fn form_is_accepted_like_json() {
    let bed = CryptoBed::start().await;
    let form = "price_amount=100.5&price_currency=usd&pay_currency=trx&fixed_rate=True";
    let request = bed.request(reqwest::Method::POST, "/v1/payment").body(form);
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    let reply = read(request.send().await.unwrap()).await;
    assert_eq!((reply.status, reply.raw("price_amount")), (201, "100.5"), "{reply:?}");
    assert_eq!(reply.body["is_fixed_rate"], true);
}

#[tokio::test]
async fn list_needs_a_token_and_has_pages() {
    let mut bed = CryptoBed::start().await;
    let ids = [bed.pay_in("trx", None).await, bed.pay_in("btc", None).await, bed.pay_in("ltc", None).await];
    let reply = bed.get("/v1/payment/?limit=2&page=0&orderBy=asc&sortBy=created_at").await;
    assert_eq!((&reply.body["total"], &reply.body["pagesCount"]), (&json!(3), &json!(2)), "{reply:?}");
    assert_eq!(reply.body["data"][0]["payment_id"].to_string(), ids[0]);
    let last = bed.get("/v1/payment?limit=2&page=1").await;
    assert_eq!(last.body["data"][0]["payment_id"].to_string(), ids[0]);
    assert_eq!(bed.get("/v1/payment/?dateFrom=2100-01-01").await.body["total"], 0);
    assert_eq!(bed.get("/v1/payment/?orderBy=created_at").await.status, 500);
    assert_eq!(bed.get("/v1/payment/?limit=501").await.status, 400);
    "forged".clone_into(&mut bed.token);
    assert_eq!(bed.get("/v1/payment/").await.refusal(), (401, "AUTH_REQUIRED"));
}

#[tokio::test]
async fn estimate_is_renewed_after_its_end_only() {
    let bed = CryptoBed::start().await;
    let id = bed.pay_in("trx", None).await;
    bed.control
        .set_crypto_coin("trx", &cais_sandbox::CoinValues { price: Some("0.5".into()), ..Default::default() })
        .unwrap();
    let renew = async || bed.post(&format!("/v1/payment/{id}/update-merchant-estimate"), &json!({})).await;
    assert_eq!(renew().await.raw("pay_amount"), "400");
    bed.control.set_clock_offset(21 * 60).unwrap();
    assert_eq!(renew().await.raw("pay_amount"), "200");
    assert_eq!(bed.payment(&id).await.raw("pay_amount"), "200");
}
