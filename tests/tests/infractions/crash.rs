//! A service that is killed at every step of an infraction: opened once, defended once, resolved once.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{balances, defend, fetch, until};
use crate::support::{Engine, Institution, borrowed, eventually, id, on_both, own};

on_both! { killed_service_handles_each_step_once }

async fn killed_service_handles_each_step_once(engine: Engine) {
    let psp = Institution::start();
    let environment = psp.environment("main");
    let mut node = own(engine, &borrowed(&environment)).await;
    let mut shop = node.shop();
    let charges = join_all((0..6).map(|_| shop.charge("10"))).await;
    let pix = join_all(charges.iter().map(|charge| psp.pay(charge["txid"].as_str().unwrap()))).await;
    join_all(charges.iter().map(|charge| async { shop.until(&id(charge), "paid").await })).await;

    // Disputed while the service dies.
    let usual = json!({});
    let upstream = join_all(pix.iter().map(|pix| psp.dispute(pix, &usual))).await;
    node.cais.crash_and_restart().await.unwrap();
    shop = node.again(&shop);
    let opened = eventually("all infractions are known", || async {
        let all = shop.all("/infractions?limit=200").await;
        (all.len() == 6).then_some(all)
    })
    .await;
    assert_eq!(balances(&shop).await, [0, 0, 6_000]);

    // Defended while the service dies: the reply and its receiver are lost.
    psp.slow(300).await;
    let body = json!({ "defense_text": "Delivered." });
    let defenses = join_all(opened.iter().map(|infraction| {
        let path = format!("/infractions/{}/defense", id(infraction));
        crate::support::Reply::try_of(shop.json(reqwest::Method::POST, &path, body.to_string()))
    }));
    let dies = async {
        eventually("a defense reached the acquirer", || async {
            (psp.requests("defense_create").await > 0).then_some(())
        })
        .await;
        node.cais.kill9().unwrap();
    };
    tokio::join!(defenses, dies);
    psp.faults("ok").await;
    node.cais.launch().await.unwrap();
    shop = node.again(&shop);
    for infraction in &opened {
        eventually("the infraction is defended", || async {
            (defend(&shop, infraction, &body).await.status == 200).then_some(())
        })
        .await;
        until(&shop, infraction, "under_review").await;
    }
    for name in &upstream {
        assert_eq!(psp.infraction(name).await["defesas"], 1);
    }

    // Resolved while the service dies.
    for (number, name) in upstream.iter().enumerate() {
        psp.resolve(name, ["won", "lost", "cancelled"][number % 3]).await;
    }
    node.cais.crash_and_restart().await.unwrap();
    shop = node.again(&shop);
    let mut ends: Vec<Value> = Vec::new();
    for infraction in &opened {
        ends.push(
            eventually("the infraction is resolved", || async {
                let now = fetch(&shop, infraction).await;
                now["resolved_at"].is_string().then(|| now["status"].clone())
            })
            .await,
        );
    }
    assert_eq!(ends.iter().filter(|end| **end == "lost").count(), 2, "{ends:?}");
    assert_eq!(balances(&shop).await, [4_000, 0, 0]);
    let events = shop.all("/events?limit=200").await;
    let count = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
    assert_eq!((count("infraction.opened"), count("infraction.under_review")), (6, 6));
    assert_eq!((count("infraction.won"), count("infraction.lost"), count("infraction.cancelled")), (2, 2, 2));
    assert_eq!(count("charge.refunded"), 2);
    let sequences: Vec<i64> = events.iter().rev().map(|event| event["sequence"].as_i64().unwrap()).collect();
    assert_eq!(sequences, (1..=26).collect::<Vec<_>>());
    shop.check_statement().await;
    node.verify();
}
