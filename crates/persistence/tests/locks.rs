//! Tests that only the change sets that need a locked row wait for another transaction.

use std::sync::Arc;
use std::time::Duration;

use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::ledger::{LedgerAccount, SystemAccount};
use cais_domain::merchant::account::Account;
use cais_persistence::{Persistence, StoreConfig};
use cais_ports::{
    BalanceQueries as _, ChangeSet, ChargeQueries as _, CommitError, Committed, Maintenance as _, Store as _, Write,
};
use cais_testkit::builders::{a_charge, an_account, in_status, main_acquirer, pending_charge, start, steps};
use cais_testkit::postgres::Cluster;
use diesel::PgConnection;
use diesel::connection::SimpleConnection as _;
use diesel::r2d2::{ConnectionManager, ManageConnection as _};
use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinHandle, JoinSet};

use crate::postgres::{database, income};
use crate::proxy::{Loss, Proxy};
use crate::stores::{config, ids};

/// A duration that exceeds the run of each test.
const LONG: Duration = Duration::from_mins(1);

type Outcome = Result<Committed, CommitError>;

/// Opens a store with one lane for all accounts. Callers have that deadline.
fn open(url: &str, deadline: Duration) -> Persistence {
    Persistence::open(&StoreConfig { lanes: 1, deadline, ..config(url) }, &ids()).unwrap()
}

/// Opens a session of another client, in a transaction that has run the statement.
pub fn foreign(url: &str, statement: &str) -> PgConnection {
    let mut session = ConnectionManager::<PgConnection>::new(url).connect().unwrap();
    session.batch_execute(&format!("BEGIN; {statement}")).unwrap();
    session
}

fn spawn(store: &Persistence, change: ChangeSet) -> JoinHandle<Outcome> {
    let store = store.clone();
    tokio::spawn(async move { store.commit(change).await })
}

/// Creates an account that has received money before.
async fn known_account(store: &Persistence) -> Account {
    let account = an_account();
    store.commit(income(&account)).await.unwrap();
    account
}

/// Asserts that the change set waits while another session locks its row. Concurrent and later change sets of other
/// accounts do not wait.
async fn assert_only_this_one_waits(store: &Persistence, url: &str, lock: &str, change: ChangeSet, others: &[Account]) {
    let mut holder = foreign(url, lock);
    let waiting = spawn(store, change);
    for _ in 0..3 {
        let mut tasks = JoinSet::new();
        for other in others {
            let charge = a_charge(other.id);
            let name = steps::idempotency_ref(other.id, &charge.id.to_string());
            for change in [income(other), steps::create_charge(&charge, name)] {
                let store = store.clone();
                tasks.spawn(async move { store.commit(change).await });
            }
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap().unwrap();
        }
    }
    assert!(!waiting.is_finished(), "{lock}");
    holder.batch_execute("ROLLBACK").unwrap();
    waiting.await.unwrap().unwrap();
}

#[test]
fn locked_row_delays_only_change_sets_that_need_it() {
    let url = database();
    Runtime::new().unwrap().block_on(async {
        let store = open(&url, LONG);
        let account = known_account(&store).await;
        let shard = LedgerAccount::shard(account.id);
        let mut others = Vec::new();
        while others.len() < 4 {
            let other = known_account(&store).await;
            // These accounts share no row of a system account with the first.
            if LedgerAccount::shard(other.id) != shard {
                others.push(other);
            }
        }
        let (charge, claimed) = (pending_charge(account.id), a_charge(account.id));
        store.commit(steps::open_charge(&charge)).await.unwrap();
        let name = steps::idempotency_ref(account.id, "some-key");
        store.commit(steps::create_charge(&claimed, name.clone())).await.unwrap();
        let expired = || {
            steps::write(
                Write::update(in_status(Charge { version: 1, ..charge.clone() }, ChargeStatus::Expired)),
                start(),
            )
        };
        let issued = in_status(Charge { version: 1, ..claimed }, ChargeStatus::Pending);
        let settlement = LedgerAccount::system(SystemAccount::Settlement(main_acquirer()), account.id);
        let (id, holder, bucket) = (account.id, settlement.holder(), settlement.bucket());
        for (lock, change) in [
            (format!("balances WHERE holder = '{id}' AND bucket = 'available'"), income(&account)),
            (format!("balances WHERE holder = '{holder}' AND bucket = '{bucket}'"), income(&account)),
            (format!("event_counters WHERE account_id = '{id}'"), income(&account)),
            (format!("idempotency_records WHERE account_id = '{id}'"), steps::issue_charge(&issued, name, 1, start())),
            (format!("charges WHERE id = '{}'", charge.id), expired()),
        ] {
            let lock = format!("SELECT 1 FROM {lock} FOR UPDATE");
            assert_only_this_one_waits(&store, &url, &lock, change, &others).await;
        }
        assert_eq!(store.last_sequence(account.id).await, Ok(4));
        assert_eq!(store.verify_ledger().await.unwrap().differences, []);
        store.close().await;
    });
}

