//! Tests status, keys, currencies, minimums, estimates and balances.

use serde_json::json;

use super::bed::{CryptoBed, read};

#[tokio::test]
async fn status_needs_no_key_and_everything_else_does() {
    let bed = CryptoBed::start().await;
    let status = read(bed.client.get(bed.url("/v1/status")).send().await.unwrap()).await;
    assert_eq!((status.status, status.body), (200, json!({ "message": "OK" })));
    for path in ["/v1/currencies", "/v1/balance", "/v1/payment/1", "/v1/payout/1", "/v1/estimate"] {
        let reply = read(bed.client.get(bed.url(path)).send().await.unwrap()).await;
        assert_eq!(reply.refusal(), (403, "INVALID_API_KEY"), "{path}");
        let wrong = bed.client.get(bed.url(path)).header("x-api-key", "another");
        assert_eq!(read(wrong.send().await.unwrap()).await.status, 403, "{path}");
    }
    assert_eq!(bed.get("/v1/nothing").await.refusal(), (404, "NOT_FOUND"));
}

#[tokio::test]
async fn currencies_have_three_forms() {
    let bed = CryptoBed::start().await;
    let codes = json!(["btc", "ltc", "trx", "usdtbsc", "usdterc20", "usdttrc20"]);
    assert_eq!(bed.get("/v1/currencies").await.body, json!({ "currencies": codes }));
    assert_eq!(bed.get("/v1/currencies?fixed_rate=true").await.body["currencies"][0]["currency"], "btc");
    assert_eq!(bed.get("/v1/merchant/coins").await.body, json!({ "selectedCurrencies": codes }));
    let full = bed.get("/v1/full-currencies").await.body;
    let coin = &full["currencies"][3];
    assert_eq!((&coin["code"], &coin["network_precision"]), (&json!("USDTBSC"), &json!("18")));
    assert_eq!((&coin["precision"], &coin["enable"]), (&json!(8), &json!(true)));
    assert_eq!(bed.put("/sandbox/crypto/coins/btc", &json!({ "enabled": false })).await.status, 200);
    assert_eq!(bed.get("/v1/merchant/coins").await.body["selectedCurrencies"][0], "ltc");
    assert_eq!(bed.get("/v1/full-currencies").await.body["currencies"][0]["available_for_payment"], false);
}

#[tokio::test]
async fn minimum_depends_on_flags_and_outcome_currency() {
    let bed = CryptoBed::start().await;
    let minimum = async |query: &str| bed.get(&format!("/v1/min-amount?currency_from=trx{query}")).await;
    let exact = minimum("&currency_to=trx").await;
    assert_eq!(exact.body, json!({ "currency_from": "trx", "currency_to": "trx", "min_amount": 12.5 }));
    assert_eq!(minimum("&currency_to=trx&is_fixed_rate=true").await.raw("min_amount"), "13.75");
    assert_eq!(minimum("&currency_to=trx&is_fee_paid_by_user=true").await.raw("min_amount"), "14.4375");
    assert_eq!(minimum("").await.raw("min_amount"), "125");
    let fiat = minimum("&currency_to=trx&fiat_equivalent=usd").await;
    assert_eq!(fiat.raw("fiat_equivalent"), "3.125");
    let from_fiat = bed.get("/v1/min-amount?currency_from=usd&currency_to=trx").await;
    assert_eq!(from_fiat.raw("min_amount"), "3.125");
    assert_eq!(bed.put("/sandbox/crypto/coins/trx", &json!({ "min_deposit": "31.4" })).await.status, 200);
    assert_eq!(minimum("&currency_to=trx").await.raw("min_amount"), "31.4");
    assert_eq!(bed.get("/v1/min-amount").await.refusal(), (400, "INVALID_REQUEST_PARAMS"));
    assert_eq!(minimum("&currency_to=doge").await.refusal(), (400, "CURRENCY_UNAVAILABLE"));
    assert_eq!(minimum("&other=1").await.refusal(), (400, "INVALID_REQUEST_PARAMS"));
}

#[tokio::test]
async fn estimate_follows_the_set_price_exactly() {
    let bed = CryptoBed::start().await;
    let reply = bed.get("/v1/estimate?amount=3999.5&currency_from=usd&currency_to=btc").await;
    assert_eq!(reply.body["currency_to"], "btc");
    assert_eq!((reply.raw("amount_from"), reply.raw("estimated_amount")), ("3999.5", "0.06153076"));
    assert_eq!(bed.put("/sandbox/crypto/coins/btc", &json!({ "price": 130_000 })).await.status, 200);
    let reply = bed.get("/v1/estimate?amount=1&currency_from=btc&currency_to=usdterc20").await;
    assert_eq!(reply.raw("estimated_amount"), "130000");
    let small = bed.get("/v1/estimate?amount=0.00001&currency_from=usd&currency_to=ltc").await;
    assert_eq!(small.raw("estimated_amount"), "1.2e-7");
    let brl = bed.get("/v1/estimate?amount=10&currency_from=brl&currency_to=btc").await;
    assert_eq!(brl.refusal(), (400, "CURRENCY_UNAVAILABLE"));
    for amount in ["0", "-1", "x"] {
        let reply = bed.get(&format!("/v1/estimate?amount={amount}&currency_from=usd&currency_to=btc")).await;
        assert_eq!(reply.refusal(), (400, "INVALID_REQUEST_PARAMS"));
    }
}

#[tokio::test]
async fn coin_without_a_price_has_no_estimate() {
    let bed = CryptoBed::start().await;
    let set = async |body| bed.put("/sandbox/crypto/coins/btc", &body).await;
    let estimate = async || bed.get("/v1/estimate?amount=1&currency_from=btc&currency_to=usdterc20").await;
    let values = set(json!({ "priced": false })).await;
    assert_eq!((values.status, &values.body["priced"], &values.body["price"]), (200, &json!(false), &json!("65000")));
    assert_eq!(estimate().await.refusal(), (400, "CURRENCY_UNAVAILABLE"));
    let body = json!({ "price_amount": 100, "price_currency": "usd", "pay_currency": "btc" });
    assert_eq!(bed.post("/v1/payment", &body).await.refusal(), (400, "CURRENCY_UNAVAILABLE"));
    // An amount of the coin itself needs no price.
    let body = json!({ "price_amount": 0.01, "price_currency": "btc", "pay_currency": "btc" });
    assert_eq!(bed.post("/v1/payment", &body).await.status, 201);
    assert_eq!(set(json!({ "priced": true, "price": "66000" })).await.body["price"], "66000");
    assert_eq!(estimate().await.raw("estimated_amount"), "66000");
}

#[tokio::test]
async fn balance_keeps_every_digit_and_omits_empty_coins() {
    let bed = CryptoBed::start().await;
    for (coin, balance) in [("usdtbsc", "1000000.000000000000000001"), ("trx", "0")] {
        let body = json!({ "balance": balance });
        assert_eq!(bed.put(&format!("/sandbox/crypto/coins/{coin}"), &body).await.status, 200);
    }
    let reply = bed.get("/v1/balance").await;
    assert!(reply.text.contains(r#""usdtbsc":{"amount":1000000.000000000000000001,"pendingAmount":0}"#), "{reply:?}");
    assert_eq!(reply.body["trx"], json!(null));
    assert_eq!(bed.put("/sandbox/crypto/coins/doge", &json!({})).await.status, 404);
    assert_eq!(bed.put("/sandbox/crypto/coins/trx", &json!({ "price": "0" })).await.status, 400);
}
