//! Callbacks about disputes are hints for reads. They may come in any order and any number of times.

use std::time::Duration;

use cais_domain::infraction::InfractionStatus;
use cais_ports::{CallbackState, UpstreamInfractionStatus};
use cais_testkit::builders::main_acquirer;
use cais_testkit::psp::{List, Listing};
use cais_use_cases::callbacks::{process, receive};

use crate::world::World;

#[tokio::test]
async fn callback_triggers_immediate_read() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    let id = world.psp.dispute(&pix, 1_000);
    assert_eq!(world.call_back(&id).await, CallbackState::Done);
    assert_eq!((world.statuses(), world.money()), (vec![InfractionStatus::Open], [0, 0, 1_000]));
    world.psp.settle(&id, UpstreamInfractionStatus::Rejected);
    assert_eq!(world.call_back(&id).await, CallbackState::Done);
    assert_eq!(world.call_back(&id).await, CallbackState::Done, "the same again");
    assert_eq!((world.statuses(), world.money()), (vec![InfractionStatus::Won], [1_000, 0, 0]));
    world.check().await;
}

#[tokio::test]
async fn callback_for_old_infraction_finds_it() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    let id = world.psp.dispute(&pix, 1_000);
    world.clock.advance(Duration::from_hours(24 * 80));
    assert_eq!(world.call_back(&id).await, CallbackState::Done);
    world.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    world.clock.advance(Duration::from_hours(24 * 80));
    assert_eq!(world.call_back(&id).await, CallbackState::Done);
    assert_eq!(world.statuses(), [InfractionStatus::Lost]);
    world.check().await;
}

#[tokio::test]
async fn callback_for_unlisted_infraction_waits() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    world.psp.set_list(List::Infractions, Listing::AsItWas);
    let id = world.psp.dispute(&pix, 1_000);
    assert_eq!(world.call_back(&id).await, CallbackState::Waiting);
    world.psp.set_list(List::Infractions, Listing::Silent);
    assert_eq!(world.look_again().await, CallbackState::Waiting);
    world.psp.set_list(List::Infractions, Listing::Pages(1));
    assert_eq!(world.look_again().await, CallbackState::Done);
    assert_eq!(world.money(), [0, 0, 1_000]);
    world.check().await;
}

#[tokio::test]
async fn infraction_that_is_never_listed_ends_unmatched() {
    let world = World::new().await;
    world.call_back("inf-never-listed").await;
    let mut states = Vec::new();
    for _ in 0..20 {
        states.push(world.look_again().await);
    }
    assert_eq!(states.iter().filter(|state| **state == CallbackState::Waiting).count(), 18);
    drop(world.psp.take_listed());
    assert_eq!((world.look_again().await, world.psp.take_listed().len()), (CallbackState::Unmatched, 0));
}

#[tokio::test]
async fn many_forged_infractions_cost_bounded_reads() {
    let world = World::new().await;
    world.call_back("inf-never-listed").await;
    let reads_of_one = world.psp.take_listed().len();
    let names: Vec<String> = (0..40).map(|number| format!("inf-forged-{number}")).collect();
    receive(&world.ports, &main_acquirer(), names.join(",")).await.unwrap();
    for _ in 0..100 {
        process::run_once(&world.ports).await.unwrap();
        assert!(world.psp.take_listed().len() <= 16 * reads_of_one);
        world.clock.advance(Duration::from_mins(1));
    }
    assert!(
        world.store.callbacks().iter().all(|callback| callback.state == CallbackState::Unmatched),
        "each callback was read to its end"
    );
}

#[tokio::test]
async fn callback_for_unknown_pix_is_unmatched() {
    let world = World::new().await;
    let pix = world.psp.receive(None, 1_000);
    let id = world.psp.dispute(&pix, 1_000);
    assert_eq!(world.call_back(&id).await, CallbackState::Unmatched);
    assert_eq!(world.call_back("inf-../../etc").await, CallbackState::Unmatched);
    world.psp.tell_no_infractions();
    assert_eq!(world.call_back(&id).await, CallbackState::Unmatched);
    assert_eq!(world.all(), []);
}
