//! Tests every call of the adapter with the table of failures.

use cais_domain::crypto::{Currency, Side};
use cais_ports::CryptoProcessor as _;
use serde_json::json;

use super::answers::{
    batch, btc, created_deposit, created_withdrawal, deposit_id, deposit_order, paid_deposit, payment_id, processor,
    withdrawal_id, withdrawal_order,
};
use crate::answers::day;
use crate::bad_luck::assert_outcomes;

#[tokio::test]
async fn reads_report_the_right_outcome() {
    let answer = json!({
        "currency_from": "btc", "currency_to": "btc", "min_amount": 0.0001, "estimated_amount": 97_123.45,
        "success": true, "result": 0.000_024_96, "btc": {"amount": 1, "pendingAmount": 0}
    });
    tokio::join!(
        assert_outcomes("minimum of deposits", answer.clone(), |url, budget| async move {
            processor(&url).minimum(Side::Deposit, Currency::Btc, budget).await
        }),
        assert_outcomes("minimum of withdrawals", answer.clone(), |url, budget| async move {
            processor(&url).minimum(Side::Withdrawal, Currency::Btc, budget).await
        }),
        assert_outcomes("price of a sale", answer.clone(), |url, budget| async move {
            processor(&url).usdt_per_coin(Side::Deposit, Currency::Btc, budget).await
        }),
        assert_outcomes("price of a purchase", answer.clone(), |url, budget| async move {
            processor(&url).usdt_per_coin(Side::Withdrawal, Currency::Btc, budget).await
        }),
        assert_outcomes(
            "balances",
            answer.clone(),
            |url, budget| async move { processor(&url).balances(budget).await }
        ),
        assert_outcomes("address", answer.clone(), |url, budget| async move {
            processor(&url).accepts_address(&btc(), budget).await
        }),
    );
}

#[tokio::test]
async fn calls_about_deposits_report_the_right_outcome() {
    let list = json!({"data": [paid_deposit()], "limit": 100, "page": 0, "pagesCount": 1, "total": 1});
    tokio::join!(
        assert_outcomes("create", created_deposit(), |url, budget| async move {
            processor(&url).create_deposit(&deposit_order(), budget).await
        }),
        assert_outcomes("get", paid_deposit(), |url, budget| async move {
            processor(&url).get_deposit(&payment_id(), budget).await
        }),
        assert_outcomes("find", list.clone(), |url, budget| async move {
            processor(&url).find_deposit(deposit_id(), budget).await
        }),
        assert_outcomes("list", list.clone(), |url, budget| async move {
            processor(&url).list_deposits(day(0), budget).await
        }),
    );
}

#[tokio::test]
async fn calls_about_withdrawals_report_the_right_outcome() {
    let at = "2026-11-20T15:00:00Z".parse().unwrap();
    tokio::join!(
        assert_outcomes("create", created_withdrawal(), |url, budget| async move {
            processor(&url).create_withdrawal(&withdrawal_order(), budget).await
        }),
        assert_outcomes("verify", created_withdrawal(), |url, budget| async move {
            processor(&url).verify_withdrawal(&batch(), at, budget).await
        }),
        assert_outcomes("get", created_withdrawal(), |url, budget| async move {
            processor(&url).get_withdrawal(withdrawal_id(), &batch(), budget).await
        }),
        assert_outcomes("find", created_withdrawal(), |url, budget| async move {
            processor(&url).find_withdrawal(withdrawal_id(), budget).await
        }),
        assert_outcomes("list", created_withdrawal(), |url, budget| async move {
            processor(&url).list_withdrawals(day(0), budget).await
        }),
    );
}
