//! Overdue charges expire after a last read of the acquirer.

use std::time::Duration;

use cais_domain::charge::ChargeStatus;
use cais_domain::event::EventType;
use cais_ports::{Clock as _, UpstreamStatus};
use cais_testkit::CapturedLogs;
use cais_testkit::psp::{OrderKind, Sending};
use cais_use_cases::charges::expire::run_once;

use crate::world::World;

const LIFE: Duration = Duration::from_hours(1);
const MOMENT: Duration = Duration::from_millis(1);

#[tokio::test]
async fn charge_before_its_end_does_not_expire() {
    let world = World::new().await;
    let charge = world.pending().await;
    world.clock.advance(LIFE.checked_sub(MOMENT).unwrap());
    assert_eq!(run_once(&world.ports).await.unwrap().done, 0);
    assert_eq!((world.status(charge.id), world.psp.finds(OrderKind::Charge)), (ChargeStatus::Pending, 0));

    world.clock.advance(MOMENT * 2);
    assert_eq!(run_once(&world.ports).await.unwrap().done, 1);
    assert_eq!((world.status(charge.id), world.psp.finds(OrderKind::Charge)), (ChargeStatus::Expired, 1));
    assert_eq!(world.event_types(), [EventType::ChargeExpired]);
    assert_eq!(run_once(&world.ports).await.unwrap().done, 0, "once");
    world.check().await;
}

#[tokio::test]
async fn last_read_before_expiry_finds_payment() {
    let world = World::new().await;
    let charge = world.pending().await;
    world.psp.pay(&charge.txid, 1_000);
    world.clock.advance(LIFE + MOMENT);
    assert_eq!(run_once(&world.ports).await.unwrap().done, 1);
    assert_eq!((world.status(charge.id), world.available()), (ChargeStatus::Paid, 1_000));
    assert_eq!(world.event_types(), [EventType::ChargePaid]);
}

#[tokio::test]
async fn charge_with_short_payment_still_expires() {
    let world = World::new().await;
    let charge = world.pending().await;
    world.psp.pay(&charge.txid, 900);
    world.clock.advance(LIFE + MOMENT);
    run_once(&world.ports).await.unwrap();
    assert_eq!((world.status(charge.id), world.available()), (ChargeStatus::Expired, 900));
    world.check().await;
}

#[tokio::test]
async fn silent_acquirer_delays_expiry_up_to_limit() {
    for mood in [Sending::Down, Sending::Silent] {
        let world = World::new().await;
        let charge = world.pending().await;
        world.psp.set_all(mood);
        world.clock.advance(LIFE + MOMENT);
        assert_eq!(run_once(&world.ports).await.unwrap().done, 0);
        assert_eq!(world.status(charge.id), ChargeStatus::Pending, "{mood:?}: it may have been paid");

        world.clock.advance(Duration::from_mins(10));
        assert_eq!(run_once(&world.ports).await.unwrap().done, 1);
        assert_eq!(world.status(charge.id), ChargeStatus::Expired);

        // A payment that arrives meanwhile is not lost.
        world.psp.set_all(Sending::Takes);
        world.psp.pay(&charge.txid, 1_000);
        world.call_back(charge.txid.as_str()).await;
        world.work().await;
        assert_eq!((world.status(charge.id), world.available()), (ChargeStatus::Paid, 1_000));
        world.check().await;
    }
}

#[tokio::test]
async fn overdue_charge_is_expired_for_readers_before_worker() {
    let world = World::new().await;
    let charge = world.pending().await;
    world.clock.advance(LIFE + MOMENT);
    assert_eq!(world.read(charge.id).await.unwrap().state.status(), ChargeStatus::Expired);
    assert_eq!(run_once(&world.ports).await.unwrap().done, 0);
    assert_eq!(world.event_types(), [EventType::ChargeExpired]);
}

#[tokio::test]
async fn charge_completed_without_payment_expires() {
    let world = World::new().await;
    let charge = world.pending().await;
    world.psp.set_status(&charge.txid, UpstreamStatus::Completed);
    world.clock.advance(LIFE + MOMENT);
    assert_eq!(run_once(&world.ports).await.unwrap().done, 0);
    assert_eq!(world.status(charge.id), ChargeStatus::Pending, "the acquirer may show the payment later");
    world.clock.advance(Duration::from_mins(10));
    assert_eq!(run_once(&world.ports).await.unwrap().done, 1);
    assert_eq!(world.status(charge.id), ChargeStatus::Expired);

    // A reader still finds the payment, without a callback.
    world.psp.pay(&charge.txid, 1_000);
    assert_eq!(world.read(charge.id).await.unwrap().state.status(), ChargeStatus::Paid);
    world.check().await;
}

#[tokio::test]
async fn fast_clock_expires_no_payable_charge() {
    for ahead in [MOMENT, Duration::from_secs(29), Duration::from_hours(2)] {
        let world = World::new().await;
        let charge = world.pending().await;
        world.psp.set_clock(world.clock.now());
        world.clock.advance(LIFE + ahead);
        let logs = CapturedLogs::start();
        assert_eq!(run_once(&world.ports).await.unwrap().done, 0);
        world.read(charge.id).await.unwrap();
        assert_eq!(world.status(charge.id), ChargeStatus::Pending, "{ahead:?}");
        let alerts = logs.alerts("clock_skew").len();
        assert_eq!(alerts, usize::from(ahead > Duration::from_secs(30)), "{ahead:?}");
        // The acquirer's clock has reached the end of the charge, in whole seconds.
        world.psp.set_clock(world.clock.now() - Duration::from_millis(500) - ahead);
        assert_eq!(run_once(&world.ports).await.unwrap().done, 1);
        assert_eq!(world.status(charge.id), ChargeStatus::Expired);
        world.check().await;
    }
}
