//! Reads of payouts. A payout whose state may have changed is refreshed from the acquirer, at most once per second.

use std::time::Duration;

use cais_domain::payout::PayoutStatus;
use cais_ports::PageRequest;
use cais_testkit::builders::fresh;
use cais_testkit::psp::{Looking, OrderKind, Sending};
use cais_use_cases::SyncGate;
use cais_use_cases::payouts::PayoutName;
use cais_use_cases::payouts::fetch::{FetchError, fetch};
use cais_use_cases::payouts::list::{ListError, list};

use crate::world::{LONG, World, id_of, named, reais, ten_reais};

#[tokio::test]
async fn acquirer_is_read_once_per_second_and_payout() {
    let world = World::new().await;
    let payout = world.processing().await;
    let gate = SyncGate::new();
    let finds = world.psp.finds(OrderKind::Payout);
    for _ in 0..5 {
        let read = fetch(&world.ports, &gate, world.account.id, &PayoutName::Id(payout.id)).await.unwrap();
        assert_eq!(read.state.status(), PayoutStatus::Processing);
    }
    assert_eq!(world.psp.finds(OrderKind::Payout) - finds, 1);
    world.psp.complete();
    world.clock.advance(Duration::from_secs(1));
    let read = fetch(&world.ports, &gate, world.account.id, &PayoutName::Id(payout.id)).await.unwrap();
    assert_eq!((read.state.status(), world.psp.finds(OrderKind::Payout) - finds), (PayoutStatus::Completed, 2));
    assert_eq!(read, world.only_payout(), "as it is stored");
}

#[tokio::test]
async fn ended_payout_is_refreshed_only_while_it_may_come_back() {
    let world = World::new().await;
    let payout = world.completed().await;
    let finds = world.psp.finds(OrderKind::Payout);
    world.read(payout.id).await.unwrap();
    assert_eq!(world.psp.finds(OrderKind::Payout) - finds, 1);
    world.clock.advance(Duration::from_hours(25));
    world.read(payout.id).await.unwrap();
    assert_eq!(world.psp.finds(OrderKind::Payout) - finds, 1);

    let world = World::new().await;
    world.psp.set(Sending::Refuses);
    let failed = id_of(&world.create("a", ten_reais()).await.unwrap());
    let finds = world.psp.finds(OrderKind::Payout);
    world.read(failed).await.unwrap();
    assert_eq!(world.psp.finds(OrderKind::Payout), finds);
}

#[tokio::test]
async fn silent_acquirer_leaves_stored_state_in_response() {
    let world = World::new().await;
    let payout = world.processing().await;
    for looking in [Looking::Silent, Looking::Forgets] {
        world.psp.set_looking(looking);
        assert_eq!(world.read(payout.id).await.as_ref(), Ok(&payout), "{looking:?}");
    }
    world.store.set_unreachable(true);
    let read = world.read(payout.id).await;
    assert!(matches!(read, Err(FetchError::Unavailable { retry_after_s: 1.. })), "{read:?}");
}

#[tokio::test]
async fn accounts_read_only_their_own_payouts() {
    let world = World::new().await;
    let payout = world.processing().await;
    let foreign = fetch(&world.ports, &SyncGate::new(), fresh(), &PayoutName::Id(payout.id)).await;
    assert_eq!(foreign, Err(FetchError::NotFound));
    let page = PageRequest { limit: 1, starting_after: Some(payout.id) };
    assert_eq!(list(&world.ports, fresh(), page).await, Err(ListError::UnknownCursor));
    assert_eq!(world.read(fresh()).await, Err(FetchError::NotFound));
}

#[tokio::test]
async fn pages_stay_contiguous_while_payouts_are_added() {
    let world = World::new().await;
    world.fund(1_000_000).await;
    let mut made = Vec::new();
    for number in 0..5 {
        made.push(id_of(&world.create(&number.to_string(), reais(1)).await.unwrap()));
    }
    let (mut seen, mut starting_after) = (Vec::new(), None);
    for number in 5..10 {
        let page = list(&world.ports, world.account.id, PageRequest { limit: 2, starting_after }).await.unwrap();
        seen.extend(page.rows.iter().map(|payout| payout.id));
        world.create(&number.to_string(), reais(1)).await.unwrap();
        starting_after = seen.last().copied();
        if !page.has_more {
            break;
        }
    }
    made.reverse();
    assert_eq!(seen, made, "newest first, none twice, none of those that came later");
}

#[tokio::test]
async fn unfinished_payout_is_in_no_list_and_no_cursor() {
    let world = World::new().await;
    world.psp.set(Sending::Down);
    world.create("a", named("order-1", ten_reais())).await.unwrap_err();
    let given_up = world.only_payout().id;
    world.store.crash_at(2, cais_testkit::Crash::Before);
    world.create("b", ten_reais()).await.unwrap_err();
    world.clock.advance(LONG);
    assert_eq!((world.store.payouts().len(), world.visible().await), (2, 0));
    let page = PageRequest { limit: 1, starting_after: Some(given_up) };
    assert_eq!(list(&world.ports, world.account.id, page).await, Err(ListError::UnknownCursor));
}
