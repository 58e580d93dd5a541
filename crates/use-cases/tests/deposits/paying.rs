//! Payments that are exact, in parts, too high, late, or in another currency. Polls, reads and later payments find
//! them.

use std::time::Duration;

use cais_domain::crypto::deposit::{ArrivedCoins, DepositStatus, PaymentReview, PaymentState, Resolution};
use cais_domain::event::EventType;
use cais_ports::Clock as _;
use cais_ports::UpstreamDepositStatus as Upstream;
use cais_testkit::{CapturedLogs, Crash};
use cais_use_cases::crypto::deposits::review::list_payments;

use cais_testkit::psp::LookupReply;

use crate::bed::{COINS, LONG, PAST_PERIOD, TestBed};

#[tokio::test]
async fn poll_follows_a_deposit_to_its_credit() {
    let bed = TestBed::new().await;
    let (id, payment) = bed.pending().await;
    for (upstream, status, events) in [
        (Upstream::Waiting, DepositStatus::Pending, vec![]),
        (Upstream::Unknown, DepositStatus::Pending, vec![]),
        (Upstream::Confirming, DepositStatus::Confirming, vec![]),
        (Upstream::Confirmed, DepositStatus::Confirming, vec![EventType::CryptoDepositConfirmed]),
        (Upstream::Sending, DepositStatus::Confirming, vec![EventType::CryptoDepositConfirmed]),
    ] {
        // Coins that the processor does not have yet are not credited.
        bed.processor.pay(&payment, upstream, COINS);
        bed.clock.advance(Duration::from_mins(2));
        bed.poll().await;
        assert_eq!((bed.deposit(id).await.state.status(), bed.event_types()), (status, events), "{upstream:?}");
        bed.untouched();
    }
    bed.processor.pay(&payment, Upstream::Finished, COINS);
    for _ in 0..3 {
        bed.clock.advance(LONG);
        bed.poll().await;
        bed.paid(id).await;
    }
}

#[tokio::test]
async fn read_applies_the_record_of_the_processor() {
    let bed = TestBed::new().await;
    let (id, payment) = bed.pending().await;
    bed.processor.pay(&payment, Upstream::Finished, COINS);
    assert_eq!(bed.read(id).await.state.status(), DepositStatus::Completed);
    bed.paid(id).await;
    // If the processor does not answer, the stored state stays.
    bed.processor.state().lookup_reply = LookupReply::Down;
    assert_eq!(bed.read(id).await.state.status(), DepositStatus::Completed);
}

/// The processor sends no callback.
#[tokio::test]
async fn read_applies_later_payments_once() {
    let bed = TestBed::new().await;
    let (id, first) = bed.pending().await;
    bed.processor.pay(&first, Upstream::Finished, COINS);
    bed.read(id).await;
    let [second, third] = ["10", "10"].map(|coins| bed.processor.pay_again(&first, coins));
    bed.processor.pay(&third, Upstream::Confirming, "10");
    for (status, money) in [(Upstream::Confirming, -25_400), (Upstream::Finished, -30_800)] {
        bed.processor.change_payment(&third, |third| third.status = status);
        for _ in 0..2 {
            bed.read(id).await;
            bed.check(id, DepositStatus::Completed, Some(Resolution::Overpaid)).await;
            assert_eq!(bed.money().2, money, "{status:?}");
        }
    }
    // A payment with another first payment is not applied.
    let foreign = bed.processor.pay_again(&first, "10");
    bed.processor.change_payment(&foreign, |foreign| foreign.parent = Some(second.clone()));
    bed.read(id).await;
    assert_eq!(bed.money().2, -30_800);
}

#[tokio::test]
async fn arrived_coins_are_credited_with_their_resolution() {
    for (upstream, coins, status, resolution, money) in [
        (Upstream::PartiallyPaid, "20", DepositStatus::Underpaid, Resolution::Underpaid, (10_642, 158, -10_800)),
        (Upstream::Finished, "50", DepositStatus::Completed, Resolution::Overpaid, (26_680, 320, -27_000)),
    ] {
        let bed = TestBed::new().await;
        let (id, payment) = bed.pending().await;
        bed.processor.pay(&payment, upstream, coins);
        bed.read(id).await;
        bed.check(id, status, Some(resolution)).await;
        assert_eq!(bed.money(), money);
    }
}

