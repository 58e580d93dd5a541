//! Orders, and answers of NOWPayments as its documentation and its integrators show them.

use cais_acquirers::{NowPayments, NowPaymentsConfig, Secret, Timeouts};
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::{Address, CryptoAmount, Currency, ProcessorId};
use cais_domain::ids::{CryptoDepositId, CryptoWithdrawalId};
use cais_ports::{CryptoDepositOrder, CryptoWithdrawalOrder};
use serde_json::{Value, json};

use crate::answers::{NAME, json_reply};
use crate::bad_luck::CONNECT;
use crate::server::Act;
use crate::tls::TRUSTED;

pub const BTC: &str = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
pub const USDT: &str = "0x8894E0a0c962CB723c1976a4421c95949bE2D4E3";
/// The batch and the withdrawal of [`withdrawal_order`].
pub const BATCH: &str = "5000000713";
pub const WITHDRAWAL: &str = "5000000000";

pub fn config(base_url: &str) -> NowPaymentsConfig {
    NowPaymentsConfig {
        name: AcquirerName::parse("coins").unwrap(),
        base_url: base_url.to_owned(),
        api_key: Secret::new("K3Y"),
        email: "ana@shop.example".to_owned(),
        password: Secret::new("pass"),
        totp_secret: Secret::new("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"),
        ipn_secret: Secret::new("ipn_secret_for_tests_0123456789"),
        callback_url: None,
        extra_root_pem: Some(TRUSTED.pem()),
        timeouts: Timeouts { connect: CONNECT, ..Timeouts::default() },
    }
}

pub fn processor(base_url: &str) -> NowPayments {
    NowPayments::new(&config(base_url)).unwrap()
}

pub fn deposit_id() -> CryptoDepositId {
    CryptoDepositId::from_suffix(NAME).unwrap()
}

pub fn withdrawal_id() -> CryptoWithdrawalId {
    CryptoWithdrawalId::from_suffix(NAME).unwrap()
}

pub fn payment_id() -> ProcessorId {
    ProcessorId::parse("5745459419").unwrap()
}

pub fn batch() -> ProcessorId {
    ProcessorId::parse(BATCH).unwrap()
}

pub fn btc() -> Address {
    Address::parse(Currency::Btc, BTC).unwrap()
}

pub fn deposit_order() -> CryptoDepositOrder {
    CryptoDepositOrder { id: deposit_id(), amount: CryptoAmount::parse(Currency::Btc, "0.17070286").unwrap() }
}

pub fn withdrawal_order() -> CryptoWithdrawalOrder {
    CryptoWithdrawalOrder {
        id: withdrawal_id(),
        amount: CryptoAmount::parse(Currency::UsdtBsc, "50.000001").unwrap(),
        address: Address::parse(Currency::UsdtBsc, USDT).unwrap(),
    }
}

/// Returns the answer to the creation of [`deposit_order`].
pub fn created_deposit() -> Value {
    json!({
        "payment_id": "5745459419", "payment_status": "waiting", "pay_address": BTC,
        "price_amount": 0.170_702_86, "price_currency": "btc", "pay_amount": 0.170_702_86, "pay_currency": "btc",
        "order_id": deposit_id().to_string(), "order_description": null, "purchase_id": "5837122679",
        "created_at": "2026-11-20T15:00:22.742Z", "amount_received": null, "payin_extra_id": null,
        "smart_contract": "", "network": "btc", "network_precision": 8, "burning_percent": null,
        "expiration_estimate_date": "2026-11-20T15:20:22.742Z"
    })
}

/// Returns the same deposit in the form of a read, paid.
pub fn paid_deposit() -> Value {
    json!({
        "payment_id": 5_745_459_419_u64, "invoice_id": null, "payment_status": "finished", "pay_address": BTC,
        "payin_extra_id": null, "price_amount": 0.170_702_86, "price_currency": "btc", "pay_amount": 0.170_702_86,
        "actually_paid": 0.170_702_86, "pay_currency": "btc", "order_id": deposit_id().to_string(),
        "purchase_id": 5_837_122_679_u64, "outcome_amount": 0.1702, "outcome_currency": "btc", "payin_hash": "ab12",
        "created_at": "2026-11-20T15:00:22.742Z", "burning_percent": "null", "type": "crypto2crypto"
    })
}

/// Returns the row of [`withdrawal_order`].
pub fn withdrawal_row() -> Value {
    json!({
        "is_request_payouts": false, "id": WITHDRAWAL, "address": USDT, "currency": "usdtbsc",
        "amount": "50.000001", "batch_withdrawal_id": BATCH, "ipn_callback_url": null, "status": "WAITING",
        "extra_id": null, "hash": null, "error": null, "payout_description": null,
        "unique_external_id": withdrawal_id().to_string(), "created_at": "2026-11-20T15:00:00.000Z",
        "requested_at": null, "updated_at": null
    })
}

/// Returns the answer to the creation of [`withdrawal_order`].
pub fn created_withdrawal() -> Value {
    json!({"id": BATCH, "withdrawals": [withdrawal_row()]})
}

/// Returns a row of another system on the same account.
pub fn other_row() -> Value {
    json!({"id": "77", "batch_withdrawal_id": "78", "status": "FINISHED", "currency": "eth", "unique_external_id": "x"})
}

/// Answers with the processor's envelope of a refusal.
pub fn refusal(status: u16, code: &str) -> Act {
    json_reply(status, &json!({"status": false, "statusCode": status, "code": code, "message": "Not accepted"}))
}
