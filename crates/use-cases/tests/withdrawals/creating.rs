//! The reply to a creation decides the next state: processing, failed or abandoned. If the outcome is unknown, the
//! money stays held.

use cais_domain::crypto::Address;
use cais_domain::crypto::Currency;
use cais_domain::crypto::withdrawal::WithdrawalStatus;
use cais_domain::merchant::account::{Account, Features, NotPermitted};
use cais_domain::money::Money;
use cais_ports::{ResponseKind, UpstreamWithdrawalStatus};
use cais_testkit::psp::{Looking, Sending};
use cais_use_cases::crypto::quotes::PriceRefusal;
use cais_use_cases::crypto::withdrawals::create::{CreateWithdrawalError, NewWithdrawal, WithdrawalRefusal};

use crate::world::{FUNDS, OTHER_ADDRESS, World, a_hundred, body, named, status_of};

#[tokio::test]
async fn withdrawal_is_held_created_and_verified_once() {
    let world = World::new().await;
    let withdrawal = world.processing().await;
    world.held().await;
    let [batch] = &world.processor.batches()[..] else { panic!("one batch") };
    assert_eq!((batch.order, batch.amount.to_string().as_str()), (Some(withdrawal.id), "20"));
    assert_eq!(batch.address, withdrawal.terms.address);
    assert_eq!(withdrawal.state.sent().unwrap().batch.as_ref(), Some(&batch.batch));
    assert_eq!((batch.status, world.processor.verifications()), (UpstreamWithdrawalStatus::Processing, 1));
    assert_eq!(world.visible().await, 1);
}

#[tokio::test]
async fn refused_withdrawal_fails_and_its_money_returns() {
    let world = World::new().await;
    world.processor.set(Sending::Refuses);
    let answer = world.create("a", a_hundred()).await.unwrap();
    assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "failed"));
    assert_eq!(world.only().state.failure(), Some("the amount is too small"));
    world.given_back().await;
}

#[tokio::test]
async fn refusal_of_a_created_withdrawal_is_outweighed() {
    let world = World::new().await;
    world.processor.set(Sending::TakesAndRefuses);
    world.processing().await;
    world.held().await;
    assert_eq!(world.processor.verifications(), 1);
}

#[tokio::test]
async fn refusal_without_a_look_up_keeps_the_hold() {
    for looking in [Looking::Silent, Looking::Down] {
        let world = World::new().await;
        world.processor.set(Sending::Refuses);
        world.processor.set_looking(looking);
        world.processing().await;
        world.held().await;
    }
}

#[tokio::test]
async fn unavailable_processor_abandons_the_withdrawal() {
    let world = World::new().await;
    world.processor.set(Sending::Down);
    let terms = || named("order-1", a_hundred());
    assert_eq!(world.create("a", terms()).await, Err(CreateWithdrawalError::AcquirerUnavailable));
    world.untouched().await;
    // The external id is free again. The same key requests the withdrawal again at the current price.
    world.processor.set(Sending::Takes);
    let answer = world.create("a", terms()).await.unwrap();
    assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "processing"));
    world.held().await;
    assert_eq!(world.processor.batches().len(), 1);
}

#[tokio::test]
async fn unknown_outcome_keeps_the_hold_and_sends_nothing_more() {
    for sending in [Sending::Silent, Sending::LosesReplies, Sending::ArrivesLate, Sending::Garbles] {
        for looking in [Looking::Tells, Looking::Silent, Looking::Down, Looking::Forgets] {
            let world = World::new().await;
            world.processor.set(sending);
            world.processor.set_looking(looking);
            world.processing().await;
            world.held().await;
            let is_created = world.processor.batches().len();
            for _ in 0..20 {
                world.clock.advance(crate::world::LONG);
                world.poll().await;
                world.resume().await;
            }
            let late = usize::from(sending == Sending::ArrivesLate);
            assert_eq!(world.processor.batches().len(), is_created + late, "{sending:?} {looking:?}");
            world.check().await;
        }
    }
}

#[tokio::test]
async fn record_with_other_coins_is_not_verified() {
    let world = World::new().await;
    world.processor.set(Sending::Garbles);
    let logs = cais_testkit::CapturedLogs::start();
    world.processing().await;
    world.clock.advance(crate::world::LONG);
    assert_eq!(world.poll().await, 0);
    assert_eq!(world.processor.verifications(), 0);
    assert!(!logs.alerts("crypto_withdrawal_contradicted").is_empty());
    world.held().await;
    // After the processor has rejected the withdrawal, an operator resolves it.
    world.clock.advance(crate::world::PAST_REVIEW);
    assert_eq!(world.poll().await, 0);
    assert!(world.only().state.review_since().is_some());
    world.clock.advance(std::time::Duration::from_hours(1));
    world.resolve(cais_use_cases::crypto::withdrawals::review::Decision::Failed).await.unwrap();
    world.given_back().await;
}

