//! Payouts and refunds with an acquirer that is down, slow, out of money, early, or loses replies.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::json;

use crate::support::{Engine, Institution, Node, Reply, Shop, borrowed, eventually, id, on_both, own, unique};

on_both! {
    payout_without_connection_releases_its_hold payout_with_lost_reply_is_sent_once payout_with_late_reply_is_completed repeated_or_forged_callbacks_change_nothing payout_beyond_the_acquirers_balance_fails payout_is_returned_in_parts
    refund_with_lost_reply_is_sent_once payout_that_never_arrived_is_resent
}

const POST_DEADLINE: Duration = Duration::from_secs(10);
const TOLERANCE: Duration = Duration::from_millis(500);

async fn with_money(engine: Engine, psp: &Institution, amount: &str) -> (Node, Shop, String) {
    let environment = psp.environment("main");
    let node = own(engine, &borrowed(&environment)).await;
    let shop = node.shop();
    let charge = shop.charge(amount).await;
    psp.pay(charge["txid"].as_str().unwrap()).await;
    shop.until(&id(&charge), "paid").await;
    (node, shop, id(&charge))
}

async fn payout_without_connection_releases_its_hold(engine: Engine) {
    let psp = Institution::start();
    let (node, shop, charge) = with_money(engine, &psp, "100").await;
    drop(psp);
    let body = json!({"amount": 10, "pix_key": "ana@example.com", "external_id": "um"}).to_string();
    let key = unique("key");
    for _ in 0..3 {
        shop.order_with("/payouts", &key, body.clone()).await.refused(502, "acquirer_unavailable");
        shop.order(&format!("/charges/{charge}/refunds"), "{}").await.refused(502, "acquirer_unavailable");
    }
    assert_eq!(shop.available().await, "100.00", "a refused connection is certain: all is given back");
    assert_eq!(shop.all("/payouts?limit=200").await.len(), 0);
    assert_eq!(shop.refunds(&charge).await.len(), 0);
    shop.get("/payouts/ext:um").await.refused(404, "not_found");
    shop.check_statement().await;
    node.verify();
}

async fn payout_with_lost_reply_is_sent_once(engine: Engine) {
    let psp = Institution::start();
    let (node, shop, _) = with_money(engine, &psp, "100").await;
    psp.faults("drop_reply").await;
    let key = unique("key");
    let body = r#"{"amount":10,"pix_key":"ana@example.com"}"#;
    let made = shop.order_with("/payouts", &key, body).await.expect(201);
    assert_ne!(made["status"], "failed", "a timeout is never a failure");
    assert_eq!(shop.available().await, "90.00");
    psp.faults("ok").await;
    shop.until_payout(&id(&made), "completed").await;
    let sends = psp.sends().await;
    assert_eq!((sends.len(), &sends[0]["count"]), (1, &json!(1)), "{sends:?}");
    node.verify();
}

async fn payout_with_late_reply_is_completed(engine: Engine) {
    let psp = Institution::start();
    let (node, shop, _) = with_money(engine, &psp, "100").await;
    psp.slow(30_000).await;
    let begun = Instant::now();
    let made = shop.pay_out("10", "ana@example.com").await.expect(201);
    assert!(begun.elapsed() < POST_DEADLINE + TOLERANCE, "{:?}", begun.elapsed());
    assert_eq!((&made["status"], shop.available().await.as_str()), (&json!("processing"), "90.00"));
    let begun = Instant::now();
    shop.get(&format!("/payouts/{}", id(&made))).await.expect(200);
    assert!(begun.elapsed() < Duration::from_secs(4), "3 s for upstream: {:?}", begun.elapsed());
    psp.faults("ok").await;
    shop.until_payout(&id(&made), "completed").await;
    let sends = psp.sends().await;
    assert_eq!((sends.len(), &sends[0]["count"]), (1, &json!(1)), "{sends:?}");
    assert_eq!(shop.available().await, "90.00");
    node.verify();
}

