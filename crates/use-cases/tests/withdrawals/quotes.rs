//! A quote can be used once, within a minute, for its terms. Without a quote, the current price is stored as a used
//! quote.

use std::time::Duration;

use cais_domain::crypto::quote::UseQuoteError;
use cais_domain::ids::CryptoQuoteId;
use cais_domain::money::Money;
use cais_ports::ResponseKind;
use cais_testkit::builders::fresh;
use cais_testkit::psp::OrderReply;
use cais_use_cases::crypto::quotes::PriceRefusal;
use cais_use_cases::crypto::withdrawals::create::{CreateWithdrawalError, NewWithdrawal, WithdrawalRefusal};

use crate::bed::{TestBed, a_hundred, named, status_of};

fn with(quote: CryptoQuoteId) -> NewWithdrawal {
    NewWithdrawal { quote: Some(quote), ..a_hundred() }
}

fn refused(refusal: PriceRefusal) -> Result<cais_use_cases::Response, CreateWithdrawalError> {
    Err(CreateWithdrawalError::Refused(WithdrawalRefusal::Price(refusal)))
}

#[tokio::test]
async fn withdrawal_uses_its_quote_once() {
    let bed = TestBed::new().await;
    let quote = bed.quote().await;
    let terms = || named("order-1", with(quote.id));
    bed.clock.advance(Duration::from_secs(59));
    let first = bed.create("a", terms()).await.unwrap();
    assert_eq!(first.kind, ResponseKind::Created);
    let withdrawal = bed.only();
    assert_eq!((withdrawal.price.quote, withdrawal.price.coins), (quote.id, quote.prices.coins));
    let used_by: Vec<_> = bed.store.crypto_quotes().into_iter().map(|quote| quote.used_by).collect();
    assert_eq!(used_by, [Some(withdrawal.id.to_string())]);
    // The same key, or the same external id, is a repeat. Another withdrawal needs another quote.
    assert_eq!(bed.create("a", terms()).await.unwrap().body, first.body);
    assert_eq!(bed.create("b", terms()).await.unwrap().kind, ResponseKind::Existing);
    assert_eq!(bed.create("c", with(quote.id)).await, refused(PriceRefusal::Quote(UseQuoteError::Expired)));
    assert_eq!(bed.processor.batches().len(), 1);
}

#[tokio::test]
async fn quote_is_refused_when_old_foreign_or_of_other_terms() {
    let bed = TestBed::new().await;
    assert_eq!(bed.create("a", with(fresh())).await, refused(PriceRefusal::QuoteNotFound));
    let quote = bed.quote().await;
    let dearer = NewWithdrawal { amount: Money::from_centavos(10_001), ..with(quote.id) };
    assert_eq!(bed.create("b", dearer).await, refused(PriceRefusal::Quote(UseQuoteError::OtherTerms)));
    bed.clock.advance(Duration::from_mins(1));
    assert_eq!(bed.create("c", with(quote.id)).await, refused(PriceRefusal::Quote(UseQuoteError::Expired)));
    bed.untouched().await;
}

#[tokio::test]
async fn concurrent_withdrawals_share_no_quote() {
    let bed = TestBed::new().await;
    let quote = bed.quote().await.id;
    let (one, other) = tokio::join!(bed.create("a", with(quote)), bed.create("b", with(quote)));
    let created = [one, other]
        .into_iter()
        .filter(|answer| answer.as_ref().is_ok_and(|answer| answer.kind == ResponseKind::Created));
    assert_eq!((created.count(), bed.processor.batches().len()), (1, 1));
}

#[tokio::test]
async fn price_without_a_quote_is_stored_as_a_used_quote() {
    let bed = TestBed::new().await;
    let withdrawal = bed.processing().await;
    let quotes = bed.store.crypto_quotes();
    assert_eq!(quotes.len(), 1);
    assert_eq!((quotes[0].id, &quotes[0].used_by), (withdrawal.price.quote, &Some(withdrawal.id.to_string())));
    assert_eq!(withdrawal.price.rate.to_string(), "5");
}

#[tokio::test]
async fn abandoned_withdrawal_keeps_its_quote_for_a_minute() {
    let bed = TestBed::new().await;
    let quote = bed.quote().await.id;
    bed.processor.set(OrderReply::Down);
    assert_eq!(bed.create("a", with(quote)).await, Err(CreateWithdrawalError::AcquirerUnavailable));
    bed.untouched().await;
    bed.processor.set(OrderReply::Accepts);
    let answer = bed.create("a", with(quote)).await.unwrap();
    assert_eq!((status_of(&answer).as_str(), bed.only().price.quote), ("processing", quote));
    bed.held().await;
}

#[tokio::test]
async fn abandoned_withdrawal_needs_a_new_quote_after_a_minute() {
    let bed = TestBed::new().await;
    let quote = bed.quote().await.id;
    bed.processor.set(OrderReply::Down);
    assert_eq!(bed.create("a", with(quote)).await, Err(CreateWithdrawalError::AcquirerUnavailable));
    bed.processor.set(OrderReply::Accepts);
    bed.clock.advance(Duration::from_mins(2));
    assert_eq!(bed.create("a", with(quote)).await, refused(PriceRefusal::Quote(UseQuoteError::Expired)));
    bed.untouched().await;
}