#[tokio::test]
async fn account_rules_precede_every_request() {
    let world = World::new().await;
    let limit = world.account.limits.payout;
    let above = NewWithdrawal { amount: Money::from_centavos(limit.centavos() + 1), ..a_hundred() };
    let refused = WithdrawalRefusal::Price(PriceRefusal::TransactionLimit { limit });
    assert_eq!(world.create("a", above).await, Err(CreateWithdrawalError::Refused(refused)));
    let below = NewWithdrawal { amount: Money::from_centavos(9_999), ..a_hundred() };
    let Err(CreateWithdrawalError::Refused(WithdrawalRefusal::Price(PriceRefusal::BelowMinimum { coins, brl }))) =
        world.create("b", below).await
    else {
        panic!("below the minimum")
    };
    assert_eq!((coins.to_string().as_str(), brl.to_string().as_str()), ("20", "100.00"));
    let mut plain = world.clone();
    plain.0.account = Account { features: Features::APPROVED, ..world.account.clone() };
    let disabled = plain.create("c", a_hundred()).await;
    assert!(
        matches!(disabled, Err(CreateWithdrawalError::NotPermitted(NotPermitted::FeatureDisabled(_)))),
        "{disabled:?}"
    );
    assert_eq!((world.processor.requests(), world.store.crypto_quotes().len()), (0, 0));
    world.untouched().await;
}

#[tokio::test]
async fn address_is_checked_by_the_processor() {
    let world = World::new().await;
    world.processor.state().accepts_addresses = false;
    let refused = world.create("a", a_hundred()).await;
    assert_eq!(refused, Err(CreateWithdrawalError::Refused(WithdrawalRefusal::InvalidAddress)));
    world.processor.state().accepts_addresses = true;
    world.processor.state().prices = false;
    let trx = Address::parse(Currency::Trx, "TEmGwPeRTPiLFLVfBxXkSP91yc5GMNQhfS").unwrap();
    for terms in [a_hundred(), NewWithdrawal { address: trx, ..a_hundred() }] {
        let refused = world.create("b", terms).await;
        assert!(
            matches!(refused, Err(CreateWithdrawalError::Refused(WithdrawalRefusal::Price(PriceRefusal::NoPrice(_))))),
            "{refused:?}"
        );
    }
    assert_eq!((world.processor.requests(), world.store.crypto_withdrawals().len()), (0, 0));
    world.untouched().await;
}

#[tokio::test]
async fn balance_must_cover_amount_and_fee() {
    let world = World::new().await;
    let terms = NewWithdrawal { amount: Money::from_centavos(FUNDS), ..a_hundred() };
    let answer = world.create("a", terms.clone()).await.unwrap();
    assert_eq!(
        (answer.kind, body(&answer)["error"]["needed"].as_str()),
        (ResponseKind::InsufficientBalance, Some("250.50"))
    );
    assert_eq!(world.create("a", terms).await.unwrap().body, answer.body);
    assert_eq!((world.processor.requests(), world.store.crypto_withdrawals().len()), (0, 0));
    world.untouched().await;
}

#[tokio::test]
async fn external_id_compares_amount_currency_and_address() {
    let world = World::new().await;
    let first = world.create("a", named("order-1", a_hundred())).await.unwrap();
    let same = world.create("b", named("order-1", a_hundred())).await.unwrap();
    assert_eq!((same.kind, same.body), (ResponseKind::Existing, first.body));
    let other = |currency, address| Address::parse(currency, address).unwrap();
    for (terms, field) in [
        (NewWithdrawal { amount: Money::from_centavos(10_001), ..a_hundred() }, "amount"),
        (NewWithdrawal { address: other(Currency::UsdtBsc, crate::world::ADDRESS), ..a_hundred() }, "currency"),
        (NewWithdrawal { address: other(Currency::UsdtErc20, OTHER_ADDRESS), ..a_hundred() }, "address"),
    ] {
        let refused = world.create(field, named("order-1", terms)).await;
        let Err(CreateWithdrawalError::ExternalIdConflict(conflict)) = refused else { panic!("{field}: {refused:?}") };
        assert!(format!("{conflict:?}").contains(field), "{conflict:?}");
    }
    assert_eq!((world.status(), world.processor.batches().len()), (WithdrawalStatus::Processing, 1));
}
