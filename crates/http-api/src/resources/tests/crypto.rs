//! Tests crypto currencies, quotes, deposits, payments and withdrawals byte for byte.

use cais_domain::crypto::deposit::{DepositPayment, DepositStatus, PaymentReview, PaymentState};
use cais_domain::crypto::withdrawal::WithdrawalStatus;
use cais_domain::crypto::{CryptoAmount, Currency, Deposit, Minimum, Quote, Rate, Side, Withdrawal};
use cais_domain::ids::{CryptoDepositId, CryptoQuoteId, CryptoWithdrawalId};
use cais_testkit::builders::{
    a_deposit, a_deposit_payment, a_quote, a_withdrawal, deposit_in_status, withdrawal_in_status,
};
use cais_use_cases::crypto::currencies::{LiveCurrency, LiveMinimum};

use super::*;
use crate::resources::crypto_payment::CryptoDepositPaymentList;
use crate::resources::crypto_quote::{CryptoCurrency, CryptoCurrencyList, CryptoQuote, CryptoQuoteDetail};

fn account() -> AccountId {
    AccountId::parse("acc_01h455vb4pex5vsknk084sn02q").unwrap()
}

fn json(body: &impl serde::Serialize) -> String {
    String::from_utf8(to_json(body)).unwrap()
}

fn quote(side: Side) -> Quote {
    let id = CryptoQuoteId::parse("cqt_01h455vb4pex5vsknk084sn02t").unwrap();
    Quote { id, ..a_quote(account(), side) }
}

fn deposit(status: DepositStatus) -> Deposit {
    let id = CryptoDepositId::parse("cdp_01h455vb4pex5vsknk084sn02t").unwrap();
    let deposit = Deposit { id, ..a_deposit(account()) };
    Deposit { tx_hash: Some("0xabc".to_owned()), ..deposit_in_status(deposit, status) }
}

#[test]
fn crypto_quote_has_its_fields_on_both_sides() {
    let expected = concat!(
        r#"{"id":"cqt_01h455vb4pex5vsknk084sn02t","side":"deposit","currency":"usdterc20","network":"ethereum","amount":100.00,"#,
        r#""fee":1.50,"net_amount":98.50,"gross_amount":100.00,"rate":"5.4","crypto_amount":"18.518519","#,
        r#""expires_at":"2026-01-02T03:05:05.678Z","created_at":"2026-01-02T03:04:05.678Z"}"#
    );
    assert_eq!(json(&CryptoQuote::from(&quote(Side::Deposit))), expected);
    let expected = concat!(
        r#"{"id":"cqt_01h455vb4pex5vsknk084sn02t","side":"withdrawal","currency":"usdterc20","network":"ethereum","amount":100.00,"#,
        r#""fee":1.50,"net_amount":100.00,"gross_amount":101.50,"rate":"5.4","crypto_amount":"18.518518","#,
        r#""expires_at":"2026-01-02T03:05:05.678Z","created_at":"2026-01-02T03:04:05.678Z","inputs":{"usdt_per_coin":"1","#,
        r#""coin_priced_at":"2026-01-02T03:04:05.678Z","brl_per_usd":"5.4","usd_priced_at":"2026-01-02T03:04:05.678Z","#,
        r#""spread":"0"},"used_by":null}"#
    );
    assert_eq!(json(&CryptoQuoteDetail::from(&quote(Side::Withdrawal))), expected);
}

#[test]
fn crypto_deposit_has_its_fields() {
    let rendered = |status| String::from_utf8(JsonRenderer::new().crypto_deposit(&deposit(status))).unwrap();
    let expected = |fee: &str, net: &str, rest: &str, times: &str| {
        format!(
            concat!(
                r#"{{"id":"cdp_01h455vb4pex5vsknk084sn02t","external_id":null,"currency":"usdterc20","network":"ethereum","#,
                r#""amount":100.00,"fee":{},"net_amount":{},"rate":"5.4","pay_amount":"18.518519","#,
                r#""pay_address":"0xdAC17F958D2ee523a2206206994597C13D831ec7","pay_extra_id":null,"#,
                r#""pay_uri":"0xdAC17F958D2ee523a2206206994597C13D831ec7",{},"tx_hash":"0xabc","description":null,"#,
                r#""expires_at":"2026-01-02T03:24:05.678Z",{},"created_at":"2026-01-02T03:04:05.678Z"}}"#
            ),
            fee, net, rest, times
        )
    };
    assert_eq!(
        rendered(DepositStatus::Pending),
        expected(
            "1.50",
            "98.50",
            r#""received_amount":"0","resolution":null,"status":"pending""#,
            r#""confirmed_at":null,"completed_at":null"#
        )
    );
    assert_eq!(
        rendered(DepositStatus::Underpaid),
        expected(
            "1.04",
            "52.96",
            r#""received_amount":"10","resolution":"underpaid","status":"underpaid""#,
            r#""confirmed_at":"2026-01-02T03:04:25.678Z","completed_at":null"#
        )
    );
    assert_eq!(
        rendered(DepositStatus::Completed),
        expected(
            "1.50",
            "98.50",
            r#""received_amount":"18.518519","resolution":"exact","status":"completed""#,
            r#""confirmed_at":"2026-01-02T03:04:25.678Z","completed_at":"2026-01-02T03:04:25.678Z""#
        )
    );
}

