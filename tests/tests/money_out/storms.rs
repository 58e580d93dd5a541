//! Concurrent callers never move more money than exists.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::json;

use crate::support::{Engine, Institution, Reply, borrowed, id, on_both, own, shared, unique};

on_both! { concurrent_payouts_spend_a_balance_once concurrent_repeats_of_a_key_make_one_payout concurrent_keys_with_one_external_id_make_one_payout concurrent_refunds_never_exceed_the_charge mutual_splits_do_not_deadlock }

const STORM: usize = 64;

async fn concurrent_payouts_spend_a_balance_once(engine: Engine) {
    let psp = Institution::start();
    let environment = psp.environment("main");
    let node = own(engine, &borrowed(&environment)).await;
    let shop = node.shop();
    node.cli(&["account", "fees", "--account", &shop.email, "--operation", "pix_out", "--fixed", "0.50"]);
    let charge = shop.charge("20.99").await;
    psp.pay(charge["txid"].as_str().unwrap()).await;
    shop.until(&id(&charge), "paid").await;
    let replies = join_all((0..STORM).map(|_| shop.pay_out("10", "ana@example.com"))).await;
    let (made, refused): (Vec<&Reply>, Vec<&Reply>) = replies.iter().partition(|reply| reply.status == 201);
    assert_eq!(made.len(), 1, "10.50 fit once into 20.99");
    for reply in refused {
        reply.refused(422, "insufficient_balance");
    }
    let payout = id(&made[0].json());
    shop.until_payout(&payout, "completed").await;
    assert_eq!(shop.available().await, "10.49");
    let sends = psp.sends().await;
    assert_eq!(sends.len(), 1, "{sends:?}");
    assert_eq!((&sends[0]["count"], &sends[0]["requests"]), (&json!(1), &json!(1)), "{sends:?}");
    assert_eq!(shop.all("/payouts?limit=200").await.len(), 1);
    shop.check_statement().await;
    node.verify();
}

async fn concurrent_repeats_of_a_key_make_one_payout(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    shop.earn("100").await;
    let (key, body) = (unique("key"), r#"{"amount":10,"pix_key":"ana@example.com","external_id":"um"}"#);
    let replies = join_all((0..STORM).map(|_| shop.order_with("/payouts", &key, body))).await;
    let fresh: Vec<&Reply> =
        replies.iter().filter(|reply| reply.status == 201 && reply.header("idempotent-replayed").is_none()).collect();
    assert_eq!(fresh.len(), 1);
    for reply in &replies {
        match reply.status {
            201 => assert_eq!(reply.body, fresh[0].body),
            _ => reply.refused(409, "idempotency_key_in_progress"),
        }
    }
    assert_eq!(shop.available().await, "90.00");
    let other = shop.order_with("/payouts", &key, r#"{"amount":11,"pix_key":"ana@example.com"}"#).await;
    other.refused(409, "IDEMPOTENCY_CONFLICT");
    let elsewhere = shop.order_with("/charges", &key, r#"{"amount":10}"#).await;
    elsewhere.refused(409, "IDEMPOTENCY_CONFLICT");
}

async fn concurrent_keys_with_one_external_id_make_one_payout(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    shop.earn("100").await;
    let body = r#"{"amount":10,"pix_key":"ana@example.com","external_id":"um"}"#;
    let replies = join_all((0..STORM).map(|_| shop.order("/payouts", body))).await;
    let made: Vec<&Reply> = replies.iter().filter(|reply| reply.status == 201).collect();
    assert_eq!(made.len(), 1);
    for reply in &replies {
        match reply.status {
            201 => {}
            200 => assert_eq!(reply.json()["id"], made[0].json()["id"]),
            _ => reply.refused(409, "external_id_in_progress"),
        }
    }
    assert_eq!((shop.available().await.as_str(), shop.all("/payouts?limit=200").await.len()), ("90.00", 1));
    node.verify();
}

async fn concurrent_refunds_never_exceed_the_charge(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let charge = shop.earn("100").await;
    shop.earn("500").await;
    let path = format!("/charges/{charge}/refunds");
    let replies = join_all((0..STORM).map(|_| shop.order(&path, r#"{"amount":30}"#))).await;
    let made: BTreeSet<String> =
        replies.iter().filter(|reply| reply.status == 201).map(|reply| id(&reply.json())).collect();
    assert_eq!(made.len(), 3, "30 fits three times into 100");
    for reply in replies.iter().filter(|reply| reply.status != 201) {
        reply.refused(422, "refund_exceeds_amount");
    }
    shop.order(&path, "{}").await.expect(201);
    shop.until(&charge, "refunded").await;
    assert_eq!(shop.refunds(&charge).await.len(), 4);
    assert_eq!(shop.available().await, "500.00");
    shop.check_statement().await;
    node.verify();
}

/// Checks two accounts with shares in each other's charges, all paid concurrently: the same balances in both orders.
async fn mutual_splits_do_not_deadlock(engine: Engine) {
    let node = shared(engine).await;
    let (one, two) = (node.shop(), node.shop());
    for shop in [&one, &two] {
        node.cli(&["account", "features", "--account", &shop.email, "--enable", "split"]);
    }
    let (one, two) = (one.with_key(&node.key(&one.email, "all")), two.with_key(&node.key(&two.email, "all")));
    let body =
        |email: &str| json!({"amount": 10, "split": [{"recipient_email": email, "percentage": 33.3333}]}).to_string();
    let mut charges = Vec::new();
    for _ in 0..16 {
        charges.push((&one, id(&one.create(body(&two.email)).await.expect(201))));
        charges.push((&two, id(&two.create(body(&one.email)).await.expect(201))));
    }
    join_all(charges.iter().map(|(shop, charge)| async move { shop.pay(charge, None).await.expect(200) })).await;
    for shop in [&one, &two] {
        shop.until_available("160.00").await;
        shop.check_statement().await;
    }
    node.verify();
}
