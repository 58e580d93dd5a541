//! Tests the contract on a SQLite file.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use cais_persistence::migrations::{self, MigrationError};
use cais_persistence::{OpenError, Persistence, StoreConfig};
use cais_ports::{AccountQueries as _, CommitError, Maintenance as _, QueryError, Store as _};
use cais_testkit::builders::{a_callback, steps};
use cais_testkit::contract::Engine;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::stores::{ContractStore, config, ids, migrated};

mod contract {
    use super::{Engine, store};

    fn sqlite() -> Box<dyn Engine> {
        store()
    }

    cais_testkit::store_suite!(sqlite);
}

fn store() -> Box<dyn Engine> {
    let folder = tempfile::tempdir().unwrap();
    ContractStore::boxed(migrated(&url(&folder)), folder)
}

fn url(folder: &TempDir) -> String {
    format!("sqlite:{}", folder.path().join("cais.db").display())
}

#[test]
fn store_without_schema_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&url(&folder));
    assert!(matches!(Persistence::open(&config, &ids()), Err(OpenError::Unavailable(_))));
    let pending = migrations::status(&config.url).unwrap().pending;
    assert!(!Path::new(&folder.path().join("cais.db")).exists(), "a check creates no file");
    fs::write(folder.path().join("cais.db"), b"").unwrap();
    assert_eq!(Persistence::open(&config, &ids()).unwrap_err(), OpenError::SchemaTooOld { pending: pending.clone() });
    assert_eq!(migrations::migrate(&config.url, "test").unwrap(), pending);
    Persistence::open(&config, &ids()).unwrap();
}

#[test]
fn database_file_is_readable_by_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    migrated(&url(&folder));
    let mode = fs::metadata(folder.path().join("cais.db")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn missing_folder_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&format!("sqlite:{}/no/cais.db", folder.path().display()));
    let refused = migrations::migrate(&config.url, "test").unwrap_err();
    assert!(matches!(&refused, MigrationError::Unavailable(text) if text.contains("no/cais.db")), "{refused}");
}

#[test]
fn runners_do_not_run_together() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&url(&folder));
    let runners = ["a", "b", "c"].map(|owner| {
        let url = config.url.clone();
        std::thread::spawn(move || migrations::migrate(&url, owner).unwrap().len())
    });
    let ran: usize = runners.map(|runner| runner.join().unwrap()).into_iter().sum();
    assert_eq!(ran, migrations::status(&config.url).unwrap().applied.len());
}

#[test]
fn full_queue_refuses_at_once_and_closed_store_always() {
    let folder = tempfile::tempdir().unwrap();
    let config = StoreConfig { queue: 1, ..migrated(&url(&folder)) };
    Runtime::new().unwrap().block_on(async {
        let store = Persistence::open(&config, &ids()).unwrap();
        let mut tasks = JoinSet::new();
        for _ in 0..300 {
            let store = store.clone();
            tasks.spawn(async move { store.commit(steps::receive(&a_callback())).await });
        }
        let (mut good, mut refused) = (0, 0);
        while let Some(outcome) = tasks.join_next().await {
            match outcome.unwrap() {
                Ok(_) => good += 1,
                Err(other) => {
                    assert!(matches!(other, CommitError::Unavailable(_)), "{other}");
                    refused += 1;
                }
            }
        }
        assert!(good > 0 && refused > 0, "{good} and {refused}");
        assert_eq!(store.ready().await, Ok(()));
        store.close().await;
        assert!(matches!(store.ready().await, Err(QueryError::Unavailable(_))));
        assert!(matches!(store.commit(steps::receive(&a_callback())).await, Err(CommitError::Unavailable(_))));
    });
}

#[test]
fn too_many_reads_are_refused_at_once_and_the_others_answered() {
    let folder = tempfile::tempdir().unwrap();
    let config = StoreConfig { queue: 8, read_connections: 1, ..migrated(&url(&folder)) };
    Runtime::new().unwrap().block_on(async {
        let store = Persistence::open(&config, &ids()).unwrap();
        let mut tasks = JoinSet::new();
        for _ in 0..300 {
            let store = store.clone();
            tasks.spawn(async move { store.find_account_by_email("ana@shop.example").await });
        }
        let (mut good, mut refused) = (0, 0);
        while let Some(outcome) = tasks.join_next().await {
            match outcome.unwrap() {
                Ok(found) => {
                    assert_eq!(found, None);
                    good += 1;
                }
                Err(other) => {
                    assert!(matches!(other, QueryError::Unavailable(_)), "{other}");
                    refused += 1;
                }
            }
        }
        assert!(good >= 8 && refused > 0, "{good} and {refused}");
        assert_eq!(store.find_account_by_email("ana@shop.example").await, Ok(None), "every connection is free again");
    });
}
