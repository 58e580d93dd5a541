//! An account with both crypto features. A BTC costs 100,000 USDT. A dollar costs R$ 5.40 or R$ 5.42, and the spread is
//! 1 %.

use cais_domain::crypto::quote::QuotedTerms;
use cais_domain::crypto::{Currency, Quote, Side};
use cais_domain::merchant::account::{Account, Feature};
use cais_domain::money::Money;
use cais_ports::Clock as _;
use cais_ports::acquirers::MockAcquirers;
use cais_testkit::TestBed;
use cais_testkit::builders::an_account;
use cais_use_cases::crypto::CryptoSources;
use cais_use_cases::crypto::quotes::{QuoteRefusal, create};

pub fn bed() -> TestBed {
    let account = an_account();
    let features = account.features.with(Feature::CryptoIn).with(Feature::CryptoOut);
    // The mock expects no call. So a request to an acquirer makes the test fail.
    let bed = TestBed::empty(Account { features, ..account }).with_acquirers(MockAcquirers::new()).with_crypto("1");
    let mut state = bed.processor.state();
    (state.minimum, state.brl_per_usd) = (Some("0.00005"), Some(("5.40", "5.42")));
    state.published_at = Some(bed.clock.now());
    drop(state);
    bed
}

pub fn sources(bed: &TestBed) -> &CryptoSources {
    bed.ports.crypto.as_ref().unwrap()
}

pub async fn quote(bed: &TestBed, side: Side, centavos: i64) -> Result<Quote, QuoteRefusal> {
    quote_in(bed, side, Currency::Btc, centavos).await
}

pub async fn quote_in(bed: &TestBed, side: Side, currency: Currency, centavos: i64) -> Result<Quote, QuoteRefusal> {
    let terms = QuotedTerms { side, currency, amount: Money::from_centavos(centavos) };
    create(&bed.ports, sources(bed), &bed.account, terms).await
}
