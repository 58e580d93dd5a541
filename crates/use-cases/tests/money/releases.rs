//! Received money waits in `pending`, and is released once.

use std::time::Duration;

use cais_domain::ledger::{Bucket, EntryKind};
use cais_domain::merchant::account::Account;
use cais_ports::{ResponseKind, Store as _, Write};
use cais_testkit::Crash;
use cais_testkit::builders::{an_account, steps};
use cais_use_cases::releases::run_once;

use crate::bed::{TestBed, all};

async fn waiting(delay_s: u32) -> TestBed {
    TestBed::with(Account { release_delay_s: delay_s, ..an_account() }).await
}

fn money(bed: &TestBed) -> (i64, i64) {
    (bed.in_bucket(Bucket::Pending), bed.available())
}

#[tokio::test]
async fn pending_money_is_released_when_due() {
    let bed = waiting(600).await;
    let charge = bed.paid().await;
    assert_eq!(money(&bed), (1_000, 0));
    assert_eq!(
        bed.refund("a", &charge, all()).await.unwrap().kind,
        ResponseKind::InsufficientBalance,
        "pending money covers no refund"
    );
    bed.clock.advance(Duration::from_secs(599));
    assert_eq!(run_once(&bed.ports).await.unwrap().done, 0);
    bed.clock.advance(Duration::from_secs(1));
    assert_eq!(run_once(&bed.ports).await.unwrap().done, 1);
    assert_eq!(money(&bed), (0, 1_000));
    assert_eq!(run_once(&bed.ports).await.unwrap().done, 0);
    let kinds: Vec<EntryKind> = bed.store.entries().iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == EntryKind::Release).count(), 2, "out of one, into the other");
    bed.check().await;
}

#[tokio::test]
async fn receipt_keeps_release_delay_of_its_arrival() {
    let bed = waiting(600).await;
    let charge = bed.pending().await;
    bed.psp.pay(&charge.txid, 400);
    bed.read(&charge).await;
    let later = Account { release_delay_s: 0, version: 1, ..bed.account.clone() };
    bed.store.commit(steps::write(Write::update(later), charge.created_at)).await.unwrap();
    bed.psp.pay(&charge.txid, 1_500);
    bed.read(&charge).await;
    assert_eq!(money(&bed), (400, 1_500));
    bed.clock.advance(Duration::from_mins(10));
    run_once(&bed.ports).await.unwrap();
    assert_eq!(money(&bed), (0, 1_900));
    bed.check().await;
}

#[tokio::test]
async fn concurrent_nodes_and_lost_replies_release_money_once() {
    let bed = waiting(60).await.contended();
    for _ in 0..8 {
        bed.paid().await;
    }
    bed.clock.advance(Duration::from_mins(1));
    bed.store.crash_at(1, Crash::After);
    bed.store.crash_at(2, Crash::Before);
    let nodes = (0..16).map(|_| {
        let ports = bed.ports.clone();
        tokio::spawn(async move { run_once(&ports).await.unwrap() })
    });
    for node in futures_util::future::join_all(nodes).await {
        node.unwrap();
    }
    run_once(&bed.ports).await.unwrap();
    assert_eq!(money(&bed), (0, 8_000));
    bed.check().await;
}

#[tokio::test]
async fn releases_beyond_one_pass_follow_in_the_next() {
    let bed = waiting(60).await;
    for _ in 0..257 {
        bed.paid().await;
    }
    bed.clock.advance(Duration::from_mins(1));
    let first = run_once(&bed.ports).await.unwrap();
    assert_eq!((first.done, first.more), (256, true));
    let second = run_once(&bed.ports).await.unwrap();
    assert_eq!((second.done, second.more), (1, false));
    assert_eq!(money(&bed), (0, 257_000));
}
