//! The reply to a creation decides the next state: processing, failed or abandoned. If the outcome is unknown, the
//! money stays held.

use cais_domain::crypto::Address;
use cais_domain::crypto::Currency;
use cais_domain::crypto::withdrawal::WithdrawalStatus;
use cais_domain::merchant::account::{Account, Features, NotPermitted};
use cais_domain::money::Money;
use cais_ports::{ResponseKind, UpstreamWithdrawalStatus};
use cais_testkit::psp::{LookupReply, OrderReply};
use cais_use_cases::crypto::quotes::PriceRefusal;
use cais_use_cases::crypto::withdrawals::create::{CreateWithdrawalError, NewWithdrawal, WithdrawalRefusal};

use crate::bed::{FUNDS, OTHER_ADDRESS, TestBed, a_hundred, body, named, status_of};

#[tokio::test]
async fn withdrawal_is_held_created_and_verified_once() {
    let bed = TestBed::new().await;
    let withdrawal = bed.processing().await;
    bed.held().await;
    let [batch] = &bed.processor.batches()[..] else { panic!("one batch") };
    assert_eq!((batch.order, batch.amount.to_string().as_str()), (Some(withdrawal.id), "20"));
    assert_eq!(batch.address, withdrawal.terms.address);
    assert_eq!(withdrawal.state.sent().unwrap().batch.as_ref(), Some(&batch.batch));
    assert_eq!((batch.status, bed.processor.verifications()), (UpstreamWithdrawalStatus::Processing, 1));
    assert_eq!(bed.visible().await, 1);
}

#[tokio::test]
async fn refused_withdrawal_fails_and_its_money_returns() {
    let bed = TestBed::new().await;
    bed.processor.set(OrderReply::Refuses);
    let answer = bed.create("a", a_hundred()).await.unwrap();
    assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "failed"));
    assert_eq!(bed.only().state.failure(), Some("the amount is too small"));
    bed.money_returned().await;
}

#[tokio::test]
async fn refusal_of_a_created_withdrawal_is_outweighed() {
    let bed = TestBed::new().await;
    bed.processor.set(OrderReply::AcceptsAndRefuses);
    bed.processing().await;
    bed.held().await;
    assert_eq!(bed.processor.verifications(), 1);
}

#[tokio::test]
async fn refusal_without_a_look_up_keeps_the_hold() {
    for lookup_reply in [LookupReply::Silent, LookupReply::Down] {
        let bed = TestBed::new().await;
        bed.processor.set(OrderReply::Refuses);
        bed.processor.set_lookup_reply(lookup_reply);
        bed.processing().await;
        bed.held().await;
    }
}

#[tokio::test]
async fn unavailable_processor_abandons_the_withdrawal() {
    let bed = TestBed::new().await;
    bed.processor.set(OrderReply::Down);
    let terms = || named("order-1", a_hundred());
    assert_eq!(bed.create("a", terms()).await, Err(CreateWithdrawalError::AcquirerUnavailable));
    bed.untouched().await;
    // The external id is free again. The same key requests the withdrawal again at the current price.
    bed.processor.set(OrderReply::Accepts);
    let answer = bed.create("a", terms()).await.unwrap();
    assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "processing"));
    bed.held().await;
    assert_eq!(bed.processor.batches().len(), 1);
}

#[tokio::test]
async fn unknown_outcome_keeps_the_hold_and_sends_nothing_more() {
    for sending in [OrderReply::Silent, OrderReply::LosesReplies, OrderReply::ArrivesLate, OrderReply::WrongAmount] {
        for lookup_reply in [LookupReply::Accurate, LookupReply::Silent, LookupReply::Down, LookupReply::NotFound] {
            let bed = TestBed::new().await;
            bed.processor.set(sending);
            bed.processor.set_lookup_reply(lookup_reply);
            bed.processing().await;
            bed.held().await;
            let is_created = bed.processor.batches().len();
            for _ in 0..20 {
                bed.clock.advance(crate::bed::LONG);
                bed.poll().await;
                bed.resume().await;
            }
            let late = usize::from(sending == OrderReply::ArrivesLate);
            assert_eq!(bed.processor.batches().len(), is_created + late, "{sending:?} {lookup_reply:?}");
            bed.check().await;
        }
    }
}

#[tokio::test]
async fn record_with_other_coins_is_not_verified() {
    let bed = TestBed::new().await;
    bed.processor.set(OrderReply::WrongAmount);
    let logs = cais_testkit::CapturedLogs::start();
    bed.processing().await;
    bed.clock.advance(crate::bed::LONG);
    assert_eq!(bed.poll().await, 0);
    assert_eq!(bed.processor.verifications(), 0);
    assert!(!logs.alerts("crypto_withdrawal_contradicted").is_empty());
    bed.held().await;
    // After the processor has rejected the withdrawal, an operator resolves it.
    bed.clock.advance(crate::bed::PAST_REVIEW);
    assert_eq!(bed.poll().await, 0);
    assert!(bed.only().state.review_since().is_some());
    bed.clock.advance(std::time::Duration::from_hours(1));
    bed.resolve(cais_use_cases::crypto::withdrawals::review::Decision::Failed).await.unwrap();
    bed.money_returned().await;
}

