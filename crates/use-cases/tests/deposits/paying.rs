//! Payments that are exact, in parts, too high, late, or in another currency. Polls, reads and later payments find
//! them.

use std::time::Duration;

use cais_domain::crypto::deposit::{ArrivedCoins, DepositStatus, PaymentReview, PaymentState, Resolution};
use cais_domain::event::EventType;
use cais_ports::Clock as _;
use cais_ports::UpstreamDepositStatus as Upstream;
use cais_testkit::{CapturedLogs, Crash};
use cais_use_cases::crypto::deposits::review::list_payments;

use cais_testkit::psp::Looking;

use crate::world::{COINS, LONG, PAST_PERIOD, World};

#[tokio::test]
async fn poll_follows_a_deposit_to_its_credit() {
    let world = World::new().await;
    let (id, payment) = world.pending().await;
    for (upstream, status, events) in [
        (Upstream::Waiting, DepositStatus::Pending, vec![]),
        (Upstream::Unknown, DepositStatus::Pending, vec![]),
        (Upstream::Confirming, DepositStatus::Confirming, vec![]),
        (Upstream::Confirmed, DepositStatus::Confirming, vec![EventType::CryptoDepositConfirmed]),
        (Upstream::Sending, DepositStatus::Confirming, vec![EventType::CryptoDepositConfirmed]),
    ] {
        // Coins that the processor does not have yet are not credited.
        world.processor.pay(&payment, upstream, COINS);
        world.clock.advance(Duration::from_mins(2));
        world.poll().await;
        assert_eq!((world.deposit(id).await.state.status(), world.event_types()), (status, events), "{upstream:?}");
        world.untouched();
    }
    world.processor.pay(&payment, Upstream::Finished, COINS);
    for _ in 0..3 {
        world.clock.advance(LONG);
        world.poll().await;
        world.paid(id).await;
    }
}

#[tokio::test]
async fn read_applies_the_record_of_the_processor() {
    let world = World::new().await;
    let (id, payment) = world.pending().await;
    world.processor.pay(&payment, Upstream::Finished, COINS);
    assert_eq!(world.read(id).await.state.status(), DepositStatus::Completed);
    world.paid(id).await;
    // If the processor does not answer, the stored state stays.
    world.processor.state().looking = Looking::Down;
    assert_eq!(world.read(id).await.state.status(), DepositStatus::Completed);
}

/// The processor sends no callback.
#[tokio::test]
async fn read_applies_later_payments_once() {
    let world = World::new().await;
    let (id, first) = world.pending().await;
    world.processor.pay(&first, Upstream::Finished, COINS);
    world.read(id).await;
    let [second, third] = ["10", "10"].map(|coins| world.processor.pay_again(&first, coins));
    world.processor.pay(&third, Upstream::Confirming, "10");
    for (status, money) in [(Upstream::Confirming, -25_400), (Upstream::Finished, -30_800)] {
        world.processor.change_payment(&third, |third| third.status = status);
        for _ in 0..2 {
            world.read(id).await;
            world.check(id, DepositStatus::Completed, Some(Resolution::Overpaid)).await;
            assert_eq!(world.money().2, money, "{status:?}");
        }
    }
    // A payment with another first payment is not applied.
    let foreign = world.processor.pay_again(&first, "10");
    world.processor.change_payment(&foreign, |foreign| foreign.parent = Some(second.clone()));
    world.read(id).await;
    assert_eq!(world.money().2, -30_800);
}

#[tokio::test]
async fn arrived_coins_are_credited_with_their_resolution() {
    for (upstream, coins, status, resolution, money) in [
        (Upstream::PartiallyPaid, "20", DepositStatus::Underpaid, Resolution::Underpaid, (10_642, 158, -10_800)),
        (Upstream::Finished, "50", DepositStatus::Completed, Resolution::Overpaid, (26_680, 320, -27_000)),
    ] {
        let world = World::new().await;
        let (id, payment) = world.pending().await;
        world.processor.pay(&payment, upstream, coins);
        world.read(id).await;
        world.check(id, status, Some(resolution)).await;
        assert_eq!(world.money(), money);
    }
}

#[tokio::test]
async fn deposit_expires_only_in_agreement_with_the_processor() {
    let world = World::new().await;
    let (id, _) = world.pending().await;
    world.clock.advance(PAST_PERIOD);
    for silence in [Looking::Down, Looking::Silent] {
        world.processor.state().looking = silence;
        world.clock.advance(LONG);
        world.poll().await;
        assert_eq!(world.deposit(id).await.state.status(), DepositStatus::Pending, "{silence:?}");
    }
    world.processor.state().looking = Looking::Tells;
    world.clock.advance(LONG);
    world.poll().await;
    world.check(id, DepositStatus::Expired, None).await;
    assert_eq!(world.event_types(), [EventType::CryptoDepositExpired]);
}

