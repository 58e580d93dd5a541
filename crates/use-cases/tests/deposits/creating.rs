//! Deposits are created: quotes, repeats, crashes and lost replies.

use std::time::Duration;

use cais_domain::crypto::quote::UseQuoteError;
use cais_domain::external_id::ExternalId;
use cais_domain::merchant::account::{Account, Features};
use cais_domain::money::Money;
use cais_ports::{Clock as _, IdempotencyQueries as _, ResponseKind};
use cais_testkit::Crash;
use cais_testkit::builders::fresh;
use cais_testkit::psp::{LookupReply, OrderReply};
use cais_use_cases::crypto::deposits::DepositName;
use cais_use_cases::crypto::deposits::create::{CreateDepositError, DepositRefusal, NewDeposit};
use cais_use_cases::crypto::deposits::fetch::{FetchError, fetch};
use cais_use_cases::crypto::quotes::PriceRefusal;
use cais_use_cases::{Response, SyncGate};

use crate::bed::{COINS, LONG, PAST_LEASE, TestBed, id_of, named, quoted, status_of, two_hundred};

#[tokio::test]
async fn deposit_without_a_quote_is_priced_and_issued() {
    let bed = TestBed::new().await;
    let (id, payment) = bed.pending().await;
    let deposit = bed.deposit(id).await;
    assert_eq!((deposit.price.coins.to_string().as_str(), deposit.price.rate.to_string().as_str()), (COINS, "5.4"));
    assert_eq!(deposit.state.issued().unwrap().payment, payment);
    assert_eq!(bed.visible().await.len(), 1);
    bed.untouched();
}

#[tokio::test]
async fn quote_is_used_once_within_its_life_for_its_terms() {
    let bed = TestBed::new().await;
    let quote = bed.quote(20_000).await;
    let other = NewDeposit { amount: Money::from_centavos(20_001), ..quoted(quote.id) };
    let refused = |reason| Err(CreateDepositError::Refused(DepositRefusal::Price(PriceRefusal::Quote(reason))));
    assert_eq!(bed.create("other", other).await, refused(UseQuoteError::OtherTerms));
    let unknown = bed.create("unknown", quoted(fresh())).await;
    assert_eq!(unknown, Err(CreateDepositError::Refused(DepositRefusal::Price(PriceRefusal::QuoteNotFound))));
    assert_eq!(bed.create("one", quoted(quote.id)).await.unwrap().kind, ResponseKind::Created);
    assert_eq!(bed.create("two", quoted(quote.id)).await, refused(UseQuoteError::Expired));
    // A repeat with the used quote returns the stored response.
    assert!(bed.create("one", quoted(quote.id)).await.unwrap().replay_of.is_some());
    let late = bed.quote(20_000).await;
    bed.clock.advance(Duration::from_mins(1));
    assert_eq!(bed.create("late", quoted(late.id)).await, refused(UseQuoteError::Expired));
    assert_eq!(bed.visible().await.len(), 1);
}

#[tokio::test]
async fn quote_of_another_account_does_not_exist() {
    let mut bed = TestBed::new().await;
    let quote = bed.quote(20_000).await;
    bed.0.account = Account { id: fresh(), ..bed.0.account };
    let refused = bed.create("one", quoted(quote.id)).await;
    assert_eq!(refused, Err(CreateDepositError::Refused(DepositRefusal::Price(PriceRefusal::QuoteNotFound))));
}

#[tokio::test]
async fn minimum_raised_after_the_quote_refuses_the_deposit() {
    let bed = TestBed::new().await;
    let quote = bed.quote(20_000).await;
    bed.processor.state().minimum = Some("40");
    for terms in [quoted(quote.id), two_hundred()] {
        let refused = bed.create("one", terms).await;
        let Err(CreateDepositError::Refused(DepositRefusal::Price(PriceRefusal::BelowMinimum { coins, brl }))) =
            refused
        else {
            unreachable!("{refused:?}")
        };
        assert_eq!((coins.to_string().as_str(), brl.to_string().as_str()), ("40", "216.00"));
    }
    // The quote can still be used.
    bed.processor.state().minimum = Some("1");
    assert_eq!(bed.create("two", quoted(quote.id)).await.unwrap().kind, ResponseKind::Created);
}

