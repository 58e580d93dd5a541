//! Reports of infractions from an acquirer, at any time and in any order: each has a defined result.

use serde_json::json;

use super::{balances, held, until};
use crate::support::{Engine, Institution, Node, Shop, borrowed, eventually, id, on_both, own};

on_both! { infraction_of_unseen_payment_credits_it_first infraction_of_foreign_pix_alerts_an_operator repeated_or_late_report_changes_nothing infraction_is_found_after_an_outage }

async fn outside(engine: Engine) -> (Institution, Node, Shop) {
    let psp = Institution::start();
    let environment = psp.environment("main");
    let node = own(engine, &borrowed(&environment)).await;
    let shop = node.shop();
    eventually("the callback address is registered", || psp.callback_url()).await;
    (psp, node, shop)
}

async fn infraction_of_unseen_payment_credits_it_first(engine: Engine) {
    let (psp, mut node, shop) = outside(engine).await;
    let charge = shop.charge("20").await;
    // The payment's callback is lost, and the payment is disputed at once.
    node.cais.kill9().unwrap();
    let pix = psp.pay(charge["txid"].as_str().unwrap()).await;
    psp.dispute(&pix, &json!({})).await;
    node.cais.launch().await.unwrap();
    let shop = node.again(&shop);
    let opened =
        eventually("the infraction is known", || async { shop.all("/infractions?limit=200").await.pop() }).await;
    assert_eq!((balances(&shop).await, held(&shop, &opened).await), ([0, 0, 2_000], 2_000));
    assert_eq!(shop.fetch(&id(&charge)).await["status"], "paid");
    node.verify();
}

async fn infraction_of_foreign_pix_alerts_an_operator(engine: Engine) {
    let (psp, node, shop) = outside(engine).await;
    let foreign = psp.foreign_pix("30.00").await;
    psp.dispute(&foreign, &json!({})).await;
    // A later infraction is found all the same.
    let charge = shop.charge("20").await;
    let pix = psp.pay(charge["txid"].as_str().unwrap()).await;
    shop.until_available("20.00").await;
    psp.dispute(&pix, &json!({})).await;
    eventually("the infraction is known", || async { shop.all("/infractions?limit=200").await.pop() }).await;
    assert_eq!(balances(&shop).await, [0, 0, 2_000]);
    eventually("an alert is logged", || async {
        node.cais.log().lines().any(|line| line.contains(&foreign) && line.contains("ERROR")).then_some(())
    })
    .await;
    node.verify();
}

async fn repeated_or_late_report_changes_nothing(engine: Engine) {
    let (psp, node, shop) = outside(engine).await;
    psp.faults("double_callback").await;
    let charge = shop.charge("20").await;
    let pix = psp.pay(charge["txid"].as_str().unwrap()).await;
    shop.until_available("20.00").await;
    let upstream = psp.dispute(&pix, &json!({})).await;
    let opened =
        eventually("the infraction is known", || async { shop.all("/infractions?limit=200").await.pop() }).await;
    psp.resolve(&upstream, "lost").await;
    until(&shop, &opened, "lost").await;
    // A withdrawal after the end changes nothing here.
    psp.resolve(&upstream, "cancelled").await;
    let second = shop.charge("5").await;
    psp.pay(second["txid"].as_str().unwrap()).await;
    shop.until_available("5.00").await;
    assert_eq!((balances(&shop).await, shop.all("/infractions?limit=200").await.len()), ([500, 0, 0], 1));
    assert_eq!(super::fetch(&shop, &opened).await["status"], "lost");
    let events = shop.all("/events?limit=200").await;
    let about = events.iter().filter(|event| event["type"].as_str().unwrap().starts_with("infraction"));
    assert_eq!(about.count(), 2);
    node.verify();
}

async fn infraction_is_found_after_an_outage(engine: Engine) {
    let (psp, node, shop) = outside(engine).await;
    let charge = shop.charge("20").await;
    let pix = psp.pay(charge["txid"].as_str().unwrap()).await;
    shop.until_available("20.00").await;
    psp.faults("down").await;
    psp.dispute(&pix, &json!({})).await;
    // The infraction is unknown, and the service keeps working.
    assert_eq!(balances(&shop).await, [2_000, 0, 0]);
    psp.faults("ok").await;
    eventually("the infraction is known", || async { shop.all("/infractions?limit=200").await.pop() }).await;
    assert_eq!(balances(&shop).await, [0, 0, 2_000]);
    node.verify();
}
