//! A service that is killed repeatedly under load: nothing is lost, done twice or credited wrongly.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};

use reqwest::Method;
use serde_json::Value;

use crate::support::{Engine, Institution, Node, Reply, Shop, borrowed, eventually, id, on_both, own, unique};

on_both! { killed_service_keeps_each_charge_and_payment signal_completes_requests_in_flight built_in_sandbox_keeps_its_state }

/// The number of kills.
const ROUNDS: u32 = 4;
/// The number of concurrent callers.
const CALLERS: u32 = 8;
/// The number of answers in each round after which the service is killed.
const ANSWERS: u32 = 40;
/// The body of each charge, with a fee of 0.10.
const BODY: &str = r#"{"amount":2}"#;

/// The keys and payments that one caller, or all callers, recorded.
#[derive(Default)]
struct Known {
    /// All sent keys, each with its answer, if any.
    keys: BTreeMap<String, Option<Vec<u8>>>,
    /// The end-to-end ids of the payments that the acquirer received.
    paid: BTreeSet<String>,
}

/// Creates charges, and pays every second one, until the service no longer answers.
async fn call_until_killed(shop: Shop, psp: Arc<Institution>, answered: Arc<AtomicU32>) -> Known {
    let mut known = Known::default();
    loop {
        let key = unique("storm");
        known.keys.insert(key.clone(), None);
        let Ok(reply) = Reply::try_of(shop.creation(&key, BODY)).await else { return known };
        if reply.status != 201 {
            // A dying service may refuse a request. A refused request has no stored answer.
            assert!(reply.status >= 500, "{}", reply.text());
            continue;
        }
        let charge = reply.json();
        known.keys.insert(key, Some(reply.body));
        if answered.fetch_add(1, Ordering::SeqCst).is_multiple_of(2) {
            known.paid.insert(psp.pay(charge["txid"].as_str().unwrap()).await);
            // This read races the callback of the payment.
            drop(Reply::try_of(shop.request(Method::GET, &format!("/charges/{}", id(&charge)))).await);
        }
    }
}

async fn killed_service_keeps_each_charge_and_payment(engine: Engine) {
    let psp = Arc::new(Institution::start());
    let environment = psp.environment("main");
    // The acquirer calls the address that was registered at the time of the payment, so the address must not change.
    let listen = stable_address();
    let mut environment = borrowed(&environment);
    environment.push(("CAIS_LISTEN", &listen));
    let mut node = own(engine, &environment).await;
    eventually("the callback address is registered", || psp.callback_url()).await;
    let shop = node.shop();
    node.cli(&["account", "fees", "--account", &shop.email, "--operation", "pix_in", "--fixed", "0.10"]);

    let mut all = Known::default();
    for _ in 0..ROUNDS {
        let shop = node.again(&shop);
        let answered = Arc::new(AtomicU32::new(0));
        let callers: Vec<_> = (0..CALLERS)
            .map(|_| tokio::spawn(call_until_killed(shop.clone(), Arc::clone(&psp), Arc::clone(&answered))))
            .collect();
        eventually("requests are answered", || async { (answered.load(Ordering::SeqCst) >= ANSWERS).then_some(()) })
            .await;
        node.cais.kill9().unwrap();
        for caller in callers {
            let known = caller.await.unwrap();
            all.keys.extend(known.keys);
            all.paid.extend(known.paid);
        }
        node.cais.launch().await.unwrap();
    }
    verify_after_kills(&node, &node.again(&shop), &psp, &all).await;
}

/// Returns a free port below the system's range for outgoing connections, so that no other process takes it while the
/// service is down.
fn stable_address() -> String {
    // Two addresses in one process must differ, even before a service listens on either.
    static TRIED: AtomicU16 = AtomicU16::new(0);
    let first = 20_000 + u16::try_from(std::process::id() % 10_000).unwrap();
    let candidates = std::iter::repeat_with(|| first + TRIED.fetch_add(1, Ordering::SeqCst) % 2_000);
    let free = candidates.take(2_000).find(|port| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok());
    format!("127.0.0.1:{}", free.unwrap())
}