#[tokio::test]
async fn account_without_the_feature_or_above_its_limit_is_refused() {
    let mut bed = TestBed::new().await;
    let limit = bed.account.limits.charge;
    let above = NewDeposit { amount: Money::from_centavos(limit.centavos() + 1), ..two_hundred() };
    let refused = bed.create("above", above).await;
    assert_eq!(
        refused,
        Err(CreateDepositError::Refused(DepositRefusal::Price(PriceRefusal::TransactionLimit { limit })))
    );
    bed.0.account = Account { features: Features::APPROVED, ..bed.0.account };
    assert!(matches!(bed.create("one", two_hundred()).await, Err(CreateDepositError::NotPermitted(_))));
}

#[tokio::test]
async fn creation_fails_closed_without_a_trusted_rate() {
    let bed = TestBed::new().await;
    bed.quote(20_000).await;
    let refused = async |case: &str| {
        let refused = bed.create("one", two_hundred()).await;
        assert!(
            matches!(refused, Err(CreateDepositError::Refused(DepositRefusal::Price(PriceRefusal::NoPrice(_))))),
            "{case}: {refused:?}"
        );
    };
    for rate in [None, Some(("54", "54")), Some(("0.54", "0.54"))] {
        bed.processor.state().brl_per_usd = rate;
        refused(rate.map_or("none", |(buy, _)| buy)).await;
    }
    bed.processor.state().brl_per_usd = Some(("5.40", "5.40"));
    bed.clock.advance(Duration::from_hours(7 * 24));
    refused("the rate is a week old").await;
    assert!(bed.visible().await.is_empty());
    assert!(bed.processor.state().payments.is_empty());
}

#[tokio::test]
async fn repeat_replays_after_the_processor_is_removed() {
    let mut bed = TestBed::new().await;
    let first = bed.create("one", two_hundred()).await.unwrap();
    bed.0.ports.crypto = None;
    assert_eq!(bed.create("one", two_hundred()).await.unwrap().body, first.body);
    assert_eq!(bed.create("two", two_hundred()).await, Err(CreateDepositError::AcquirerUnavailable));
}

#[tokio::test]
async fn repeat_replays_and_external_id_finds_the_deposit() {
    let bed = TestBed::new().await;
    let first = bed.create("one", named("order-1")).await.unwrap();
    let repeat = bed.create("one", named("order-1")).await.unwrap();
    assert_eq!(
        (repeat.kind, repeat.body, repeat.replay_of.is_some()),
        (ResponseKind::Created, first.body.clone(), true)
    );
    let same = bed.create("two", named("order-1")).await.unwrap();
    assert_eq!((same.kind, id_of(&same)), (ResponseKind::Existing, id_of(&first)));
    let other = NewDeposit { amount: Money::from_centavos(30_000), ..named("order-1") };
    assert!(matches!(bed.create("three", other).await, Err(CreateDepositError::ExternalIdConflict(_))));
    let name = DepositName::External(ExternalId::parse("order-1").unwrap());
    let read = fetch(&bed.ports, &SyncGate::new(), bed.account.id, &name).await.unwrap();
    assert_eq!(read.id, id_of(&first));
    assert_eq!(bed.processor.state().payments.len(), 1);
}

#[tokio::test]
async fn lost_reply_is_found_by_our_identifier() {
    let bed = TestBed::new().await;
    bed.processor.state().creating = OrderReply::LosesReplies;
    let answer = bed.create("one", two_hundred()).await.unwrap();
    assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "pending"));
    assert_eq!(bed.processor.state().payments.len(), 1);
}

#[tokio::test]
async fn unknown_outcome_is_resumed_while_the_rate_holds() {
    let bed = TestBed::new().await;
    bed.processor.state().creating = OrderReply::Silent;
    bed.processor.state().lookup_reply = LookupReply::Silent;
    let unknown = bed.create("one", two_hundred()).await;
    assert!(matches!(unknown, Err(CreateDepositError::Unavailable { .. })), "{unknown:?}");
    assert!(bed.visible().await.is_empty());
    bed.processor.state().creating = OrderReply::Accepts;
    bed.processor.state().lookup_reply = LookupReply::Accurate;
    bed.clock.advance(PAST_LEASE);
    assert_eq!(bed.resume().await, 1);
    let replay = bed.create("one", two_hundred()).await.unwrap();
    assert_eq!((replay.kind, bed.visible().await.len()), (ResponseKind::Created, 1));
}

