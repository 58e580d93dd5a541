//! Quotes: current prices, minimums, and refusals while no reliable price is available.

use std::time::Duration;

use cais_domain::crypto::rate::parse_spread;
use cais_domain::crypto::{Currency, RateError, Side};
use cais_domain::merchant::account::{Account, Features, NotPermitted};
use cais_domain::money::Money;
use cais_testkit::processor::State;
use cais_use_cases::crypto::CryptoUnavailable;
use cais_use_cases::crypto::quotes::{PriceRefusal, QuoteRefusal, find};

use crate::bed::{bed, quote, quote_in};

#[tokio::test]
async fn quote_stores_its_inputs_and_is_read_by_its_account() {
    let bed = bed();
    for (side, rate, coins, usd) in [
        // 100,000 x 5.40 less 1 %, and 100,000 x 5.42 plus 1 %.
        (Side::Deposit, "534600", "0.00187056", "5.4"),
        (Side::Withdrawal, "547420", "0.001826", "5.42"),
    ] {
        let quoted = quote(&bed, side, 100_000).await.unwrap();
        assert_eq!((quoted.prices.rate.to_string().as_str(), quoted.prices.coins.to_string().as_str()), (rate, coins));
        assert_eq!(
            (quoted.inputs.brl_per_usd.to_string().as_str(), quoted.inputs.spread.to_string().as_str()),
            (usd, "1")
        );
        assert_eq!(find(&bed.ports, bed.account.id, quoted.id).await, Ok(Some(quoted.clone())));
        let other = cais_testkit::builders::an_account().id;
        assert_eq!(find(&bed.ports, other, quoted.id).await, Ok(None));
    }
}

#[tokio::test]
async fn spread_of_the_account_precedes_the_default() {
    let mut bed = bed();
    bed.account.crypto_spread = parse_spread("2").ok();
    // 100,000 x 5.40 less 2 %.
    let quoted = quote(&bed, Side::Deposit, 100_000).await.unwrap();
    assert_eq!((quoted.prices.rate.to_string(), quoted.inputs.spread.to_string()), ("529200".into(), "2".into()));
}

#[tokio::test]
async fn usdt_needs_no_estimate() {
    let bed = bed();
    bed.processor.state().usdt_per_coin = None;
    bed.processor.state().minimum = Some("10");
    let quoted = quote_in(&bed, Side::Withdrawal, Currency::UsdtBsc, 20_000).await.unwrap();
    assert_eq!(quoted.prices.rate.to_string(), "5.4742");
}

#[tokio::test]
async fn amount_below_the_effective_minimum_is_refused() {
    let bed = bed();
    // 20 USDT are 0.0002 BTC: R$ 109.484 at the rate of withdrawals.
    assert!(quote(&bed, Side::Withdrawal, 10_949).await.is_ok());
    let refused = quote(&bed, Side::Withdrawal, 10_948).await.unwrap_err();
    let QuoteRefusal::Price(PriceRefusal::BelowMinimum { coins, brl }) = refused else { unreachable!("{refused:?}") };
    assert_eq!((coins.to_string().as_str(), brl), ("0.0002", Money::from_centavos(10_949)));
    // The technical minimum rises above the commercial one.
    bed.processor.state().minimum = Some("0.0003");
    assert!(matches!(
        quote(&bed, Side::Withdrawal, 16_422).await,
        Err(QuoteRefusal::Price(PriceRefusal::BelowMinimum { .. }))
    ));
    assert!(quote(&bed, Side::Withdrawal, 16_423).await.is_ok());
    // An amount below the smallest unit is below every minimum.
    assert!(matches!(
        quote(&bed, Side::Withdrawal, 1).await,
        Err(QuoteRefusal::Price(PriceRefusal::BelowMinimum { .. }))
    ));
}

#[tokio::test]
async fn quote_fails_closed_without_an_answer() {
    for silence in [
        |state: &mut State| state.usdt_per_coin = None,
        |state: &mut State| state.minimum = None,
        |state: &mut State| state.brl_per_usd = None,
    ] {
        let bed = bed();
        silence(&mut bed.processor.state());
        let refused = quote(&bed, Side::Deposit, 100_000).await.unwrap_err();
        assert!(
            matches!(refused, QuoteRefusal::Price(PriceRefusal::NoPrice(CryptoUnavailable::Upstream(_)))),
            "{refused:?}"
        );
    }
}

#[tokio::test]
async fn quote_fails_closed_on_an_old_or_future_dollar_rate() {
    let bed = bed();
    let now = bed.clock.advance(Duration::from_hours(7 * 24));
    let refused = Err(QuoteRefusal::Price(PriceRefusal::NoPrice(CryptoUnavailable::Rate(RateError::UsdRateAge))));
    assert_eq!(quote(&bed, Side::Deposit, 100_000).await, refused);
    bed.processor.state().published_at = Some(now + Duration::from_hours(2));
    assert_eq!(quote(&bed, Side::Deposit, 100_000).await, refused);
    bed.processor.state().published_at = Some(now);
    assert!(quote(&bed, Side::Deposit, 100_000).await.is_ok());
}

#[tokio::test]
async fn rate_that_jumps_is_refused() {
    let bed = bed();
    quote(&bed, Side::Deposit, 100_000).await.unwrap();
    for jump in ["1000000", "10000"] {
        bed.processor.state().usdt_per_coin = Some(jump);
        let refused = quote(&bed, Side::Deposit, 1_000_000).await.unwrap_err();
        assert!(
            matches!(refused, QuoteRefusal::Price(PriceRefusal::NoPrice(CryptoUnavailable::Jump { .. }))),
            "{refused:?}"
        );
        // Each currency has its own rate.
        assert!(quote_in(&bed, Side::Deposit, Currency::UsdtBsc, 1_000_000).await.is_ok());
    }
    bed.processor.state().usdt_per_coin = Some("190000");
    assert!(quote(&bed, Side::Deposit, 100_000).await.is_ok());
    // A jump that lasts is never accepted, also if no quote was given for weeks.
    for hours in [25, 5 * 24, 48, 365 * 24] {
        let now = bed.clock.advance(Duration::from_hours(hours));
        bed.processor.state().published_at = Some(now);
        bed.processor.state().usdt_per_coin = Some("1900000");
        let quoted = quote(&bed, Side::Deposit, 1_000_000).await;
        assert!(quoted.is_err(), "{hours}: {quoted:?}");
    }
}

#[tokio::test]
async fn moderate_change_is_accepted_after_a_day() {
    let bed = bed();
    quote(&bed, Side::Deposit, 100_000).await.unwrap();
    bed.processor.state().usdt_per_coin = Some("300000");
    assert!(quote(&bed, Side::Deposit, 100_000).await.is_err());
    let now = bed.clock.advance(Duration::from_hours(25));
    bed.processor.state().published_at = Some(now);
    assert!(quote(&bed, Side::Deposit, 100_000).await.is_ok());
}

#[tokio::test]
async fn account_without_the_feature_or_above_its_limit_is_refused() {
    let mut bed = bed();
    let limit = bed.account.limits.payout;
    let above = quote(&bed, Side::Withdrawal, limit.centavos() + 1).await;
    assert_eq!(above, Err(QuoteRefusal::Price(PriceRefusal::TransactionLimit { limit })));
    bed.account = Account { features: Features::APPROVED, ..bed.account };
    for side in Side::ALL {
        let refused = quote(&bed, side, 100_000).await;
        assert!(
            matches!(refused, Err(QuoteRefusal::NotPermitted(NotPermitted::FeatureDisabled(_)))),
            "{side:?}: {refused:?}"
        );
    }
}
