//! Woovi as the acquirer of the binary: paid, paid out, refunded and disputed.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Engine, Institution, Node, Shop, borrowed, eventually, id, on_both, own};

on_both! {
    paid_charge_is_credited_by_its_callback payout_with_lost_approval_is_sent_once refund_goes_back_once
    dispute_is_defended_and_won returned_payout_is_credited_once
    operator_credits_return_before_its_callback return_without_callback_is_reported_until_credited
}

async fn with_money(engine: Engine, psp: &Institution) -> (Node, Shop, String, String) {
    let environment = psp.woovi_environment("main");
    let node = own(engine, &borrowed(&environment)).await;
    let shop = node.shop();
    let charge = shop.charge("100").await;
    let pix = psp.pay(charge["txid"].as_str().unwrap()).await;
    // The balance is read, not the charge: a read of the charge would refresh it.
    shop.until_available("100.00").await;
    (node, shop, id(&charge), pix)
}

async fn paid_charge_is_credited_by_its_callback(engine: Engine) {
    let psp = Institution::start();
    let (node, shop, charge, pix) = with_money(engine, &psp).await;
    let paid = shop.fetch(&charge).await;
    assert_eq!((&paid["status"], &paid["end_to_end_id"]), (&json!("paid"), &json!(pix)));
    let second = shop.charge("5").await;
    let cancelled = shop.post(&format!("/charges/{}/cancel", id(&second))).await.expect(200);
    assert_eq!(cancelled["status"], "cancelled");
    shop.check_statement().await;
    node.verify();
}

async fn payout_with_lost_approval_is_sent_once(engine: Engine) {
    let psp = Institution::start();
    let (node, shop, ..) = with_money(engine, &psp).await;
    let made = shop.pay_out("10", "lost@sandbox.cais").await.expect(201);
    assert_ne!(made["status"], "failed");
    let done = shop.until_payout(&id(&made), "completed").await;
    assert!(done["end_to_end_id"].is_string(), "{done}");
    let failed = shop.pay_out("10", "fail@sandbox.cais").await.expect(201);
    shop.until_payout(&id(&failed), "failed").await;
    assert_eq!(shop.available().await, "90.00");
    let ledger = psp.ledger().await;
    let payments = ledger["woovi"]["payments"].as_array().unwrap();
    assert!(payments.len() == 2 && payments.iter().all(|item| item["requests"] == 1), "{payments:?}");
    let sends = psp.sends().await;
    assert!(sends.len() == 2 && sends.iter().all(|item| item["count"] == 1), "{sends:?}");
    shop.check_statement().await;
    node.verify();
}

/// Refunds a charge and waits for the completion.
async fn refund(shop: &Shop, charge: &str, body: &str) {
    shop.order(&format!("/charges/{charge}/refunds"), body).await.expect(201);
    eventually("the refund is completed", || async {
        let refunds = shop.refunds(charge).await;
        (refunds.len() == 1 && refunds[0]["status"] == "completed").then_some(())
    })
    .await;
}