#[tokio::test]
async fn deposit_expires_only_in_agreement_with_the_processor() {
    let bed = TestBed::new().await;
    let (id, _) = bed.pending().await;
    bed.clock.advance(PAST_PERIOD);
    for silence in [LookupReply::Down, LookupReply::Silent] {
        bed.processor.state().lookup_reply = silence;
        bed.clock.advance(LONG);
        bed.poll().await;
        assert_eq!(bed.deposit(id).await.state.status(), DepositStatus::Pending, "{silence:?}");
    }
    bed.processor.state().lookup_reply = LookupReply::Accurate;
    bed.clock.advance(LONG);
    bed.poll().await;
    bed.check(id, DepositStatus::Expired, None).await;
    assert_eq!(bed.event_types(), [EventType::CryptoDepositExpired]);
}

#[tokio::test]
async fn late_payment_is_credited_for_an_hour_and_reviewed_after() {
    for (minutes, status, last) in [
        (50, DepositStatus::Completed, EventType::CryptoDepositCompleted),
        // The account sees the coins in review by the resolution and by the event.
        (70, DepositStatus::Expired, EventType::CryptoDepositConfirmed),
    ] {
        let bed = TestBed::new().await;
        let (id, payment) = bed.pending().await;
        bed.clock.advance(PAST_PERIOD);
        bed.poll().await;
        bed.clock.advance(Duration::from_mins(minutes));
        bed.processor.pay(&payment, Upstream::Finished, COINS);
        for _ in 0..2 {
            bed.receive_callback(&payment).await.unwrap();
            assert_eq!(bed.process().await, 1);
            bed.check(id, status, Some(Resolution::Late)).await;
            let (expired, confirmed) = (EventType::CryptoDepositExpired, EventType::CryptoDepositConfirmed);
            let mut expected = vec![expired, confirmed];
            expected.extend([last].into_iter().filter(|last| *last != confirmed));
            assert_eq!(bed.event_types(), expected, "{minutes}");
        }
    }
}

#[tokio::test]
async fn finished_deposit_without_its_coins_expires() {
    for received in [None, Some(ArrivedCoins::Unsupported { currency: "doge".to_owned(), amount: "7".to_owned() })] {
        let bed = TestBed::new().await;
        let (id, payment) = bed.pending().await;
        bed.processor.change_payment(&payment, |payment| {
            (payment.status, payment.received) = (Upstream::Finished, received);
        });
        bed.read(id).await;
        bed.check(id, DepositStatus::Pending, None).await;
        bed.clock.advance(PAST_PERIOD);
        bed.poll().await;
        bed.check(id, DepositStatus::Expired, None).await;
        assert_eq!(bed.event_types(), [EventType::CryptoDepositExpired]);
    }
}

#[tokio::test]
async fn payment_during_an_outage_is_judged_by_its_last_change() {
    for (changed_after, status, resolution) in [
        (Duration::from_mins(15), DepositStatus::Completed, Some(Resolution::Exact)),
        (Duration::from_hours(20), DepositStatus::Expired, Some(Resolution::Late)),
    ] {
        let bed = TestBed::new().await;
        let (id, payment) = bed.pending().await;
        bed.clock.advance(changed_after);
        let changed_at = bed.clock.now();
        bed.processor.pay(&payment, Upstream::Confirming, COINS);
        bed.processor.change_payment(&payment, |payment| payment.updated_at = Some(changed_at));
        bed.clock.advance(Duration::from_hours(5 * 24));
        bed.read(id).await;
        bed.processor.pay(&payment, Upstream::Finished, COINS);
        bed.read(id).await;
        bed.check(id, status, resolution).await;
    }
}

#[tokio::test]
async fn payment_days_after_the_last_look_up_is_found_by_a_reader() {
    let bed = TestBed::new().await;
    let (id, payment) = bed.pending().await;
    for _ in 0..2 {
        bed.clock.advance(Duration::from_hours(48));
        bed.poll().await;
    }
    assert_eq!(bed.deposit(id).await.due_at, None);
    bed.processor.pay(&payment, Upstream::Finished, COINS);
    bed.read(id).await;
    let waiting = list_payments(&bed.ports).await.unwrap();
    assert_eq!(waiting[0].state, PaymentState::Review(PaymentReview::TooLate));
}

#[tokio::test]
async fn payment_seen_in_time_and_finished_later_is_exact() {
    let bed = TestBed::new().await;
    let (id, payment) = bed.pending().await;
    bed.processor.pay(&payment, Upstream::Confirming, COINS);
    bed.clock.advance(Duration::from_mins(15));
    bed.poll().await;
    bed.clock.advance(Duration::from_hours(30));
    bed.processor.pay(&payment, Upstream::Finished, COINS);
    bed.poll().await;
    bed.paid(id).await;
}

#[tokio::test]
async fn failed_and_returned_deposits_are_published_once() {
    for (upstream, status) in [(Upstream::Failed, DepositStatus::Failed), (Upstream::Refunded, DepositStatus::Refunded)]
    {
        let bed = TestBed::new().await;
        let (id, payment) = bed.pending().await;
        bed.processor.change_payment(&payment, |payment| payment.status = upstream);
        for _ in 0..2 {
            bed.clock.advance(LONG);
            bed.poll().await;
            bed.check(id, status, None).await;
            assert_eq!(bed.event_types(), [EventType::CryptoDepositFailed]);
        }
    }
}

