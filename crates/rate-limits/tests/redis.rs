//! Windows shared by nodes, over a Redis server of the test, which is also stopped, killed and restarted.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use cais_domain::api_key::KeyPrefix;
use cais_ports::RateLimits as _;
use cais_rate_limits::{RedisUrl, SharedWindows};
use jiff::Timestamp;
use tempfile::TempDir;

/// The longest wait for a condition. A server starts within a second on an idle machine.
const PATIENCE: Duration = Duration::from_secs(30);
/// The pause between two checks.
const LOOK: Duration = Duration::from_millis(20);
/// Calls per window.
const LIMIT: u32 = 100;

/// A Redis server on a free port in a temporary folder; killed with the test.
struct Server {
    folder: TempDir,
    port: u16,
    process: Child,
}

impl Server {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let process = spawn(&folder, port);
        Self { folder, port, process }
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    fn start_again(&mut self) {
        self.process = spawn(&self.folder, self.port);
    }

    /// Sends a signal that stops or continues the process.
    fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(format!("-{name}")).arg(self.process.id().to_string()).status();
        assert!(sent.unwrap().success(), "{name}");
    }

    /// Returns a node that counts in this server, with a wait suited to a busy machine.
    async fn node(&self) -> SharedWindows {
        self.node_that_waits(PATIENCE).await
    }

    async fn node_that_waits(&self, answers_within: Duration) -> SharedWindows {
        let url = RedisUrl::parse(&format!("redis://127.0.0.1:{}", self.port)).unwrap();
        let node = SharedWindows::start(url, LIMIT, answers_within);
        until(|| node.is_shared()).await;
        node
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ended = self.process.kill();
        let _reaped = self.process.wait();
    }
}

fn spawn(folder: &TempDir, port: u16) -> Child {
    Command::new("redis-server")
        .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--port", &port.to_string()])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

async fn until(condition: impl Fn() -> bool) {
    let waited = async {
        while !condition() {
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(PATIENCE, waited).await.unwrap();
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
    let server = Server::start();
    let (one, other) = (server.node().await, server.node().await);
    let first = one.count(&key('a'), at(60)).await;
    assert_eq!((first.allowed, first.limit, first.remaining, first.reset_s), (true, LIMIT, LIMIT - 1, 120));
    let second = other.count(&key('a'), at(61)).await;
    assert_eq!((second.allowed, second.remaining, second.reset_s), (true, LIMIT - 2, 120));
    // Few enough calls per node that neither would refuse alone.
    assert_eq!(allowed([&one, &other], &key('a'), LIMIT - 10, at(70)).await, 98);
    let refused = other.count(&key('a'), at(119)).await;
    assert_eq!((refused.allowed, refused.remaining, refused.reset_s), (false, 0, 120));
    assert!(one.count(&key('b'), at(119)).await.allowed, "keys do not share");
    assert_eq!(one.count(&key('a'), at(120)).await.remaining, LIMIT - 1, "a new minute");
    assert!(one.is_shared() && other.is_shared(), "all calls above were counted in Redis");
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_redis_leaves_each_node_its_own_window() {
    let mut server = Server::start();
    let (one, other) = (server.node().await, server.node().await);
    assert_eq!(allowed([&one, &other], &key('a'), 30, at(60)).await, 60);
    server.kill();
    // 60 calls were counted together; each node counted 30.
    assert_eq!(allowed([&one, &other], &key('a'), LIMIT, at(61)).await, 140);
    assert!(!one.is_shared() && !other.is_shared());

    server.start_again();
    until(|| one.is_shared() && other.is_shared()).await;
    assert!(!one.count(&key('a'), at(62)).await.allowed, "an empty Redis allows no more");
    assert_eq!(allowed([&one, &other], &key('b'), LIMIT - 10, at(62)).await, 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_redis_is_skipped_until_it_answers() {
    let server = Server::start();
    let node = server.node_that_waits(Duration::from_millis(500)).await;
    server.signal("STOP");
    assert_eq!(node.count(&key('a'), at(60)).await.remaining, LIMIT - 1, "counted by the node");
    assert!(!node.is_shared(), "the next calls do not wait");
    server.signal("CONT");
    until(|| node.is_shared()).await;
    assert!(node.count(&key('a'), at(61)).await.allowed);
}

#[tokio::test(flavor = "multi_thread")]
async fn node_without_redis_counts_from_its_start() {
    let mut server = Server::start();
    server.kill();
    let url = RedisUrl::parse(&format!("redis://127.0.0.1:{}", server.port)).unwrap();
    let node = SharedWindows::start(url, 1, PATIENCE);
    assert!(node.count(&key('a'), at(60)).await.allowed);
    assert!(!node.count(&key('a'), at(61)).await.allowed);
    server.start_again();
    until(|| node.is_shared()).await;
    assert!(node.count(&key('b'), at(61)).await.allowed);
}