async fn repeated_or_forged_callbacks_change_nothing(engine: Engine) {
    let psp = Institution::start();
    let (node, shop, _) = with_money(engine, &psp, "100").await;
    psp.faults("double_callback").await;
    let url = eventually("the callback address is registered", || psp.callback_url()).await;
    let made = shop.pay_out("10", "slow@sandbox.cais").await.expect(201);
    let name = id(&made).trim_start_matches("pyt_").to_owned();
    let forged = json!({"pix": [{"endToEndId": "E1234567820260102030400000000001", "chave": "x", "tipo": "SOLICITACAO",
        "status": "NAO_REALIZADO", "valor": "10.00", "horario": null, "gnExtras": {"idEnvio": name}}]});
    let unknown = json!({"pix": [{"tipo": "SOLICITACAO", "status": "REALIZADO", "gnExtras": {"idEnvio": "nobodys"}}]});
    for (body, status) in [(forged, 200), (unknown, 200), (json!({"pix": 7}), 400), (json!({"pix": [null]}), 400)] {
        let reply = Reply::of(shop.client.post(format!("{url}/pix")).json(&body)).await;
        assert_eq!(reply.status, status, "{body}");
    }
    shop.until_payout(&id(&made), "completed").await;
    eventually("every callback is answered", || async { (psp.ledger().await["callbacks"]["owed"] == 0).then_some(()) })
        .await;
    assert_eq!(shop.available().await, "90.00");
    shop.check_statement().await;
    node.verify();
}

async fn payout_beyond_the_acquirers_balance_fails(engine: Engine) {
    let psp = Institution::start();
    let (node, shop, _) = with_money(engine, &psp, "100").await;
    psp.set_balance("9.99").await;
    let made = shop.pay_out("10", "ana@example.com").await.expect(201);
    let failed = shop.until_payout(&id(&made), "failed").await;
    assert!(failed["error_message"].is_string());
    assert_eq!((shop.available().await.as_str(), psp.sends().await.len()), ("100.00", 0));
    node.verify();
}

async fn payout_is_returned_in_parts(engine: Engine) {
    let psp = Institution::start();
    let (node, shop, _) = with_money(engine, &psp, "100").await;
    let made = id(&shop.pay_out("10", "ana@example.com").await.expect(201));
    shop.until_payout(&made, "completed").await;
    let name = made.trim_start_matches("pyt_");
    psp.return_sent(name, &json!({"valor": "2.50"})).await.expect(200);
    shop.until_available("92.50").await;
    assert_eq!(shop.get(&format!("/payouts/{made}")).await.expect(200)["status"], "completed", "in part");
    psp.return_sent(name, &json!({})).await.expect(200);
    shop.until_payout(&made, "reversed").await;
    assert_eq!(shop.available().await, "100.00");
    shop.check_statement().await;
    node.verify();
}

async fn refund_with_lost_reply_is_sent_once(engine: Engine) {
    let psp = Institution::start();
    let (node, shop, charge) = with_money(engine, &psp, "100").await;
    psp.faults("drop_reply").await;
    let made = shop.order(&format!("/charges/{charge}/refunds"), r#"{"amount":40}"#).await.expect(201);
    assert_ne!(made["status"], "failed");
    psp.faults("ok").await;
    eventually("the refund completes", || async {
        (shop.refunds(&charge).await[0]["status"] == "completed").then_some(())
    })
    .await;
    assert_eq!(psp.ledger().await["returned"]["count"], 1);
    assert_eq!(shop.available().await, "60.00");
    node.verify();
}

/// Checks that a request that certainly never arrived is sent again under the same identifier.
async fn payout_that_never_arrived_is_resent(engine: Engine) {
    let node = own(engine, &[]).await;
    let shop = node.shop();
    shop.earn("100").await;
    shop.faults("error").await;
    let made = shop.pay_out("10", "ana@example.com").await.expect(201);
    assert_eq!((&made["status"], shop.available().await.as_str()), (&json!("processing"), "90.00"));
    shop.faults("ok").await;
    // A minute later by the clock, the acquirer still does not show the payout.
    shop.send(Method::PUT, "/sandbox/clock", &json!({"offset_s": 90})).await.expect(200);
    eventually("the payout is sent", || async {
        let payout = shop.get(&format!("/payouts/{}", id(&made))).await.expect(200);
        (payout["status"] == "completed").then_some(())
    })
    .await;
    assert_eq!(shop.available().await, "90.00");
    shop.check_statement().await;
    node.verify();
}
