//! Tests the contract on a PostgreSQL server, with one lane and with several, and connections that are lost at a COMMIT.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cais_domain::charge::Charge;
use cais_domain::event::EventType;
use cais_domain::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, SystemAccount, Transfer};
use cais_domain::merchant::account::Account;
use cais_domain::money::Money;
use cais_persistence::{Persistence, StoreConfig};
use cais_ports::{BalanceQueries as _, ChangeSet, CommitError, Maintenance as _, Store as _};
use cais_testkit::builders::{a_payment, an_account, an_event, main_acquirer, pending_charge, start, steps};
use cais_testkit::contract::Engine;
use cais_testkit::postgres::Cluster;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::proxy::{Loss, Proxy};
use crate::stores::{ContractStore, config, ids, migrated};

mod contract {
    use super::{Engine, store};

    fn one_lane() -> Box<dyn Engine> {
        store(1)
    }

    cais_testkit::store_suite!(one_lane);
}

mod contract_with_two_lanes {
    use super::{Engine, store};

    fn two_lanes() -> Box<dyn Engine> {
        store(2)
    }

    cais_testkit::store_suite!(two_lanes);
}

mod contract_with_four_lanes {
    use super::{Engine, store};

    fn four_lanes() -> Box<dyn Engine> {
        store(4)
    }

    cais_testkit::store_suite!(four_lanes);
}

fn store(lanes: usize) -> Box<dyn Engine> {
    let removed_later = RemovedLater(database());
    ContractStore::boxed(StoreConfig { lanes, ..config(&removed_later.0) }, removed_later)
}

/// The URL of a database that is removed with this value.
struct RemovedLater(String);

impl Drop for RemovedLater {
    fn drop(&mut self) {
        // A database that stays is removed with the server.
        drop(Cluster::shared().map(|cluster| cluster.remove_database(&self.0)));
    }
}

/// Returns the URL of a new migrated database.
pub fn database() -> String {
    let prepare = |url: &str| {
        migrated(url);
        Ok(())
    };
    Cluster::shared().unwrap().prepared_database("cais", prepare).unwrap()
}

/// Returns a change set with money and an event. Only the batch's id would reveal a second execution.
pub fn income(account: &Account) -> ChangeSet {
    let transfer = Transfer {
        from: LedgerAccount::system(SystemAccount::Settlement(main_acquirer()), account.id),
        to: LedgerAccount::Merchant(account.id, Bucket::Available),
        amount: Money::from_centavos(100),
        overdraft: Overdraft::Allowed,
        kind: EntryKind::Charge,
        resource: None,
        end_to_end_id: None,
    };
    let event = an_event(account.id, EventType::ChargePaid, "chg_1");
    ChangeSet { transfers: vec![transfer], events: vec![event], ..ChangeSet::new(start()) }
}

/// Opens the store at that URL.
pub fn open(url: &str) -> Persistence {
    Persistence::open(&config(url), &ids()).unwrap()
}

async fn assert_received(store: &Persistence, account: &Account, times: i64) {
    let balances = store.balances(account.id).await.unwrap();
    assert_eq!(balances.available, Money::from_centavos(100 * times));
    assert_eq!(store.last_sequence(account.id).await, Ok(times));
    let report = store.verify_ledger().await.unwrap();
    assert_eq!(report.differences, []);
    assert_eq!(i64::try_from(report.entries), Ok(2 * times));
}

/// Runs a store behind a proxy that loses the COMMIT of the second of three changes, and further messages in `losses`.
fn losing(losses: &[Loss], meanwhile: impl FnOnce(&str, &Proxy) + Send + 'static) {
    let url = database();
    let cluster = Cluster::shared().unwrap();
    let proxy = Arc::new(Proxy::start(cluster.port()));
    let proxied = url.replace(&cluster.port().to_string(), &proxy.port().to_string());
    Runtime::new().unwrap().block_on(async {
        let (store, account) = (open(&proxied), an_account());
        store.commit(income(&account)).await.unwrap();
        proxy.arm(losses);
        let helper = Arc::clone(&proxy);
        let helper = tokio::task::spawn_blocking(move || meanwhile(&url, &helper));
        assert_eq!(store.commit(income(&account)).await.map(|done| done.sequences), Ok(vec![2]));
        helper.await.unwrap();
        assert!(proxy.fired());
        assert_received(&store, &account, 2).await;
        assert_eq!(store.commit(income(&account)).await.map(|done| done.sequences), Ok(vec![3]));
        assert_received(&store, &account, 3).await;
        store.close().await;
    });
}

#[test]
fn commit_lost_before_server_is_repeated() {
    losing(&[Loss::Request], |_, _| {});
}

#[test]
fn commit_with_lost_reply_is_not_repeated() {
    losing(&[Loss::Reply], |_, _| {});
}

#[test]
fn abort_with_lost_reply_is_not_confused_with_batch() {
    losing(&[Loss::Request, Loss::AbortReply], |_, _| {});
    losing(&[Loss::Request, Loss::AbortReply, Loss::AbortReply], |_, _| {});
}

