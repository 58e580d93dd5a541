//! Replies of the processor that are lost after it has accepted an order, and two nodes on one database.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use super::crypto_shop;
use super::withdrawals::{beside, body, fault, sent, until, withdraw};
use crate::support::{Engine, Institution, Reply, Shop, borrowed, eventually, id, on_both, unique};
use crate::two_nodes::pair_in;

on_both! {
    accepted_withdrawal_with_lost_reply_is_sent_once
}

/// The processor accepts the order, and its reply is cut, or is an error.
async fn accepted_withdrawal_with_lost_reply_is_sent_once(engine: Engine) {
    for mode in ["drop_reply", "error_after"] {
        let bank = Institution::start();
        let (node, shop) = beside(&bank, engine).await;
        fault(&bank, mode, "/v1/payout").await;
        let (key, request_body) = (unique("key"), body(500).to_string());
        let order = async || shop.order_with("/crypto/withdrawals", &key, request_body.clone()).await;
        let made = order().await.expect(201);
        assert_eq!((&made["status"], shop.available().await.as_str()), (&json!("processing"), "500.00"), "{mode}");
        assert_eq!(order().await.expect(201), made, "{mode}");
        fault(&bank, "ok", "/v1/payout").await;
        let done = until(&shop, &id(&made), "completed").await;
        let sent = sent(&bank).await;
        assert_eq!((sent.len(), &sent[0]["count"]), (1, &json!(1)), "{mode}: {sent:#?}");
        assert_eq!((&sent[0]["amount"], shop.available().await.as_str()), (&done["crypto_amount"], "500.00"), "{mode}");
        node.verify();
        let report = node.cli(&["reconcile", "--from", made["created_at"].as_str().unwrap()]);
        assert_eq!((&report["ok"], &report["withdrawals"]), (&json!(true), &json!(1)), "{report}");
    }
}

/// Returns the merchant at both nodes, in turn.
fn in_turn<'s>(here: &'s Shop, there: &'s Shop) -> impl Iterator<Item = &'s Shop> {
    [here, there].into_iter().cycle()
}

#[tokio::test]
async fn two_nodes_send_each_withdrawal_once() {
    let bank = Institution::start();
    let environment = [bank.environment("main"), bank.crypto_environment()].concat();
    let (one, two) = pair_in(borrowed(&environment)).await;
    let here = crypto_shop(&one);
    let there = here.at(&two.base());
    let charge = here.charge("400").await;
    bank.pay(charge["txid"].as_str().unwrap()).await;
    here.until(&id(&charge), "paid").await;

    // One key at both nodes makes one withdrawal.
    let (key, request_body) = (unique("key"), body(150).to_string());
    let calls =
        in_turn(&here, &there).take(12).map(|shop| shop.order_with("/crypto/withdrawals", &key, request_body.clone()));
    let replies = join_all(calls).await;
    let created: Vec<&Reply> = replies.iter().filter(|reply| reply.status == 201).collect();
    let fresh = created.iter().filter(|reply| reply.header("idempotent-replayed").is_none()).count();
    assert_eq!(fresh, 1, "{replies:#?}");
    for reply in &replies {
        if reply.status == 201 {
            assert_eq!(reply.body, created[0].body);
        } else {
            reply.refused(409, "idempotency_key_in_progress");
        }
    }
    // The balance covers one more withdrawal, whichever node receives it.
    let request_body = body(150);
    let replies = join_all(in_turn(&here, &there).take(8).map(|shop| withdraw(shop, &request_body))).await;
    let created_too: Vec<&Reply> = replies.iter().filter(|reply| reply.status == 201).collect();
    assert_eq!(created_too.len(), 1, "{replies:#?}");
    for reply in replies.iter().filter(|reply| reply.status != 201) {
        reply.refused(422, "insufficient_balance");
    }
    // Readers and workers of both nodes apply the outcomes.
    for made in [created[0].json(), created_too[0].json()] {
        assert_eq!(until(&here, &id(&made), "completed").await, until(&there, &id(&made), "completed").await);
    }
    let sent = sent(&bank).await;
    let orders: Vec<&Value> = sent.iter().map(|row| &row["count"]).collect();
    assert_eq!(orders, [&json!(1), &json!(1)], "{sent:#?}");
    assert_eq!((here.available().await.as_str(), there.available().await.as_str()), ("100.00", "100.00"));
    let events = here.get("/events?type=crypto.withdrawal.completed").await.expect(200);
    assert_eq!(events["data"].as_array().unwrap().len(), 2, "{events}");
    here.check_statement().await;
    one.verify();
}

#[tokio::test]
async fn two_nodes_credit_repeated_callbacks_once() {
    let bank = Institution::start();
    let environment = [bank.environment("main"), bank.crypto_environment()].concat();
    let (one, two) = pair_in(borrowed(&environment)).await;
    let here = crypto_shop(&one);
    let there = here.at(&two.base());
    let settings = json!({ "ipn_copies": 3 });
    bank.ask(Method::PUT, "/sandbox/crypto/settings", &settings).await.expect(200);
    let request_body = json!({ "amount": 250, "currency": "trx" }).to_string();
    let made = join_all([&here, &there].map(|shop| shop.order("/crypto/deposits", request_body.clone()))).await;
    let made: Vec<Value> = made.iter().map(|reply| reply.expect(201)).collect();
    for payment in payments_of(&bank, &here, &made).await {
        bank.ask(Method::POST, &format!("/sandbox/payment/{payment}/pay"), &json!({})).await.expect(200);
    }
    for deposit in &made {
        let path = format!("/crypto/deposits/{}", id(deposit));
        eventually("the deposit is credited", || async {
            let readers = join_all(in_turn(&here, &there).take(8).map(|shop| shop.get(&path))).await;
            readers.iter().all(|reply| reply.expect(200)["status"] == "completed").then_some(())
        })
        .await;
    }
    let owed = async || bank.ledger().await["crypto"]["ipns"]["owed"].clone();
    eventually("all callbacks are answered", || async { (owed().await == 0).then_some(()) }).await;
    let credits = here.statement().await.into_iter().filter(|row| row["kind"] == "crypto_deposit").count();
    assert_eq!(credits, 2);
    for deposit in &made {
        let found = there.get(&format!("/crypto/deposits/{}", id(deposit))).await.expect(200);
        assert_eq!(found["received_amount"], deposit["pay_amount"], "{found}");
    }
    here.check_statement().await;
    one.verify();
}

/// Returns the processor's identifiers of the payments to these deposits.
async fn payments_of(bank: &Institution, shop: &Shop, deposits: &[Value]) -> Vec<String> {
    let url = |path: &str| format!("{}{path}", bank.credential("crypto_base_url"));
    let login = json!({ "email": bank.credential("crypto_email"), "password": bank.credential("crypto_password") });
    let token = Reply::of(shop.client.post(url("/v1/auth")).json(&login)).await.expect(200);
    let list =
        shop.client.get(url("/v1/payment/?limit=100&page=0")).header("x-api-key", bank.credential("crypto_api_key"));
    let listed = Reply::of(list.bearer_auth(token["token"].as_str().unwrap())).await.expect(200);
    let rows = listed["data"].as_array().unwrap();
    let of = |deposit: &Value| rows.iter().find(|row| row["order_id"] == deposit["id"]).unwrap();
    deposits.iter().map(|deposit| of(deposit)["payment_id"].to_string().trim_matches('"').to_owned()).collect()
}
