//! Several infractions on a Pix, and infractions on refunded Pix and on extra payments.

use reqwest::Method;
use serde_json::{Value, json};

use super::{balances, defend, dispute, dispute_with, held, resolve, until};
use crate::support::{Engine, Institution, Reply, Shop, borrowed, eventually, id, on_both, own, shared};

on_both! {
    blocks_on_one_pix_never_exceed_it lost_infraction_takes_money_of_its_sibling infraction_on_refunded_charge_holds_the_rest
    reopened_infraction_is_a_new_one disputed_extra_payment_leaves_the_charge
}

async fn blocks_on_one_pix_never_exceed_it(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let charge = shop.earn("20").await;
    shop.earn("100").await;
    let first = dispute_with(&shop, &charge, &json!({ "amount": 15 })).await.expect(201);
    let second = dispute(&shop, &charge).await;
    let third = dispute_with(&shop, &charge, &json!({ "amount": 7 })).await.expect(201);
    assert_eq!([held(&shop, &first).await, held(&shop, &second).await, held(&shop, &third).await], [1_500, 500, 0]);
    // The first is won: its money fills the blocks of the second, then of the third.
    resolve(&shop, &first, "won").await;
    assert_eq!([held(&shop, &second).await, held(&shop, &third).await], [2_000, 0]);
    resolve(&shop, &second, "cancelled").await;
    assert_eq!([held(&shop, &second).await, held(&shop, &third).await], [0, 700]);
    resolve(&shop, &third, "lost").await;
    assert_eq!(balances(&shop).await, [11_300, 0, 0]);
    let fourth = dispute(&shop, &charge).await;
    assert_eq!(held(&shop, &fourth).await, 1_300);
    resolve(&shop, &fourth, "lost").await;
    assert_eq!(balances(&shop).await, [10_000, 0, 0]);
    shop.until(&charge, "refunded").await;
    shop.check_statement().await;
    node.verify();
}

async fn lost_infraction_takes_money_of_its_sibling(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    for (disputed, left) in [(100, 0), (60, 40)] {
        let [before, ..] = balances(&shop).await;
        let charge = shop.earn("100").await;
        let claim = json!({ "amount": disputed });
        let older = dispute_with(&shop, &charge, &claim).await.expect(201);
        let younger = dispute_with(&shop, &charge, &claim).await.expect(201);
        assert_eq!(resolve(&shop, &younger, "lost").await["status"], "lost");
        assert_eq!(balances(&shop).await, [before, 0, left * 100], "all that was lost is gone");
        assert_eq!(held(&shop, &older).await, left * 100);
        resolve(&shop, &older, "won").await;
        assert_eq!(balances(&shop).await, [before + left * 100, 0, 0]);
        let status = if left == 0 { "refunded" } else { "paid" };
        shop.until(&charge, status).await;
    }
    shop.check_statement().await;
    node.verify();
}

