//! Coins that wait for an operator, and the operator's decisions.

use std::time::Duration;

use cais_domain::crypto::deposit::{
    ArrivedCoins, DepositStatus, PaymentReview, PaymentState, ReceiveError, Resolution,
};
use cais_domain::crypto::{CryptoAmount, Currency, ProcessorId};
use cais_domain::event::EventType;
use cais_domain::ids::CryptoDepositId;
use cais_domain::money::Money;
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{AuditFilter, PageRequest, UpstreamDepositStatus as Upstream};
use cais_testkit::CapturedLogs;
use cais_testkit::builders::{a_processor_id, an_operator};
use cais_testkit::psp::LookupReply;
use cais_use_cases::audit;
use cais_use_cases::crypto::deposits::review::{PaymentDecision, ResolvePaymentError, list_payments, resolve_payment};
use cais_use_cases::reconcile::run_once;

use crate::bed::{COINS, TestBed};

async fn resolve(
    bed: &TestBed,
    payment: &ProcessorId,
    decision: PaymentDecision,
) -> Result<PaymentState, ResolvePaymentError> {
    let operator = an_operator();
    let note = Text::parse("asked \"them\"", 140, LineBreaks::Refused).unwrap();
    let of = (&bed.processor.name, payment);
    resolve_payment(&bed.ports, &operator, of, (decision, &note)).await.map(|payment| payment.state)
}

/// Sends coins of another currency to the address.
async fn wrong_asset(bed: &TestBed) -> (CryptoDepositId, ProcessorId) {
    let (id, payment) = bed.pending().await;
    let coins = CryptoAmount::parse(Currency::UsdtBsc, COINS).unwrap();
    bed.processor.change_payment(&payment, |payment| {
        (payment.status, payment.received) = (Upstream::Finished, Some(ArrivedCoins::Supported(coins)));
    });
    bed.read(id).await;
    (id, payment)
}

