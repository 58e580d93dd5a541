//! Deposits are created: quotes, repeats, crashes and lost replies.

use std::time::Duration;

use cais_domain::crypto::quote::UseQuoteError;
use cais_domain::external_id::ExternalId;
use cais_domain::merchant::account::{Account, Features};
use cais_domain::money::Money;
use cais_ports::{Clock as _, IdempotencyQueries as _, ResponseKind};
use cais_testkit::Crash;
use cais_testkit::builders::fresh;
use cais_testkit::psp::{Looking, Sending};
use cais_use_cases::crypto::deposits::DepositName;
use cais_use_cases::crypto::deposits::create::{CreateDepositError, DepositRefusal, NewDeposit};
use cais_use_cases::crypto::deposits::fetch::{FetchError, fetch};
use cais_use_cases::crypto::quotes::PriceRefusal;
use cais_use_cases::{Response, SyncGate};

use crate::world::{COINS, LONG, PAST_LEASE, World, id_of, named, quoted, status_of, two_hundred};

#[tokio::test]
async fn deposit_without_a_quote_is_priced_and_issued() {
    let world = World::new().await;
    let (id, payment) = world.pending().await;
    let deposit = world.deposit(id).await;
    assert_eq!((deposit.price.coins.to_string().as_str(), deposit.price.rate.to_string().as_str()), (COINS, "5.4"));
    assert_eq!(deposit.state.issued().unwrap().payment, payment);
    assert_eq!(world.visible().await.len(), 1);
    world.untouched();
}

#[tokio::test]
async fn quote_is_used_once_within_its_life_for_its_terms() {
    let world = World::new().await;
    let quote = world.quote(20_000).await;
    let other = NewDeposit { amount: Money::from_centavos(20_001), ..quoted(quote.id) };
    let refused = |reason| Err(CreateDepositError::Refused(DepositRefusal::Price(PriceRefusal::Quote(reason))));
    assert_eq!(world.create("other", other).await, refused(UseQuoteError::OtherTerms));
    let unknown = world.create("unknown", quoted(fresh())).await;
    assert_eq!(unknown, Err(CreateDepositError::Refused(DepositRefusal::Price(PriceRefusal::QuoteNotFound))));
    assert_eq!(world.create("one", quoted(quote.id)).await.unwrap().kind, ResponseKind::Created);
    assert_eq!(world.create("two", quoted(quote.id)).await, refused(UseQuoteError::Expired));
    // A repeat with the used quote returns the stored response.
    assert!(world.create("one", quoted(quote.id)).await.unwrap().replay_of.is_some());
    let late = world.quote(20_000).await;
    world.clock.advance(Duration::from_mins(1));
    assert_eq!(world.create("late", quoted(late.id)).await, refused(UseQuoteError::Expired));
    assert_eq!(world.visible().await.len(), 1);
}

#[tokio::test]
async fn quote_of_another_account_does_not_exist() {
    let mut world = World::new().await;
    let quote = world.quote(20_000).await;
    world.0.account = Account { id: fresh(), ..world.0.account };
    let refused = world.create("one", quoted(quote.id)).await;
    assert_eq!(refused, Err(CreateDepositError::Refused(DepositRefusal::Price(PriceRefusal::QuoteNotFound))));
}

#[tokio::test]
async fn minimum_raised_after_the_quote_refuses_the_deposit() {
    let world = World::new().await;
    let quote = world.quote(20_000).await;
    world.processor.state().minimum = Some("40");
    for terms in [quoted(quote.id), two_hundred()] {
        let refused = world.create("one", terms).await;
        let Err(CreateDepositError::Refused(DepositRefusal::Price(PriceRefusal::BelowMinimum { coins, brl }))) =
            refused
        else {
            unreachable!("{refused:?}")
        };
        assert_eq!((coins.to_string().as_str(), brl.to_string().as_str()), ("40", "216.00"));
    }
    // The quote can still be used.
    world.processor.state().minimum = Some("1");
    assert_eq!(world.create("two", quoted(quote.id)).await.unwrap().kind, ResponseKind::Created);
}

