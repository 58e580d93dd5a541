//! What happens at the acquirer between two looks: what was reopened and lost is taken once, and what can be defended again is.

use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::infraction::InfractionStatus::{Cancelled, Lost, Open, UnderReview, Won};
use cais_domain::ledger::Bucket;
use cais_ports::Clock as _;
use cais_ports::UpstreamInfractionStatus::{Accepted, Cancelled as Withdrawn, Rejected};
use cais_testkit::Crash;
use futures_util::FutureExt as _;

use crate::psp::Listing;
use crate::world::{A_WHILE, LONG, World};

#[tokio::test]
async fn what_was_reopened_and_lost_unseen_is_a_new_one_that_is_lost() {
    for (first, status) in [(Rejected, Won), (Withdrawn, Cancelled)] {
        let world = World::new().await;
        let (charge, id) = world.disputed().await;
        world.psp.settle(&id, first);
        world.poll().await;
        assert_eq!(world.money(), [1_000, 0, 0]);
        world.clock.advance(A_WHILE);
        world.psp.reopen_now(&id);
        world.psp.accept(&id);
        assert_eq!(world.poll().await, 1, "in one pass");
        assert_eq!((world.statuses(), world.money()), (vec![status, Lost], [0, 0, 0]));
        assert_eq!(world.charge(charge.id).refunds.done.centavos(), 1_000);
        assert_eq!(
            world.told()[2..],
            [EventType::InfractionOpened, EventType::InfractionLost, EventType::ChargeRefunded]
        );
        for _ in 0..3 {
            world.clock.advance(LONG);
            assert_eq!(world.poll().await, 0, "it is taken once");
        }
        assert_eq!(world.statuses(), [status, Lost]);
        world.check().await;
    }
}

#[tokio::test]
async fn it_takes_what_there_is_and_asks_for_nothing_more() {
    let world = World::new().await;
    let (_, id) = world.disputed().await;
    world.psp.settle(&id, Rejected);
    world.poll().await;
    world.spend_all_but(300).await;
    world.psp.reopen_now(&id);
    world.psp.accept(&id);
    world.clock.advance(A_WHILE);
    assert_eq!((world.poll().await, world.money()), (1, [0, 0, 0]));
    world.paid(500).await;
    assert_eq!((world.statuses(), world.money()), (vec![Won, Lost], [500, 0, 0]));
    world.check().await;
}

#[tokio::test]
async fn a_list_that_lags_loses_nothing_a_second_time() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    let id = world.psp.dispute(&pix, 400);
    world.poll().await;
    world.psp.settle(&id, Accepted);
    world.poll().await;
    world.clock.advance(A_WHILE);
    world.psp.reopen_now(&id);
    world.poll().await;
    world.clock.advance(A_WHILE);
    world.psp.settle(&id, Accepted);
    // A replica that has seen the first end and neither what came after it.
    world.psp.set_listing(Listing::AsItWas);
    world.psp.settle(&id, Rejected);
    world.psp.set_listing(Listing::Pages(9));
    assert_eq!(world.poll().await, 1);
    assert_eq!((world.statuses(), world.money()), (vec![Lost, Won], [600, 0, 0]));
    world.psp.settle(&id, Accepted);
    world.psp.set_listing(Listing::AsItWas);
    world.psp.settle(&id, Rejected);
    for _ in 0..2 {
        assert_eq!(world.poll().await, 0);
        assert_eq!((world.statuses(), world.money()), (vec![Lost, Won], [600, 0, 0]), "so soon it may be an old list");
        world.clock.advance(Duration::from_secs(59));
    }
    world.psp.set_listing(Listing::Pages(9));
    assert_eq!(world.poll().await, 0);
    assert_eq!((world.statuses(), world.money()), (vec![Lost, Won], [600, 0, 0]));
    world.check().await;
}

#[tokio::test]
async fn what_was_listed_before_a_later_end_loses_nothing() {
    let world = World::new().await;
    let (_, id) = world.disputed().await;
    world.psp.settle(&id, Accepted);
    let other = world.clone();
    // Long after this node was given the list, the infraction turns out to be won.
    world.psp.when_listed(move || {
        other.psp.settle(&id, Rejected);
        other.poll().now_or_never().unwrap();
        other.clock.advance(LONG);
    });
    assert_eq!(world.poll().await, 0);
    assert_eq!((world.statuses(), world.money()), (vec![Won], [1_000, 0, 0]));
    world.check().await;
}

