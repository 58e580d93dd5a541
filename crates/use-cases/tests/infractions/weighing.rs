//! What is put down to a dispute whose end nobody saw: never more than went back, and never what went back for another.

use std::time::Duration;

use cais_domain::infraction::InfractionState;
use cais_domain::infraction::InfractionStatus::{Cancelled, Lost, Open, UnderReview, Won};
use cais_ports::UpstreamInfractionStatus::{Accepted, Rejected};
use cais_ports::UpstreamProgress;

use crate::world::{A_WHILE, LONG, World};

/// What lost disputes took of the account, in centavos.
fn taken(world: &World) -> i64 {
    let all = world.all().into_iter();
    let returned = all.filter_map(|infraction| match infraction.state {
        InfractionState::Lost { returned, .. } => Some(returned.centavos()),
        InfractionState::Open
        | InfractionState::UnderReview { .. }
        | InfractionState::Won { .. }
        | InfractionState::Cancelled { .. } => None,
    });
    returned.sum()
}

/// A defended dispute of R$ 6.00 of a Pix of R$ 10.00.
async fn defended() -> (World, cais_domain::end_to_end_id::EndToEndId, String) {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    let id = world.psp.dispute(&pix, 600);
    world.poll().await;
    world.defend("Entregue.").await.unwrap();
    world.clock.advance(A_WHILE);
    (world, pix, id)
}

#[tokio::test]
async fn of_one_that_ended_unseen_no_more_is_lost_than_was_taken() {
    let (world, pix, id) = defended().await;
    world.psp.settle(&id, Accepted);
    world.psp.take_back(&pix, 200);
    world.clock.advance(A_WHILE);
    world.psp.reopen_now(&id);
    assert_eq!(world.poll().await, 1);
    assert_eq!((world.statuses(), world.money()), (vec![Lost, Open], [200, 0, 600]), "the rest is blocked as before");
    assert_eq!(taken(&world), 200);
    world.check().await;
    world.clock.advance(A_WHILE);
    world.psp.settle(&id, Rejected);
    world.poll().await;
    assert_eq!((world.statuses(), world.money()), (vec![Lost, Won], [800, 0, 0]));
    world.check().await;
}

#[tokio::test]
async fn of_one_that_ended_unseen_the_rest_is_lost_with_the_next_round() {
    let (world, pix, id) = defended().await;
    world.psp.settle(&id, Accepted);
    world.psp.take_back(&pix, 200);
    world.clock.advance(A_WHILE);
    world.psp.reopen_now(&id);
    world.poll().await;
    world.clock.advance(A_WHILE);
    world.psp.accept(&id);
    assert_eq!(world.poll().await, 1);
    assert_eq!((world.statuses(), world.money()), (vec![Lost, Lost], [200, 0, 0]));
    assert_eq!(taken(&world), 800);
    world.check().await;
}

#[tokio::test]
async fn what_another_one_took_in_the_same_outage_is_not_put_down_to_it() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    let first = world.psp.dispute(&pix, 400);
    world.poll().await;
    world.defend("Entregue.").await.unwrap();
    world.clock.advance(A_WHILE);
    world.psp.settle(&first, Rejected);
    let second = world.psp.dispute(&pix, 600);
    world.psp.accept(&second);
    world.clock.advance(A_WHILE);
    world.psp.reopen_now(&first);
    for _ in 0..3 {
        world.poll().await;
        world.check().await;
        world.clock.advance(A_WHILE);
    }
    assert_eq!((world.statuses(), world.money()), (vec![Cancelled, Lost, Open], [0, 0, 400]));
    assert_eq!(taken(&world), 600);
}

#[tokio::test]
async fn what_the_next_round_took_while_it_was_decided_is_not_put_down_to_it() {
    let (world, _, id) = defended().await;
    world.psp.settle(&id, Rejected);
    world.psp.reopen_now(&id);
    let (psp, other) = (world.psp.clone(), world.psp.clone());
    // It is accepted when its second look was made, and before it is asked what was taken.
    let accepted = id.clone();
    world.psp.when_listed(move || psp.when_listed(move || other.accept(&accepted)));
    for _ in 0..4 {
        world.poll().await;
        world.check().await;
        world.clock.advance(A_WHILE);
    }
    assert_eq!((world.money(), taken(&world)), ([400, 0, 0], 600));
    assert!(world.statuses().iter().all(|status| *status == Lost), "{:?}", world.statuses());
}

