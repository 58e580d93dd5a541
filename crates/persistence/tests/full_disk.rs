//! Tests a SQLite store on a full disk. The test has its own process, because the limit that simulates the disk holds for the whole process.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "the other tests use more of it")]
mod stores;

use std::process::Command;

use cais_persistence::Persistence;
use cais_ports::{CommitError, Maintenance as _, QueryError, Store as _};
use cais_testkit::builders::{a_callback, steps};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use crate::stores::{ids, migrated, wait_until_ready};

/// The signal of a write beyond the limit, which ends a process without a handler: signal(7).
const SIGXFSZ: i32 = 25;
/// Limits the size of every file that this process writes.
fn limit_files(bytes: &str) {
    let mut prlimit = Command::new("prlimit");
    prlimit.args(["--pid", &std::process::id().to_string(), &format!("--fsize={bytes}:unlimited")]);
    assert!(prlimit.status().unwrap().success());
}

#[test]
fn store_on_a_full_disk_is_not_ready_until_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let config = migrated(&format!("sqlite:{}", folder.path().join("cais.db").display()));
    Runtime::new().unwrap().block_on(async {
        let _caught = signal(SignalKind::from_raw(SIGXFSZ)).unwrap();
        let store = Persistence::open(&config, &ids()).unwrap();
        store.commit(steps::receive(&a_callback())).await.unwrap();
        assert_eq!(store.ready().await, Ok(()));
        limit_files("4096");
        assert!(matches!(store.commit(steps::receive(&a_callback())).await, Err(CommitError::Unavailable(_))));
        let full = Err(QueryError::Unavailable("no change can be written".to_owned()));
        wait_until_ready(&store, |answer| *answer == full).await;
        limit_files("unlimited");
        wait_until_ready(&store, Result::is_ok).await;
        store.commit(steps::receive(&a_callback())).await.unwrap();
        store.close().await;
    });
}