#[tokio::test]
async fn two_nodes_that_see_it_at_once_take_it_once() {
    let world = World::new().await;
    let (_, id) = world.disputed().await;
    world.psp.settle(&id, Rejected);
    world.poll().await;
    world.clock.advance(A_WHILE);
    world.psp.reopen_now(&id);
    world.psp.accept(&id);
    let contended = world.contended();
    futures_util::future::join_all((0..8).map(|_| contended.poll())).await;
    world.clock.advance(A_WHILE);
    world.poll().await;
    assert_eq!((world.statuses(), world.money()), (vec![Won, Lost], [0, 0, 0]));
    world.check().await;
}

#[tokio::test]
async fn a_process_that_stopped_between_the_two_steps_is_followed_by_another() {
    // Opening, losing, and the position.
    for (commit, crash) in (1..=3).flat_map(|commit| [(commit, Crash::Before), (commit, Crash::After)]) {
        let world = World::new().await;
        let (_, id) = world.disputed().await;
        world.psp.settle(&id, Rejected);
        world.poll().await;
        world.clock.advance(A_WHILE);
        world.psp.reopen_now(&id);
        world.psp.accept(&id);
        world.store.crash_at(commit, crash);
        world.poll().await;
        world.check().await;
        let blocked = (commit, crash) == (1, Crash::After) || (commit, crash) == (2, Crash::Before);
        assert_eq!(world.in_bucket(Bucket::Blocked), if blocked { 1_000 } else { 0 }, "{commit} {crash:?}");
        world.clock.advance(A_WHILE);
        world.poll().await;
        assert_eq!((world.statuses(), world.money()), (vec![Won, Lost], [0, 0, 0]), "{commit} {crash:?}");
        world.check().await;
    }
}

#[tokio::test]
async fn a_process_that_stopped_before_it_lost_the_rest_leaves_no_more_to_lose() {
    for (commit, crash) in (1..=3).flat_map(|commit| [(commit, Crash::Before), (commit, Crash::After)]) {
        let world = World::new().await;
        let (charge, pix) = world.paid(1_000).await;
        let id = world.psp.dispute(&pix, 400);
        world.poll().await;
        world.psp.accept(&id);
        world.poll().await;
        world.clock.advance(LONG);
        world.psp.reopen_now(&id);
        world.psp.settle(&id, Accepted);
        world.psp.take_back(&pix, 250);
        world.store.crash_at(commit, crash);
        world.poll().await;
        world.check().await;
        for _ in 0..2 {
            world.clock.advance(A_WHILE);
            world.poll().await;
        }
        assert_eq!((world.statuses(), world.money()), (vec![Lost, Lost], [350, 0, 0]), "{commit} {crash:?}");
        assert_eq!(world.charge(charge.id).refunds.done.centavos(), 650, "as much as went back");
        world.check().await;
    }
}

#[tokio::test]
async fn a_process_that_stops_while_one_begins_again_frees_nothing() {
    for crash in [Crash::Before, Crash::After] {
        let world = World::new().await;
        let (_, id) = world.disputed().await;
        world.defend("Entregue.").await.unwrap();
        world.clock.advance(A_WHILE);
        world.psp.reopen_now(&id);
        world.store.crash_at(1, crash);
        world.poll().await;
        assert_eq!(world.money(), [0, 0, 1_000], "{crash:?}");
        world.check().await;
        world.poll().await;
        assert_eq!((world.statuses(), world.money()), (vec![Cancelled, Open], [0, 0, 1_000]), "{crash:?}");
        world.check().await;
    }
}

#[tokio::test]
async fn what_was_lost_is_lost_again_only_for_what_was_taken_beyond_it() {
    for (more, expected, money) in [(0, vec![Lost], [600, 0, 0]), (250, vec![Lost, Lost], [350, 0, 0])] {
        let world = World::new().await;
        let (_, pix) = world.paid(1_000).await;
        let id = world.psp.dispute(&pix, 400);
        world.poll().await;
        world.psp.settle(&id, Accepted);
        world.psp.take_back(&pix, 400);
        world.poll().await;
        assert_eq!(world.money(), [600, 0, 0]);
        world.clock.advance(LONG);
        world.psp.reopen_now(&id);
        world.psp.settle(&id, Accepted);
        if more > 0 {
            world.psp.take_back(&pix, more);
        }
        for changed in [usize::from(more > 0), 0, 0] {
            assert_eq!(world.poll().await, changed);
            world.clock.advance(LONG);
        }
        assert_eq!((world.statuses(), world.money()), (expected, money), "{more} more");
        world.check().await;
    }
}

