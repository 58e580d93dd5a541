//! Tests windows shared by nodes, with a Redis server that the tests also stop, kill and restart.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use cais_domain::merchant::api_key::KeyPrefix;
use cais_ports::RateLimits as _;
use cais_rate_limits::{RedisUrl, SharedWindows};
use cais_testkit::redis::RedisServer;
use jiff::Timestamp;

/// The longest wait for a condition. A server starts within a second on an idle machine.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The pause between two checks.
const POLL_PAUSE: Duration = Duration::from_millis(20);
/// Calls per window.
const LIMIT: u32 = 100;

/// Starts a node that counts in this server, and waits for it as long as a busy machine needs.
async fn node(server: &RedisServer) -> SharedWindows {
    node_that_waits(server, TIMEOUT).await
}

async fn node_that_waits(server: &RedisServer, answers_within: Duration) -> SharedWindows {
    let node = SharedWindows::start(RedisUrl::parse(&server.url()).unwrap(), LIMIT, answers_within);
    until(|| node.is_shared()).await;
    node
}

async fn until(condition: impl Fn() -> bool) {
    let waited = async {
        while !condition() {
            tokio::time::sleep(POLL_PAUSE).await;
        }
    };
    tokio::time::timeout(TIMEOUT, waited).await.unwrap();
}

fn key(name: char) -> KeyPrefix {
    KeyPrefix::parse(&name.to_string().repeat(12)).unwrap()
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// Calls both nodes concurrently. Returns the number of allowed calls.
async fn allowed(nodes: [&SharedWindows; 2], key: &KeyPrefix, calls: u32, now: Timestamp) -> usize {
    let each = nodes.into_iter().flat_map(|node| (0..calls).map(move |_| node.count(key, now)));
    futures_util::future::join_all(each).await.iter().filter(|decision| decision.allowed).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_share_one_window_exactly() {
    let server = RedisServer::start().unwrap();
    let (one, other) = (node(&server).await, node(&server).await);
    let first = one.count(&key('a'), at(60)).await;
    assert_eq!((first.allowed, first.limit, first.remaining, first.reset_s), (true, LIMIT, LIMIT - 1, 120));
    let second = other.count(&key('a'), at(61)).await;
    assert_eq!((second.allowed, second.remaining, second.reset_s), (true, LIMIT - 2, 120));
    // Each node receives so few calls that its own count refuses none.
    assert_eq!(allowed([&one, &other], &key('a'), LIMIT - 10, at(70)).await, 98);
    let refused = other.count(&key('a'), at(119)).await;
    assert_eq!((refused.allowed, refused.remaining, refused.reset_s), (false, 0, 120));
    assert!(one.count(&key('b'), at(119)).await.allowed, "keys do not share");
    assert_eq!(one.count(&key('a'), at(120)).await.remaining, LIMIT - 1, "a new minute");
    assert!(one.is_shared() && other.is_shared(), "all calls above were counted in Redis");
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_redis_leaves_each_node_its_own_window() {
    let mut server = RedisServer::start().unwrap();
    let (one, other) = (node(&server).await, node(&server).await);
    assert_eq!(allowed([&one, &other], &key('a'), 30, at(60)).await, 60);
    server.kill().unwrap();
    // 60 calls were counted together; each node counted 30.
    assert_eq!(allowed([&one, &other], &key('a'), LIMIT, at(61)).await, 140);
    assert!(!one.is_shared() && !other.is_shared());

    server.start_again().unwrap();
    until(|| one.is_shared() && other.is_shared()).await;
    assert!(!one.count(&key('a'), at(62)).await.allowed, "an empty Redis allows no more");
    assert_eq!(allowed([&one, &other], &key('b'), LIMIT - 10, at(62)).await, 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_redis_is_skipped_until_it_answers() {
    let server = RedisServer::start().unwrap();
    let node = node_that_waits(&server, Duration::from_millis(500)).await;
    server.signal("STOP").unwrap();
    assert_eq!(node.count(&key('a'), at(60)).await.remaining, LIMIT - 1, "counted by the node");
    assert!(!node.is_shared(), "the next calls do not wait");
    server.signal("CONT").unwrap();
    until(|| node.is_shared()).await;
    assert!(node.count(&key('a'), at(61)).await.allowed);
}

#[tokio::test(flavor = "multi_thread")]
async fn node_without_redis_counts_from_its_start() {
    let mut server = RedisServer::start().unwrap();
    server.kill().unwrap();
    let url = RedisUrl::parse(&server.url()).unwrap();
    let node = SharedWindows::start(url, 1, TIMEOUT);
    assert!(node.count(&key('a'), at(60)).await.allowed);
    assert!(!node.count(&key('a'), at(61)).await.allowed);
    server.start_again().unwrap();
    until(|| node.is_shared()).await;
    assert!(node.count(&key('b'), at(61)).await.allowed);
}
