//! Examples of crypto currencies, quotes, deposits and withdrawals.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Origin;
use cais_domain::crypto::deposit::{
    ArrivedCoins, Credited, Deposit, DepositPayment, DepositPrice, DepositState, DepositTerms, Issued, PaymentReview,
    PaymentState, Resolution,
};
use cais_domain::crypto::quote::QuotedTerms;
use cais_domain::crypto::withdrawal::{WithdrawalPrice, WithdrawalSent, WithdrawalState, WithdrawalTerms};
use cais_domain::crypto::{
    Address, CryptoAmount, Currency, Minimum, ProcessorId, Quote, Rate, RateInputs, Side, Withdrawal,
};
use cais_domain::external_id::ExternalId;
use cais_domain::fee::FeeRule;
use cais_domain::ids::{AccountId, CryptoDepositId, CryptoQuoteId, CryptoWithdrawalId};
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use cais_domain::text::{LineBreaks, Text};
use cais_use_cases::crypto::currencies::{LiveCurrency, LiveMinimum};
use jiff::Timestamp;
use serde_json::Value;

use super::value;
use crate::resources::crypto::{CryptoDeposit, CryptoWithdrawal};
use crate::resources::crypto_payment::CryptoDepositPaymentList;
use crate::resources::crypto_quote::{CryptoCurrency, CryptoCurrencyList, CryptoQuote, CryptoQuoteDetail};
use crate::resources::values::Page;

/// Returns a list of currencies with one entry.
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
    value(&CryptoQuote::from(&deposit_quote()?))
}

/// Returns a quote that a deposit has used.
pub fn crypto_quote_detail() -> Option<Value> {
    let used_by = Some("cdp_01h455vb4pex5vsknk084sn02y".to_owned());
    value(&CryptoQuoteDetail::from(&Quote { used_by, ..deposit_quote()? }))
}

fn deposit_quote() -> Option<Quote> {
    quote(Side::Deposit, Money::from_centavos(25_000))
}

fn quote(side: Side, amount: Money) -> Option<Quote> {
    let ids = (
        CryptoQuoteId::parse("cqt_01h455vb4pex5vsknk084sn02x").ok()?,
        AccountId::parse("acc_01h455vb4pex5vsknk084sn02q").ok()?,
    );
    let terms = QuotedTerms { side, currency: Currency::Btc, amount };
    let fee = FeeRule::try_new(Money::ZERO, Percentage::parse("0.99").ok()?, None, None).ok()?;
    let inputs = inputs()?;
    let at = inputs.coin_priced_at;
    Quote::open(ids, terms, fee, inputs, at).ok()
}

fn inputs() -> Option<RateInputs> {
    Some(RateInputs {
        usdt_per_coin: Rate::parse("97123.45").ok()?,
        coin_priced_at: instant("2026-01-02T17:00:00.250Z")?,
        brl_per_usd: Rate::parse("5.4321").ok()?,
        usd_priced_at: instant("2026-01-02T16:09:00Z")?,
        spread: Percentage::parse("1").ok()?,
    })
}

