//! Tests batches that PostgreSQL receives as one statement without BEGIN and COMMIT: the effects of a refusal and of a lost connection.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::merchant::account::Account;
use cais_persistence::Persistence;
use cais_ports::{ChargeQueries as _, CommitError, Store as _};
use cais_testkit::builders::{a_charge, an_account, in_status, start, steps};
use cais_testkit::postgres::Cluster;
use tokio::runtime::Runtime;

use crate::postgres::{database, open};
use crate::proxy::{Loss, Proxy};

/// Counts the batches with that outcome.
fn batches(url: &str, outcome: &str) -> String {
    let count = format!("SELECT count(*) FROM commit_batches WHERE outcome = '{outcome}'");
    Cluster::shared().unwrap().sql(url, &count).unwrap()
}

/// Commits a new idempotency record and a new charge.
async fn create(store: &Persistence, charge: &Charge) -> Result<(), CommitError> {
    let change = steps::create_charge(charge, steps::idempotency_ref(charge.account, &charge.id.to_string()));
    store.commit(change).await.map(drop)
}

/// Commits the code of the charge and the answer of the record, where `version` is the one that was read.
async fn issue(store: &Persistence, charge: &Charge, version: i64) -> Result<(), CommitError> {
    let issued = in_status(Charge { version, ..charge.clone() }, ChargeStatus::Pending);
    let name = steps::idempotency_ref(charge.account, &charge.id.to_string());
    store.commit(steps::issue_charge(&issued, name, 1, start())).await.map(drop)
}

async fn assert_stands(store: &Persistence, charge: &Charge, version: i64) {
    let found = store.find_charge(charge.account, charge.id).await.unwrap();
    assert_eq!(found.map(|found| found.version), Some(version));
}

/// Runs a store behind a proxy, which loses the second of three batches in these ways.
fn losing(losses: &[Loss], afterwards: impl FnOnce(&str, &Proxy)) {
    let url = database();
    let cluster = Cluster::shared().unwrap();
    let proxy = Arc::new(Proxy::start(cluster.port()));
    let proxied = url.replace(&cluster.port().to_string(), &proxy.port().to_string());
    let (runtime, account): (Runtime, Account) = (Runtime::new().unwrap(), an_account());
    let (first, second) = (a_charge(account.id), a_charge(account.id));
    let store = runtime.block_on(async {
        let store = open(&proxied);
        create(&store, &first).await.unwrap();
        proxy.arm(losses);
        assert_eq!(create(&store, &second).await, Ok(()));
        assert!(proxy.fired());
        assert_stands(&store, &second, 1).await;
        assert_eq!(issue(&store, &second, 1).await, Ok(()));
        store
    });
    afterwards(&url, &proxy);
    runtime.block_on(async {
        assert_stands(&store, &first, 1).await;
        assert_stands(&store, &second, 2).await;
        store.close().await;
    });
}

#[test]
fn batch_lost_before_server_is_repeated() {
    losing(&[Loss::AloneRequest], |url, _| assert_eq!(batches(url, "aborted"), "1"));
}

#[test]
fn batch_with_lost_reply_is_not_repeated() {
    losing(&[Loss::AloneReply], |url, _| assert_eq!([batches(url, "aborted"), batches(url, "committed")], ["0", "3"]));
    losing(&[Loss::AloneReply, Loss::AbortReply], |url, _| assert_eq!(batches(url, "aborted"), "0"));
}

#[test]
fn batch_arriving_after_abort_changes_nothing() {
    losing(&[Loss::AloneLate], |url, proxy| {
        let written = batches(url, "committed");
        let connections = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()";
        let count = || Cluster::shared().unwrap().sql(url, connections).unwrap().parse::<u32>().unwrap();
        let before = count();
        proxy.release();
        // When the server ends the connection, it has read the statement.
        let started = Instant::now();
        while count() >= before {
            assert!(started.elapsed() < Duration::from_secs(9), "the lost connection stays");
        }
        assert_eq!([batches(url, "aborted"), batches(url, "committed")], ["1".to_owned(), written]);
    });
}

#[test]
fn missed_guard_writes_nothing_and_aborts_no_batch() {
    let url = database();
    Runtime::new().unwrap().block_on(async {
        let (store, charge) = (open(&url), a_charge(an_account().id));
        create(&store, &charge).await.unwrap();
        let before = batches(&url, "committed");
        // The record's fence is correct and its row comes first; the charge's version is wrong.
        assert_eq!(issue(&store, &charge, 7).await, Err(CommitError::Stale));
        assert!(
            matches!(create(&store, &charge).await, Err(CommitError::KeyInUse { record }) if record.answer.is_none())
        );
        assert_eq!([batches(&url, "aborted"), batches(&url, "committed")], ["0".to_owned(), before]);
        assert_stands(&store, &charge, 1).await;
        assert_eq!(issue(&store, &charge, 1).await, Ok(()));
        store.close().await;
    });
}
