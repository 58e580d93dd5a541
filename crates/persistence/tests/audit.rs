//! Tests that the audit detects tampering with payouts, refunds, releases, splits or infractions, and with the money that they moved.

use cais_domain::charge::Charge;
use cais_domain::infraction::{Disputed, Infraction};
use cais_domain::merchant::account::Account;
use cais_domain::payment::CreditedPayment;
use cais_domain::payout::Payout;
use cais_domain::refund::Refund;
use cais_persistence::Persistence;
use cais_ports::{
    ChargeQueries as _, InfractionQueries as _, Maintenance as _, PayoutQueries as _, RefundQueries as _,
    ReleaseQueries as _, Store as _,
};
use cais_testkit::builders::{
    a_payment, a_payout, a_return_id, a_split, an_account, an_end_to_end_id, dispute_report, new_refund,
    pending_charge, start, steps,
};
use cais_testkit::postgres::Cluster;
use jiff::{SignedDuration, Timestamp};
use tokio::runtime::Runtime;

use crate::postgres::{database, open};

/// Returns the instant of all payments.
fn paid_at() -> Timestamp {
    start() + SignedDuration::from_secs(10)
}

/// Returns the instant of the releases.
fn later() -> Timestamp {
    start() + SignedDuration::from_hours(1)
}

/// Creates a paid charge of R$ 10.00. The creator's part waits for that many seconds.
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

/// Reads the charge, and creates a refund of `centavos` of it.
async fn refund(store: &Persistence, charge: &Charge, centavos: i64) -> (Refund, Charge) {
    let charge = store.find_charge(charge.account, charge.id).await.unwrap().unwrap();
    let asked = new_refund(Some(centavos));
    store.commit(steps::open_refund(&charge, &asked, paid_at())).await.unwrap();
    let refund = store.find_refund(charge.account, asked.id).await.unwrap().unwrap();
    (refund, store.find_charge(charge.account, charge.id).await.unwrap().unwrap())
}

/// Creates payouts and refunds of every outcome, pending and released money, and a charge with two other beneficiaries.
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
            store.commit(steps::credit_return(&payout, part, a_return_id(), paid_at())).await.unwrap();
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

/// Asserts that the audit finds the tampering, and then undoes it.
async fn assert_found(store: &Persistence, url: &str, tampering: &str, what: &str) {
    let tables = ["payouts", "refunds", "releases", "charges", "infractions", "blocks", "balances"];
    let keep = tables.map(|table| format!("CREATE TABLE kept_{table} AS TABLE {table};"));
    let mend = tables
        .map(|table| format!("DELETE FROM {table}; INSERT INTO {table} TABLE kept_{table}; DROP TABLE kept_{table};"));
    Cluster::shared().unwrap().sql(url, &keep.concat()).unwrap();
    Cluster::shared().unwrap().sql(url, tampering).unwrap();
    let found = store.verify_ledger().await.unwrap().differences;
    assert!(found.iter().any(|difference| difference.what.starts_with(what)), "{tampering}: {found:?}");
    Cluster::shared().unwrap().sql(url, &mend.concat()).unwrap();
}

#[test]
fn tampered_records_are_found() {
    let url = database();
    Runtime::new().unwrap().block_on(async {
        let store = open(&url);
        lived_in(&store).await;
        for (tampering, what) in [
            ("UPDATE payouts SET status = 'abandoned', ended_at = 1 WHERE status = 'pending'", "in transit for pyt_"),
            ("UPDATE payouts SET amount = amount + 1 WHERE status = 'pending'", "in transit for pyt_"),
            ("UPDATE payouts SET fee = fee + 1 WHERE status = 'completed'", "fee of pyt_"),
            ("UPDATE payouts SET amount = amount + 1 WHERE status = 'completed'", "sent by pyt_"),
            ("UPDATE payouts SET returned = returned - 1 WHERE returned = 400", "returned amount of pyt_"),
            (
                "UPDATE payouts SET status = 'completed', ended_at = NULL, returned = 0 WHERE status = 'reversed'",
                "returned amount of pyt_",
            ),
            (
                "UPDATE payouts SET status = 'completed', completed_at = 1, end_to_end_id = 'x', failure = NULL, ended_at = NULL \
                 WHERE status = 'failed'",
                "sent by pyt_",
            ),
            ("DELETE FROM payouts WHERE status = 'pending'", "in transit for pyt_"),
            ("UPDATE refunds SET status = 'abandoned', ended_at = 1 WHERE status = 'pending'", "in transit for rfd_"),
            ("UPDATE refunds SET amount = amount + 1 WHERE status = 'completed'", "sent by rfd_"),
            ("UPDATE refunds SET of_charge = of_charge - 1 WHERE status = 'completed'", "completed refunds of chg_"),
            ("UPDATE charges SET refunding = refunding - 1 WHERE refunding > 0", "refunds in flight of chg_"),
            ("UPDATE charges SET refunded = refunded + 1 WHERE refunded > 0", "completed refunds of chg_"),
            ("UPDATE releases SET released_at = due_at WHERE released_at IS NULL", "pending of acc_"),
            ("UPDATE releases SET released_at = NULL", "pending of acc_"),
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
            assert_found(&store, &url, tampering, what).await;
        }
        assert_eq!(store.verify_ledger().await.unwrap().differences, [], "all is mended");
    });
}

