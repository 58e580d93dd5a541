//! Received money waits in `pending`, and is released once.

use std::time::Duration;

use cais_domain::ledger::{Bucket, EntryKind};
use cais_domain::merchant::account::Account;
use cais_ports::{ResponseKind, Store as _, Write};
use cais_testkit::Crash;
use cais_testkit::builders::{an_account, steps};
use cais_use_cases::releases::run_once;

use crate::world::{World, all};

async fn waiting(delay_s: u32) -> World {
    World::with(Account { release_delay_s: delay_s, ..an_account() }).await
}

fn money(world: &World) -> (i64, i64) {
    (world.in_bucket(Bucket::Pending), world.available())
}

#[tokio::test]
async fn pending_money_is_released_when_due() {
    let world = waiting(600).await;
    let charge = world.paid().await;
    assert_eq!(money(&world), (1_000, 0));
    assert_eq!(
        world.refund("a", &charge, all()).await.unwrap().kind,
        ResponseKind::InsufficientBalance,
        "pending money covers no refund"
    );
    world.clock.advance(Duration::from_secs(599));
    assert_eq!(run_once(&world.ports).await.unwrap().done, 0);
    world.clock.advance(Duration::from_secs(1));
    assert_eq!(run_once(&world.ports).await.unwrap().done, 1);
    assert_eq!(money(&world), (0, 1_000));
    assert_eq!(run_once(&world.ports).await.unwrap().done, 0);
    let kinds: Vec<EntryKind> = world.store.entries().iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == EntryKind::Release).count(), 2, "out of one, into the other");
    world.check().await;
}

#[tokio::test]
async fn receipt_keeps_release_delay_of_its_arrival() {
    let world = waiting(600).await;
    let charge = world.pending().await;
    world.psp.pay(&charge.txid, 400);
    world.read(&charge).await;
    let later = Account { release_delay_s: 0, version: 1, ..world.account.clone() };
    world.store.commit(steps::write(Write::update(later), charge.created_at)).await.unwrap();
    world.psp.pay(&charge.txid, 1_500);
    world.read(&charge).await;
    assert_eq!(money(&world), (400, 1_500));
    world.clock.advance(Duration::from_mins(10));
    run_once(&world.ports).await.unwrap();
    assert_eq!(money(&world), (0, 1_900));
    world.check().await;
}

#[tokio::test]
async fn concurrent_nodes_and_lost_replies_release_money_once() {
    let world = waiting(60).await.contended();
    for _ in 0..8 {
        world.paid().await;
    }
    world.clock.advance(Duration::from_mins(1));
    world.store.crash_at(1, Crash::After);
    world.store.crash_at(2, Crash::Before);
    let nodes = (0..16).map(|_| {
        let ports = world.ports.clone();
        tokio::spawn(async move { run_once(&ports).await.unwrap() })
    });
    for node in futures_util::future::join_all(nodes).await {
        node.unwrap();
    }
    run_once(&world.ports).await.unwrap();
    assert_eq!(money(&world), (0, 8_000));
    world.check().await;
}

#[tokio::test]
async fn releases_beyond_one_pass_follow_in_the_next() {
    let world = waiting(60).await;
    for _ in 0..257 {
        world.paid().await;
    }
    world.clock.advance(Duration::from_mins(1));
    let first = run_once(&world.ports).await.unwrap();
    assert_eq!((first.done, first.more), (256, true));
    let second = run_once(&world.ports).await.unwrap();
    assert_eq!((second.done, second.more), (1, false));
    assert_eq!(money(&world), (0, 257_000));
}