#[test]
fn uncommitted_claim_delays_only_its_repeat() {
    let url = database();
    Runtime::new().unwrap().block_on(async {
        let store = open(&url, LONG);
        let (account, others) = (an_account(), [known_account(&store).await, known_account(&store).await]);
        let charge = a_charge(account.id);
        let insert = format!(
            "INSERT INTO idempotency_records (account_id, key, fingerprint, resource_id, fence, lease_until, created_at) \
             VALUES ('{}', 'some-key', sha256('x'), 'chg_1', 1, 0, 0)",
            account.id
        );
        let change = steps::create_charge(&charge, steps::idempotency_ref(account.id, "some-key"));
        assert_only_this_one_waits(&store, &url, &insert, change, &others).await;
        assert!(store.find_charge(account.id, charge.id).await.unwrap().is_some());
        store.close().await;
    });
}

#[test]
fn changes_of_one_record_stay_in_order_while_it_is_locked() {
    let url = database();
    // The runtime has one thread, so a spawned task is in the lane's queue after a yield.
    Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let (store, account) = (open(&url, LONG), an_account());
        let charge = pending_charge(account.id);
        store.commit(steps::open_charge(&charge)).await.unwrap();
        let lock = format!("SELECT 1 FROM charges WHERE id = '{}' FOR UPDATE", charge.id);
        let mut holder = foreign(&url, &lock);
        let expire = |version| {
            steps::write(Write::update(in_status(Charge { version, ..charge.clone() }, ChargeStatus::Expired)), start())
        };
        let mut waiting = Vec::new();
        for version in 1..=20 {
            waiting.push(spawn(&store, expire(version)));
            tokio::task::yield_now().await;
            known_account(&store).await;
        }
        assert!(waiting.iter().all(|waiting| !waiting.is_finished()));
        holder.batch_execute("ROLLBACK").unwrap();
        for waiting in waiting {
            waiting.await.unwrap().unwrap();
        }
        assert_eq!(store.find_charge(account.id, charge.id).await.unwrap().map(|charge| charge.version), Some(21));
        store.close().await;
    });
}

#[test]
fn caller_of_a_locked_row_is_refused_when_its_time_is_over() {
    let url = database();
    Runtime::new().unwrap().block_on(async {
        let store = open(&url, Duration::from_secs(1));
        let (account, other) = (known_account(&store).await, known_account(&store).await);
        let lock = format!("SELECT 1 FROM balances WHERE holder = '{}' FOR UPDATE", account.id);
        let mut holder = foreign(&url, &lock);
        assert!(matches!(store.commit(income(&account)).await, Err(CommitError::Unavailable(_))));
        // A later commit on the same lane proves that the refused change set is finished.
        store.commit(income(&other)).await.unwrap();
        holder.batch_execute("ROLLBACK").unwrap();
        store.commit(income(&account)).await.unwrap();
        assert_eq!(store.balances(account.id).await.unwrap().available.centavos(), 200);
        store.close().await;
    });
}

#[test]
fn late_caller_of_a_locked_row_receives_the_reason() {
    let url = database();
    // The runtime has one thread, which sleeps past the deadline, so the lane answers before the caller's own timer.
    Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let deadline = Duration::from_secs(1);
        let store = open(&url, deadline);
        let account = known_account(&store).await;
        let lock = format!("SELECT 1 FROM balances WHERE holder = '{}' FOR UPDATE", account.id);
        let mut holder = foreign(&url, &lock);
        let late = spawn(&store, income(&account));
        tokio::task::yield_now().await;
        std::thread::sleep(2 * deadline);
        let why = late.await.unwrap().unwrap_err().to_string();
        assert!(why.contains("while a row was locked"), "{why}");
        holder.batch_execute("ROLLBACK").unwrap();
        store.close().await;
    });
}

#[test]
fn locks_of_frozen_node_end_before_callers_time_out() {
    let url = database();
    let cluster = Cluster::shared().unwrap();
    let proxy = Arc::new(Proxy::start(cluster.port()));
    let proxied = url.replace(&cluster.port().to_string(), &proxy.port().to_string());
    Runtime::new().unwrap().block_on(async {
        // The callers' deadline is long enough for the idle limit of a lane, but shorter than that of other connections, twice the
        // deadline.
        let (frozen, node) = (open(&proxied, Duration::from_secs(10)), open(&url, Duration::from_secs(10)));
        let account = known_account(&node).await;
        proxy.arm(&[Loss::Frozen]);
        let first = spawn(&frozen, income(&account));
        while !proxy.fired() {
            tokio::task::yield_now().await;
        }
        let (second, other) = tokio::join!(node.commit(income(&account)), node.commit(income(&an_account())));
        assert!(other.is_ok());
        assert!(second.is_ok(), "{second:?}");
        first.await.unwrap().unwrap();
        assert_eq!(node.balances(account.id).await.unwrap().available.centavos(), 300);
        frozen.close().await;
        node.close().await;
    });
}
