//! The audit finds out whoever tampers with payouts, refunds, releases or splits, or with the money that they moved.

use cais_domain::account::Account;
use cais_domain::charge::Charge;
use cais_domain::payout::Payout;
use cais_domain::refund::Refund;
use cais_persistence::Persistence;
use cais_ports::{
    ChargeQueries as _, Maintenance as _, PayoutQueries as _, RefundQueries as _, ReleaseQueries as _, Store as _,
};
use cais_testkit::builders::{
    a_payment, a_payout, a_return_id, a_split, an_account, an_end_to_end_id, new_refund, pending_charge, start, steps,
};
use cais_testkit::postgres::Cluster;
use jiff::{SignedDuration, Timestamp};
use tokio::runtime::Runtime;

use crate::postgres::{database, open};

/// When everything was paid.
fn paid_at() -> Timestamp {
    start() + SignedDuration::from_secs(10)
}

/// When what waits is released.
fn later() -> Timestamp {
    start() + SignedDuration::from_hours(1)
}

/// A charge of R$ 10.00 that is paid; the creator's part waits so many seconds.
async fn paid(store: &Persistence, charge: Charge, delay_s: u32) -> Charge {
    store.commit(steps::open_charge(&charge)).await.unwrap();
    let charge = Charge { version: 1, ..charge };
    store.commit(steps::credit_payment(&charge, a_payment(1_000), delay_s, paid_at())).await.unwrap();
    store.find_charge(charge.account, charge.id).await.unwrap().unwrap()
}

async fn held(store: &Persistence, account: &Account) -> Payout {
    let payout = a_payout(account.id);
    store.commit(steps::open_payout(&payout)).await.unwrap();
    store.find_payout(account.id, payout.id).await.unwrap().unwrap()
}

/// A refund of so many centavos of the charge as it stands.
async fn refund(store: &Persistence, charge: &Charge, centavos: i64) -> (Refund, Charge) {
    let charge = store.find_charge(charge.account, charge.id).await.unwrap().unwrap();
    let asked = new_refund(Some(centavos));
    store.commit(steps::open_refund(&charge, &asked, paid_at())).await.unwrap();
    let refund = store.find_refund(charge.account, asked.id).await.unwrap().unwrap();
    (refund, store.find_charge(charge.account, charge.id).await.unwrap().unwrap())
}

/// Payouts and refunds of every outcome, money that waits and money that waited, and a charge in which two others share.
async fn lived_in(store: &Persistence) {
    let [account, one, other] = [an_account(), an_account(), an_account()];
    let mut shared = pending_charge(account.id);
    shared.terms.split = a_split(&[(one.id, "12.5"), (other.id, "0.0001")]);
    paid(store, shared, 0).await;
    let mut charges = Vec::new();
    for _ in 0..8 {
        charges.push(paid(store, pending_charge(account.id), 0).await);
    }
    for delay_s in [60, 1_000_000] {
        paid(store, pending_charge(account.id), delay_s).await;
    }
    for release in store.list_due_releases(later(), 10).await.unwrap() {
        store.commit(steps::make_release(&release, later())).await.unwrap();
    }
    held(store, &account).await;
    for part in [None, Some(400), Some(1_000)] {
        let payout = held(store, &account).await;
        store.commit(steps::complete_payout(&payout, an_end_to_end_id(), paid_at())).await.unwrap();
        let payout = store.find_payout(account.id, payout.id).await.unwrap().unwrap();
        if let Some(part) = part {
            store.commit(steps::take_back(&payout, part, a_return_id(), paid_at())).await.unwrap();
        }
    }
    let payout = held(store, &account).await;
    store.commit(steps::fail_payout(&payout, paid_at())).await.unwrap();
    let charge = charges.first().unwrap();
    refund(store, charge, 300).await;
    let (failing, now) = refund(store, charge, 200).await;
    store.commit(steps::fail_refund(&failing, &now, paid_at())).await.unwrap();
    let (done, now) = refund(store, charge, 100).await;
    store.commit(steps::complete_refund(&done, &now, a_return_id(), paid_at())).await.unwrap();
    assert_eq!(store.verify_ledger().await.unwrap().differences, []);
}

