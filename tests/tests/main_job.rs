//! The main task: a charge is created, paid and credited. Other charges are cancelled, expire, or are paid late.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Engine, eventually, id, on_both, own, shared};

on_both! { charge_is_created_paid_and_credited fee_is_deducted_from_each_payment cancelled_charge_that_is_paid_is_credited expired_charge_that_is_paid_is_credited over_and_underpayments_are_credited }

async fn charge_is_created_paid_and_credited(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let made = shop.create(r#"{"amount":25,"description":"Two coffees","external_id":"order-1"}"#).await.expect(201);
    assert_eq!(made["status"], "pending");
    assert_eq!(shop.get("/charges/ext:order-1").await.expect(200), made);
    assert_eq!(shop.available().await, "0.00");

    shop.pay(&id(&made), None).await.expect(200);
    let paid = shop.until(&id(&made), "paid").await;
    assert_eq!((&paid["pix"]["copy_paste"], &paid["txid"]), (&made["pix"]["copy_paste"], &made["txid"]));
    assert_eq!(shop.available().await, "25.00", "payment and credit are one step");
    assert_eq!(shop.get("/charges").await.expect(200)["data"], json!([paid]));
    assert_eq!(shop.get("/charges/ext:order-1").await.expect(200), paid);

    let same = shop.create(r#"{"amount":25.00,"external_id":"order-1"}"#).await;
    assert_eq!(same.expect(200), paid, "the external id returns the current state of its charge");
    node.verify();
}

async fn fee_is_deducted_from_each_payment(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let fees =
        ["account", "fees", "--account", &shop.email, "--operation", "pix_in", "--fixed", "0.50", "--percent", "0.99"];
    // The server has not loaded the account yet, so it has not cached older fees.
    node.cli(&fees);
    let small = shop.charge_id("10").await;
    shop.pay(&small, None).await.expect(200);
    // 0.50 + 0.099 is 0.599, which is rounded to 0.60.
    shop.until_available("9.40").await;
    let large = shop.charge_id("1234.56").await;
    shop.pay(&large, None).await.expect(200);
    // 0.50 + 12.222144 is 12.722144, which is rounded to 12.72.
    shop.until_available("1231.24").await;
    assert_eq!(shop.fetch(&large).await["amount"], json!(1234.56), "the charge shows the requested amount");
    node.verify();
}

async fn cancelled_charge_that_is_paid_is_credited(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let charge = shop.charge_id("10").await;
    let path = format!("/charges/{charge}/cancel");
    let cancelled = shop.post(&path).await.expect(200);
    assert_eq!((&cancelled["status"], &cancelled["pix"]["qr_code_image"]), (&json!("cancelled"), &Value::Null));
    assert_eq!(shop.post(&path).await.expect(200), cancelled, "repeatable");
    assert_eq!(shop.fetch(&charge).await, cancelled);

    let paid = shop.charge_id("10").await;
    shop.pay(&paid, None).await.expect(200);
    let refused = shop.post(&format!("/charges/{paid}/cancel")).await;
    refused.refused(409, "invalid_state");
    assert!(refused.json()["error"]["message"].as_str().unwrap().contains("paid"), "{}", refused.text());

    // A payment that arrives after the cancellation is still credited.
    shop.pay(&charge, None).await.expect(200);
    shop.until(&charge, "paid").await;
    shop.until_available("20.00").await;
    node.verify();
}

async fn expired_charge_that_is_paid_is_credited(engine: Engine) {
    // The test moves the clock of the whole service.
    let node = own(engine, &[]).await;
    let shop = node.shop();
    let [early, late, on_time] = [shop.charge_id("10").await, shop.charge_id("20").await, shop.charge_id("30").await];
    let ended = shop.post(&format!("/sandbox/charges/{early}/expire")).await;
    assert_eq!(ended.status, 200, "{}", ended.text());

    shop.pay(&on_time, None).await.expect(200);
    let clock = |offset_s: i64| json!({ "offset_s": offset_s });
    shop.send(Method::PUT, "/sandbox/clock", &clock(3_700)).await.expect(200);
    // The worker finds overdue charges without readers.
    let expired = eventually("the unpaid charges are expired", || async {
        let all = shop.all_charges().await;
        let expired: Vec<Value> = all.into_iter().filter(|charge| charge["status"] == "expired").collect();
        (expired.len() == 2).then_some(expired)
    })
    .await;
    assert!(expired.iter().all(|charge| charge["id"] != json!(on_time)), "a paid charge does not expire");
    shop.post(&format!("/charges/{late}/cancel")).await.refused(409, "invalid_state");

    shop.pay(&late, None).await.expect(200);
    let paid = shop.until(&late, "paid").await;
    assert!(paid["paid_at"].as_str() > paid["expires_at"].as_str(), "{paid}");
    shop.until_available("50.00").await;
    shop.send(Method::PUT, "/sandbox/clock", &clock(0)).await.expect(200);
    assert_eq!(shop.available().await, "50.00");
    node.verify();
}

async fn over_and_underpayments_are_credited(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    node.cli(&["account", "fees", "--account", &shop.email, "--operation", "pix_in", "--fixed", "1"]);
    let charge = shop.charge_id("10").await;
    shop.pay(&charge, Some("4.99")).await.expect(200);
    shop.until_available("4.99").await;
    assert_eq!(shop.fetch(&charge).await["status"], "pending");
    shop.pay(&charge, Some("12.01")).await.expect(200);
    shop.until(&charge, "paid").await;
    // 10.00 less the fee, plus the surplus without a fee.
    shop.until_available("16.00").await;
    // The charge is settled, so only the callback reports this payment.
    shop.pay(&charge, None).await.expect(200);
    shop.until_available("26.00").await;
    node.verify();
}