#[tokio::test]
async fn account_rules_precede_every_request() {
    let bed = TestBed::new().await;
    let limit = bed.account.limits.payout;
    let above = NewWithdrawal { amount: Money::from_centavos(limit.centavos() + 1), ..a_hundred() };
    let refused = WithdrawalRefusal::Price(PriceRefusal::TransactionLimit { limit });
    assert_eq!(bed.create("a", above).await, Err(CreateWithdrawalError::Refused(refused)));
    let below = NewWithdrawal { amount: Money::from_centavos(9_999), ..a_hundred() };
    let Err(CreateWithdrawalError::Refused(WithdrawalRefusal::Price(PriceRefusal::BelowMinimum { coins, brl }))) =
        bed.create("b", below).await
    else {
        panic!("below the minimum")
    };
    assert_eq!((coins.to_string().as_str(), brl.to_string().as_str()), ("20", "100.00"));
    let mut plain = bed.clone();
    plain.0.account = Account { features: Features::APPROVED, ..bed.account.clone() };
    let disabled = plain.create("c", a_hundred()).await;
    assert!(
        matches!(disabled, Err(CreateWithdrawalError::NotPermitted(NotPermitted::FeatureDisabled(_)))),
        "{disabled:?}"
    );
    assert_eq!((bed.processor.requests(), bed.store.crypto_quotes().len()), (0, 0));
    bed.untouched().await;
}

#[tokio::test]
async fn address_is_checked_by_the_processor() {
    let bed = TestBed::new().await;
    bed.processor.state().accepts_addresses = false;
    let refused = bed.create("a", a_hundred()).await;
    assert_eq!(refused, Err(CreateWithdrawalError::Refused(WithdrawalRefusal::InvalidAddress)));
    bed.processor.state().accepts_addresses = true;
    bed.processor.state().prices = false;
    let trx = Address::parse(Currency::Trx, "TEmGwPeRTPiLFLVfBxXkSP91yc5GMNQhfS").unwrap();
    for terms in [a_hundred(), NewWithdrawal { address: trx, ..a_hundred() }] {
        let refused = bed.create("b", terms).await;
        assert!(
            matches!(refused, Err(CreateWithdrawalError::Refused(WithdrawalRefusal::Price(PriceRefusal::NoPrice(_))))),
            "{refused:?}"
        );
    }
    assert_eq!((bed.processor.requests(), bed.store.crypto_withdrawals().len()), (0, 0));
    bed.untouched().await;
}

#[tokio::test]
async fn balance_must_cover_amount_and_fee() {
    let bed = TestBed::new().await;
    let terms = NewWithdrawal { amount: Money::from_centavos(FUNDS), ..a_hundred() };
    let answer = bed.create("a", terms.clone()).await.unwrap();
    assert_eq!(
        (answer.kind, body(&answer)["error"]["needed"].as_str()),
        (ResponseKind::InsufficientBalance, Some("250.50"))
    );
    assert_eq!(bed.create("a", terms).await.unwrap().body, answer.body);
    assert_eq!((bed.processor.requests(), bed.store.crypto_withdrawals().len()), (0, 0));
    bed.untouched().await;
}

#[tokio::test]
async fn external_id_compares_amount_currency_and_address() {
    let bed = TestBed::new().await;
    let first = bed.create("a", named("order-1", a_hundred())).await.unwrap();
    let same = bed.create("b", named("order-1", a_hundred())).await.unwrap();
    assert_eq!((same.kind, same.body), (ResponseKind::Existing, first.body));
    let other = |currency, address| Address::parse(currency, address).unwrap();
    for (terms, field) in [
        (NewWithdrawal { amount: Money::from_centavos(10_001), ..a_hundred() }, "amount"),
        (NewWithdrawal { address: other(Currency::UsdtBsc, crate::bed::ADDRESS), ..a_hundred() }, "currency"),
        (NewWithdrawal { address: other(Currency::UsdtErc20, OTHER_ADDRESS), ..a_hundred() }, "address"),
    ] {
        let refused = bed.create(field, named("order-1", terms)).await;
        let Err(CreateWithdrawalError::ExternalIdConflict(conflict)) = refused else { panic!("{field}: {refused:?}") };
        assert!(format!("{conflict:?}").contains(field), "{conflict:?}");
    }
    assert_eq!((bed.status(), bed.processor.batches().len()), (WithdrawalStatus::Processing, 1));
}