#[tokio::test]
async fn account_without_the_feature_or_above_its_limit_is_refused() {
    let mut world = World::new().await;
    let limit = world.account.limits.charge;
    let above = NewDeposit { amount: Money::from_centavos(limit.centavos() + 1), ..two_hundred() };
    let refused = world.create("above", above).await;
    assert_eq!(
        refused,
        Err(CreateDepositError::Refused(DepositRefusal::Price(PriceRefusal::TransactionLimit { limit })))
    );
    world.0.account = Account { features: Features::APPROVED, ..world.0.account };
    assert!(matches!(world.create("one", two_hundred()).await, Err(CreateDepositError::NotPermitted(_))));
}

#[tokio::test]
async fn creation_fails_closed_without_a_trusted_rate() {
    let world = World::new().await;
    world.quote(20_000).await;
    let refused = async |case: &str| {
        let refused = world.create("one", two_hundred()).await;
        assert!(
            matches!(refused, Err(CreateDepositError::Refused(DepositRefusal::Price(PriceRefusal::NoPrice(_))))),
            "{case}: {refused:?}"
        );
    };
    for rate in [None, Some(("54", "54")), Some(("0.54", "0.54"))] {
        world.processor.state().brl_per_usd = rate;
        refused(rate.map_or("none", |(buy, _)| buy)).await;
    }
    world.processor.state().brl_per_usd = Some(("5.40", "5.40"));
    world.clock.advance(Duration::from_hours(7 * 24));
    refused("the rate is a week old").await;
    assert!(world.visible().await.is_empty());
    assert!(world.processor.state().payments.is_empty());
}

#[tokio::test]
async fn repeat_replays_after_the_processor_is_removed() {
    let mut world = World::new().await;
    let first = world.create("one", two_hundred()).await.unwrap();
    world.0.ports.crypto = None;
    assert_eq!(world.create("one", two_hundred()).await.unwrap().body, first.body);
    assert_eq!(world.create("two", two_hundred()).await, Err(CreateDepositError::AcquirerUnavailable));
}

#[tokio::test]
async fn repeat_replays_and_external_id_finds_the_deposit() {
    let world = World::new().await;
    let first = world.create("one", named("order-1")).await.unwrap();
    let repeat = world.create("one", named("order-1")).await.unwrap();
    assert_eq!(
        (repeat.kind, repeat.body, repeat.replay_of.is_some()),
        (ResponseKind::Created, first.body.clone(), true)
    );
    let same = world.create("two", named("order-1")).await.unwrap();
    assert_eq!((same.kind, id_of(&same)), (ResponseKind::Existing, id_of(&first)));
    let other = NewDeposit { amount: Money::from_centavos(30_000), ..named("order-1") };
    assert!(matches!(world.create("three", other).await, Err(CreateDepositError::ExternalIdConflict(_))));
    let name = DepositName::External(ExternalId::parse("order-1").unwrap());
    let read = fetch(&world.ports, &SyncGate::new(), world.account.id, &name).await.unwrap();
    assert_eq!(read.id, id_of(&first));
    assert_eq!(world.processor.state().payments.len(), 1);
}

#[tokio::test]
async fn lost_reply_is_found_by_our_identifier() {
    let world = World::new().await;
    world.processor.state().creating = Sending::LosesReplies;
    let answer = world.create("one", two_hundred()).await.unwrap();
    assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "pending"));
    assert_eq!(world.processor.state().payments.len(), 1);
}

#[tokio::test]
async fn unknown_outcome_is_resumed_while_the_rate_holds() {
    let world = World::new().await;
    world.processor.state().creating = Sending::Silent;
    world.processor.state().looking = Looking::Silent;
    let unknown = world.create("one", two_hundred()).await;
    assert!(matches!(unknown, Err(CreateDepositError::Unavailable { .. })), "{unknown:?}");
    assert!(world.visible().await.is_empty());
    world.processor.state().creating = Sending::Takes;
    world.processor.state().looking = Looking::Tells;
    world.clock.advance(PAST_LEASE);
    assert_eq!(world.resume().await, 1);
    let replay = world.create("one", two_hundred()).await.unwrap();
    assert_eq!((replay.kind, world.visible().await.len()), (ResponseKind::Created, 1));
}