async fn refund_goes_back_once(engine: Engine) {
    let psp = Institution::start();
    let (node, shop, charge, _) = with_money(engine, &psp).await;
    refund(&shop, &charge, r#"{"amount":40}"#).await;
    assert_eq!(shop.available().await, "60.00");
    shop.check_statement().await;
    node.verify();
}

async fn dispute_is_defended_and_won(engine: Engine) {
    let psp = Institution::start();
    let (node, shop, _, pix) = with_money(engine, &psp).await;
    let dispute = psp.dispute(&pix, &json!({})).await;
    shop.until_available("0.00").await;
    let open = shop.get("/infractions?status=open").await.expect(200)["data"][0].clone();
    let path = format!("/infractions/{}/defense", id(&open));
    let bare = json!({"defense_text": "It was delivered."});
    assert_ne!(shop.send(Method::POST, &path, &bare).await.status, 200, "Woovi accepts only documents");
    let body = json!({"defense_text": "It was delivered.", "defense_evidence_url": "https://shop.example/proof.pdf"});
    let defended = shop.send(Method::POST, &path, &body).await.expect(200);
    assert_eq!(defended["status"], "under_review");
    psp.resolve(&dispute, "won").await;
    shop.until_available("100.00").await;
    let won = shop.get(&format!("/infractions/{}", id(&open))).await.expect(200);
    assert_eq!(won["status"], "won");
    shop.check_statement().await;
    node.verify();
}

/// Pays R$ 10.00 out. Returns the payout's id and its name at the institution.
async fn paid_out(shop: &Shop, psp: &Institution) -> (String, String) {
    let made = shop.pay_out("10", "ana@bank.example").await.expect(201);
    shop.until_payout(&id(&made), "completed").await;
    let sends = psp.sends().await;
    (id(&made), sends[0]["idEnvio"].as_str().unwrap().to_owned())
}

async fn returned_payout_is_credited_once(engine: Engine) {
    let psp = Institution::start();
    let (node, shop, ..) = with_money(engine, &psp).await;
    let (payout, name) = paid_out(&shop, &psp).await;
    let back = psp.return_sent(&name, &json!({"valor": "4.00"})).await.expect(200);
    shop.until_available("94.00").await;
    psp.return_sent(&name, &json!({})).await.expect(200);
    shop.until_available("100.00").await;
    shop.until_payout(&payout, "reversed").await;
    let return_id = back["rtrId"].as_str().unwrap();
    let command = ["payout", "credit-return", &payout, "--return-id", return_id, "--amount", "4", "--note", "again"];
    let again = node.cli(&command);
    assert_eq!((&again["credited"], &again["status"]), (&json!(false), &json!("reversed")));
    assert_eq!(shop.available().await, "100.00");
    shop.check_statement().await;
    node.verify();
}

/// Runs `cais reconcile` from an instant on. Returns the exit code and the report.
fn reconciled(node: &Node, from: &str) -> (Option<i32>, Value) {
    let (code, printed) = node.cais.cli_raw(&["reconcile", "--json", "--from", from]).unwrap();
    let report = printed.lines().find(|line| line.contains("\"differences\""));
    assert!(report.is_some(), "no report of differences in: {printed}");
    (code, serde_json::from_str(report.unwrap()).unwrap())
}

async fn return_without_callback_is_reported_until_credited(engine: Engine) {
    let psp = Institution::start();
    let (node, shop, charge, _) = with_money(engine, &psp).await;
    let from = shop.fetch(&charge).await["created_at"].as_str().unwrap().to_owned();
    refund(&shop, &charge, r#"{"amount":40}"#).await;
    let (payout, name) = paid_out(&shop, &psp).await;
    psp.ask(Method::PUT, "/sandbox/woovi/settings", &json!({"webhooks_paused": true})).await.expect(200);
    // A return of the last five minutes is no difference yet.
    psp.clock(-600).await;
    let back = psp.return_sent(&name, &json!({"valor": "4.00"})).await.expect(200);
    psp.clock(0).await;
    let return_id = back["rtrId"].as_str().unwrap();
    let before = minutes_before(&from, 20);
    let (code, report) = reconciled(&node, &before);
    let difference = json!({"kind": "payout_return_unknown", "acquirer": "main", "resource": null,
        "upstream_id": return_id, "ours": null, "theirs": "4.00", "repaired": false});
    assert_eq!((code, &report["differences"]), (Some(1), &json!([difference])), "{report}");
    assert_eq!(shop.available().await, "50.00");
    node.cli(&["payout", "credit-return", &payout, "--return-id", return_id, "--amount", "4", "--note", "in its list"]);
    let (code, report) = reconciled(&node, &before);
    assert_eq!((code, &report["differences"]), (Some(0), &json!([])), "{report}");
    shop.until_available("54.00").await;
    shop.check_statement().await;
    node.verify();
}

/// Returns the instant some minutes before another.
fn minutes_before(at: &str, minutes: i64) -> String {
    let at: Timestamp = at.parse().unwrap();
    at.checked_sub(SignedDuration::from_mins(minutes)).unwrap().to_string()
}

async fn operator_credits_return_before_its_callback(engine: Engine) {
    let psp = Institution::start();
    let (node, shop, ..) = with_money(engine, &psp).await;
    let (payout, name) = paid_out(&shop, &psp).await;
    let paused = json!({"webhooks_paused": true});
    psp.ask(Method::PUT, "/sandbox/woovi/settings", &paused).await.expect(200);
    let back = psp.return_sent(&name, &json!({})).await.expect(200);
    let return_id = back["rtrId"].as_str().unwrap();
    let mut command =
        ["payout", "credit-return", &payout, "--return-id", return_id, "--amount", "10.01", "--note", "in the panel"];
    assert!(node.cais.cli(&command).is_err(), "more than was sent");
    command[6] = "10";
    for credited in [true, false] {
        let shown = node.cli(&command);
        assert_eq!((&shown["credited"], &shown["status"]), (&json!(credited), &json!("reversed")));
    }
    shop.until_available("100.00").await;
    psp.ask(Method::PUT, "/sandbox/woovi/settings", &json!({"webhooks_paused": false})).await.expect(200);
    eventually("the callback of the return is delivered", || async {
        (psp.ledger().await["woovi"]["webhooks"]["owed"] == 0).then_some(())
    })
    .await;
    eventually("the callback is processed", || async {
        let waiting = node.cli(&["callback", "list"]);
        assert_eq!(waiting["data"], json!([]), "no callback is unmatched");
        let read = psp.requests("woovi_transaction_read").await;
        (read > 0).then_some(())
    })
    .await;
    assert_eq!(shop.available().await, "100.00");
    let rows = node.cli(&["audit", "list"]);
    let credits = rows["data"].as_array().unwrap().iter().filter(|row| row["action"] == "payout.credit_return");
    assert_eq!(credits.count(), 1, "{rows}");
    shop.check_statement().await;
    node.verify();
}
