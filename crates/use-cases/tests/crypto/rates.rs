//! An operator accepts a rate that is refused because it jumped.

use cais_domain::crypto::{Currency, Quote, Rate, Side};
use cais_domain::ids::CryptoQuoteId;
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{AuditFilter, ChangeSet, PageRequest, Store as _, Write};
use cais_testkit::TestBed;
use cais_testkit::builders::an_operator;
use cais_use_cases::audit;
use cais_use_cases::crypto::CryptoUnavailable;
use cais_use_cases::crypto::quotes::{PriceRefusal, QuoteRefusal};
use cais_use_cases::crypto::rate_reference::{AcceptRateError, AcceptedRate, accept};

use crate::bed::{bed, quote, quote_in, sources};

async fn accepted(bed: &TestBed, currency: Currency, expected: &str) -> Result<AcceptedRate, AcceptRateError> {
    let note = Text::parse("seen at \"two\" exchanges", 100, LineBreaks::Refused).unwrap();
    let rate = Rate::parse(expected).unwrap();
    accept(&bed.ports, sources(bed), &an_operator(), (currency, &rate), &note).await
}

async fn is_refused(bed: &TestBed, side: Side) -> bool {
    matches!(
        quote(bed, side, 1_000_000).await,
        Err(QuoteRefusal::Price(PriceRefusal::NoPrice(CryptoUnavailable::Jump { .. })))
    )
}

/// The first quote had a wrong price.
#[tokio::test]
async fn accepted_rate_replaces_a_wrong_reference() {
    let bed = bed();
    bed.processor.state().usdt_per_coin = Some("1000000");
    let wrong = quote(&bed, Side::Deposit, 1_000_000).await.unwrap();
    bed.processor.state().usdt_per_coin = Some("100000");
    assert!(is_refused(&bed, Side::Deposit).await);
    // 100,000 x 5.40, without a spread.
    let accepted = accepted(&bed, Currency::Btc, "530000").await.unwrap();
    let rate = accepted.quote.prices.rate.to_string();
    assert_eq!((rate.as_str(), accepted.last), ("540000", Some(wrong.prices.rate)));
    for side in Side::ALL {
        assert!(!is_refused(&bed, side).await, "{side:?}");
    }
    // The wrong price is refused from now on.
    bed.processor.state().usdt_per_coin = Some("1000000");
    assert!(is_refused(&bed, Side::Deposit).await);
    let rows = audit::list(&bed.ports, AuditFilter::default(), PageRequest { limit: 10, starting_after: None }).await;
    let row = rows.unwrap().rows.pop().unwrap();
    assert_eq!((row.action.as_str(), row.subject.as_str(), row.account), ("crypto_rate.accept", "btc", None));
    assert_eq!(row.before.as_deref(), Some(r#"{"rate":"5346000"}"#));
    assert_eq!(
        row.after.as_deref(),
        Some(r#"{"rate":"540000","usdt_per_coin":"100000","brl_per_usd":"5.4","note":"seen at \"two\" exchanges"}"#)
    );
}

#[tokio::test]
async fn unexpected_rate_is_not_accepted() {
    let bed = bed();
    quote(&bed, Side::Deposit, 100_000).await.unwrap();
    bed.processor.state().usdt_per_coin = Some("1000000");
    let refused = accepted(&bed, Currency::Btc, "540000").await;
    assert!(matches!(refused, Err(AcceptRateError::Unexpected { .. })), "{refused:?}");
    bed.processor.state().usdt_per_coin = None;
    let refused = accepted(&bed, Currency::Btc, "540000").await;
    assert!(matches!(refused, Err(AcceptRateError::Unavailable(CryptoUnavailable::Upstream(_)))), "{refused:?}");
    assert_eq!(bed.store.crypto_quotes().len(), 1);
    bed.processor.state().usdt_per_coin = Some("100000");
    quote(&bed, Side::Deposit, 100_000).await.unwrap();
}

#[tokio::test]
async fn accepted_rate_is_a_quote_that_no_order_can_use() {
    let bed = bed();
    let accepted = accepted(&bed, Currency::Ltc, "540000").await.unwrap();
    assert_eq!(accepted.last, None);
    let [stored] = &bed.store.crypto_quotes()[..] else { panic!("one quote") };
    let used = stored.clone().used(stored.terms, "cdp_1".to_owned(), stored.created_at);
    assert!(used.is_err() && stored.account != bed.account.id, "{used:?}");
    // Each currency has its own rate.
    bed.processor.state().usdt_per_coin = Some("1000000");
    assert!(quote_in(&bed, Side::Deposit, Currency::Ltc, 1_000_000).await.is_err());
    assert!(quote_in(&bed, Side::Deposit, Currency::Btc, 1_000_000).await.is_ok());
}

/// The quote with the wrong price was written by a node whose clock is ahead, so its id is greater than later ids.
#[tokio::test]
async fn rate_accepted_before_a_quote_of_a_fast_clock_fails() {
    let bed = bed();
    bed.processor.state().usdt_per_coin = Some("1000000");
    let wrong = quote(&bed, Side::Deposit, 1_000_000).await.unwrap();
    let ahead = Quote { id: CryptoQuoteId::new(uuid::Uuid::max()), version: 0, ..wrong };
    let mut change = ChangeSet::new(ahead.created_at);
    change.writes.push(Write::insert(ahead.clone()));
    bed.store.commit(change).await.unwrap();
    bed.processor.state().usdt_per_coin = Some("100000");
    let refused = accepted(&bed, Currency::Btc, "530000").await;
    let expected = AcceptRateError::NotNewest { newest: ahead.id, created_at: ahead.created_at };
    assert_eq!(refused, Err(expected));
    assert!(is_refused(&bed, Side::Deposit).await);
}
