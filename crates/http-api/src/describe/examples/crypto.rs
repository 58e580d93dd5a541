//! Examples of crypto currencies and quotes.

use cais_domain::crypto::quote::QuotedTerms;
use cais_domain::crypto::{CryptoAmount, Currency, Minimum, Quote, Rate, RateInputs, Side};
use cais_domain::fee::FeeRule;
use cais_domain::ids::{AccountId, CryptoQuoteId};
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use cais_use_cases::crypto::currencies::{LiveCurrency, LiveMinimum};
use jiff::Timestamp;
use serde_json::Value;

use super::value;
use crate::representation::crypto_quote::{CryptoCurrency, CryptoCurrencyList, CryptoQuote, CryptoQuoteDetail};

/// Returns the list of currencies with one currency.
pub fn crypto_currencies() -> Option<Value> {
    let minimum = |side: Side, technical: &str| {
        let inputs = inputs()?;
        let technical = CryptoAmount::parse(Currency::Btc, technical).ok()?;
        let coins = Minimum::new(side, &inputs.usdt_per_coin, technical).ok()?;
        let effective_brl = coins.effective_brl(&inputs.rate(side, inputs.coin_priced_at).ok()?).ok()?;
        Some(LiveMinimum { coins, effective_brl })
    };
    let btc = LiveCurrency {
        currency: Currency::Btc,
        deposit: Some(minimum(Side::Deposit, "0.00002496")?),
        withdrawal: Some(minimum(Side::Withdrawal, "0.00005")?),
    };
    value(&CryptoCurrencyList { data: vec![CryptoCurrency::from(btc)] })
}

/// Returns a new quote.
pub fn crypto_quote() -> Option<Value> {
    value(&CryptoQuote::from(&quote()?))
}

/// Returns a quote that a deposit has used.
pub fn crypto_quote_detail() -> Option<Value> {
    let used_by = Some("cdp_01h455vb4pex5vsknk084sn02y".to_owned());
    value(&CryptoQuoteDetail::from(&Quote { used_by, ..quote()? }))
}

fn quote() -> Option<Quote> {
    let ids = (
        CryptoQuoteId::parse("cqt_01h455vb4pex5vsknk084sn02x").ok()?,
        AccountId::parse("acc_01h455vb4pex5vsknk084sn02q").ok()?,
    );
    let terms = QuotedTerms { side: Side::Deposit, currency: Currency::Btc, amount: Money::from_centavos(25_000) };
    let fee = FeeRule::try_new(Money::ZERO, Percentage::parse("0.99").ok()?, None, None).ok()?;
    let inputs = inputs()?;
    let at = inputs.coin_priced_at;
    Quote::open(ids, terms, fee, inputs, at).ok()
}

fn inputs() -> Option<RateInputs> {
    let instant = |text: &str| text.parse::<Timestamp>().ok();
    Some(RateInputs {
        usdt_per_coin: Rate::parse("97123.45").ok()?,
        coin_priced_at: instant("2026-01-02T17:00:00.250Z")?,
        brl_per_usd: Rate::parse("5.4321").ok()?,
        usd_priced_at: instant("2026-01-02T16:09:00Z")?,
        spread: Percentage::parse("1").ok()?,
    })
}
