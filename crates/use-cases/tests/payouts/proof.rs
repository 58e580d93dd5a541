//! A payout fails only on proof. A refusal is no proof if the acquirer has the payout, or may have it.

use cais_ports::ResponseKind;
use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::payout::PayoutStatus;
use cais_testkit::CapturedLogs;
use cais_testkit::builders::main_acquirer;

use crate::world::{FEE, FUNDS, LONG, World, status_of, ten_reais};
use cais_testkit::psp::{List, Listing, Looking, Sending};

const HELD: (i64, i64) = (FUNDS - 1_000 - FEE, 1_000 + FEE);
const ALERT: &str = "payout_outcome_unproven";

/// Creates a payout that gets no reply. The acquirer has the payout, or never received it.
async fn unanswered(sending: Sending) -> World {
    let world = World::new().await;
    world.psp.set(sending);
    world.psp.set_looking(Looking::Forgets);
    assert_eq!(status_of(&world.create("a", ten_reais()).await.unwrap()), "processing");
    world.psp.set(Sending::Refuses);
    world.clock.advance(LONG);
    world
}

/// Asserts that the payout was executed once and completes here.
async fn completes(world: &World) {
    world.psp.set_looking(Looking::Tells);
    world.psp.complete();
    world.clock.advance(LONG);
    world.poll().await;
    assert_eq!((world.status(), world.psp.sent()), (PayoutStatus::Completed, 1));
    assert_eq!((world.left(&main_acquirer()), world.event_types()), (1_000, vec![EventType::PayoutCompleted]));
    world.check().await;
}

#[tokio::test]
async fn first_refusal_of_existing_payout_keeps_it_processing() {
    let world = World::new().await;
    world.psp.set(Sending::TakesAndRefuses);
    let answer = world.create("a", ten_reais()).await.unwrap();
    assert_eq!((answer.kind, status_of(&answer).as_str(), world.money()), (ResponseKind::Created, "processing", HELD));
    completes(&world).await;
}

#[tokio::test]
async fn first_refusal_without_lookup_keeps_payout_processing() {
    for sending in [Sending::TakesAndRefuses, Sending::Refuses] {
        let world = World::new().await;
        world.psp.set(sending);
        world.psp.set_looking(Looking::Silent);
        let answer = world.create("a", ten_reais()).await.unwrap();
        assert_eq!((status_of(&answer).as_str(), world.money()), ("processing", HELD), "{sending:?}");
        // Look-ups work again. The acquirer has the payout, or it refuses the payout again and does not show it.
        world.psp.set_looking(Looking::Tells);
        world.psp.set(Sending::Refuses);
        world.clock.advance(LONG);
        world.poll().await;
        let expected = if sending == Sending::Refuses { PayoutStatus::Failed } else { PayoutStatus::Processing };
        assert_eq!(world.status(), expected, "{sending:?}");
        world.check().await;
    }
}

#[tokio::test]
async fn refused_repeat_of_listed_payout_keeps_it_processing() {
    let world = unanswered(Sending::LosesReplies).await;
    assert_eq!((world.poll().await, world.status(), world.money()), (0, PayoutStatus::Processing, HELD));
    assert!(world.only_payout().state.end_to_end_id().is_some(), "the list shows it");
    completes(&world).await;
}

#[tokio::test]
async fn refused_repeat_without_a_whole_list_raises_an_alert() {
    for listing in [Listing::Silent, Listing::Garbles, Listing::Circles, Listing::Endless] {
        for sending in [Sending::LosesReplies, Sending::Silent] {
            let world = unanswered(sending).await;
            world.psp.set_listing(listing);
            let logs = CapturedLogs::start();
            assert_eq!((world.poll().await, world.status(), world.money()), (0, PayoutStatus::Processing, HELD));
            let alerts = logs.alerts(ALERT);
            assert_eq!(alerts.len(), 1, "{listing:?} {sending:?}: {alerts:?}");
            assert_eq!(alerts[0]["payout"], world.only_payout().id.to_string());
            assert_eq!((alerts[0]["level"].as_str(), world.event_types().len()), (Some("ERROR"), 0));
            world.check().await;
        }
    }
}

#[tokio::test]
async fn refused_repeat_that_no_read_shows_ends_the_payout() {
    let world = unanswered(Sending::Silent).await;
    let logs = CapturedLogs::start();
    assert_eq!((world.poll().await, world.status(), world.money()), (1, PayoutStatus::Failed, (FUNDS, 0)));
    assert_eq!((world.psp.lists(List::Sent), logs.alerts(ALERT).len()), (1, 0));
    world.check().await;
}

#[tokio::test]
async fn payout_shown_before_is_not_failed_by_absence() {
    let world = World::new().await;
    world.processing().await;
    world.psp.set_looking(Looking::Forgets);
    world.psp.set_listing(Listing::Empty);
    world.psp.set(Sending::Refuses);
    let logs = CapturedLogs::start();
    for _ in 0..3 {
        world.clock.advance(LONG);
        assert_eq!((world.poll().await, world.status(), world.money()), (0, PayoutStatus::Processing, HELD));
    }
    assert_eq!(logs.alerts(ALERT).len(), 3, "once for each poll");
    completes(&world).await;
}

#[tokio::test]
async fn payout_without_proof_for_ten_minutes_raises_an_alert() {
    for (looking, sending) in [(Looking::Silent, Sending::Takes), (Looking::Forgets, Sending::Silent)] {
        let world = World::new().await;
        world.psp.set(Sending::LosesReplies);
        world.psp.set_looking(Looking::Silent);
        world.create("a", ten_reais()).await.unwrap();
        world.psp.set_looking(looking);
        world.psp.set(sending);
        let logs = CapturedLogs::start();
        world.clock.advance(Duration::from_mins(9));
        world.poll().await;
        assert_eq!(logs.alerts(ALERT).len(), 0, "{looking:?}");
        world.clock.advance(Duration::from_mins(1));
        for _ in 0..3 {
            world.poll().await;
        }
        assert_eq!(logs.alerts(ALERT).len(), 1, "at most one alert for each poll: {looking:?}");
        completes(&world).await;
    }
}