#[test]
fn what_the_records_say_is_what_the_ledger_moved() {
    let url = database();
    Runtime::new().unwrap().block_on(async {
        let store = open(&url);
        lived_in(&store).await;
        for (tampering, what) in [
            ("UPDATE payouts SET status = 'abandoned', ended_at = 1 WHERE status = 'pending'", "in transit for pyt_"),
            ("UPDATE payouts SET amount = amount + 1 WHERE status = 'pending'", "in transit for pyt_"),
            ("UPDATE payouts SET fee = fee + 1 WHERE status = 'completed'", "fee of pyt_"),
            ("UPDATE payouts SET amount = amount + 1 WHERE status = 'completed'", "sent by pyt_"),
            ("UPDATE payouts SET returned = returned - 1 WHERE returned = 400", "come back of pyt_"),
            (
                "UPDATE payouts SET status = 'completed', ended_at = NULL, returned = 0 WHERE status = 'reversed'",
                "come back of pyt_",
            ),
            (
                "UPDATE payouts SET status = 'completed', completed_at = 1, end_to_end_id = 'x', failure = NULL, ended_at = NULL \
                 WHERE status = 'failed'",
                "sent by pyt_",
            ),
            ("DELETE FROM payouts WHERE status = 'pending'", "in transit for pyt_"),
            ("UPDATE refunds SET status = 'abandoned', ended_at = 1 WHERE status = 'pending'", "in transit for rfd_"),
            ("UPDATE refunds SET amount = amount - 1 WHERE status = 'completed'", "sent by rfd_"),
            ("UPDATE charges SET refunding = refunding - 1 WHERE refunding > 0", "refunds on their way of chg_"),
            ("UPDATE charges SET refunded = refunded + 1 WHERE refunded > 0", "refunds made of chg_"),
            ("UPDATE releases SET released_at = due_at WHERE released_at IS NULL", "waiting of E"),
            ("UPDATE releases SET released_at = NULL", "waiting of E"),
            ("UPDATE releases SET amount = amount + 1 WHERE released_at IS NULL", "waiting of E"),
            ("DELETE FROM releases WHERE released_at IS NULL", "waiting of E"),
            ("UPDATE charges SET split_parts = '116,0' WHERE split_parts = '117,0'", "part of acc_"),
            ("UPDATE charges SET split_parts = '117,1' WHERE split_parts = '117,0'", "part of acc_"),
            ("UPDATE charges SET split = NULL, split_parts = NULL", "part of acc_"),
            (
                "UPDATE charges SET split = split_part(split, ',', 2) || ',' || split_part(split, ',', 1) WHERE split IS NOT NULL",
                "part of acc_",
            ),
        ] {
            let keep = "CREATE TABLE kept_payouts AS TABLE payouts; CREATE TABLE kept_refunds AS TABLE refunds; \
                 CREATE TABLE kept_releases AS TABLE releases; CREATE TABLE kept_charges AS TABLE charges;";
            Cluster::shared().unwrap().sql(&url, keep).unwrap();
            Cluster::shared().unwrap().sql(&url, tampering).unwrap();
            let found = store.verify_ledger().await.unwrap().differences;
            assert!(found.iter().any(|difference| difference.what.starts_with(what)), "{tampering}: {found:?}");
            let mend = ["payouts", "refunds", "releases", "charges"].map(|table| {
                format!("DELETE FROM {table}; INSERT INTO {table} TABLE kept_{table}; DROP TABLE kept_{table};")
            });
            Cluster::shared().unwrap().sql(&url, &mend.concat()).unwrap();
        }
        assert_eq!(store.verify_ledger().await.unwrap().differences, [], "all is mended");
    });
}