#[tokio::test]
async fn coins_of_another_currency_are_credited_by_an_operator_once() {
    let bed = TestBed::new().await;
    let (id, payment) = wrong_asset(&bed).await;
    bed.check(id, DepositStatus::Pending, None).await;
    let waiting = list_payments(&bed.ports).await.unwrap();
    assert_eq!(
        waiting.iter().map(|one| one.state).collect::<Vec<_>>(),
        [PaymentState::Review(PaymentReview::WrongAsset)]
    );
    let credit = PaymentDecision::Credit(Money::from_centavos(20_000));
    assert_eq!(resolve(&bed, &payment, credit).await, Ok(PaymentState::Credited));
    assert!(matches!(resolve(&bed, &payment, credit).await, Err(ResolvePaymentError::Refused(_))));
    assert_eq!(bed.money(), (20_000, 0, -20_000));
    bed.read(id).await;
    bed.check(id, DepositStatus::Completed, None).await;
    assert!(list_payments(&bed.ports).await.unwrap().is_empty());
    let rows = audit::list(&bed.ports, AuditFilter::default(), PageRequest { limit: 10, starting_after: None }).await;
    let rows = rows.unwrap().rows;
    assert_eq!(rows.iter().map(|row| row.action.as_str()).collect::<Vec<_>>(), ["crypto_payment.resolve"]);
    assert_eq!(rows[0].before.as_deref(), Some(r#"{"status":"review","credited":0.00,"review_reason":"wrong_asset"}"#));
    assert_eq!(rows[0].after.as_deref(), Some(r#"{"status":"credited","credited":200.00,"note":"asked \"them\""}"#));
}

#[tokio::test]
async fn dismissed_coins_stay_out_of_the_ledger() {
    let bed = TestBed::new().await;
    let (id, payment) = wrong_asset(&bed).await;
    let dismissed = Ok(PaymentState::Dismissed(PaymentReview::WrongAsset));
    assert_eq!(resolve(&bed, &payment, PaymentDecision::Dismiss).await, dismissed);
    bed.read(id).await;
    bed.check(id, DepositStatus::Pending, None).await;
    let unknown = resolve(&bed, &a_processor_id(), PaymentDecision::Dismiss).await;
    assert!(matches!(unknown, Err(ResolvePaymentError::NotFound(_))));
}

#[tokio::test]
async fn credit_requires_that_the_processor_has_the_coins() {
    let bed = TestBed::new().await;
    let (_, payment) = wrong_asset(&bed).await;
    let credit = PaymentDecision::Credit(Money::from_centavos(20_000));
    bed.processor.state().lookup_reply = LookupReply::Silent;
    assert!(matches!(resolve(&bed, &payment, credit).await, Err(ResolvePaymentError::Unread(_))));
    bed.processor.state().lookup_reply = LookupReply::Accurate;
    bed.processor.change_payment(&payment, |payment| payment.status = Upstream::Refunded);
    assert_eq!(resolve(&bed, &payment, credit).await, Err(ResolvePaymentError::Returned));
    assert_eq!(bed.money(), (0, 0, 0));
    let dismissed = Ok(PaymentState::Dismissed(PaymentReview::WrongAsset));
    assert_eq!(resolve(&bed, &payment, PaymentDecision::Dismiss).await, dismissed);
}

#[tokio::test]
async fn credit_requires_the_coins_of_the_stored_payment() {
    let bed = TestBed::new().await;
    let (_, payment) = wrong_asset(&bed).await;
    let fewer = CryptoAmount::parse(Currency::UsdtBsc, "1").unwrap();
    bed.processor.change_payment(&payment, |payment| payment.received = Some(ArrivedCoins::Supported(fewer)));
    let credit = PaymentDecision::Credit(Money::from_centavos(20_000));
    assert_eq!(resolve(&bed, &payment, credit).await, Err(ResolvePaymentError::CoinsDiffer));
    assert_eq!(bed.money(), (0, 0, 0));
}

/// More than twice the requested coins arrive in time, or the requested coins arrive hours too late.
#[tokio::test]
async fn operator_credits_reviewed_coins_at_the_rate_once() {
    for (hours, coins, shown, resolution, money) in [
        (0, "80", DepositStatus::Confirming, Resolution::Overpaid, (42_718, 482, -43_200)),
        (3, COINS, DepositStatus::Expired, Resolution::Late, (19_750, 250, -20_000)),
    ] {
        let bed = TestBed::new().await;
        let (id, payment) = bed.pending().await;
        bed.clock.advance(Duration::from_hours(hours));
        bed.processor.pay(&payment, Upstream::Finished, coins);
        bed.read(id).await;
        bed.check(id, shown, Some(resolution)).await;
        bed.untouched();
        let (one, other) = tokio::join!(
            resolve(&bed, &payment, PaymentDecision::CreditAtRate),
            resolve(&bed, &payment, PaymentDecision::CreditAtRate)
        );
        let results = [one, other];
        assert_eq!(results.iter().filter(|result| **result == Ok(PaymentState::Credited)).count(), 1, "{results:?}");
        bed.clock.advance(Duration::from_mins(10));
        bed.read(id).await;
        run_once(&bed.ports).await.unwrap();
        bed.check(id, DepositStatus::Completed, Some(resolution)).await;
        assert_eq!(bed.money(), money);
    }
}

#[tokio::test]
async fn deposit_fails_if_its_too_many_coins_are_dismissed() {
    let bed = TestBed::new().await;
    let (id, payment) = bed.pending().await;
    bed.processor.pay(&payment, Upstream::Finished, "80");
    bed.read(id).await;
    let dismissed = Ok(PaymentState::Dismissed(PaymentReview::TooMany));
    assert_eq!(resolve(&bed, &payment, PaymentDecision::Dismiss).await, dismissed);
    bed.read(id).await;
    bed.check(id, DepositStatus::Failed, Some(Resolution::Overpaid)).await;
    assert_eq!(bed.event_types(), [EventType::CryptoDepositConfirmed, EventType::CryptoDepositFailed]);
    bed.untouched();
}

#[tokio::test]
async fn coins_of_another_currency_have_no_rate() {
    let bed = TestBed::new().await;
    let (_, payment) = wrong_asset(&bed).await;
    let refused = resolve(&bed, &payment, PaymentDecision::CreditAtRate).await;
    assert_eq!(refused, Err(ResolvePaymentError::Refused(ReceiveError::NoRate)));
    bed.untouched();
}

#[tokio::test]
async fn coins_of_failed_payment_are_credited_if_it_finishes() {
    let bed = TestBed::new().await;
    let (id, payment) = bed.pending().await;
    bed.processor.pay(&payment, Upstream::Failed, COINS);
    for _ in 0..2 {
        bed.read(id).await;
        bed.check(id, DepositStatus::Failed, None).await;
        let waiting = list_payments(&bed.ports).await.unwrap();
        assert_eq!(waiting[0].state, PaymentState::Review(PaymentReview::NotFinished));
    }
    bed.processor.pay(&payment, Upstream::Finished, COINS);
    bed.read(id).await;
    bed.check(id, DepositStatus::Completed, Some(Resolution::Exact)).await;
    assert!(list_payments(&bed.ports).await.unwrap().is_empty());
}

#[tokio::test]
async fn dismissed_payment_that_finishes_is_reviewed_again() {
    for is_compared in [false, true] {
        let bed = TestBed::new().await;
        let (id, payment) = bed.pending().await;
        bed.processor.pay(&payment, Upstream::Failed, COINS);
        bed.read(id).await;
        let dismissed = Ok(PaymentState::Dismissed(PaymentReview::NotFinished));
        assert_eq!(resolve(&bed, &payment, PaymentDecision::Dismiss).await, dismissed);
        bed.read(id).await;
        assert!(list_payments(&bed.ports).await.unwrap().is_empty());
        bed.processor.pay(&payment, Upstream::Finished, COINS);
        let logs = CapturedLogs::start();
        for _ in 0..2 {
            bed.clock.advance(Duration::from_mins(10));
            if is_compared {
                run_once(&bed.ports).await.unwrap();
            } else {
                bed.read(id).await;
            }
            let waiting = list_payments(&bed.ports).await.unwrap();
            assert_eq!(waiting[0].state, PaymentState::Review(PaymentReview::UnexpectedState), "{is_compared}");
        }
        assert_eq!(logs.alerts("crypto_deposit_needs_review").len(), 1, "{is_compared}");
        bed.untouched();
        let credit = PaymentDecision::Credit(Money::from_centavos(20_000));
        assert_eq!(resolve(&bed, &payment, credit).await, Ok(PaymentState::Credited));
        bed.check(id, DepositStatus::Completed, None).await;
    }
}

#[tokio::test]
async fn unfinished_payment_that_finishes_is_found_by_the_list() {
    let bed = TestBed::new().await;
    let (id, payment) = bed.pending().await;
    bed.processor.pay(&payment, Upstream::Failed, COINS);
    bed.read(id).await;
    bed.processor.pay(&payment, Upstream::Finished, COINS);
    bed.clock.advance(Duration::from_mins(1));
    assert_eq!(run_once(&bed.ports).await.unwrap().done, 1);
    bed.check(id, DepositStatus::Completed, Some(Resolution::Exact)).await;
}
