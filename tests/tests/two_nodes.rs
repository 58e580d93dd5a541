//! Two nodes on one PostgreSQL.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::time::Instant;

use futures_util::future::join_all;

use crate::support::{Engine, Institution, Node, Reply, borrowed, eventually, id, own, unique};

/// Starts two nodes on one database, with one external acquirer.
pub async fn pair() -> (Institution, Node, Node) {
    pair_with(&[]).await
}

/// Starts a pair of nodes with more environment variables.
pub async fn pair_with(more: &[(&str, &str)]) -> (Institution, Node, Node) {
    let psp = Institution::start();
    let environment = psp.environment("main");
    let mut environment = borrowed(&environment);
    environment.extend(more);
    let (one, two) = pair_in(environment).await;
    (psp, one, two)
}

/// Starts two nodes on one database, with these environment variables.
pub async fn pair_in(mut environment: Vec<(&str, &str)>) -> (Node, Node) {
    let one = own(Engine::Postgres, &environment).await;
    let url = one.cais.database_url().unwrap().to_owned();
    environment.push(("CAIS_DATABASE_URL", &url));
    // `CAIS_DATABASE_URL` replaces the node's own SQLite database.
    let two = own(Engine::Sqlite, &environment).await;
    (one, two)
}

#[tokio::test]
async fn key_on_both_nodes_makes_one_charge() {
    let (psp, one, two) = pair().await;
    let here = one.shop();
    let there = here.at(&two.base());
    for round in 0..5 {
        let (key, body) = (unique("key"), format!(r#"{{"amount":10,"external_id":"order-{round}"}}"#));
        let calls = (0..32).map(|call| {
            let (shop, key, body) =
                (if call % 2 == 0 { here.clone() } else { there.clone() }, key.clone(), body.clone());
            async move { shop.create_with(&key, body).await }
        });
        let replies = join_all(calls).await;
        let fresh: Vec<&Reply> = replies
            .iter()
            .filter(|reply| reply.status == 201 && reply.header("idempotent-replayed").is_none())
            .collect();
        assert_eq!(fresh.len(), 1, "one of the nodes created the charge");
        for reply in &replies {
            if reply.status == 201 {
                assert_eq!(reply.body, fresh[0].body);
            } else {
                reply.refused(409, "idempotency_key_in_progress");
            }
        }
        for shop in [&here, &there] {
            assert_eq!(shop.create_with(&key, body.clone()).await.body, fresh[0].body);
            assert_eq!(shop.create(body.clone()).await.expect(200), fresh[0].json());
        }
    }
    assert_eq!(psp.charges().await, 5);
    assert_eq!(here.all_charges().await, there.all_charges().await);
}

#[tokio::test]
async fn payment_seen_by_both_nodes_is_credited_once() {
    let (psp, one, two) = pair().await;
    let here = one.shop();
    let there = here.at(&two.base());
    for _ in 0..5 {
        let charge = here.charge("10").await;
        psp.pay(charge["txid"].as_str().unwrap()).await;
        // Both nodes read the charge while the callback and the workers of both nodes may credit the payment.
        let charge = id(&charge);
        let readers = (0..16).map(|reader| {
            let shop = if reader % 2 == 0 { here.clone() } else { there.clone() };
            let charge = charge.clone();
            async move { shop.fetch(&charge).await }
        });
        join_all(readers).await;
        assert_eq!(there.until(&charge, "paid").await, here.until(&charge, "paid").await);
    }
    eventually("every callback is answered", || async { (psp.ledger().await["callbacks"]["owed"] == 0).then_some(()) })
        .await;
    assert_eq!((here.available().await.as_str(), there.available().await.as_str()), ("50.00", "50.00"));
    one.verify();
}

#[tokio::test]
async fn revoked_key_is_refused_by_the_other_node() {
    let (_psp, one, two) = pair().await;
    let here = one.shop();
    let there = here.at(&two.base());
    there.get("/balance").await.expect(200);
    one.cli(&["key", "revoke", here.key.split('_').nth(1).unwrap()]);
    let begun = Instant::now();
    eventually("the other node refuses", || async { (there.get("/balance").await.status == 401).then_some(()) }).await;
    assert!(begun.elapsed().as_secs() <= 5, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn interrupted_request_is_finished_by_the_other_node() {
    let (psp, one, mut two) = pair().await;
    let here = one.shop();
    let there = here.at(&two.base());
    psp.slow(2_000).await;
    let (key, body) = (unique("key"), r#"{"amount":10,"external_id":"order-1"}"#);
    let lost = tokio::spawn({
        let (shop, key) = (there.clone(), key.clone());
        async move { Reply::try_of(shop.creation(&key, body)).await }
    });
    eventually("the call is in flight", || async {
        (here.get("/charges/ext:order-1").await.status == 409).then_some(())
    })
    .await;
    two.cais.kill9().unwrap();
    assert!(lost.await.unwrap().is_err(), "the client receives no answer");
    psp.faults("ok").await;
    let made = eventually("the other node finishes the request", || async {
        let reply = here.create_with(&key, body).await;
        (reply.status == 201).then(|| reply.json())
    })
    .await;
    assert_eq!(here.all_charges().await, [made]);
    assert_eq!(psp.charges().await, 1);
}
