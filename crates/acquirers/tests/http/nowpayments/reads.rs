//! Tests minimums, prices, balances and the check of addresses.

use cais_domain::crypto::{Currency, Rate, Side};
use cais_ports::CryptoProcessor as _;
use serde_json::json;

use super::answers::{BTC, btc, processor, refusal};
use crate::answers::{BUDGET, http, json_reply, kind};
use crate::server::{Act, Server};

fn raw(body: &str) -> Act {
    Act::Reply(http(200, "application/json", body))
}

#[tokio::test]
async fn minimum_is_rounded_up_to_the_decimals_of_the_side() {
    for (side, currency, body, wanted) in [
        (Side::Deposit, Currency::Btc, r#"{"min_amount":0.000123451}"#, "0.00012346"),
        (Side::Deposit, Currency::UsdtBsc, r#"{"min_amount":"5.000000001"}"#, "5.00000001"),
        (Side::Withdrawal, Currency::Btc, r#"{"success":true,"result":0.00002496}"#, "0.000025"),
        (Side::Withdrawal, Currency::UsdtErc20, r#"{"success":true,"result":10.98424792}"#, "10.984248"),
        (Side::Withdrawal, Currency::Btc, r#"{"result":2.496e-5}"#, "0.000025"),
    ] {
        let server = Server::start(move |_, _| raw(body)).await;
        let minimum = processor(&server.url()).minimum(side, currency, BUDGET).await.unwrap();
        assert_eq!((minimum.currency(), minimum.to_string().as_str()), (currency, wanted), "{body}");
        let path = server.seen().pop().unwrap().path;
        let code = currency.code();
        let wanted = match side {
            Side::Deposit => format!(
                "/v1/min-amount?currency_from={code}&currency_to={code}&is_fixed_rate=false&is_fee_paid_by_user=false"
            ),
            Side::Withdrawal => format!("/v1/payout-withdrawal/min-amount/{code}"),
        };
        assert_eq!(path, wanted);
    }
}

#[tokio::test]
async fn unusable_minimum_is_no_minimum() {
    for (body, wanted) in [
        (r#"{"success":false,"result":1}"#, "unknown"),
        (r#"{"success":true}"#, "unknown"),
        (r#"{"success":true,"result":null}"#, "unknown"),
        (r#"{"success":true,"result":-1}"#, "unknown"),
        (r#"{"success":true,"result":"1,5"}"#, "unknown"),
        (r#"{"success":true,"result":1e999999999}"#, "unknown"),
    ] {
        let server = Server::start(move |_, _| raw(body)).await;
        let result = processor(&server.url()).minimum(Side::Withdrawal, Currency::Btc, BUDGET).await;
        assert_eq!(kind(&result), wanted, "{body}");
    }
    let server = Server::start(|_, _| refusal(403, "ENDPOINT_NOT_ALLOWED")).await;
    let result = processor(&server.url()).minimum(Side::Withdrawal, Currency::Btc, BUDGET).await;
    assert_eq!(kind(&result), "unavailable");
}

#[tokio::test]
async fn price_keeps_every_digit() {
    for (body, wanted) in [
        (r#"{"estimated_amount":97123.4500000000000000001}"#, Some("97123.4500000000000000001")),
        (r#"{"estimated_amount":"0.3"}"#, Some("0.3")),
        (r#"{"estimated_amount":0}"#, None),
        (r#"{"estimated_amount":-1}"#, None),
        (r#"{"amount":1}"#, None),
    ] {
        let server = Server::start(move |_, _| raw(body)).await;
        let price = processor(&server.url()).usdt_per_coin(Side::Deposit, Currency::Btc, BUDGET).await;
        assert_eq!(price.ok(), wanted.map(|text| Rate::parse(text).unwrap()), "{body}");
        let path = server.seen().pop().unwrap().path;
        assert_eq!(path, "/v1/estimate?amount=1&currency_from=btc&currency_to=usdterc20");
    }
    let server = Server::start(|_, _| Act::Cut).await;
    for side in Side::ALL {
        let price = processor(&server.url()).usdt_per_coin(side, Currency::UsdtBsc, BUDGET).await;
        assert_eq!((price, server.seen().len()), (Ok(Rate::parse("1").unwrap()), 0));
    }
}

#[tokio::test]
async fn coins_of_a_withdrawal_cost_the_price_of_a_purchase() {
    for (body, wanted) in [
        (r#"{"estimated_amount":0.01}"#, Some("100000")),
        (r#"{"estimated_amount":"0.03"}"#, Some("33333.333333333334")),
        (r#"{"estimated_amount":0}"#, None),
        (r#"{"amount":1}"#, None),
    ] {
        let server = Server::start(move |_, _| raw(body)).await;
        let price = processor(&server.url()).usdt_per_coin(Side::Withdrawal, Currency::Btc, BUDGET).await;
        assert_eq!(price.ok(), wanted.map(|text| Rate::parse(text).unwrap()), "{body}");
        let path = server.seen().pop().unwrap().path;
        assert_eq!(path, "/v1/estimate?amount=1000&currency_from=usdterc20&currency_to=btc");
    }
}

#[tokio::test]
async fn balance_counts_only_coins_that_can_be_sent() {
    let server = Server::start(|_, _| {
        raw(concat!(
            r#"{"eth":{"amount":9,"pendingAmount":0},"BTC":{"amount":0.1234567891234567891,"pendingAmount":5},"#,
            r#""usdtbsc":{"amount":"12.5","pendingAmount":0},"trx":{"amount":0,"pendingAmount":7}}"#
        ))
    })
    .await;
    let balances = processor(&server.url()).balances(BUDGET).await.unwrap();
    let shown: Vec<_> = balances.iter().map(|balance| format!("{} {balance}", balance.currency())).collect();
    assert_eq!(shown, ["trx 0", "usdtbsc 12.5", "btc 0.12345678", "ltc 0", "usdterc20 0"]);
    for body in [r#"{"btc":{"pendingAmount":5}}"#, r#"{"btc":7}"#, r#"{"btc":{"amount":"?"}}"#] {
        let server = Server::start(move |_, _| raw(body)).await;
        assert_eq!(kind(&processor(&server.url()).balances(BUDGET).await), "unknown", "{body}");
    }
}

#[tokio::test]
async fn address_is_checked_by_the_processor() {
    for (answer, wanted) in [
        (Act::Reply(http(200, "text/html; charset=utf-8", "OK")), Ok(true)),
        (raw(r#""OK""#), Ok(true)),
        (refusal(400, "BAD_CREATE_WITHDRAWAL_REQUEST"), Ok(false)),
        (refusal(400, "INVALID_REQUEST_PARAMS"), Err("unknown")),
        (refusal(403, "ENDPOINT_NOT_ALLOWED"), Err("unavailable")),
        (json_reply(200, &json!({"status": true})), Err("unknown")),
    ] {
        let server = Server::start(move |_, _| answer.clone()).await;
        let result = processor(&server.url()).accepts_address(&btc(), BUDGET).await;
        let outcome = kind(&result);
        assert_eq!(result.map_err(|_| outcome), wanted);
        let post = server.seen().pop().unwrap();
        assert_eq!(post.path, "/v1/payout/validate-address");
        assert_eq!(post.body, format!(r#"{{"address":"{BTC}","currency":"btc","extra_id":null}}"#));
    }
}
