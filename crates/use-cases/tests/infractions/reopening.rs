//! A dispute that is reopened after its end becomes a new stored infraction. An outdated list is not a reopening.

use std::time::Duration;

use cais_domain::infraction::InfractionStatus::{Cancelled, Lost, Open, Won};
use cais_ports::{CallbackState, UpstreamInfractionStatus};
use cais_testkit::psp::{List, Listing, Moment};

use crate::world::{A_WHILE, LONG, World};

#[tokio::test]
async fn reopening_is_new_infraction_on_the_rest() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    let id = world.psp.dispute(&pix, 600);
    world.poll().await;
    world.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    world.poll().await;
    world.psp.reopen(&id);
    world.clock.advance(A_WHILE);
    assert_eq!(world.poll().await, 1);
    assert_eq!((world.statuses(), world.money()), (vec![Lost, Open], [0, 0, 400]));
    assert_eq!(world.poll().await, 0, "the dispute is known");
    world.clock.advance(A_WHILE);
    world.psp.settle(&id, UpstreamInfractionStatus::Cancelled);
    world.poll().await;
    assert_eq!((world.statuses(), world.money()), (vec![Lost, Cancelled], [400, 0, 0]));
    world.check().await;
}

#[tokio::test]
async fn reopenings_are_limited() {
    let world = World::new().await;
    let (_, id) = world.disputed().await;
    for rounds in 1..30 {
        world.psp.settle(&id, UpstreamInfractionStatus::Rejected);
        world.clock.advance(LONG);
        world.poll().await;
        assert_eq!(world.money(), [1_000, 0, 0]);
        world.psp.reopen(&id);
        world.clock.advance(LONG);
        world.poll().await;
        assert_eq!(world.all().len(), 20.min(rounds + 1));
        world.check().await;
    }
    assert_eq!(world.statuses(), [Won; 20]);
}

#[tokio::test]
async fn lagging_list_reopens_nothing() {
    let world = World::new().await;
    let (_, id) = world.disputed().await;
    // For some time after the end was reported, the list still shows the dispute as open.
    world.psp.set_list(List::Infractions, Listing::AsItWas);
    let (psp, lost) = (world.psp.clone(), id.clone());
    psp.settle(&lost, UpstreamInfractionStatus::Accepted);
    world.psp.set_list(List::Infractions, Listing::Pages(9));
    world.poll().await;
    assert_eq!(world.statuses(), [Lost]);
    world.psp.reopen(&id);
    world.psp.set_list(List::Infractions, Listing::AsItWas);
    world.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    assert_eq!(world.poll().await, 0);
    assert_eq!(world.statuses(), [Lost], "the list may be older than the end");
    world.psp.set_list(List::Infractions, Listing::Pages(9));
    world.clock.advance(A_WHILE);
    world.poll().await;
    assert_eq!(world.statuses(), [Lost]);
    world.check().await;
}

#[tokio::test]
async fn lagging_list_after_late_end_report_reopens_nothing() {
    let world = World::new().await;
    world.paid(5_000).await;
    let (_, id) = world.disputed().await;
    world.clock.advance(LONG);
    world.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    world.psp.change(&id, |row| row.resolved_at = row.resolved_at.map(|at| at - Duration::from_mins(2)));
    assert_eq!(world.poll().await, 1);
    // The next lists come from a replica that does not have the end yet.
    world.psp.reopen(&id);
    for _ in 0..2 {
        assert_eq!(world.poll().await, 0);
        assert_eq!((world.statuses(), world.money()), (vec![Lost], [5_000, 0, 0]));
        world.clock.advance(Duration::from_secs(59));
    }
    world.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    assert_eq!(world.poll().await, 0);
    assert_eq!((world.statuses(), world.money()), (vec![Lost], [5_000, 0, 0]), "the money is returned once");
    world.check().await;
}

#[tokio::test]
async fn list_from_before_the_end_reopens_nothing() {
    let world = World::new().await;
    let (_, id) = world.disputed().await;
    let other = world.clone();
    // This node has received the list but has not read the store yet. Long after, another node resolves the infraction.
    world.psp.when(Moment::Listed, move || {
        other.psp.settle(&id, UpstreamInfractionStatus::Accepted);
        futures_util::FutureExt::now_or_never(other.poll()).unwrap();
        other.clock.advance(LONG);
    });
    assert_eq!(world.poll().await, 0);
    assert_eq!((world.statuses(), world.money()), (vec![Lost], [0, 0, 0]));
    world.check().await;
}

#[tokio::test]
async fn list_from_before_the_reopening_ends_nothing() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    let id = world.psp.dispute(&pix, 600);
    world.poll().await;
    world.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    world.poll().await;
    world.clock.advance(A_WHILE);
    let other = world.clone();
    world.psp.when(Moment::Listed, move || {
        other.psp.reopen(&id);
        futures_util::FutureExt::now_or_never(other.poll()).unwrap();
        other.clock.advance(LONG);
    });
    world.poll().await;
    assert_eq!((world.statuses(), world.money()), (vec![Lost, Open], [0, 0, 400]));
    world.check().await;
}

#[tokio::test]
async fn record_read_for_one_round_does_not_apply_to_next() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    let id = world.psp.dispute(&pix, 300);
    world.poll().await;
    world.psp.accept(&id);
    world.poll().await;
    world.psp.reopen(&id);
    world.clock.advance(A_WHILE);
    let (other, psp) = (world.clone(), world.psp.clone());
    // While the second read of this node is in transit, another node opens the next round and resolves it.
    let between = move || {
        let poll = |world: &World| futures_util::FutureExt::now_or_never(world.poll()).unwrap();
        assert_eq!(poll(&other), 1);
        other.clock.advance(A_WHILE);
        other.psp.accept(&id);
        assert_eq!(poll(&other), 1);
        other.clock.advance(LONG);
    };
    world.psp.when(Moment::Listed, move || psp.when(Moment::Listed, between));
    world.poll().await;
    assert_eq!((world.statuses(), world.money()), (vec![Lost, Lost], [400, 0, 0]));
    world.check().await;
}

#[tokio::test]
async fn callback_about_reopening_waits_until_certain() {
    let world = World::new().await;
    let (_, id) = world.disputed().await;
    world.psp.settle(&id, UpstreamInfractionStatus::Rejected);
    world.poll().await;
    world.psp.reopen(&id);
    assert_eq!(world.call_back(&id).await, CallbackState::Waiting);
    assert_eq!(world.look_again().await, CallbackState::Done);
    assert_eq!((world.statuses(), world.money()), (vec![Won, Open], [0, 0, 1_000]));
    world.check().await;
}