#[tokio::test]
async fn what_went_back_a_moment_ago_may_be_for_what_is_open_again() {
    let (world, pix, id) = defended().await;
    world.psp.settle(&id, Rejected);
    world.psp.reopen_now(&id);
    // It is accepted again, and the list does not show that yet.
    world.psp.take_back(&pix, 600);
    assert_eq!((world.poll().await, world.statuses()), (0, vec![UnderReview]));
    world.psp.settle(&id, Accepted);
    world.clock.advance(A_WHILE);
    assert_eq!(world.poll().await, 1);
    assert_eq!((world.statuses(), world.money()), (vec![Lost], [400, 0, 0]));
    world.check().await;
}

#[tokio::test]
async fn a_later_round_loses_what_went_back_when_that_is_certain() {
    for (back, at_once) in [(1_000, true), (200, false), (0, false)] {
        let world = World::new().await;
        let (_, pix) = world.paid(1_000).await;
        let id = world.psp.dispute(&pix, 1_000);
        world.poll().await;
        world.psp.settle(&id, Rejected);
        world.poll().await;
        world.clock.advance(LONG);
        world.psp.reopen(&id);
        assert_eq!((world.poll().await, world.statuses()), (1, vec![Won, Open]));
        world.clock.advance(LONG);
        world.psp.settle(&id, Accepted);
        if back > 0 {
            world.psp.take_back(&pix, back);
        }
        assert_eq!(world.poll().await, usize::from(at_once), "{back}");
        if !at_once {
            assert_eq!((world.statuses(), world.money()), (vec![Won, Open], [0, 0, 1_000]), "more may go back");
            world.clock.advance(Duration::from_hours(24));
            assert_eq!(world.poll().await, 1);
        }
        assert_eq!((world.statuses(), world.money()), (vec![Won, Lost], [1_000 - back, 0, 0]));
        assert_eq!((taken(&world), world.poll().await), (back, 0));
        world.check().await;
    }
}

#[tokio::test]
async fn two_that_were_lost_again_share_what_went_back() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    let both = [world.psp.dispute(&pix, 300), world.psp.dispute(&pix, 300)];
    world.poll().await;
    for id in &both {
        world.psp.settle(id, Rejected);
    }
    world.poll().await;
    world.clock.advance(LONG);
    for id in &both {
        world.psp.reopen_now(id);
        world.psp.accept(id);
    }
    for _ in 0..4 {
        world.poll().await;
        world.check().await;
        world.clock.advance(A_WHILE);
    }
    assert_eq!((world.statuses(), world.money()), (vec![Won, Won, Lost, Lost], [400, 0, 0]));
    assert_eq!(taken(&world), 600);
}

#[tokio::test]
async fn what_is_on_its_way_back_decides_nothing_yet() {
    for (goes, end, money) in [(true, Lost, [0, 0, 400]), (false, Cancelled, [400, 0, 600])] {
        let (world, pix, id) = defended().await;
        world.psp.settle(&id, Accepted);
        world.psp.begin_to_take(&pix, 600, UpstreamProgress::Processing);
        world.clock.advance(A_WHILE);
        world.psp.reopen_now(&id);
        for _ in 0..2 {
            assert_eq!((world.poll().await, world.statuses()), (0, vec![UnderReview]));
            world.clock.advance(LONG);
        }
        let failed = UpstreamProgress::Failed { reason: None };
        world.psp.end_all(&if goes { UpstreamProgress::Done { at: None } } else { failed });
        assert_eq!(world.poll().await, 1);
        assert_eq!((world.statuses(), world.money()), (vec![end, Open], money));
        world.check().await;
    }
}

#[tokio::test]
async fn what_was_weighed_is_not_looked_up_each_time() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    let id = world.psp.dispute(&pix, 400);
    world.poll().await;
    world.psp.accept(&id);
    world.poll().await;
    world.clock.advance(A_WHILE);
    // Its end is told late.
    world.psp.settle(&id, Accepted);
    world.clock.advance(A_WHILE);
    assert_eq!(world.poll().await, 0);
    world.psp.listed();
    assert_eq!((world.poll().await, world.psp.listed().len()), (0, 1), "its list is read, and nothing else");
    world.psp.take_back(&pix, 100);
    world.clock.advance(Duration::from_hours(1));
    assert_eq!(world.poll().await, 1, "an hour later it is weighed again");
    assert_eq!((world.statuses(), world.money()), (vec![Lost, Lost], [500, 0, 0]));
    world.check().await;
}
