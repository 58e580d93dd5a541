//! An endpoint is disabled, and one event is published.

use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::merchant::webhook::{DeliveryStatus, DisabledReason, EndpointState, FAILING_AFTER};
use cais_testkit::builders::{a_webhook_url, subscribed};
use cais_use_cases::webhooks::delete::delete;
use jiff::SignedDuration;

use crate::receivers::{Answer, refused, taken};
use crate::world::{Dispatcher, HEALTHY_SLOTS, World, settle, until};

const DISABLED: EventType = EventType::WebhookEndpointDisabled;

#[tokio::test]
async fn endpoint_with_410_is_disabled_with_one_event() {
    let world = World::new().await;
    let gone = world.wanting(subscribed(&[EventType::ChargePaid])).await;
    let watcher = world.wanting(subscribed(&[DISABLED])).await;
    let dispatcher = world.dispatcher();
    world.prove(&gone, &dispatcher).await;
    world.receivers.set(&gone.url, Answer::Held);
    world.publish_many(20).await;
    until("some are under way", || world.receivers.held(&gone.url) == HEALTHY_SLOTS).await;
    let at = world.clock.advance(Duration::from_secs(1));
    world.receivers.set(&gone.url, Answer::Now(refused(410)));
    world.receivers.release(&gone.url, &refused(410));
    until("the event", || world.event_types().contains(&DISABLED)).await;
    world.until_all(&watcher, DeliveryStatus::Succeeded).await;
    settle().await;
    dispatcher.tick();
    let first = world.statuses(&gone).await.remove(0);
    world.until_all_but(&gone, 1, DeliveryStatus::Cancelled).await;
    assert_eq!(first, DeliveryStatus::Succeeded);
    dispatcher.stop().await;

    let state = EndpointState::Disabled { reason: DisabledReason::Gone, at };
    let stored = world.stored(gone.id).await;
    assert_eq!((stored.state, stored.epoch), (state, 1));
    assert_eq!(world.event_types().iter().filter(|kind| **kind == DISABLED).count(), 1);
    assert_eq!(
        world.receivers.calls_to(&gone.url).len(),
        1 + HEALTHY_SLOTS,
        "a disabled endpoint receives no further delivery"
    );
    let event_types = &world.receivers.calls_to(&watcher.url)[0];
    let body: serde_json::Value = serde_json::from_slice(&event_types.body).unwrap();
    assert_eq!((&body["type"], &body["data"]["id"]), (&DISABLED.as_str().into(), &gone.id.to_string().into()));
    assert_eq!(body["data"]["active"], false, "as its GET returns it then");
}

#[tokio::test]
async fn concurrent_410_on_two_nodes_publishes_one_event() {
    let world = World::new().await;
    let gone = world.endpoint().await;
    let nodes = [world.deaf_dispatcher(), world.deaf_dispatcher()];
    world.receivers.set(&gone.url, Answer::Held);
    for (node, under_way) in nodes.iter().zip(1..) {
        world.publish(EventType::ChargePaid).await;
        node.tick();
        until("each has one under way", || world.receivers.held(&gone.url) == under_way).await;
    }
    world.receivers.release(&gone.url, &refused(410));
    until("it is disabled", || world.event_types().contains(&DISABLED)).await;
    for node in nodes {
        node.stop().await;
    }
    assert_eq!(world.event_types().iter().filter(|kind| **kind == DISABLED).count(), 1);
    assert_eq!(world.stored(gone.id).await.epoch, 1);
}

#[tokio::test]
async fn outdated_410_does_not_disable_changed_endpoint() {
    for meanwhile in ["moved", "stopped and started", "deleted"] {
        let world = World::new().await;
        let endpoint = world.endpoint().await;
        world.receivers.set(&endpoint.url, Answer::Held);
        let dispatcher = world.dispatcher();
        world.publish(EventType::ChargePaid).await;
        until("it is under way", || world.receivers.held(&endpoint.url) == 1).await;
        match meanwhile {
            "moved" => {
                let url = Some(a_webhook_url());
                let moved = cais_domain::merchant::webhook::EndpointChange { url, ..Default::default() };
                world.change(&endpoint, moved).await;
            }
            "deleted" => delete(&world.ports, &world.account, endpoint.id).await.unwrap(),
            _ => {
                world.set_active(&endpoint, false).await;
                world.set_active(&endpoint, true).await;
            }
        }
        let before = world.stored(endpoint.id).await;
        world.receivers.release(&endpoint.url, &refused(410));
        dispatcher.stop().await;
        assert_eq!(world.stored(endpoint.id).await, before, "{meanwhile}");
        assert!(!world.event_types().contains(&DISABLED), "{meanwhile}");
    }
}

/// Sends one event that the receiver refuses or accepts.
async fn tried(
    world: &World,
    dispatcher: &Dispatcher,
    answer: cais_ports::Sent,
    url: &cais_domain::merchant::webhook::WebhookUrl,
) {
    let before = world.receivers.calls_to(url).len();
    world.receivers.set(url, Answer::Now(answer));
    world.publish(EventType::ChargePaid).await;
    dispatcher.tick();
    until("an attempt", || world.receivers.calls_to(url).len() > before).await;
    settle().await;
}

