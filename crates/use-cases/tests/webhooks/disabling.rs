//! An endpoint is disabled, and one event is published.

use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::merchant::webhook::{DeliveryStatus, DisabledReason, EndpointState, FAILING_AFTER};
use cais_testkit::builders::{a_webhook_url, subscribed};
use cais_use_cases::webhooks::delete::delete;
use jiff::SignedDuration;

use crate::bed::{Dispatcher, HEALTHY_SLOTS, TestBed, settle, until};
use crate::receivers::{Answer, refused, taken};

const DISABLED: EventType = EventType::WebhookEndpointDisabled;

#[tokio::test]
async fn endpoint_with_410_is_disabled_with_one_event() {
    let bed = TestBed::new().await;
    let gone = bed.endpoint_for(subscribed(&[EventType::ChargePaid])).await;
    let watcher = bed.endpoint_for(subscribed(&[DISABLED])).await;
    let dispatcher = bed.dispatcher();
    bed.make_healthy(&gone, &dispatcher).await;
    bed.receivers.set(&gone.url, Answer::Held);
    bed.publish_many(20).await;
    until("some are under way", || bed.receivers.held(&gone.url) == HEALTHY_SLOTS).await;
    let at = bed.clock.advance(Duration::from_secs(1));
    bed.receivers.set(&gone.url, Answer::Now(refused(410)));
    bed.receivers.release(&gone.url, &refused(410));
    until("the event", || bed.event_types().contains(&DISABLED)).await;
    bed.until_all(&watcher, DeliveryStatus::Succeeded).await;
    settle().await;
    dispatcher.tick();
    let first = bed.statuses(&gone).await.remove(0);
    bed.until_all_but(&gone, 1, DeliveryStatus::Cancelled).await;
    assert_eq!(first, DeliveryStatus::Succeeded);
    dispatcher.stop().await;

    let state = EndpointState::Disabled { reason: DisabledReason::Gone, at };
    let stored = bed.stored(gone.id).await;
    assert_eq!((stored.state, stored.epoch), (state, 1));
    assert_eq!(bed.event_types().iter().filter(|kind| **kind == DISABLED).count(), 1);
    assert_eq!(
        bed.receivers.calls_to(&gone.url).len(),
        1 + HEALTHY_SLOTS,
        "a disabled endpoint receives no further delivery"
    );
    let event_types = &bed.receivers.calls_to(&watcher.url)[0];
    let body: serde_json::Value = serde_json::from_slice(&event_types.body).unwrap();
    assert_eq!((&body["type"], &body["data"]["id"]), (&DISABLED.as_str().into(), &gone.id.to_string().into()));
    assert_eq!(body["data"]["active"], false, "as its GET returns it then");
}

#[tokio::test]
async fn concurrent_410_on_two_nodes_publishes_one_event() {
    let bed = TestBed::new().await;
    let gone = bed.endpoint().await;
    let nodes = [bed.dispatcher_without_hints(), bed.dispatcher_without_hints()];
    bed.receivers.set(&gone.url, Answer::Held);
    for (node, under_way) in nodes.iter().zip(1..) {
        bed.publish(EventType::ChargePaid).await;
        node.tick();
        until("each has one under way", || bed.receivers.held(&gone.url) == under_way).await;
    }
    bed.receivers.release(&gone.url, &refused(410));
    until("it is disabled", || bed.event_types().contains(&DISABLED)).await;
    for node in nodes {
        node.stop().await;
    }
    assert_eq!(bed.event_types().iter().filter(|kind| **kind == DISABLED).count(), 1);
    assert_eq!(bed.stored(gone.id).await.epoch, 1);
}

#[tokio::test]
async fn outdated_410_does_not_disable_changed_endpoint() {
    for meanwhile in ["moved", "stopped and started", "deleted"] {
        let bed = TestBed::new().await;
        let endpoint = bed.endpoint().await;
        bed.receivers.set(&endpoint.url, Answer::Held);
        let dispatcher = bed.dispatcher();
        bed.publish(EventType::ChargePaid).await;
        until("it is under way", || bed.receivers.held(&endpoint.url) == 1).await;
        match meanwhile {
            "moved" => {
                let url = Some(a_webhook_url());
                let moved = cais_domain::merchant::webhook::EndpointChange { url, ..Default::default() };
                bed.change(&endpoint, moved).await;
            }
            "deleted" => delete(&bed.ports, &bed.account, endpoint.id).await.unwrap(),
            _ => {
                bed.set_active(&endpoint, false).await;
                bed.set_active(&endpoint, true).await;
            }
        }
        let before = bed.stored(endpoint.id).await;
        bed.receivers.release(&endpoint.url, &refused(410));
        dispatcher.stop().await;
        assert_eq!(bed.stored(endpoint.id).await, before, "{meanwhile}");
        assert!(!bed.event_types().contains(&DISABLED), "{meanwhile}");
    }
}

