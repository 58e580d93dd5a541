//! Tests the breaker in front of the processor and of the rates.

use std::sync::Arc;

use cais_acquirers::breaker::FAILURES_TO_OPEN;
use cais_acquirers::{GuardedProcessor, GuardedRates, Ptax, PtaxConfig};
use cais_domain::crypto::{Currency, Side};
use cais_ports::{CryptoProcessor as _, ExchangeRates as _};

use super::answers::{batch, payment_id, processor, refusal};
use crate::answers::{BUDGET, html, kind};
use crate::server::Server;

/// Reads a deposit until an unguarded processor would have answered each call. Returns the number of requests.
async fn requests(act: crate::server::Act, verifies: bool) -> (usize, &'static str) {
    let server = Server::start(move |_, _| act.clone()).await;
    let guarded = GuardedProcessor::new(Arc::new(processor(&server.url())));
    for step in 0..FAILURES_TO_OPEN * 2 {
        let at = jiff::Timestamp::from_second(i64::from(step) * 30).unwrap();
        if verifies {
            guarded.verify_withdrawal(&batch(), at, BUDGET).await.unwrap_err();
        } else {
            guarded.get_deposit(&payment_id(), BUDGET).await.unwrap_err();
        }
    }
    let price = guarded.usdt_per_coin(Side::Deposit, Currency::UsdtErc20, BUDGET).await;
    let asked = server.seen().iter().filter(|seen| !seen.is_token_request()).count();
    (asked, kind(&price))
}

#[tokio::test]
async fn unanswered_calls_open_the_breaker_of_the_processor() {
    // After five failures no request is sent. The price of USDT needs no request.
    assert_eq!(requests(html(500), false).await, (5, "ok"));
    // Refused records and verifications do not count.
    assert_eq!(requests(refusal(404, "NOT_FOUND"), false).await, (10, "ok"));
    assert_eq!(requests(html(500), true).await, (10, "ok"));
}

#[tokio::test]
async fn closed_breaker_passes_every_call() {
    let server = Server::start(|_, _| refusal(400, "INVALID_REQUEST_PARAMS")).await;
    let guarded = GuardedProcessor::new(Arc::new(processor(&server.url())));
    assert_eq!(kind(&guarded.minimum(Side::Deposit, Currency::Btc, BUDGET).await), "unknown");
    assert_eq!(kind(&guarded.balances(BUDGET).await), "unknown");
    assert_eq!((guarded.name().as_str(), server.seen().len()), ("coins", 2));
}

#[tokio::test]
async fn unanswered_rates_open_their_breaker() {
    let server = Server::start(|_, _| html(503)).await;
    let config = PtaxConfig { base_url: server.url(), ..PtaxConfig::default() };
    let guarded = GuardedRates::new("ptax", Arc::new(Ptax::new(&config).unwrap()));
    let at = "2026-11-23T11:00:00Z".parse().unwrap();
    for call in 0..FAILURES_TO_OPEN * 2 {
        let wanted = if call < FAILURES_TO_OPEN { "unknown" } else { "unavailable" };
        assert_eq!(kind(&guarded.usd_rate(at, BUDGET).await), wanted, "{call}");
    }
    assert_eq!(server.seen().len(), 5);
}