#[tokio::test]
async fn late_payment_is_credited_for_an_hour_and_reviewed_after() {
    for (minutes, status, last) in [
        (50, DepositStatus::Completed, EventType::CryptoDepositCompleted),
        // The account sees the coins in review by the resolution and by the event.
        (70, DepositStatus::Expired, EventType::CryptoDepositConfirmed),
    ] {
        let world = World::new().await;
        let (id, payment) = world.pending().await;
        world.clock.advance(PAST_PERIOD);
        world.poll().await;
        world.clock.advance(Duration::from_mins(minutes));
        world.processor.pay(&payment, Upstream::Finished, COINS);
        for _ in 0..2 {
            world.call_back(&payment).await.unwrap();
            assert_eq!(world.process().await, 1);
            world.check(id, status, Some(Resolution::Late)).await;
            let (expired, confirmed) = (EventType::CryptoDepositExpired, EventType::CryptoDepositConfirmed);
            let mut expected = vec![expired, confirmed];
            expected.extend([last].into_iter().filter(|last| *last != confirmed));
            assert_eq!(world.event_types(), expected, "{minutes}");
        }
    }
}

#[tokio::test]
async fn finished_deposit_without_its_coins_expires() {
    for received in [None, Some(ArrivedCoins::Unsupported { currency: "doge".to_owned(), amount: "7".to_owned() })] {
        let world = World::new().await;
        let (id, payment) = world.pending().await;
        world.processor.change_payment(&payment, |payment| {
            (payment.status, payment.received) = (Upstream::Finished, received);
        });
        world.read(id).await;
        world.check(id, DepositStatus::Pending, None).await;
        world.clock.advance(PAST_PERIOD);
        world.poll().await;
        world.check(id, DepositStatus::Expired, None).await;
        assert_eq!(world.event_types(), [EventType::CryptoDepositExpired]);
    }
}

#[tokio::test]
async fn payment_during_an_outage_is_judged_by_its_last_change() {
    for (changed_after, status, resolution) in [
        (Duration::from_mins(15), DepositStatus::Completed, Some(Resolution::Exact)),
        (Duration::from_hours(20), DepositStatus::Expired, Some(Resolution::Late)),
    ] {
        let world = World::new().await;
        let (id, payment) = world.pending().await;
        world.clock.advance(changed_after);
        let changed_at = world.clock.now();
        world.processor.pay(&payment, Upstream::Confirming, COINS);
        world.processor.change_payment(&payment, |payment| payment.updated_at = Some(changed_at));
        world.clock.advance(Duration::from_hours(5 * 24));
        world.read(id).await;
        world.processor.pay(&payment, Upstream::Finished, COINS);
        world.read(id).await;
        world.check(id, status, resolution).await;
    }
}

#[tokio::test]
async fn payment_days_after_the_last_look_up_is_found_by_a_reader() {
    let world = World::new().await;
    let (id, payment) = world.pending().await;
    for _ in 0..2 {
        world.clock.advance(Duration::from_hours(48));
        world.poll().await;
    }
    assert_eq!(world.deposit(id).await.due_at, None);
    world.processor.pay(&payment, Upstream::Finished, COINS);
    world.read(id).await;
    let waiting = list_payments(&world.ports).await.unwrap();
    assert_eq!(waiting[0].state, PaymentState::Review(PaymentReview::TooLate));
}

#[tokio::test]
async fn payment_seen_in_time_and_finished_later_is_exact() {
    let world = World::new().await;
    let (id, payment) = world.pending().await;
    world.processor.pay(&payment, Upstream::Confirming, COINS);
    world.clock.advance(Duration::from_mins(15));
    world.poll().await;
    world.clock.advance(Duration::from_hours(30));
    world.processor.pay(&payment, Upstream::Finished, COINS);
    world.poll().await;
    world.paid(id).await;
}