/// Sends one event that the receiver refuses or accepts.
async fn tried(
    bed: &TestBed,
    dispatcher: &Dispatcher,
    answer: cais_ports::Sent,
    url: &cais_domain::merchant::webhook::WebhookUrl,
) {
    let before = bed.receivers.calls_to(url).len();
    bed.receivers.set(url, Answer::Now(answer));
    bed.publish(EventType::ChargePaid).await;
    dispatcher.tick();
    until("an attempt", || bed.receivers.calls_to(url).len() > before).await;
    settle().await;
}

#[tokio::test]
async fn five_days_of_failures_disable_endpoint() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint_for(subscribed(&[EventType::ChargePaid])).await;
    let dispatcher = bed.dispatcher();
    let day = SignedDuration::from_hours(24);
    let start = bed.now();
    tried(&bed, &dispatcher, refused(500), &endpoint.url).await;
    bed.clock.set(start + day * 4);
    tried(&bed, &dispatcher, refused(500), &endpoint.url).await;
    // A success in between starts the count of days again.
    tried(&bed, &dispatcher, taken(), &endpoint.url).await;
    bed.clock.set(start + day * 6);
    tried(&bed, &dispatcher, refused(500), &endpoint.url).await;
    bed.clock.set(start + day * 6 + FAILING_AFTER - SignedDuration::from_secs(1));
    tried(&bed, &dispatcher, refused(500), &endpoint.url).await;
    assert!(bed.stored(endpoint.id).await.is_active());
    let at = start + day * 6 + FAILING_AFTER;
    bed.clock.set(at);
    tried(&bed, &dispatcher, refused(500), &endpoint.url).await;
    until("the event", || bed.event_types().contains(&DISABLED)).await;
    dispatcher.stop().await;
    let state = EndpointState::Disabled { reason: DisabledReason::Failing, at };
    assert_eq!(bed.stored(endpoint.id).await.state, state);
    assert_eq!(bed.event_types().iter().filter(|kind| **kind == DISABLED).count(), 1);
}

#[tokio::test]
async fn failure_beside_success_starts_new_count() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let dispatcher = bed.dispatcher();
    tried(&bed, &dispatcher, refused(500), &endpoint.url).await;
    bed.clock.advance(Duration::from_hours(6 * 24));
    // Both deliveries are claimed while the stored failures are days old. The one that completes first succeeds.
    let answers = [Answer::Now(taken()), Answer::Held];
    bed.receivers.set(&endpoint.url, Answer::Now(taken()));
    bed.receivers.script(&endpoint.url, answers);
    dispatcher.tick();
    bed.publish_many(2).await;
    until("one is held", || bed.receivers.held(&endpoint.url) == 1).await;
    settle().await;
    bed.receivers.release(&endpoint.url, &refused(500));
    settle().await;
    dispatcher.stop().await;
    assert!(bed.stored(endpoint.id).await.is_active());
    assert!(!bed.event_types().contains(&DISABLED));
}

#[tokio::test]
async fn success_on_another_node_prevents_disabling() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let [one, other] = [bed.dispatcher_without_hints(), bed.dispatcher_without_hints()];
    tried(&bed, &one, refused(500), &endpoint.url).await;
    bed.clock.advance(Duration::from_hours(6 * 24));
    // The delivery is claimed while the stored failures are days old.
    bed.receivers.set(&endpoint.url, Answer::Held);
    one.tick();
    until("it is held", || bed.receivers.held(&endpoint.url) == 1).await;
    tried(&bed, &other, taken(), &endpoint.url).await;
    bed.receivers.release(&endpoint.url, &refused(500));
    for node in [one, other] {
        node.stop().await;
    }
    assert!(bed.stored(endpoint.id).await.is_active());
    assert!(!bed.event_types().contains(&DISABLED));
}

#[tokio::test]
async fn failed_disabling_is_repeated_by_next_failure() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    bed.receivers.set(&endpoint.url, Answer::Now(refused(410)));
    let dispatcher = bed.dispatcher();
    bed.publish(EventType::ChargePaid).await;
    bed.store.crash_at(1, cais_testkit::Crash::Before);
    until("the first attempt", || bed.receivers.calls().len() == 1).await;
    settle().await;
    assert!(bed.stored(endpoint.id).await.is_active());
    bed.clock.advance(Duration::from_secs(6));
    dispatcher.tick();
    until("the event", || bed.event_types().contains(&DISABLED)).await;
    dispatcher.stop().await;
    assert!(!bed.stored(endpoint.id).await.is_active());
}

#[tokio::test]
async fn inactive_days_do_not_count_as_failures() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint_for(subscribed(&[EventType::ChargePaid])).await;
    let dispatcher = bed.dispatcher();
    let start = bed.now();
    tried(&bed, &dispatcher, refused(500), &endpoint.url).await;
    bed.set_active(&endpoint, false).await;
    bed.clock.set(start + FAILING_AFTER * 2);
    bed.set_active(&endpoint, true).await;
    tried(&bed, &dispatcher, refused(500), &endpoint.url).await;
    dispatcher.tick();
    settle().await;
    dispatcher.stop().await;
    assert!(bed.stored(endpoint.id).await.is_active());
}