#[tokio::test]
async fn creation_without_processor_is_postponed() {
    let mut world = World::new().await;
    world.processor.state().creating = Sending::Silent;
    world.processor.state().looking = Looking::Silent;
    world.create("one", two_hundred()).await.unwrap_err();
    let crypto = world.0.ports.crypto.take();
    world.clock.advance(PAST_LEASE);
    assert_eq!(world.resume().await, 0);
    let now = world.clock.now();
    assert_eq!(world.store.list_due_idempotency_records(now, 256).await.unwrap(), [], "later records are not hidden");
    world.0.ports.crypto = crypto;
    world.processor.state().creating = Sending::Takes;
    world.processor.state().looking = Looking::Tells;
    world.clock.advance(Duration::from_secs(10));
    assert_eq!((world.resume().await, world.visible().await.len()), (1, 1));
}

#[tokio::test]
async fn creation_resumed_after_its_rate_is_abandoned() {
    let world = World::new().await;
    world.processor.state().creating = Sending::Silent;
    world.processor.state().looking = Looking::Silent;
    world.create("one", two_hundred()).await.unwrap_err();
    world.processor.state().creating = Sending::Takes;
    world.processor.state().looking = Looking::Tells;
    world.clock.advance(Duration::from_mins(4));
    world.resume().await;
    assert!(world.visible().await.is_empty() && world.processor.state().payments.is_empty());
    // The repeat requests the deposit again at the current rate.
    world.processor.state().brl_per_usd = Some(("5.00", "5.00"));
    let again = world.create("one", two_hundred()).await.unwrap();
    assert_eq!(
        (again.kind, world.deposit(id_of(&again)).await.price.coins.to_string()),
        (ResponseKind::Created, "40".to_owned())
    );
}

#[tokio::test]
async fn refused_deposit_is_invisible_and_frees_its_external_id() {
    for reply in [Sending::Refuses, Sending::Down] {
        let world = World::new().await;
        world.processor.state().creating = reply;
        let refused = world.create("one", named("order-1")).await;
        assert_eq!(refused, Err(CreateDepositError::AcquirerUnavailable), "{reply:?}");
        let name = DepositName::External(ExternalId::parse("order-1").unwrap());
        let read = fetch(&world.ports, &SyncGate::new(), world.account.id, &name).await;
        assert_eq!(read, Err(FetchError::NotFound));
        world.processor.state().creating = Sending::Takes;
        let other = world.create("two", named("order-1")).await.unwrap();
        assert_eq!((other.kind, world.visible().await.len()), (ResponseKind::Created, 1));
    }
}

/// Returns the deposit of a response, which is the only visible deposit.
async fn only(world: &World, answer: &Response) {
    let visible = world.visible().await;
    assert_eq!(visible.iter().map(|deposit| deposit.id).collect::<Vec<_>>(), [id_of(answer)]);
}

#[tokio::test]
async fn creation_survives_a_crash_of_each_commit() {
    for nth in 1..=2 {
        for crash in [Crash::Before, Crash::After] {
            for by_worker in [false, true] {
                let world = World::new().await;
                world.store.crash_at(nth, crash);
                let crashed = world.create("one", named("order-1")).await;
                assert!(crashed.is_err(), "{nth} {crash:?}");
                world.clock.advance(PAST_LEASE);
                if by_worker {
                    world.resume().await;
                }
                let answer = world.create("one", named("order-1")).await.unwrap();
                assert_eq!(answer.kind, ResponseKind::Created, "{nth} {crash:?} {by_worker}");
                only(&world, &answer).await;
                // The shown address is credited once.
                let id = id_of(&answer);
                let payment = world.deposit(id).await.state.issued().unwrap().payment.clone();
                world.processor.pay(&payment, cais_ports::UpstreamDepositStatus::Finished, COINS);
                world.clock.advance(LONG);
                world.poll().await;
                world.paid(id).await;
            }
        }
    }
}