#[tokio::test]
async fn credited_deposit_stands_when_the_processor_returns_the_coins() {
    let bed = TestBed::new().await;
    let (id, payment) = bed.pending().await;
    bed.processor.pay(&payment, Upstream::Finished, COINS);
    bed.read(id).await;
    bed.processor.change_payment(&payment, |payment| payment.status = Upstream::Refunded);
    let logs = CapturedLogs::start();
    bed.receive_callback(&payment).await.unwrap();
    bed.process().await;
    bed.paid(id).await;
    assert!(!logs.alerts("crypto_deposit_contradicted").is_empty());
}

#[tokio::test]
async fn failed_first_payment_beside_a_credited_one_is_no_alert() {
    let bed = TestBed::new().await;
    let (id, first) = bed.pending().await;
    bed.processor.change_payment(&first, |payment| payment.status = Upstream::Failed);
    bed.read(id).await;
    let logs = CapturedLogs::start();
    let second = bed.processor.pay_again(&first, COINS);
    bed.receive_callback(&second).await.unwrap();
    bed.process().await;
    bed.receive_callback(&first).await.unwrap();
    bed.process().await;
    bed.check(id, DepositStatus::Completed, Some(Resolution::Exact)).await;
    assert!(logs.alerts("crypto_deposit_contradicted").is_empty());
}

#[tokio::test]
async fn credited_later_payment_that_goes_back_raises_an_alert() {
    for over in [Upstream::Refunded, Upstream::Failed, Upstream::Expired] {
        let bed = TestBed::new().await;
        let (id, first) = bed.pending().await;
        bed.processor.pay(&first, Upstream::Finished, COINS);
        let second = bed.processor.pay_again(&first, "10");
        bed.read(id).await;
        bed.processor.change_payment(&second, |payment| payment.status = over);
        let (money, logs) = (bed.money(), CapturedLogs::start());
        bed.receive_callback(&second).await.unwrap();
        bed.process().await;
        assert_eq!(bed.money(), money, "{over:?}");
        assert!(!logs.alerts("crypto_deposit_contradicted").is_empty(), "{over:?}");
    }
}

#[tokio::test]
async fn record_with_another_order_or_address_is_not_applied() {
    let bed = TestBed::new().await;
    let (id, payment) = bed.pending().await;
    bed.processor.pay(&payment, Upstream::Finished, COINS);
    bed.processor.change_payment(&payment, |payment| payment.order = Some(cais_testkit::builders::fresh()));
    bed.read(id).await;
    bed.check(id, DepositStatus::Pending, None).await;
    bed.processor.change_payment(&payment, |payment| {
        payment.order = Some(id);
        let other = "0x52908400098527886E0F7030069857D2E4169EE7";
        payment.address = cais_domain::crypto::Address::parse(cais_domain::crypto::Currency::UsdtErc20, other).ok();
    });
    bed.read(id).await;
    bed.check(id, DepositStatus::Pending, None).await;
}

#[tokio::test]
async fn two_nodes_credit_a_payment_once() {
    let bed = TestBed::new().await;
    let (id, payment) = bed.pending().await;
    bed.processor.pay(&payment, Upstream::Finished, COINS);
    bed.clock.advance(LONG);
    let (one, other) = (bed.clone(), bed.clone());
    tokio::join!(one.poll(), other.poll(), one.read(id), other.read(id));
    bed.paid(id).await;
}

#[tokio::test]
async fn credit_survives_a_crash_of_its_commit() {
    for crash in [Crash::Before, Crash::After] {
        let bed = TestBed::new().await;
        let (id, payment) = bed.pending().await;
        bed.processor.pay(&payment, Upstream::Finished, COINS);
        bed.clock.advance(LONG);
        bed.store.crash_at(1, crash);
        bed.poll().await;
        bed.clock.advance(LONG);
        bed.poll().await;
        bed.paid(id).await;
    }
}

#[tokio::test]
async fn unsupported_coins_without_an_amount_are_no_coins() {
    let bed = TestBed::new().await;
    let (id, payment) = bed.pending().await;
    bed.processor.change_payment(&payment, |payment| {
        let coins = ArrivedCoins::Unsupported { currency: "doge".to_owned(), amount: "0.00".to_owned() };
        (payment.status, payment.received) = (Upstream::Finished, Some(coins));
    });
    bed.read(id).await;
    bed.check(id, DepositStatus::Pending, None).await;
}