#[tokio::test]
async fn creation_without_processor_is_postponed() {
    let mut bed = TestBed::new().await;
    bed.processor.state().creating = OrderReply::Silent;
    bed.processor.state().lookup_reply = LookupReply::Silent;
    bed.create("one", two_hundred()).await.unwrap_err();
    let crypto = bed.0.ports.crypto.take();
    bed.clock.advance(PAST_LEASE);
    assert_eq!(bed.resume().await, 0);
    let now = bed.clock.now();
    assert_eq!(bed.store.list_due_idempotency_records(now, 256).await.unwrap(), [], "later records are not hidden");
    bed.0.ports.crypto = crypto;
    bed.processor.state().creating = OrderReply::Accepts;
    bed.processor.state().lookup_reply = LookupReply::Accurate;
    bed.clock.advance(Duration::from_secs(10));
    assert_eq!((bed.resume().await, bed.visible().await.len()), (1, 1));
}

#[tokio::test]
async fn creation_resumed_after_its_rate_is_abandoned() {
    let bed = TestBed::new().await;
    bed.processor.state().creating = OrderReply::Silent;
    bed.processor.state().lookup_reply = LookupReply::Silent;
    bed.create("one", two_hundred()).await.unwrap_err();
    bed.processor.state().creating = OrderReply::Accepts;
    bed.processor.state().lookup_reply = LookupReply::Accurate;
    bed.clock.advance(Duration::from_mins(4));
    bed.resume().await;
    assert!(bed.visible().await.is_empty() && bed.processor.state().payments.is_empty());
    // The repeat requests the deposit again at the current rate.
    bed.processor.state().brl_per_usd = Some(("5.00", "5.00"));
    let again = bed.create("one", two_hundred()).await.unwrap();
    assert_eq!(
        (again.kind, bed.deposit(id_of(&again)).await.price.coins.to_string()),
        (ResponseKind::Created, "40".to_owned())
    );
}

#[tokio::test]
async fn refused_deposit_is_invisible_and_frees_its_external_id() {
    for reply in [OrderReply::Refuses, OrderReply::Down] {
        let bed = TestBed::new().await;
        bed.processor.state().creating = reply;
        let refused = bed.create("one", named("order-1")).await;
        assert_eq!(refused, Err(CreateDepositError::AcquirerUnavailable), "{reply:?}");
        let name = DepositName::External(ExternalId::parse("order-1").unwrap());
        let read = fetch(&bed.ports, &SyncGate::new(), bed.account.id, &name).await;
        assert_eq!(read, Err(FetchError::NotFound));
        bed.processor.state().creating = OrderReply::Accepts;
        let other = bed.create("two", named("order-1")).await.unwrap();
        assert_eq!((other.kind, bed.visible().await.len()), (ResponseKind::Created, 1));
    }
}

/// Returns the deposit of a response, which is the only visible deposit.
async fn only(bed: &TestBed, answer: &Response) {
    let visible = bed.visible().await;
    assert_eq!(visible.iter().map(|deposit| deposit.id).collect::<Vec<_>>(), [id_of(answer)]);
}

#[tokio::test]
async fn creation_survives_a_crash_of_each_commit() {
    for nth in 1..=2 {
        for crash in [Crash::Before, Crash::After] {
            for by_worker in [false, true] {
                let bed = TestBed::new().await;
                bed.store.crash_at(nth, crash);
                let crashed = bed.create("one", named("order-1")).await;
                assert!(crashed.is_err(), "{nth} {crash:?}");
                bed.clock.advance(PAST_LEASE);
                if by_worker {
                    bed.resume().await;
                }
                let answer = bed.create("one", named("order-1")).await.unwrap();
                assert_eq!(answer.kind, ResponseKind::Created, "{nth} {crash:?} {by_worker}");
                only(&bed, &answer).await;
                // The shown address is credited once.
                let id = id_of(&answer);
                let payment = bed.deposit(id).await.state.issued().unwrap().payment.clone();
                bed.processor.pay(&payment, cais_ports::UpstreamDepositStatus::Finished, COINS);
                bed.clock.advance(LONG);
                bed.poll().await;
                bed.paid(id).await;
            }
        }
    }
}