#[tokio::test]
async fn what_another_dispute_may_account_for_is_not_lost_again() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    let (id, other) = (world.psp.dispute(&pix, 400), world.psp.dispute(&pix, 300));
    world.poll().await;
    world.psp.settle(&id, Accepted);
    world.psp.take_back(&pix, 400);
    world.poll().await;
    world.clock.advance(LONG);
    // The other was lost as well, and its list does not show that yet.
    world.psp.take_back(&pix, 300);
    world.psp.settle(&id, Accepted);
    assert_eq!(world.poll().await, 0);
    assert_eq!((world.statuses(), world.money()), (vec![Lost, Open], [300, 0, 300]));
    world.psp.settle(&other, Accepted);
    assert_eq!(world.poll().await, 1);
    world.clock.advance(LONG);
    assert_eq!(world.poll().await, 0);
    assert_eq!((world.statuses(), world.money()), (vec![Lost, Lost], [300, 0, 0]));
    world.check().await;
}

#[tokio::test]
async fn what_was_defended_and_reopened_unseen_can_be_defended_again() {
    for (end, back, status) in [(Rejected, 0, Cancelled), (Withdrawn, 0, Cancelled), (Accepted, 600, Lost)] {
        let world = World::new().await;
        let (charge, pix) = world.paid(1_000).await;
        let id = world.psp.dispute(&pix, 600);
        world.poll().await;
        world.defend("Entregue.").await.unwrap();
        world.clock.advance(A_WHILE);
        world.psp.settle(&id, end);
        if back > 0 {
            world.psp.take_back(&pix, back);
        }
        world.clock.advance(A_WHILE);
        world.psp.reopen_now(&id);
        assert_eq!(world.poll().await, 1);
        let left = if back > 0 { [0, 0, 400] } else { [400, 0, 600] };
        assert_eq!((world.statuses(), world.money()), (vec![status, Open], left));
        assert_eq!(world.charge(charge.id).open_infractions, 1);
        assert!(world.all()[0].defense.is_some() && world.last().defense.is_none());
        assert_eq!(world.last().opened_at, world.clock.now());
        assert_eq!(world.poll().await, 0, "it is known");
        world.check().await;
        assert_eq!(world.defend("Entregue outra vez.").await.unwrap().state.status(), UnderReview);
        assert_eq!(world.psp.defenses(), (2, 2));
        world.clock.advance(A_WHILE);
        assert_eq!(world.poll().await, 0);
        world.psp.settle(&id, Rejected);
        assert_eq!(world.poll().await, 1);
        assert_eq!(world.money(), [1_000 - back, 0, 0]);
        world.check().await;
    }
}

#[tokio::test]
async fn what_was_blocked_cannot_be_spent_while_it_begins_again() {
    let world = World::new().await;
    let (_, id) = world.disputed().await;
    world.defend("Entregue.").await.unwrap();
    world.clock.advance(A_WHILE);
    world.psp.reopen_now(&id);
    let contended = world.contended();
    let spend = async |number: usize| {
        for _ in 0..number {
            tokio::task::yield_now().await;
        }
        contended.pay_out(&number.to_string(), 100).await
    };
    let polls = futures_util::future::join_all((0..4).map(|_| contended.poll()));
    let (_, answers) = futures_util::future::join(polls, futures_util::future::join_all((0..16).map(spend))).await;
    assert!(answers.iter().all(|answer| answer.status == 422), "{answers:?}");
    world.clock.advance(A_WHILE);
    world.poll().await;
    assert_eq!((world.statuses(), world.money()), (vec![Cancelled, Open], [0, 0, 1_000]));
    world.check().await;
}

#[tokio::test]
async fn its_siblings_on_the_pix_are_held_for_as_before() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    let (id, other) = (world.psp.dispute(&pix, 700), world.psp.dispute(&pix, 700));
    world.poll().await;
    let first = world.all().into_iter().find(|infraction| infraction.upstream_id == id).unwrap();
    let text = cais_domain::text::Text::parse("x", 9, cais_domain::text::LineBreaks::Refused).unwrap();
    cais_use_cases::infractions::defend::defend(&world.ports, &world.account, first.id, text, None).await.unwrap();
    world.clock.advance(A_WHILE);
    world.psp.reopen_now(&id);
    assert_eq!((world.poll().await, world.money()), (1, [0, 0, 1_000]));
    world.check().await;
    world.psp.settle(&other, Rejected);
    world.poll().await;
    assert_eq!(world.money(), [300, 0, 700]);
    world.check().await;
}