#[test]
fn crypto_payments_have_their_fields() {
    let deposit = deposit(DepositStatus::Underpaid);
    let id = deposit.state.issued().unwrap().payment.clone();
    let payments = [
        DepositPayment { id, ..a_deposit_payment(&deposit, PaymentState::Credited) },
        a_deposit_payment(&deposit, PaymentState::Review(PaymentReview::TooLate)),
    ];
    let row = |status: &str, resolution: &str, reason: &str| {
        format!(
            concat!(
                r#"{{"currency":"usdterc20","received_amount":"10","credited_amount":54.00,"fee":1.04,"status":"{}","#,
                r#""resolution":"{}","review_reason":{},"tx_hash":null,"received_at":"2026-01-02T03:04:05.678Z"}}"#
            ),
            status, resolution, reason
        )
    };
    let first = row("credited", "underpaid", "null");
    let expected = format!(r#"{{"data":[{first},{}]}}"#, row("in_review", "repeated", r#""too_late""#));
    assert_eq!(json(&CryptoDepositPaymentList::of(&deposit, &payments)), expected);
}

#[test]
fn crypto_withdrawal_has_its_fields() {
    let id = CryptoWithdrawalId::parse("cwd_01h455vb4pex5vsknk084sn02t").unwrap();
    let rendered = |status| {
        let withdrawal = withdrawal_in_status(Withdrawal { id, ..a_withdrawal(account()) }, status);
        String::from_utf8(JsonRenderer::new().crypto_withdrawal(&withdrawal)).unwrap()
    };
    let expected = |status: &str, error: &str, done: &str| {
        format!(
            concat!(
                r#"{{"id":"cwd_01h455vb4pex5vsknk084sn02t","external_id":null,"currency":"usdterc20","network":"ethereum","#,
                r#""address":"0x52908400098527886E0F7030069857D2E4169EE7","amount":100.00,"fee":1.50,"gross_amount":101.50,"#,
                r#""rate":"5.4","crypto_amount":"18.518518","network_fee":null,"status":"{}","tx_hash":null,"description":null,"#,
                r#""error_message":{},"created_at":"2026-01-02T03:04:05.678Z","completed_at":{}}}"#
            ),
            status, error, done
        )
    };
    assert_eq!(rendered(WithdrawalStatus::Processing), expected("processing", "null", "null"));
    assert_eq!(rendered(WithdrawalStatus::Failed), expected("failed", r#""rejected""#, "null"));
    let done = r#""2026-01-02T03:04:25.678Z""#;
    assert_eq!(rendered(WithdrawalStatus::Completed), expected("completed", "null", done));
}

#[test]
fn crypto_currencies_have_their_fields() {
    let coins = |text| CryptoAmount::parse(Currency::UsdtErc20, text).unwrap();
    let price = Rate::parse("1").unwrap();
    let minimum = LiveMinimum {
        coins: Minimum::new(Side::Deposit, &price, coins("12.5")).unwrap(),
        effective_brl: Money::from_centavos(10_800),
    };
    let row = LiveCurrency { currency: Currency::UsdtErc20, deposit: Some(minimum), withdrawal: None };
    let list = CryptoCurrencyList { data: vec![CryptoCurrency::from(row)] };
    assert_eq!(
        json(&list),
        concat!(
            r#"{"data":[{"currency":"usdterc20","network":"ethereum","cash_in":true,"cash_out":false,"#,
            r#""min_deposit":{"commercial":"20","technical":"12.5","effective":"20","effective_brl":108.00},"#,
            r#""min_withdrawal":null}]}"#
        )
    );
}
