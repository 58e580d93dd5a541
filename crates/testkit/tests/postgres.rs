//! Tests the private PostgreSQL server: one for all tests, a database for each, and a complete cleanup.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use cais_testkit::postgres::{Cluster, Options};

#[test]
fn tests_have_separate_databases() {
    let cluster = Cluster::shared().unwrap();
    let (one, other) = (cluster.fresh_database().unwrap(), cluster.fresh_database().unwrap());
    cluster.sql(&one, "CREATE TABLE t (a INT); INSERT INTO t VALUES (7)").unwrap();
    assert_eq!(cluster.sql(&one, "SELECT a FROM t").unwrap(), "7");
    assert!(cluster.sql(&other, "SELECT a FROM t").is_err());
}

#[test]
fn prepared_database_is_prepared_once_and_copied() {
    let cluster = Cluster::shared().unwrap();
    let runs = AtomicU32::new(0);
    let make = || {
        cluster.prepared_database("of-this-test", |url| {
            runs.fetch_add(1, Ordering::Relaxed);
            cluster.sql(url, "CREATE TABLE t (a INT)").map(drop)
        })
    };
    for _ in 0..3 {
        let url = make().unwrap();
        assert_eq!(cluster.sql(&url, "INSERT INTO t VALUES (1); SELECT count(*) FROM t").unwrap(), "1");
    }
    assert_eq!(runs.into_inner(), 1);
}

#[test]
fn removed_database_is_gone_even_with_connections() {
    let cluster = Cluster::shared().unwrap();
    let url = cluster.fresh_database().unwrap();
    std::thread::scope(|scope| {
        let sleeper = scope.spawn(|| cluster.sql(&url, "SELECT pg_sleep(120)"));
        let name = url.rsplit('/').next().unwrap();
        let connections = format!("SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}'");
        let begun = Instant::now();
        while cluster.sql("postgres", &connections).unwrap() == "0" {
            assert!(begun.elapsed() < Duration::from_mins(1), "the sleeper does not connect");
        }
        cluster.remove_database(&url).unwrap();
        assert!(sleeper.join().unwrap().is_err());
    });
    assert!(cluster.sql(&url, "SELECT 1").is_err());
    assert!(cluster.remove_database(&url).is_err());
}

#[test]
fn messages_are_in_english_and_text_is_unicode() {
    let cluster = Cluster::shared().unwrap();
    assert_eq!(cluster.sql("postgres", "SHOW lc_messages").unwrap(), "C");
    assert_eq!(cluster.sql("postgres", "SHOW server_encoding").unwrap(), "UTF8");
}

#[test]
fn server_with_tls_accepts_only_encrypted_connections() {
    let cluster = Cluster::start(Options { tls: true, fsync: true }).unwrap();
    let url = cluster.url("postgres");
    let root = cluster.root_certificate();
    let verified = format!("{url}?sslmode=verify-ca&sslrootcert={}", root.display());
    let encrypted = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    assert_eq!(cluster.sql(&verified, encrypted).unwrap(), "t");
    assert_eq!(cluster.sql(&format!("{url}?sslmode=require"), encrypted).unwrap(), "t");
    assert!(cluster.sql(&format!("{url}?sslmode=disable"), encrypted).is_err());
    assert_eq!(cluster.sql(&verified, "SHOW fsync").unwrap(), "on");
}

#[test]
fn dropped_server_ends_and_its_folder_is_removed() {
    let cluster = Cluster::start(Options::default()).unwrap();
    let folder = cluster.root_certificate();
    let folder = folder.ancestors().nth(2).unwrap();
    assert!(folder.join("data/PG_VERSION").is_file());
    let port = cluster.port();
    drop(cluster);
    assert!(!folder.exists());
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
}
