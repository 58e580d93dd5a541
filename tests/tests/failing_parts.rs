//! Nodes during failures of Redis, of another node or of the database.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cais_testkit::postgres::Cluster;
use cais_testkit::redis::RedisServer;

use crate::support::{Engine, Node, Reply, Shop, client, eventually, own};
use crate::two_nodes::{pair, pair_with};

/// Waits until calls to both nodes count in the same window of the rate limit.
async fn until_one_window(here: &Shop, there: &Shop) {
    let number = |reply: &Reply, name: &str| reply.header(name).unwrap().parse::<i64>().unwrap();
    eventually("both nodes count in one window", || async {
        let mut last: Option<(i64, i64)> = None;
        for shop in [here, there, here, there] {
            let reply = shop.get("/charges").await;
            assert_eq!(reply.status, 200, "{}", reply.text());
            let now = (number(&reply, "x-ratelimit-reset"), number(&reply, "x-ratelimit-remaining"));
            if last.is_some_and(|(reset, remaining)| now != (reset, remaining - 1)) {
                return None;
            }
            last = Some(now);
        }
        Some(())
    })
    .await;
}

#[tokio::test]
async fn two_nodes_with_redis_share_a_window() {
    let mut redis = RedisServer::start().unwrap();
    let url = redis.url();
    let (_psp, one, two) = pair_with(&[("CAIS_REDIS_URL", &url), ("CAIS_RATE_LIMIT_PER_MINUTE", "6000")]).await;
    let here = one.shop();
    let there = here.at(&two.base());
    until_one_window(&here, &there).await;
    redis.kill().unwrap();
    for shop in [&here, &there, &here, &there] {
        shop.get("/charges").await.expect(200);
    }
    redis.start_again().unwrap();
    until_one_window(&here, &there).await;
}

/// Creates payouts of one account on a node until `stop` is set. A frozen node may answer late, or with 503.
async fn load(shop: Shop, stop: Arc<AtomicBool>) -> usize {
    let mut made = 0;
    while !stop.load(Ordering::Relaxed) {
        let reply = shop.pay_out("0.01", "ana@example.com").await;
        made += usize::from(reply.status == 201);
        assert!([201, 503].contains(&reply.status), "{}", reply.text());
    }
    made
}

#[tokio::test]
async fn frozen_node_delays_no_other_account() {
    let (psp, one, two) = pair().await;
    let mut others = Vec::new();
    for _ in 0..4 {
        others.push(one.shop());
    }
    let loaded = one.shop();
    for shop in others.iter().chain([&loaded]) {
        let charge = shop.charge("100").await;
        psp.pay(charge["txid"].as_str().unwrap()).await;
        shop.until_available("100.00").await;
    }
    for _ in 0..3 {
        let stop = Arc::new(AtomicBool::new(false));
        let there = loaded.at(&two.base());
        let before = psp.sends().await.len();
        let callers: Vec<_> = (0..4).map(|_| tokio::spawn(load(there.clone(), Arc::clone(&stop)))).collect();
        eventually("the node sends payouts", || async { (psp.sends().await.len() > before + 4).then_some(()) }).await;
        two.cais.signal("STOP").unwrap();
        for _ in 0..3 {
            for shop in &others {
                shop.create(r#"{"amount":10}"#).await.expect(201);
                shop.pay_out("0.01", "ana@example.com").await.expect(201);
            }
        }
        stop.store(true, Ordering::Relaxed);
        two.cais.signal("CONT").unwrap();
        for caller in callers {
            assert!(caller.await.unwrap() > 0, "the node created payouts");
        }
    }
    for shop in others.iter().chain([&loaded]) {
        eventually("every payout is completed", || async {
            let payouts = shop.all("/payouts?limit=200").await;
            payouts.iter().all(|payout| payout["status"] == "completed").then_some(())
        })
        .await;
        shop.check_statement().await;
    }
    one.verify();
    two.verify();
}

async fn readyz(node: &Node) -> Reply {
    Reply::of(client().get(format!("{}/readyz", node.base()))).await
}

#[tokio::test]
async fn node_without_its_database_is_not_ready() {
    let node = own(Engine::Postgres, &[]).await;
    let shop = node.shop();
    assert_eq!(readyz(&node).await.status, 200);
    let database = node.cais.database_url().unwrap().rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
    let cluster = Cluster::shared().unwrap();
    let sql = |text: &str| cluster.sql(&cluster.url("postgres"), text).unwrap();
    sql(&format!("ALTER DATABASE \"{database}\" ALLOW_CONNECTIONS false"));
    sql(&format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'"));
    let refused = eventually("the node is not ready", || async {
        let reply = readyz(&node).await;
        (reply.status == 503).then_some(reply)
    })
    .await;
    refused.refused(503, "service_unavailable");
    assert_eq!(refused.json()["error"]["retryable"], true);
    eventually("the reason is logged", || async {
        assert!(!readyz(&node).await.text().contains("connect"), "the response has no cause");
        let log = node.cais.log();
        let reason = |line: &str| line.contains("/readyz") && line.contains("cause") && line.contains("connect");
        log.lines().any(reason).then_some(())
    })
    .await;
    assert_eq!(Reply::of(client().get(format!("{}/healthz", node.base()))).await.status, 200);
    sql(&format!("ALTER DATABASE \"{database}\" ALLOW_CONNECTIONS true"));
    eventually("the node is ready", || async { (readyz(&node).await.status == 200).then_some(()) }).await;
    eventually("charges are made", || async { (shop.create(r#"{"amount":10}"#).await.status == 201).then_some(()) })
        .await;
}
