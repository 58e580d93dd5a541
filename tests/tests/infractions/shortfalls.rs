//! Shortfalls: missing money is blocked from the account's next credits, the oldest infraction first, and never from
//! other accounts.

use serde_json::json;

use super::{balances, dispute, dispute_with, held, resolve};
use crate::support::{Engine, Shop, eventually, id, on_both, shared};

on_both! {
    shortfall_is_filled_oldest_first shortfall_is_filled_from_every_kind_of_credit shortfall_is_filled_from_pending_credits
    beneficiaries_of_a_split_are_untouched shortfall_ends_with_its_infraction
}

async fn until_balances(shop: &Shop, expected: [i64; 3]) {
    eventually(&format!("balances are {expected:?}"), || async { (balances(shop).await == expected).then_some(()) })
        .await;
}

/// Spends the whole balance.
async fn spend(shop: &Shop, amount: &str) {
    let payout = shop.pay_out(amount, "ana@example.com").await.expect(201);
    shop.until_payout(&id(&payout), "completed").await;
}

async fn shortfall_is_filled_oldest_first(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let (first, second) = (shop.earn("20").await, shop.earn("30").await);
    spend(&shop, "45").await;
    let older = dispute(&shop, &first).await;
    assert_eq!(balances(&shop).await, [0, 0, 500]);
    let newer = dispute(&shop, &second).await;
    assert_eq!((held(&shop, &older).await, held(&shop, &newer).await), (500, 0));
    shop.pay(&shop.charge_id("10").await, None).await.expect(200);
    until_balances(&shop, [0, 0, 1_500]).await;
    assert_eq!((held(&shop, &older).await, held(&shop, &newer).await), (1_500, 0), "the oldest first");
    shop.pay(&shop.charge_id("10").await, None).await.expect(200);
    until_balances(&shop, [0, 0, 2_500]).await;
    assert_eq!((held(&shop, &older).await, held(&shop, &newer).await), (2_000, 500));
    // The freed money fills the other block.
    resolve(&shop, &older, "won").await;
    assert_eq!(balances(&shop).await, [0, 0, 2_500]);
    assert_eq!(held(&shop, &newer).await, 2_500);
    shop.pay(&shop.charge_id("10").await, None).await.expect(200);
    until_balances(&shop, [500, 0, 3_000]).await;
    shop.check_statement().await;
    node.verify();
}

async fn shortfall_is_filled_from_every_kind_of_credit(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let charge = shop.earn("50").await;
    let other = shop.earn("10").await;
    // Failed payouts and refunds return money to an account with a shortfall.
    spend(&shop, "35").await;
    let slow = shop.pay_out("15", "slow@sandbox.cais").await.expect(201);
    let refund = shop.order(&format!("/charges/{other}/refunds"), r#"{"amount":8}"#).await.expect(201);
    let opened = dispute(&shop, &charge).await;
    assert_eq!(held(&shop, &opened).await, 200);
    shop.send(reqwest::Method::POST, &format!("/sandbox/refunds/{}/fail", id(&refund)), &json!({})).await;
    let failed = eventually("the refund ends", || async {
        let now = shop.refunds(&other).await.remove(0);
        (now["status"] != "processing").then_some(now)
    })
    .await;
    if failed["status"] == "failed" {
        until_balances(&shop, [0, 0, 1_000]).await;
    }
    shop.until_payout(&id(&slow), "completed").await;
    let before = balances(&shop).await[2];
    shop.send(reqwest::Method::POST, &format!("/sandbox/payouts/{}/reverse", id(&slow)), &json!({})).await.expect(200);
    until_balances(&shop, [0, 0, before + 1_500]).await;
    node.verify();
}

async fn shortfall_is_filled_from_pending_credits(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let charge = shop.earn("20").await;
    node.cli(&["account", "release-delay", "--account", &shop.email, "--seconds", "3600"]);
    spend(&shop, "20").await;
    let waits = eventually("the delay is known", || async {
        let charge = shop.charge_id("12").await;
        shop.pay(&charge, None).await.expect(200);
        shop.until(&charge, "paid").await;
        (balances(&shop).await[1] > 0).then_some(charge)
    })
    .await;
    let [available, pending, _] = balances(&shop).await;
    let opened = dispute(&shop, &charge).await;
    let taken = (available + pending).min(2_000);
    assert_eq!(balances(&shop).await, [0, available + pending - taken, taken]);
    assert_eq!(held(&shop, &opened).await, taken);
    // A credit to `pending` is blocked at once too.
    shop.pay(&shop.charge_id("30").await, None).await.expect(200);
    until_balances(&shop, [0, available + pending + 3_000 - 2_000, 2_000]).await;
    resolve(&shop, &opened, "won").await;
    assert_eq!(balances(&shop).await, [available, pending + 3_000, 0], "waiting money returns to pending");
    assert!(!waits.is_empty());
    shop.check_statement().await;
    node.verify();
}

async fn beneficiaries_of_a_split_are_untouched(engine: Engine) {
    let node = shared(engine).await;
    let (shop, partner) = (node.shop(), node.shop());
    node.cli(&["account", "features", "--account", &shop.email, "--enable", "split"]);
    let body = json!({ "amount": 100, "split": [{ "recipient_email": partner.email, "percentage": 40 }] });
    let charge = eventually("the feature is known", || async {
        let made = shop.create(body.to_string()).await;
        (made.status == 201).then(|| id(&made.json()))
    })
    .await;
    shop.pay(&charge, None).await.expect(200);
    shop.until_available("60.00").await;
    let opened = dispute(&shop, &charge).await;
    assert_eq!((balances(&shop).await, balances(&partner).await), ([0, 0, 6_000], [4_000, 0, 0]));
    assert_eq!(held(&shop, &opened).await, 6_000);
    resolve(&shop, &opened, "lost").await;
    assert_eq!((balances(&shop).await, balances(&partner).await), ([0, 0, 0], [4_000, 0, 0]));
    node.verify();
}

async fn shortfall_ends_with_its_infraction(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    for outcome in ["lost", "won", "cancelled"] {
        let charge = shop.earn("20").await;
        let [available, ..] = balances(&shop).await;
        spend(&shop, &format!("{}.{:02}", (available - 500) / 100, available % 100)).await;
        let opened = dispute_with(&shop, &charge, &json!({})).await.expect(201);
        assert_eq!(balances(&shop).await, [0, 0, 500]);
        resolve(&shop, &opened, outcome).await;
        let left = if outcome == "lost" { 0 } else { 500 };
        assert_eq!(balances(&shop).await, [left, 0, 0]);
        shop.pay(&shop.charge_id("10").await, None).await.expect(200);
        until_balances(&shop, [left + 1_000, 0, 0]).await;
    }
    node.verify();
}