#[tokio::test]
async fn failed_and_returned_deposits_are_published_once() {
    for (upstream, status) in [(Upstream::Failed, DepositStatus::Failed), (Upstream::Refunded, DepositStatus::Refunded)]
    {
        let world = World::new().await;
        let (id, payment) = world.pending().await;
        world.processor.change_payment(&payment, |payment| payment.status = upstream);
        for _ in 0..2 {
            world.clock.advance(LONG);
            world.poll().await;
            world.check(id, status, None).await;
            assert_eq!(world.event_types(), [EventType::CryptoDepositFailed]);
        }
    }
}

#[tokio::test]
async fn credited_deposit_stands_when_the_processor_returns_the_coins() {
    let world = World::new().await;
    let (id, payment) = world.pending().await;
    world.processor.pay(&payment, Upstream::Finished, COINS);
    world.read(id).await;
    world.processor.change_payment(&payment, |payment| payment.status = Upstream::Refunded);
    let logs = CapturedLogs::start();
    world.call_back(&payment).await.unwrap();
    world.process().await;
    world.paid(id).await;
    assert!(!logs.alerts("crypto_deposit_contradicted").is_empty());
}

#[tokio::test]
async fn failed_first_payment_beside_a_credited_one_is_no_alert() {
    let world = World::new().await;
    let (id, first) = world.pending().await;
    world.processor.change_payment(&first, |payment| payment.status = Upstream::Failed);
    world.read(id).await;
    let logs = CapturedLogs::start();
    let second = world.processor.pay_again(&first, COINS);
    world.call_back(&second).await.unwrap();
    world.process().await;
    world.call_back(&first).await.unwrap();
    world.process().await;
    world.check(id, DepositStatus::Completed, Some(Resolution::Exact)).await;
    assert!(logs.alerts("crypto_deposit_contradicted").is_empty());
}

#[tokio::test]
async fn credited_later_payment_that_goes_back_raises_an_alert() {
    for over in [Upstream::Refunded, Upstream::Failed, Upstream::Expired] {
        let world = World::new().await;
        let (id, first) = world.pending().await;
        world.processor.pay(&first, Upstream::Finished, COINS);
        let second = world.processor.pay_again(&first, "10");
        world.read(id).await;
        world.processor.change_payment(&second, |payment| payment.status = over);
        let (money, logs) = (world.money(), CapturedLogs::start());
        world.call_back(&second).await.unwrap();
        world.process().await;
        assert_eq!(world.money(), money, "{over:?}");
        assert!(!logs.alerts("crypto_deposit_contradicted").is_empty(), "{over:?}");
    }
}

#[tokio::test]
async fn record_with_another_order_or_address_is_not_applied() {
    let world = World::new().await;
    let (id, payment) = world.pending().await;
    world.processor.pay(&payment, Upstream::Finished, COINS);
    world.processor.change_payment(&payment, |payment| payment.order = Some(cais_testkit::builders::fresh()));
    world.read(id).await;
    world.check(id, DepositStatus::Pending, None).await;
    world.processor.change_payment(&payment, |payment| {
        payment.order = Some(id);
        let other = "0x52908400098527886E0F7030069857D2E4169EE7";
        payment.address = cais_domain::crypto::Address::parse(cais_domain::crypto::Currency::UsdtErc20, other).ok();
    });
    world.read(id).await;
    world.check(id, DepositStatus::Pending, None).await;
}

#[tokio::test]
async fn two_nodes_credit_a_payment_once() {
    let world = World::new().await;
    let (id, payment) = world.pending().await;
    world.processor.pay(&payment, Upstream::Finished, COINS);
    world.clock.advance(LONG);
    let (one, other) = (world.clone(), world.clone());
    tokio::join!(one.poll(), other.poll(), one.read(id), other.read(id));
    world.paid(id).await;
}

#[tokio::test]
async fn credit_survives_a_crash_of_its_commit() {
    for crash in [Crash::Before, Crash::After] {
        let world = World::new().await;
        let (id, payment) = world.pending().await;
        world.processor.pay(&payment, Upstream::Finished, COINS);
        world.clock.advance(LONG);
        world.store.crash_at(1, crash);
        world.poll().await;
        world.clock.advance(LONG);
        world.poll().await;
        world.paid(id).await;
    }
}

#[tokio::test]
async fn unsupported_coins_without_an_amount_are_no_coins() {
    let world = World::new().await;
    let (id, payment) = world.pending().await;
    world.processor.change_payment(&payment, |payment| {
        let coins = ArrivedCoins::Unsupported { currency: "doge".to_owned(), amount: "0.00".to_owned() };
        (payment.status, payment.received) = (Upstream::Finished, Some(coins));
    });
    world.read(id).await;
    world.check(id, DepositStatus::Pending, None).await;
}