async fn verify_after_kills(node: &Node, shop: &Shop, psp: &Institution, all: &Known) {
    let mut charges = BTreeSet::new();
    for (key, answer) in &all.keys {
        // An interrupted request is taken over after its lease of 30 s.
        let reply = eventually("the key is answered", || async {
            let reply = shop.create_with(key, BODY).await;
            (reply.status == 201).then_some(reply)
        })
        .await;
        if let Some(answer) = answer {
            assert_eq!(reply.body, *answer, "{key}: the same bytes as before the crash");
            assert_eq!(reply.header("idempotent-replayed"), Some("true"));
        }
        assert!(charges.insert(id(&reply.json())), "{key}: another key has the same charge");
    }
    let listed: BTreeSet<String> = shop.all_charges().await.iter().map(id).collect();
    assert_eq!(listed, charges, "the account has exactly the charges of the keys");
    assert_eq!(psp.charges().await, u64::try_from(charges.len()).unwrap(), "the acquirer has no further charge");

    // A callback, a worker or a reader credits each payment.
    let ledger = psp.ledger().await;
    let received: BTreeSet<String> = ledger["received"]["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["endToEndId"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(received, all.paid);
    let expected = format!("{}.{:02}", received.len() * 190 / 100, received.len() * 190 % 100);
    eventually("every payment is credited", || async { (shop.available().await == expected).then_some(()) }).await;
    let paid: Vec<Value> = shop.all_charges().await.into_iter().filter(|charge| charge["status"] == "paid").collect();
    let settled: BTreeSet<String> =
        paid.iter().map(|charge| charge["end_to_end_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!((settled, paid.len()), (received.clone(), received.len()), "each payment paid one charge");
    eventually("every callback is answered", || async { (psp.ledger().await["callbacks"]["owed"] == 0).then_some(()) })
        .await;
    assert_eq!(shop.available().await, expected);
    node.verify();
}

async fn signal_completes_requests_in_flight(engine: Engine) {
    let psp = Institution::start();
    let environment = psp.environment("main");
    let mut node = own(engine, &borrowed(&environment)).await;
    let shop = node.shop();
    shop.charge("10").await;
    psp.slow(1_500).await;
    let (key, body) = (unique("key"), r#"{"amount":2,"external_id":"order-1"}"#);
    let flight = tokio::spawn({
        let (shop, key) = (shop.clone(), key.clone());
        async move { shop.create_with(&key, body).await }
    });
    eventually("the call is in flight", || async {
        (shop.get("/charges/ext:order-1").await.status == 409).then_some(())
    })
    .await;
    let status = tokio::task::spawn_blocking(move || {
        let status = node.cais.terminate().unwrap();
        (node, status)
    });
    let reply = flight.await.unwrap();
    let (mut node, status) = status.await.unwrap();
    assert_eq!(status.code(), Some(0), "{}", node.cais.log());
    let made = reply.expect(201);
    assert!(Reply::try_of(shop.request(Method::GET, "/charges")).await.is_err(), "the port is closed");

    psp.faults("ok").await;
    node.cais.launch().await.unwrap();
    let shop = node.again(&shop);
    assert_eq!(shop.create_with(&key, body).await.expect(201), made);
    assert_eq!(shop.all_charges().await.len(), 2);
    node.verify();
}

async fn built_in_sandbox_keeps_its_state(engine: Engine) {
    let mut node = own(engine, &[]).await;
    let shop = node.shop();
    let (one, two) = (shop.charge("10").await, shop.charge("20").await);
    shop.pay(&id(&one), None).await.expect(200);
    node.cais.crash_and_restart().await.unwrap();
    let shop = node.again(&shop);
    assert_eq!(shop.until(&id(&one), "paid").await["txid"], one["txid"]);
    assert_eq!(shop.fetch(&id(&two)).await, two);
    shop.pay(&id(&two), None).await.expect(200);
    shop.until_available("30.00").await;
    assert_eq!(shop.charge("30").await["status"], "pending");
    node.verify();
}