/// Creates a dispute of the charge's whole payment.
async fn disputed(store: &Persistence, charge: &Charge) -> Infraction {
    let (asked, payment) = (dispute_report(1_000), payment_of(store, charge).await);
    let disputed = Disputed { payment: &payment, charge, infractions: &[] };
    store.commit(steps::open_infraction(&asked, disputed, later())).await.unwrap();
    store.find_infraction(charge.account, asked.id).await.unwrap().unwrap()
}

async fn payment_of(store: &Persistence, charge: &Charge) -> CreditedPayment {
    let pix = &charge.state.settlement().unwrap().end_to_end_id;
    store.find_payment(charge.account, pix).await.unwrap().unwrap()
}

/// Creates two infractions of an account with all its money, one of an account that spent its money, and a lost one.
async fn disputes(store: &Persistence) {
    let [rich, poor, liable] = [an_account(), an_account(), an_account()];
    for _ in 0..2 {
        let charge = paid(store, pending_charge(rich.id), 0).await;
        disputed(store, &charge).await;
    }
    paid(store, pending_charge(rich.id), 0).await;
    let spent = paid(store, pending_charge(poor.id), 0).await;
    paid(store, pending_charge(poor.id), 0).await;
    held(store, &poor).await;
    paid(store, pending_charge(poor.id), 1_000_000).await;
    disputed(store, &spent).await;
    paid(store, pending_charge(poor.id), 1_000_000).await;
    let charge = paid(store, pending_charge(liable.id), 0).await;
    paid(store, pending_charge(liable.id), 0).await;
    let infraction = disputed(store, &charge).await;
    let charge = store.find_charge(charge.account, charge.id).await.unwrap().unwrap();
    let held = store.find_block(liable.id, infraction.id).await.unwrap().unwrap().held;
    let (payment, infractions) = (payment_of(store, &charge).await, [infraction.clone()]);
    let all = Disputed { payment: &payment, charge: &charge, infractions: &infractions };
    let lost = infraction.lose(all, held, later()).unwrap();
    store.commit(steps::move_infraction(lost, later())).await.unwrap();
    assert_eq!(store.verify_ledger().await.unwrap().differences, []);
}

#[test]
fn tampered_blocks_are_found() {
    let url = database();
    Runtime::new().unwrap().block_on(async {
        let store = open(&url);
        disputes(&store).await;
        let count = |from: &str| Cluster::shared().unwrap().sql(&url, &format!("SELECT count(*) FROM {from}")).unwrap();
        assert_eq!([count("blocks"), count("balances WHERE seized > 0")], ["3", "1"]);
        for (tampering, what) in [
            ("UPDATE blocks SET held = held - 1 WHERE held > 0", "blocked of acc_"),
            ("DELETE FROM blocks", "blocked of acc_"),
            ("INSERT INTO blocks VALUES ('acc_1', 'inf_1', 'E1', 5, 5)", "blocked of acc_1"),
            (
                "UPDATE blocks AS b SET max_amount = max_amount + 1, held = held + CASE WHEN infraction_id = k.first THEN 1 ELSE -1 END \
                 FROM (SELECT account_id, min(infraction_id) AS first FROM blocks GROUP BY account_id HAVING count(*) = 2) AS k \
                 WHERE b.account_id = k.account_id",
                "blocked for inf_",
            ),
            ("UPDATE blocks SET max_amount = max_amount + 1", "left in acc_"),
            ("UPDATE infractions SET returned = returned + 1 WHERE status = 'lost'", "returned for inf_"),
            ("UPDATE infractions SET refunded = refunded - 1 WHERE status = 'lost'", "completed refunds of chg_"),
            ("UPDATE charges SET refunded = refunded - 1 WHERE refunded > 0", "completed refunds of chg_"),
            ("UPDATE balances SET seized = seized - 1 WHERE seized > 0", "pending of acc_"),
            ("UPDATE balances SET seized = seized + 1 WHERE bucket = 'pending'", "pending of acc_"),
            ("UPDATE releases SET amount = amount + 1", "waiting of E"),
        ] {
            assert_found(&store, &url, tampering, what).await;
        }
        assert_eq!(store.verify_ledger().await.unwrap().differences, [], "all is mended");
    });
}
