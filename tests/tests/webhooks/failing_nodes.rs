//! Deliveries with killed nodes, with two nodes, and with unresponsive receivers: every event arrives.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join_all;
use serde_json::Value;

use super::{deliveries, paid, register, secret, verify};
use crate::support::{Behavior, Engine, OPEN, Receiver, Shop, eventually, on_both, own};

on_both! { killed_service_delivers_every_event unresponsive_receivers_do_not_delay_others }

/// Permits receivers on this machine, and frequent polling.
const OFTEN: [(&str, &str); 3] = [OPEN[0], OPEN[1], ("CAIS_RATE_LIMIT_PER_MINUTE", "1000000")];
/// The events that each receiver must get at least once.
const EVENTS: usize = 60;

/// Counts the arrivals per id. An id never has two bodies.
fn counted(receiver: &Receiver) -> BTreeMap<String, usize> {
    let mut bodies: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for received in receiver.received() {
        let id = received.header("webhook-id").to_owned();
        let body = bodies.entry(id.clone()).or_insert_with(|| received.body.clone());
        assert_eq!(*body, received.body, "{id} has two bodies");
        *counts.entry(id).or_default() += 1;
    }
    counts
}

async fn until_all_arrived(shop: &Shop, receiver: &Receiver, count: usize) {
    let expected: BTreeSet<String> =
        shop.all("/events?type=charge.paid&limit=200").await.iter().map(crate::support::id).collect();
    assert_eq!(expected.len(), count);
    eventually("every event arrives", || async {
        (counted(receiver).into_keys().collect::<BTreeSet<_>>() == expected).then_some(())
    })
    .await;
}

async fn killed_service_delivers_every_event(engine: Engine) {
    let mut node = own(engine, &OFTEN).await;
    let shop = node.shop();
    let receiver = Receiver::start().await;
    let endpoint = register(&shop, &receiver.url("/hooks"), &["charge.paid"]).await;
    paid(&shop, "2").await;
    receiver.until(1).await;
    // Some deliveries are in flight when the service dies.
    receiver.set_behavior(Behavior::NeverAnswers);
    join_all((1..EVENTS).map(|_| paid(&shop, "2"))).await;
    receiver.until(3).await;
    node.cais.kill9().unwrap();
    receiver.set_behavior(Behavior::status(200));
    node.cais.launch().await.unwrap();
    let shop = node.again(&shop);
    // Deliveries in flight are repeated after their lease.
    until_all_arrived(&shop, &receiver, EVENTS).await;
    eventually("all are marked", || async {
        deliveries(&shop, &endpoint).await.iter().all(|one| one["status"] == "succeeded").then_some(())
    })
    .await;
    for received in receiver.received() {
        verify(&received, &secret(&endpoint));
    }
    // Finished deliveries are not repeated.
    let settled = counted(&receiver);
    assert!(settled.values().filter(|count| **count > 1).count() <= 8 + 8, "{settled:?}");
    node.cais.terminate().unwrap();
}

async fn unresponsive_receivers_do_not_delay_others(engine: Engine) {
    let node = own(engine, &OFTEN).await;
    let shop = node.shop();
    let mut responsive = Vec::new();
    let mut unresponsive = Vec::new();
    for number in 0..18 {
        let behavior = match number % 6 {
            0 => Behavior::NeverAnswers,
            1 => Behavior::ClosesConnection,
            _ => Behavior::status(200),
        };
        let receiver = Receiver::start_with(behavior.clone()).await;
        register(&shop, &receiver.url(&format!("/{number}")), &["charge.paid"]).await;
        if matches!(behavior, Behavior::Answers(..)) { responsive.push(receiver) } else { unresponsive.push(receiver) }
    }
    join_all((0..20).map(|_| paid(&shop, "2"))).await;
    for receiver in &responsive {
        until_all_arrived(&shop, receiver, 20).await;
    }
    for receiver in &unresponsive {
        assert!(receiver.most_under_way() <= 8, "{}", receiver.most_under_way());
    }
}

#[tokio::test]
async fn two_nodes_share_the_work() {
    let one = own(Engine::Postgres, &OFTEN).await;
    let url = one.cais.database_url().unwrap().to_owned();
    let mut environment = OFTEN.to_vec();
    environment.push(("CAIS_DATABASE_URL", &url));
    let mut two = own(Engine::Sqlite, &environment).await;
    let here = one.shop();
    let receiver = Receiver::start().await;
    let endpoint = register(&here, &receiver.url("/hooks"), &["charge.paid"]).await;
    paid(&here, "2").await;
    receiver.until(1).await;
    receiver.set_behavior(Behavior::NeverAnswers);
    // Each charge and its payment at one node, because each node has its own sandbox.
    join_all((1..20).map(|_| paid(&here, "2"))).await;
    receiver.until(3).await;
    assert!(receiver.most_under_way() <= 8, "both together keep to the limit: {}", receiver.most_under_way());
    receiver.set_behavior(Behavior::status(200));
    until_all_arrived(&here, &receiver, 20).await;
    let there = here.at(&two.base());
    let attempts = |all: Vec<Value>| -> usize { all.iter().map(|one| one["attempts"].as_array().unwrap().len()).sum() };
    eventually("no delivery is pending", || async {
        deliveries(&there, &endpoint).await.iter().all(|one| one["status"] == "succeeded").then_some(())
    })
    .await;
    let made = attempts(deliveries(&there, &endpoint).await);
    assert_eq!(made, receiver.received().len(), "every attempt is in the log, and no other");
    two.cais.kill9().unwrap();
    paid(&here, "2").await;
    until_all_arrived(&here, &receiver, 21).await;
}
