//! A service that is killed under a load of payouts and refunds: nothing is sent twice, no centavo is lost.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::support::{Engine, Institution, Reply, Shop, borrowed, centavos, eventually, id, on_both, own, unique};

on_both! { killed_service_sends_each_payout_once }

const ROUNDS: u32 = 3;
const CALLERS: u32 = 6;
const ANSWERS: u32 = 25;
const PAYOUT: &str = r#"{"amount":1,"pix_key":"ana@example.com"}"#;
const FAILING: &str = r#"{"amount":1,"pix_key":"fail@sandbox.cais"}"#;
const REFUND: &str = r#"{"amount":0.01}"#;

/// The path, the body and the answer, if any, of every key.
type Known = BTreeMap<String, (String, &'static str, Option<Vec<u8>>)>;

async fn call_until_killed(shop: Shop, charge: String, answered: Arc<AtomicU32>) -> Known {
    let mut known = Known::new();
    let refunds = format!("/charges/{charge}/refunds");
    loop {
        let number = answered.load(Ordering::SeqCst);
        let (path, body) = match number % 4 {
            0 => (refunds.as_str(), REFUND),
            1 => ("/payouts", FAILING),
            _ => ("/payouts", PAYOUT),
        };
        let key = unique("storm");
        known.insert(key.clone(), (path.to_owned(), body, None));
        let request = shop.json(reqwest::Method::POST, path, body).header("idempotency-key", &key);
        let Ok(reply) = Reply::try_of(request).await else { return known };
        if reply.status == 201 {
            known.insert(key, (path.to_owned(), body, Some(reply.body)));
            answered.fetch_add(1, Ordering::SeqCst);
        } else {
            assert!(reply.status >= 500, "{}", reply.text());
        }
    }
}

async fn killed_service_sends_each_payout_once(engine: Engine) {
    let psp = Institution::start();
    let environment = psp.environment("main");
    let mut node = own(engine, &borrowed(&environment)).await;
    let shop = node.shop();
    node.cli(&["account", "fees", "--account", &shop.email, "--operation", "pix_out", "--fixed", "0.10"]);
    let charge = shop.charge("1000").await;
    psp.pay(charge["txid"].as_str().unwrap()).await;
    shop.until(&id(&charge), "paid").await;

    let mut all = Known::new();
    for _ in 0..ROUNDS {
        let shop = node.again(&shop);
        let answered = Arc::new(AtomicU32::new(0));
        let callers: Vec<_> = (0..CALLERS)
            .map(|_| tokio::spawn(call_until_killed(shop.clone(), id(&charge), Arc::clone(&answered))))
            .collect();
        eventually("requests are answered", || async { (answered.load(Ordering::SeqCst) >= ANSWERS).then_some(()) })
            .await;
        node.cais.kill9().unwrap();
        for caller in callers {
            all.extend(caller.await.unwrap());
        }
        node.cais.launch().await.unwrap();
    }
    let shop = node.again(&shop);
    verify_after_kills(&shop, &psp, &id(&charge), &all).await;
    shop.check_statement().await;
    node.verify();
}

async fn verify_after_kills(shop: &Shop, psp: &Institution, charge: &str, all: &Known) {
    for (key, (path, body, answer)) in all {
        let reply = eventually("the key is answered", || async {
            let reply = shop.order_with(path, key, *body).await;
            (reply.status == 201).then_some(reply)
        })
        .await;
        if let Some(answer) = answer {
            assert_eq!(reply.body, *answer, "{key}: the same bytes as before the crash");
        }
    }
    let of = |wanted: &str| all.values().filter(|(_, body, _)| *body == wanted).count();
    let payouts = eventually("every payout has its outcome", || async {
        let payouts = shop.all("/payouts?limit=200").await;
        payouts.iter().all(|payout| payout["status"] != "processing").then_some(payouts)
    })
    .await;
    let count = |rows: &[Value], status: &str| rows.iter().filter(|row| row["status"] == status).count();
    assert_eq!((count(&payouts, "completed"), count(&payouts, "failed")), (of(PAYOUT), of(FAILING)));
    let refunds = eventually("every refund has its outcome", || async {
        let refunds = shop.refunds(charge).await;
        refunds.iter().all(|refund| refund["status"] == "completed").then_some(refunds)
    })
    .await;
    assert_eq!(refunds.len(), of(REFUND));

    let ledger = psp.ledger().await;
    for send in psp.sends().await {
        assert_eq!(send["count"], json!(1), "{send}");
    }
    assert_eq!(ledger["sent"]["count"], of(PAYOUT), "each payout once");
    assert_eq!(ledger["rejected"]["count"], of(FAILING));
    assert_eq!(ledger["returned"]["count"], of(REFUND));
    let left = 100_000 - 110 * i64::try_from(of(PAYOUT)).unwrap() - i64::try_from(of(REFUND)).unwrap();
    let balance = shop.get("/balance").await.expect(200);
    assert_eq!(centavos(&balance["available_balance"]), left, "{balance}");
}