#[test]
fn committed_batch_with_lost_abort_reply_stays_committed() {
    losing(&[Loss::Reply, Loss::AbortReply], |_, _| {});
}

#[test]
fn commit_arriving_late_is_awaited() {
    losing(&[Loss::Late], |url, proxy| {
        // The look-up of the outcome waits for the lost transaction, which is still open.
        let waiting =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let started = Instant::now();
        while Cluster::shared().unwrap().sql(url, waiting).unwrap() == "0" {
            assert!(started.elapsed() < Duration::from_secs(9), "no caller waits");
        }
        proxy.release();
    });
}

#[test]
fn closed_connection_is_replaced() {
    let url = database();
    Runtime::new().unwrap().block_on(async {
        let (store, account) = (open(&url), an_account());
        store.commit(income(&account)).await.unwrap();
        let end_all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
        Cluster::shared().unwrap().sql(&url, end_all).unwrap();
        store.commit(income(&account)).await.unwrap();
        let name = steps::idempotency_ref(account.id, "some-key");
        assert_eq!(cais_ports::IdempotencyQueries::find_idempotency_record(&store, &name).await, Ok(None));
        assert_received(&store, &account, 2).await;
    });
}

#[test]
fn nodes_side_by_side_keep_one_ledger() {
    let url = database();
    Runtime::new().unwrap().block_on(async {
        let (nodes, accounts) = ([open(&url), open(&url)], [an_account(), an_account(), an_account()]);
        let mut tasks = JoinSet::new();
        for round in 0..40 {
            for (node, account) in
                nodes.iter().zip([round, round + 1].map(|turn: usize| accounts.get(turn % 3).unwrap()))
            {
                let (node, change) = (node.clone(), income(account));
                tasks.spawn(async move { node.commit(change).await });
            }
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap().unwrap();
        }
        let mut sum = 0;
        for account in &accounts {
            sum += nodes.first().unwrap().last_sequence(account.id).await.unwrap();
        }
        assert_eq!(sum, 80);
        let report = nodes.first().unwrap().verify_ledger().await.unwrap();
        assert_eq!((report.entries, report.differences), (160, Vec::new()));
    });
}

#[test]
fn bad_change_set_does_not_affect_its_neighbors() {
    let url = database();
    Runtime::new().unwrap().block_on(async {
        let (store, account) = (open(&url), an_account());
        let mut tasks = JoinSet::new();
        for _ in 0..20 {
            let (good, change) = (store.clone(), income(&account));
            tasks.spawn(async move { good.commit(change).await.is_ok() });
            // PostgreSQL accepts no NUL in a text.
            let mut bad = income(&account);
            bad.events.iter_mut().for_each(|event| event.resource.push('\0'));
            let store = store.clone();
            tasks.spawn(async move { matches!(store.commit(bad).await, Err(CommitError::Corrupt(_))) });
        }
        while let Some(as_expected) = tasks.join_next().await {
            assert!(as_expected.unwrap());
        }
        assert_received(&store, &account, 20).await;
    });
}

#[test]
fn audit_finds_every_tampering() {
    for (tampering, what) in [
        ("UPDATE balances SET amount = amount + 1 WHERE bucket = 'available'", "/available"),
        ("UPDATE balances SET amount = amount + 1 WHERE bucket = 'available'", "sum of all balances"),
        ("UPDATE balances SET amount = -1 WHERE bucket = 'available'", "negative balance"),
        ("UPDATE balances SET entries = entries + 1", "count of entries"),
        ("UPDATE balances SET last_entry_id = 'ent_0'", "entries after the last"),
        ("DELETE FROM balances", "no balance row"),
        ("UPDATE entries SET balance_after = balance_after + 1 WHERE amount > 0", "running balance"),
        (
            "UPDATE entries SET amount = amount + 1, balance_after = balance_after + 1 WHERE amount > 0",
            "sum of transfer",
        ),
        ("DELETE FROM entries WHERE amount > 0", "sum of transfer"),
        ("DELETE FROM events WHERE sequence = 2", "events of"),
        ("DELETE FROM events WHERE sequence = 3", "events of"),
        ("UPDATE event_counters SET last_sequence = 7", "events of"),
        ("DELETE FROM event_counters", "events of"),
        ("UPDATE payments SET amount = amount + 1", "credit of payment"),
        ("DELETE FROM payments", "credit without payment"),
    ] {
        let url = database();
        Runtime::new().unwrap().block_on(async {
            let (store, account) = (open(&url), an_account());
            store.commit(income(&account)).await.unwrap();
            store.commit(income(&account)).await.unwrap();
            let charge = pending_charge(account.id);
            store.commit(steps::open_charge(&charge)).await.unwrap();
            let charge = Charge { version: 1, ..charge };
            store.commit(steps::confirm_payment(&charge, a_payment(1_000), start())).await.unwrap();
            assert_eq!(store.verify_ledger().await.unwrap().differences, []);
            Cluster::shared().unwrap().sql(&url, tampering).unwrap();
            let found = store.verify_ledger().await.unwrap().differences;
            assert!(found.iter().any(|difference| difference.what.contains(what)), "{tampering}: {found:?}");
        });
    }
}
