//! A refund fails only on proof. The record of a Pix lists its returns, so this record is the list that proof requires
//! in addition to a look-up.

use std::time::Duration;

use cais_domain::refund::RefundStatus;
use cais_ports::UpstreamProgress;
use cais_testkit::CapturedLogs;
use cais_testkit::psp::{Listing, Looking, Sending};
use cais_use_cases::refunds::poll::run_once;

use crate::world::{LONG, World, all};

const ALERT: &str = "refund_outcome_unproven";

/// Creates a refund that gets no reply. From then on the acquirer refuses it, and no look-up shows it.
async fn unanswered(returning: Sending) -> World {
    let world = World::new().await;
    let charge = world.paid().await;
    world.psp.set(returning);
    world.psp.set_looking(Looking::Forgets);
    world.refund("a", &charge, all()).await.unwrap();
    world.psp.set(Sending::Refuses);
    world.clock.advance(LONG);
    world
}

async fn completes(world: &World) {
    world.psp.set_looking(Looking::Tells);
    world.psp.settle_refunds(&UpstreamProgress::Done { at: None });
    world.clock.advance(LONG);
    world.poll().await;
    assert_eq!((world.status(), world.available()), (RefundStatus::Completed, 0));
    world.check().await;
}

#[tokio::test]
async fn first_refusal_without_lookup_keeps_refund_processing() {
    let world = World::new().await;
    let charge = world.paid().await;
    world.psp.set(Sending::Refuses);
    world.psp.set_looking(Looking::Silent);
    world.refund("a", &charge, all()).await.unwrap();
    assert_eq!((world.status(), world.in_transit()), (RefundStatus::Processing, 1_000));
    world.psp.set_looking(Looking::Tells);
    world.clock.advance(LONG);
    assert_eq!((world.poll().await, world.status()), (1, RefundStatus::Failed));
    assert_eq!((world.available(), world.psp.refund_orders().len()), (1_000, 2));
    world.check().await;
}

#[tokio::test]
async fn refused_repeat_of_listed_return_keeps_refund_processing() {
    let world = unanswered(Sending::LosesReplies).await;
    assert_eq!((world.poll().await, world.status()), (0, RefundStatus::Processing));
    assert_eq!((world.in_transit(), world.psp.returned()), (1_000, 1_000));
    completes(&world).await;
}

#[tokio::test]
async fn refused_repeat_without_the_pix_raises_an_alert() {
    for listing in [Listing::Silent, Listing::Empty] {
        for returning in [Sending::LosesReplies, Sending::Silent] {
            let world = unanswered(returning).await;
            world.psp.set_listing(listing);
            let logs = CapturedLogs::start();
            assert_eq!((world.poll().await, world.status()), (0, RefundStatus::Processing), "{listing:?}");
            let alerts = logs.alerts(ALERT);
            assert_eq!(alerts.len(), 1, "{listing:?} {returning:?}: {alerts:?}");
            assert_eq!(alerts[0]["refund"], world.only_refund().id.to_string());
            assert_eq!(world.in_transit(), 1_000);
            world.check().await;
        }
    }
}

#[tokio::test]
async fn return_without_its_name_is_not_absent() {
    let world = unanswered(Sending::LosesReplies).await;
    let pix = world.psp.refund_orders()[0].end_to_end_id.clone();
    let named = world.psp.refund_orders()[0].id.suffix();
    world.psp.change_payment(&pix, |payment| payment.returns[0].name.clear());
    world.psp.change_payment(&pix, |payment| payment.returns[0].return_id = None);
    let logs = CapturedLogs::start();
    assert_eq!((world.poll().await, world.status()), (0, RefundStatus::Processing));
    assert_eq!((world.in_transit(), logs.alerts(ALERT).len()), (1_000, 1));
    world.psp.change_payment(&pix, |payment| payment.returns[0].name = named);
    completes(&world).await;
}

#[tokio::test]
async fn refund_without_proof_for_ten_minutes_raises_an_alert() {
    let world = World::new().await;
    let charge = world.paid().await;
    world.psp.set(Sending::LosesReplies);
    world.psp.set_looking(Looking::Silent);
    world.refund("a", &charge, all()).await.unwrap();
    let logs = CapturedLogs::start();
    world.clock.advance(Duration::from_mins(9));
    world.poll().await;
    assert_eq!(logs.alerts(ALERT).len(), 0);
    world.clock.advance(Duration::from_mins(1));
    for _ in 0..3 {
        run_once(&world.ports).await.unwrap();
    }
    assert_eq!(logs.alerts(ALERT).len(), 1, "at most one alert for each poll");
    completes(&world).await;
}