fn instant(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

/// Returns a withdrawal that the processor is sending.
pub fn crypto_withdrawal() -> Option<Value> {
    let state = WithdrawalState::Processing { sent: sent()?, review_since: None };
    value(&CryptoWithdrawal::from(&withdrawal(state)?))
}

/// Returns a withdrawal whose coins were sent.
pub fn completed_crypto_withdrawal() -> Option<Value> {
    value(&CryptoWithdrawal::from(&sent_withdrawal()?))
}

/// Returns a withdrawal that the processor rejected.
pub fn failed_crypto_withdrawal() -> Option<Value> {
    let (reason, at) = ("the processor rejected the withdrawal".to_owned(), instant("2026-01-02T17:05:00Z")?);
    value(&CryptoWithdrawal::from(&withdrawal(WithdrawalState::Failed { sent: sent()?, reason, at })?))
}

/// Returns a page with a withdrawal.
pub fn crypto_withdrawals() -> Option<Value> {
    let withdrawal = sent_withdrawal()?;
    value(&Page::new(vec![CryptoWithdrawal::from(&withdrawal)], Some(withdrawal.id)))
}

fn sent_withdrawal() -> Option<Withdrawal> {
    let state = WithdrawalState::Completed { sent: sent()?, at: instant("2026-01-02T17:05:00Z")? };
    let network_fee = CryptoAmount::parse(Currency::Btc, "0.00001234").ok();
    let tx_hash = Some("7f2c1a90b3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e".to_owned());
    Some(Withdrawal { network_fee, tx_hash, ..withdrawal(state)? })
}

fn sent() -> Option<WithdrawalSent> {
    Some(WithdrawalSent { recorded_at: instant("2026-01-02T17:00:01Z")?, batch: ProcessorId::parse("5000000713").ok() })
}

fn withdrawal(state: WithdrawalState) -> Option<Withdrawal> {
    let quote = quote(Side::Withdrawal, Money::from_centavos(50_000))?;
    let terms = WithdrawalTerms {
        amount: quote.terms.amount,
        address: Address::parse(Currency::Btc, "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4").ok()?,
        description: None,
        external_id: ExternalId::parse("withdrawal-7").ok(),
        origin: Origin::Api,
    };
    let ids = (CryptoWithdrawalId::parse("cwd_01h455vb4pex5vsknk084sn02z").ok()?, quote.account);
    let price = WithdrawalPrice::of(&quote).ok()?;
    let open = Withdrawal::open(ids, terms, price, AcquirerName::parse("nowpayments").ok()?, quote.created_at);
    Some(Withdrawal { state, ..open })
}

/// Returns a deposit that waits for its payer.
pub fn crypto_deposit() -> Option<Value> {
    value(&CryptoDeposit::from(&deposit(DepositState::Pending)?))
}

/// Returns a deposit whose coins were credited.
pub fn completed_crypto_deposit() -> Option<Value> {
    value(&CryptoDeposit::from(&credited_deposit()?))
}

/// Returns an expired deposit, which received no coins.
pub fn expired_crypto_deposit() -> Option<Value> {
    let at = instant("2026-01-09T17:00:01Z")?;
    value(&CryptoDeposit::from(&deposit(|issued| DepositState::Expired { issued, at })?))
}

/// Returns a list with a credited payment, and a payment in another currency that is in review.
pub fn crypto_deposit_payments() -> Option<Value> {
    let deposit = credited_deposit()?;
    let credited = DepositPayment {
        id: deposit.state.issued()?.payment.clone(),
        account: deposit.account,
        deposit: deposit.id,
        processor: deposit.processor.clone(),
        coins: ArrivedCoins::Supported(deposit.credited.coins),
        tx_hash: deposit.tx_hash.clone(),
        gross: deposit.credited.gross,
        fee: deposit.credited.fee,
        state: PaymentState::Credited,
        created_at: instant("2026-01-02T17:10:00Z")?,
        version: 1,
    };
    let other = DepositPayment {
        id: ProcessorId::parse("5745459420").ok()?,
        coins: ArrivedCoins::Supported(CryptoAmount::parse(Currency::Ltc, "0.58").ok()?),
        tx_hash: Some("9f2c1a90b3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e".to_owned()),
        gross: Money::ZERO,
        fee: Money::ZERO,
        state: PaymentState::Review(PaymentReview::WrongAsset),
        created_at: instant("2026-01-02T17:15:00Z")?,
        ..credited.clone()
    };
    value(&CryptoDepositPaymentList::of(&deposit, &[credited, other]))
}

/// Returns a page with a deposit.
pub fn crypto_deposits() -> Option<Value> {
    let deposit = credited_deposit()?;
    value(&Page::new(vec![CryptoDeposit::from(&deposit)], Some(deposit.id)))
}

fn credited_deposit() -> Option<Deposit> {
    let (confirmed_at, at) = (instant("2026-01-02T17:11:00Z")?, instant("2026-01-02T17:12:30Z")?);
    let open = deposit(|issued| DepositState::Completed { issued, at })?;
    let credited = Credited { coins: open.price.coins, gross: open.terms.amount, fee: open.fee().ok()? };
    let tx_hash = Some("0c4d2b7e8f90a1b2c3d4e5f60718293a4b5c6d7e7f2c1a90b3d4e5f60718293a".to_owned());
    Some(Deposit { credited, resolution: Some(Resolution::Exact), confirmed_at: Some(confirmed_at), tx_hash, ..open })
}

fn deposit(state: impl FnOnce(Issued) -> DepositState) -> Option<Deposit> {
    let quote = quote(Side::Deposit, Money::from_centavos(25_000))?;
    let terms = DepositTerms {
        amount: quote.terms.amount,
        currency: Currency::Btc,
        description: Text::parse("Order 1042", 140, LineBreaks::Allowed).ok(),
        external_id: ExternalId::parse("deposit-1042").ok(),
        postback: None,
        origin: Origin::Api,
    };
    let issued = Issued {
        payment: ProcessorId::parse("5745459419").ok()?,
        address: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4".to_owned(),
        extra_id: None,
        expires_at: instant("2026-01-02T17:20:00Z")?,
    };
    let ids = (CryptoDepositId::parse("cdp_01h455vb4pex5vsknk084sn02y").ok()?, quote.account);
    let price = DepositPrice::of(&quote);
    let open = Deposit::open(ids, terms, price, AcquirerName::parse("nowpayments").ok()?, quote.created_at);
    Some(Deposit { state: state(issued), ..open })
}
