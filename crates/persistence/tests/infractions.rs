//! Tests blocks on a PostgreSQL server with two nodes. After concurrent changes, an account with an under-funded block has no other money.

use std::sync::Arc;

use cais_domain::block::{Block, BlockChange, BlockEnd};
use cais_domain::ids::{AccountId, InfractionId};
use cais_domain::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, SystemAccount, Transfer};
use cais_domain::money::Money;
use cais_persistence::Persistence;
use cais_ports::{
    BalanceQueries as _, ChangeSet, ChargeQueries as _, CommitError, InfractionQueries as _, Maintenance as _,
    Store as _,
};
use cais_testkit::builders::{
    a_payment, a_split, an_account, an_end_to_end_id, fresh, main_acquirer, pending_charge, start, steps,
};
use cais_testkit::postgres::Cluster;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::postgres::{database, open};
use crate::proxy::{Loss, Proxy};

/// Rounds of each race; each begins with new accounts.
const ROUNDS: usize = 12;

fn transfer(from: LedgerAccount, to: LedgerAccount, centavos: i64, overdraft: Overdraft) -> ChangeSet {
    let (amount, kind) = (Money::from_centavos(centavos), EntryKind::Charge);
    let transfers = vec![Transfer { from, to, amount, overdraft, kind, resource: None, end_to_end_id: None }];
    ChangeSet { transfers, ..ChangeSet::new(start()) }
}

fn income(account: AccountId, centavos: i64) -> ChangeSet {
    let from = LedgerAccount::system(SystemAccount::Settlement(main_acquirer()), account);
    transfer(from, LedgerAccount::Merchant(account, Bucket::Available), centavos, Overdraft::Allowed)
}

fn spend(account: AccountId, centavos: i64) -> ChangeSet {
    let [from, to] = [Bucket::Available, Bucket::InTransit].map(|bucket| LedgerAccount::Merchant(account, bucket));
    transfer(from, to, centavos, Overdraft::Forbidden)
}

fn hold(account: AccountId, infraction: InfractionId, centavos: i64) -> ChangeSet {
    let limit = Money::from_centavos(centavos);
    let blocks = vec![BlockChange::Hold { account, infraction, end_to_end_id: an_end_to_end_id(), limit }];
    ChangeSet { blocks, ..ChangeSet::new(start()) }
}

async fn block(store: &Persistence, account: AccountId, infraction: InfractionId) -> Block {
    store.find_block(account, infraction).await.unwrap().unwrap()
}

/// Returns the available, pending, blocked and in-transit balances, in centavos.
async fn balances(store: &Persistence, account: AccountId) -> [i64; 4] {
    let parts = store.balances(account).await.unwrap();
    [parts.available, parts.pending, parts.blocked, parts.in_transit].map(Money::centavos)
}

async fn assert_sound(store: &Persistence) {
    assert_eq!(store.verify_ledger().await.unwrap().differences, []);
}

/// Commits all change sets at once, alternating between the nodes. Returns the number of change sets that were not refused for insufficient
/// balance.
async fn together(nodes: &[Persistence; 2], changes: Vec<ChangeSet>) -> usize {
    let mut tasks = JoinSet::new();
    for (change, node) in changes.into_iter().zip(nodes.iter().cycle()) {
        let node = node.clone();
        tasks.spawn(async move { node.commit(change).await });
    }
    let mut covered = 0;
    while let Some(done) = tasks.join_next().await {
        match done.unwrap() {
            Ok(_) => covered += 1,
            Err(refused) => assert!(matches!(refused, CommitError::NotCovered { .. }), "{refused}"),
        }
    }
    covered
}

#[test]
fn credit_racing_an_opening_block_is_seized() {
    let url = database();
    Runtime::new().unwrap().block_on(async {
        let nodes = [open(&url), open(&url)];
        for round in 0..ROUNDS {
            // Every second account has rows before the race. For the other accounts, the first transaction of the race inserts the rows.
            let (account, infraction) = (an_account().id, fresh());
            if round % 2 == 0 {
                nodes[0].commit(income(account, 1)).await.unwrap();
            }
            let before = i64::from(round % 2 == 0);
            let mut changes = vec![income(account, 300), hold(account, infraction, 1_000), income(account, 400)];
            changes.extend((0..6).map(|_| income(account, 90)));
            changes.rotate_left(round % 3);
            assert_eq!(together(&nodes, changes).await, 9);
            let total = before + 300 + 400 + 6 * 90;
            assert_eq!(block(&nodes[1], account, infraction).await.held, Money::from_centavos(1_000));
            assert_eq!(balances(&nodes[0], account).await, [total - 1_000, 0, 1_000, 0]);
        }
        assert_sound(&nodes[0]).await;
    });
}