async fn infraction_on_refunded_charge_holds_the_rest(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let charge = shop.earn("20").await;
    let refund = shop.order(&format!("/charges/{charge}/refunds"), r#"{"amount":12}"#).await.expect(201);
    eventually("the refund ends", || async {
        shop.refunds(&charge).await.iter().all(|one| one["status"] == "completed").then_some(())
    })
    .await;
    assert!(id(&refund).starts_with("rfd_"));
    let opened = dispute(&shop, &charge).await;
    assert_eq!(balances(&shop).await, [0, 0, 800]);
    resolve(&shop, &opened, "lost").await;
    shop.until(&charge, "refunded").await;
    // Without a rest the infraction is recorded, holds nothing and ends normally.
    let empty = dispute(&shop, &charge).await;
    assert_eq!((balances(&shop).await, held(&shop, &empty).await), ([0, 0, 0], 0));
    defend(&shop, &empty, &json!({ "defense_text": "It was refunded." })).await.expect(200);
    assert_eq!(resolve(&shop, &empty, "won").await["status"], "won");
    node.verify();
}

/// Starts a service with an external acquirer, and a merchant.
async fn outside(engine: Engine) -> (Institution, crate::support::Node, Shop) {
    let psp = Institution::start();
    let environment = psp.environment("main");
    let node = own(engine, &borrowed(&environment)).await;
    let shop = node.shop();
    eventually("the callback address is registered", || psp.callback_url()).await;
    (psp, node, shop)
}

/// Waits for this number of infractions. Returns them, newest first.
async fn until_known(shop: &Shop, count: usize) -> Vec<Value> {
    eventually(&format!("{count} infractions are known"), || async {
        let all = shop.all("/infractions?limit=200").await;
        (all.len() == count).then_some(all)
    })
    .await
}

/// Sends a request to the control interface of the built-in sandbox beside the service.
async fn by_hand(node: &crate::support::Node, method: Method, path: &str, body: &Value) -> Value {
    let file = std::fs::read(node.cais.data_dir().join("sandbox.json")).unwrap();
    let base = serde_json::from_slice::<Value>(&file).unwrap()["base_url"].as_str().unwrap().to_owned();
    let request = crate::support::client().request(method, format!("{base}{path}"));
    Reply::of(request.header("content-type", "application/json").body(body.to_string())).await.expect(200)
}

async fn reopened_infraction_is_a_new_one(engine: Engine) {
    let node = own(engine, &[]).await;
    let shop = node.shop();
    let charge = shop.earn("20").await;
    let first = dispute(&shop, &charge).await;
    resolve(&shop, &first, "won").await;
    assert_eq!(balances(&shop).await, [2_000, 0, 0]);
    // For a minute an acquirer's list may show the old state, which reopens nothing.
    let later = |offset_s: u32| json!({ "offset_s": offset_s });
    shop.send(Method::PUT, "/sandbox/clock", &later(120)).await.expect(200);
    let ledger = by_hand(&node, Method::GET, "/sandbox/ledger", &json!({})).await;
    let upstream = ledger["infractions"][0]["idInfracao"].as_str().unwrap().to_owned();
    let path = format!("/sandbox/infractions/{upstream}/resolve");
    by_hand(&node, Method::POST, &path, &json!({ "outcome": "reopened" })).await;
    let both = until_known(&shop, 2).await;
    assert_eq!((&both[0]["status"], &both[1]["status"]), (&json!("open"), &json!("won")));
    assert_eq!(balances(&shop).await, [0, 0, 2_000]);
    shop.send(Method::PUT, "/sandbox/clock", &later(240)).await.expect(200);
    by_hand(&node, Method::POST, &path, &json!({ "outcome": "lost" })).await;
    until(&shop, &both[0], "lost").await;
    assert_eq!(balances(&shop).await, [0, 0, 0]);
    assert_eq!(super::fetch(&shop, &both[1]).await["status"], "won", "an ended infraction stays ended");
    shop.until(&charge, "refunded").await;
    node.verify();
}

async fn disputed_extra_payment_leaves_the_charge(engine: Engine) {
    let (psp, node, shop) = outside(engine).await;
    let charge = shop.charge("20").await;
    let txid = charge["txid"].as_str().unwrap();
    psp.pay(txid).await;
    shop.until_available("20.00").await;
    let extra = psp.pay(txid).await;
    shop.until_available("40.00").await;
    let upstream = psp.dispute(&extra, &json!({ "valor": "15.00" })).await;
    let opened = until_known(&shop, 1).await.remove(0);
    assert_eq!((&opened["end_to_end_id"], held(&shop, &opened).await), (&json!(extra), 1_500));
    shop.order(&format!("/charges/{}/refunds", id(&charge)), "{}").await.refused(422, "infraction_open");
    psp.resolve(&upstream, "lost").await;
    until(&shop, &opened, "lost").await;
    assert_eq!(balances(&shop).await, [2_500, 0, 0]);
    // The extra payment was not part of the charge, so the whole charge can still be refunded.
    shop.order(&format!("/charges/{}/refunds", id(&charge)), r#"{"amount":20}"#).await.expect(201);
    shop.until(&id(&charge), "refunded").await;
    node.verify();
}