#[tokio::test]
async fn five_days_of_failures_disable_endpoint() {
    let world = World::new().await;
    let endpoint = world.wanting(subscribed(&[EventType::ChargePaid])).await;
    let dispatcher = world.dispatcher();
    let day = SignedDuration::from_hours(24);
    let start = world.now();
    tried(&world, &dispatcher, refused(500), &endpoint.url).await;
    world.clock.set(start + day * 4);
    tried(&world, &dispatcher, refused(500), &endpoint.url).await;
    // A success in between starts the count of days again.
    tried(&world, &dispatcher, taken(), &endpoint.url).await;
    world.clock.set(start + day * 6);
    tried(&world, &dispatcher, refused(500), &endpoint.url).await;
    world.clock.set(start + day * 6 + FAILING_AFTER - SignedDuration::from_secs(1));
    tried(&world, &dispatcher, refused(500), &endpoint.url).await;
    assert!(world.stored(endpoint.id).await.is_active());
    let at = start + day * 6 + FAILING_AFTER;
    world.clock.set(at);
    tried(&world, &dispatcher, refused(500), &endpoint.url).await;
    until("the event", || world.event_types().contains(&DISABLED)).await;
    dispatcher.stop().await;
    let state = EndpointState::Disabled { reason: DisabledReason::Failing, at };
    assert_eq!(world.stored(endpoint.id).await.state, state);
    assert_eq!(world.event_types().iter().filter(|kind| **kind == DISABLED).count(), 1);
}

#[tokio::test]
async fn failure_beside_success_starts_new_count() {
    let world = World::new().await;
    let endpoint = world.endpoint().await;
    let dispatcher = world.dispatcher();
    tried(&world, &dispatcher, refused(500), &endpoint.url).await;
    world.clock.advance(Duration::from_hours(6 * 24));
    // Both deliveries are claimed while the stored failures are days old. The one that completes first succeeds.
    let answers = [Answer::Now(taken()), Answer::Held];
    world.receivers.set(&endpoint.url, Answer::Now(taken()));
    world.receivers.script(&endpoint.url, answers);
    dispatcher.tick();
    world.publish_many(2).await;
    until("one is held", || world.receivers.held(&endpoint.url) == 1).await;
    settle().await;
    world.receivers.release(&endpoint.url, &refused(500));
    settle().await;
    dispatcher.stop().await;
    assert!(world.stored(endpoint.id).await.is_active());
    assert!(!world.event_types().contains(&DISABLED));
}

#[tokio::test]
async fn success_on_another_node_prevents_disabling() {
    let world = World::new().await;
    let endpoint = world.endpoint().await;
    let [one, other] = [world.deaf_dispatcher(), world.deaf_dispatcher()];
    tried(&world, &one, refused(500), &endpoint.url).await;
    world.clock.advance(Duration::from_hours(6 * 24));
    // The delivery is claimed while the stored failures are days old.
    world.receivers.set(&endpoint.url, Answer::Held);
    one.tick();
    until("it is held", || world.receivers.held(&endpoint.url) == 1).await;
    tried(&world, &other, taken(), &endpoint.url).await;
    world.receivers.release(&endpoint.url, &refused(500));
    for node in [one, other] {
        node.stop().await;
    }
    assert!(world.stored(endpoint.id).await.is_active());
    assert!(!world.event_types().contains(&DISABLED));
}

#[tokio::test]
async fn failed_disabling_is_repeated_by_next_failure() {
    let world = World::new().await;
    let endpoint = world.endpoint().await;
    world.receivers.set(&endpoint.url, Answer::Now(refused(410)));
    let dispatcher = world.dispatcher();
    world.publish(EventType::ChargePaid).await;
    world.store.crash_at(1, cais_testkit::Crash::Before);
    until("the first attempt", || world.receivers.calls().len() == 1).await;
    settle().await;
    assert!(world.stored(endpoint.id).await.is_active());
    world.clock.advance(Duration::from_secs(6));
    dispatcher.tick();
    until("the event", || world.event_types().contains(&DISABLED)).await;
    dispatcher.stop().await;
    assert!(!world.stored(endpoint.id).await.is_active());
}

#[tokio::test]
async fn inactive_days_do_not_count_as_failures() {
    let world = World::new().await;
    let endpoint = world.wanting(subscribed(&[EventType::ChargePaid])).await;
    let dispatcher = world.dispatcher();
    let start = world.now();
    tried(&world, &dispatcher, refused(500), &endpoint.url).await;
    world.set_active(&endpoint, false).await;
    world.clock.set(start + FAILING_AFTER * 2);
    world.set_active(&endpoint, true).await;
    tried(&world, &dispatcher, refused(500), &endpoint.url).await;
    dispatcher.tick();
    settle().await;
    dispatcher.stop().await;
    assert!(world.stored(endpoint.id).await.is_active());
}