#[test]
fn parts_of_others_charges_are_seized_from_any_node() {
    let url = database();
    Runtime::new().unwrap().block_on(async {
        let nodes = [open(&url), open(&url)];
        for _ in 0..ROUNDS {
            let [creator, one, other] = [an_account().id, an_account().id, an_account().id];
            let infractions: [InfractionId; 3] = [fresh(), fresh(), fresh()];
            let mut changes = Vec::new();
            for _ in 0..4 {
                let mut charge = pending_charge(creator);
                charge.terms.split = a_split(&[(one, "20"), (other, "30")]);
                nodes[0].commit(steps::open_charge(&charge)).await.unwrap();
                let charge = nodes[0].find_charge(creator, charge.id).await.unwrap().unwrap();
                // The creator's part waits for its release.
                changes.push(steps::credit_payment(&charge, a_payment(1_000), 60, start()));
            }
            let [of_creator, of_one, of_other] = infractions;
            changes.insert(1, hold(one, of_one, 500));
            changes.insert(2, hold(creator, of_creator, 10_000));
            changes.insert(4, hold(other, of_other, 100));
            assert_eq!(together(&nodes, changes).await, 7);
            for (account, infraction) in [creator, one, other].into_iter().zip(infractions) {
                let Block { limit, held, .. } = block(&nodes[1], account, infraction).await;
                let [available, pending, blocked, _] = balances(&nodes[1], account).await;
                assert_eq!(held.centavos(), blocked);
                assert_eq!(held, limit.min(Money::from_centavos(available + pending + blocked)), "{account}");
                assert!(available + pending == 0 || held == limit);
            }
        }
        assert_sound(&nodes[0]).await;
    });
}

#[test]
fn payouts_and_a_block_never_spend_the_same_centavo() {
    let url = database();
    Runtime::new().unwrap().block_on(async {
        let nodes = [open(&url), open(&url)];
        for round in 0..ROUNDS {
            let (account, infraction) = (an_account().id, fresh());
            nodes[0].commit(income(account, 1_000)).await.unwrap();
            let mut changes: Vec<ChangeSet> = (0..64).map(|_| spend(account, 50)).collect();
            changes.insert(5 * round, hold(account, infraction, 700));
            let covered = together(&nodes, changes).await;
            let [available, _, blocked, in_transit] = balances(&nodes[0], account).await;
            assert_eq!(available + blocked + in_transit, 1_000);
            assert_eq!(i64::try_from(covered - 1), Ok(in_transit / 50));
            assert!(available == 0 || blocked == 700, "{available} beside {blocked}");
            assert_eq!(block(&nodes[1], account, infraction).await.held.centavos(), blocked);
        }
        assert_sound(&nodes[0]).await;
    });
}

#[test]
fn block_end_frees_whole_amount_while_it_grows() {
    let url = database();
    Runtime::new().unwrap().block_on(async {
        let nodes = [open(&url), open(&url)];
        for _ in 0..ROUNDS {
            let (account, infraction) = (an_account().id, fresh());
            let [ending, crediting] = nodes.clone();
            ending.commit(hold(account, infraction, 1_000)).await.unwrap();
            let credits = tokio::spawn(async move {
                for _ in 0..20 {
                    crediting.commit(income(account, 30)).await.unwrap();
                }
            });
            loop {
                let held = block(&ending, account, infraction).await.held;
                let blocks = vec![BlockChange::End { account, infraction, held, to: BlockEnd::Released }];
                match ending.commit(ChangeSet { blocks, ..ChangeSet::new(start()) }).await {
                    Ok(_) => break,
                    Err(refused) => assert_eq!(refused, CommitError::Stale),
                }
            }
            credits.await.unwrap();
            assert_eq!(ending.find_block(account, infraction).await, Ok(None));
            assert_eq!(balances(&ending, account).await, [600, 0, 0, 0]);
        }
        assert_sound(&nodes[0]).await;
    });
}

/// Runs a store behind a proxy that loses the COMMIT of a partly seized credit.
fn losing(losses: &[Loss]) {
    let url = database();
    let cluster = Cluster::shared().unwrap();
    let proxy = Arc::new(Proxy::start(cluster.port()));
    let proxied = url.replace(&cluster.port().to_string(), &proxy.port().to_string());
    Runtime::new().unwrap().block_on(async {
        let (store, account, infraction) = (open(&proxied), an_account().id, fresh());
        store.commit(hold(account, infraction, 250)).await.unwrap();
        proxy.arm(losses);
        store.commit(income(account, 100)).await.unwrap();
        assert!(proxy.fired());
        assert_eq!(block(&store, account, infraction).await.held, Money::from_centavos(100));
        store.commit(income(account, 200)).await.unwrap();
        assert_eq!(balances(&store, account).await, [50, 0, 250, 0]);
        assert_sound(&store).await;
        store.close().await;
    });
}

#[test]
fn credit_with_lost_commit_reply_is_seized_once() {
    losing(&[Loss::Request]);
    losing(&[Loss::Reply]);
    losing(&[Loss::Reply, Loss::AbortReply]);
}
