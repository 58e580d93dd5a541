//! Overdue charges expire after a last read of the acquirer.

use std::time::Duration;

use cais_domain::charge::ChargeStatus;
use cais_domain::event::EventType;
use cais_ports::{Clock as _, UpstreamStatus};
use cais_testkit::CapturedLogs;
use cais_testkit::psp::{OrderKind, OrderReply};
use cais_use_cases::charges::expire::run_once;

use crate::bed::TestBed;

const LIFE: Duration = Duration::from_hours(1);
const MOMENT: Duration = Duration::from_millis(1);

#[tokio::test]
async fn charge_before_its_end_does_not_expire() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    bed.clock.advance(LIFE.checked_sub(MOMENT).unwrap());
    assert_eq!(run_once(&bed.ports).await.unwrap().done, 0);
    assert_eq!((bed.status(charge.id), bed.psp.finds(OrderKind::Charge)), (ChargeStatus::Pending, 0));

    bed.clock.advance(MOMENT * 2);
    assert_eq!(run_once(&bed.ports).await.unwrap().done, 1);
    assert_eq!((bed.status(charge.id), bed.psp.finds(OrderKind::Charge)), (ChargeStatus::Expired, 1));
    assert_eq!(bed.event_types(), [EventType::ChargeExpired]);
    assert_eq!(run_once(&bed.ports).await.unwrap().done, 0, "once");
    bed.check().await;
}

#[tokio::test]
async fn last_read_before_expiry_finds_payment() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    bed.psp.pay(&charge.txid, 1_000);
    bed.clock.advance(LIFE + MOMENT);
    assert_eq!(run_once(&bed.ports).await.unwrap().done, 1);
    assert_eq!((bed.status(charge.id), bed.available()), (ChargeStatus::Paid, 1_000));
    assert_eq!(bed.event_types(), [EventType::ChargePaid]);
}

#[tokio::test]
async fn charge_with_short_payment_still_expires() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    bed.psp.pay(&charge.txid, 900);
    bed.clock.advance(LIFE + MOMENT);
    run_once(&bed.ports).await.unwrap();
    assert_eq!((bed.status(charge.id), bed.available()), (ChargeStatus::Expired, 900));
    bed.check().await;
}

#[tokio::test]
async fn silent_acquirer_delays_expiry_up_to_limit() {
    for mood in [OrderReply::Down, OrderReply::Silent] {
        let bed = TestBed::new().await;
        let charge = bed.pending().await;
        bed.psp.set_all(mood);
        bed.clock.advance(LIFE + MOMENT);
        assert_eq!(run_once(&bed.ports).await.unwrap().done, 0);
        assert_eq!(bed.status(charge.id), ChargeStatus::Pending, "{mood:?}: it may have been paid");

        bed.clock.advance(Duration::from_mins(10));
        assert_eq!(run_once(&bed.ports).await.unwrap().done, 1);
        assert_eq!(bed.status(charge.id), ChargeStatus::Expired);

        // A payment that arrives meanwhile is not lost.
        bed.psp.set_all(OrderReply::Accepts);
        bed.psp.pay(&charge.txid, 1_000);
        bed.receive_callback(charge.txid.as_str()).await;
        bed.work().await;
        assert_eq!((bed.status(charge.id), bed.available()), (ChargeStatus::Paid, 1_000));
        bed.check().await;
    }
}

#[tokio::test]
async fn overdue_charge_is_expired_for_readers_before_worker() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    bed.clock.advance(LIFE + MOMENT);
    assert_eq!(bed.read(charge.id).await.unwrap().state.status(), ChargeStatus::Expired);
    assert_eq!(run_once(&bed.ports).await.unwrap().done, 0);
    assert_eq!(bed.event_types(), [EventType::ChargeExpired]);
}

#[tokio::test]
async fn charge_completed_without_payment_expires() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    bed.psp.set_status(&charge.txid, UpstreamStatus::Completed);
    bed.clock.advance(LIFE + MOMENT);
    assert_eq!(run_once(&bed.ports).await.unwrap().done, 0);
    assert_eq!(bed.status(charge.id), ChargeStatus::Pending, "the acquirer may show the payment later");
    bed.clock.advance(Duration::from_mins(10));
    assert_eq!(run_once(&bed.ports).await.unwrap().done, 1);
    assert_eq!(bed.status(charge.id), ChargeStatus::Expired);

    // A reader still finds the payment, without a callback.
    bed.psp.pay(&charge.txid, 1_000);
    assert_eq!(bed.read(charge.id).await.unwrap().state.status(), ChargeStatus::Paid);
    bed.check().await;
}

#[tokio::test]
async fn fast_clock_expires_no_payable_charge() {
    for ahead in [MOMENT, Duration::from_secs(29), Duration::from_hours(2)] {
        let bed = TestBed::new().await;
        let charge = bed.pending().await;
        bed.psp.set_clock(bed.clock.now());
        bed.clock.advance(LIFE + ahead);
        let logs = CapturedLogs::start();
        assert_eq!(run_once(&bed.ports).await.unwrap().done, 0);
        bed.read(charge.id).await.unwrap();
        assert_eq!(bed.status(charge.id), ChargeStatus::Pending, "{ahead:?}");
        let alerts = logs.alerts("clock_skew").len();
        assert_eq!(alerts, usize::from(ahead > Duration::from_secs(30)), "{ahead:?}");
        // The acquirer's clock has reached the end of the charge, in whole seconds.
        bed.psp.set_clock(bed.clock.now() - Duration::from_millis(500) - ahead);
        assert_eq!(run_once(&bed.ports).await.unwrap().done, 1);
        assert_eq!(bed.status(charge.id), ChargeStatus::Expired);
        bed.check().await;
    }
}
