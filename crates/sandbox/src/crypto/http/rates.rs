//! The endpoints for the status, currencies, minimums of deposits, estimates and balances.

use actix_web::{HttpRequest, HttpResponse, http::StatusCode};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Shared, admit, json as answer};
use crate::{
    crypto::{
        amount::{Amount, Wire},
        coins::{self, COINS, Coin},
        error::CryptoError,
        fields::Fields,
        market::{PRICE_DECIMALS, RateFlags},
    },
    requests::Operation,
};

/// `GET /v1/status`: no API key is needed.
///
/// # Errors
/// 500 if the body cannot be serialized. That would be a defect of the simulator.
pub async fn status() -> Result<HttpResponse, CryptoError> {
    answer(StatusCode::OK, &json!({ "message": "OK" }))
}

/// `GET /v1/currencies`: the codes of all coins. With `fixed_rate=true`, an object per coin with its minimum deposit at a fixed rate.
///
/// # Errors
/// 403 without the API key.
pub async fn currencies(request: HttpRequest, psp: Shared) -> Result<HttpResponse, CryptoError> {
    admit(&psp, &request, Operation::CryptoRates)?;
    let mut query = Fields::of_query(&request)?;
    let is_fixed = query.flag("fixed_rate")?;
    query.conclude()?;
    let entry = |coin: &Coin| {
        let minimum =
            psp.crypto.market.min_deposit(coin, true, RateFlags { is_fixed_rate: true, ..RateFlags::default() });
        if is_fixed {
            json!({ "currency": coin.code, "min_amount": number(&minimum), "max_amount": null })
        } else {
            json!(coin.code)
        }
    };
    let list: Vec<Value> = COINS.iter().map(entry).collect();
    answer(StatusCode::OK, &json!({ "currencies": list }))
}

/// `GET /v1/full-currencies`: an object per coin. Codes are in upper case, and `network_precision` is text.
///
/// # Errors
/// 403 without the API key.
pub async fn full_currencies(request: HttpRequest, psp: Shared) -> Result<HttpResponse, CryptoError> {
    admit(&psp, &request, Operation::CryptoRates)?;
    let entry = |(position, coin): (usize, &Coin)| {
        let is_enabled = psp.crypto.market.terms(coin).is_enabled;
        json!({
            "id": position + 1,
            "code": coin.code.to_uppercase(),
            "name": coin.name,
            "enable": is_enabled,
            "wallet_regex": coin.wallet_regex,
            "priority": position,
            "extra_id_exists": false,
            "extra_id_regex": null,
            "logo_url": format!("/images/coins/{}.svg", coin.code),
            "track": true,
            "cg_id": coin.network,
            "is_maxlimit": false,
            "network": coin.network,
            "smart_contract": coin.contract,
            "network_precision": coin.decimals.to_string(),
            "ticker": if coin.contract.is_some() { "usdt" } else { coin.code },
            "precision": PRICE_DECIMALS,
            "available_for_payment": is_enabled,
            "available_for_payout": is_enabled,
            "is_stable": coin.contract.is_some(),
        })
    };
    let list: Vec<Value> = COINS.iter().enumerate().map(entry).collect();
    answer(StatusCode::OK, &json!({ "currencies": list }))
}

/// `GET /v1/merchant/coins`: the codes of the coins that are on.
///
/// # Errors
/// 403 without the API key.
pub async fn merchant_coins(request: HttpRequest, psp: Shared) -> Result<HttpResponse, CryptoError> {
    admit(&psp, &request, Operation::CryptoRates)?;
    let enabled = COINS.iter().filter(|coin| psp.crypto.market.terms(coin).is_enabled);
    let list: Vec<&str> = enabled.map(|coin| coin.code).collect();
    answer(StatusCode::OK, &json!({ "selectedCurrencies": list }))
}

/// Reads the flags of a rate from a query. An absent flag is `false`.
fn flags(query: &mut Fields) -> Result<RateFlags, CryptoError> {
    let (is_fixed_rate, is_fee_paid_by_user) = (query.flag("is_fixed_rate")?, query.flag("is_fee_paid_by_user")?);
    Ok(RateFlags { is_fixed_rate, is_fee_paid_by_user })
}

/// `GET /v1/min-amount`: the minimum of a deposit, in `currency_from`.
///
/// # Errors
/// 403 without the API key, 400 for an unknown currency.
pub async fn min_amount(request: HttpRequest, psp: Shared) -> Result<HttpResponse, CryptoError> {
    admit(&psp, &request, Operation::CryptoMinimum)?;
    let mut query = Fields::of_query(&request)?;
    let from = query.required_text("currency_from")?;
    let to = query.text("currency_to")?;
    let fiat = query.text("fiat_equivalent")?;
    let flags = flags(&mut query)?;
    query.conclude()?;
    let market = &psp.crypto.market;
    for code in to.iter().chain(&fiat) {
        market.price(code).ok_or_else(|| CryptoError::currency(code))?;
    }
    let minimum = if let Some(coin) = coins::find(&from) {
        market.min_deposit(coin, to.is_some(), flags)
    } else {
        // If `currency_from` is a fiat currency, the minimum is that of the coin `currency_to`, converted to the fiat currency.
        let coin = to.as_deref().and_then(coins::find).ok_or_else(|| CryptoError::currency(&from))?;
        let minimum = market.min_deposit(coin, true, flags);
        let minimum = market.convert(&minimum, coin.code, &from).ok_or_else(|| CryptoError::currency(&from))?;
        minimum.round_up(PRICE_DECIMALS)
    };
    let mut body = Map::new();
    body.insert("currency_from".to_owned(), from.to_lowercase().into());
    // Without `currency_to`, the balance is credited in the coin that was paid.
    body.insert("currency_to".to_owned(), to.unwrap_or_else(|| from.clone()).to_lowercase().into());
    body.insert("min_amount".to_owned(), number(&minimum));
    if let Some(fiat) = fiat {
        let equivalent = market.convert(&minimum, &from, &fiat).unwrap_or_default();
        body.insert("fiat_equivalent".to_owned(), number(&equivalent.round_down(PRICE_DECIMALS)));
    }
    answer(StatusCode::OK, &body)
}

/// `GET /v1/estimate`: the value of an amount in another currency.
///
/// # Errors
/// 403 without the API key, 400 for an unknown currency or amount.
pub async fn estimate(request: HttpRequest, psp: Shared) -> Result<HttpResponse, CryptoError> {
    admit(&psp, &request, Operation::CryptoEstimate)?;
    let mut query = Fields::of_query(&request)?;
    let amount = query.required_amount("amount")?;
    let (from, to) = (query.required_text("currency_from")?, query.required_text("currency_to")?);
    query.conclude()?;
    let market = &psp.crypto.market;
    for code in [&from, &to] {
        market.price(code).ok_or_else(|| CryptoError::currency(code))?;
    }
    let estimated = market.convert(&amount, &from, &to).unwrap_or_default().round_down(PRICE_DECIMALS);
    let body = json!({
        "currency_from": from.to_lowercase(),
        "amount_from": number(&amount),
        "currency_to": to.to_lowercase(),
        "estimated_amount": number(&estimated),
    });
    answer(StatusCode::OK, &body)
}

/// The balance of a coin, with every digit.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BalanceView<'a> {
    amount: Wire<'a>,
    pending_amount: u8,
}

/// `GET /v1/balance`: the balances by coin. Coins without a positive balance are absent.
///
/// # Errors
/// 403 without the API key.
pub async fn balance(request: HttpRequest, psp: Shared) -> Result<HttpResponse, CryptoError> {
    admit(&psp, &request, Operation::CryptoBalance)?;
    psp.settle_due()?;
    let store = psp.read();
    let balances = store.books().crypto().balances().iter().filter(|(_, balance)| balance.is_positive());
    let view = |(coin, balance)| (coin, BalanceView { amount: Wire::Number(balance), pending_amount: 0 });
    let body: std::collections::BTreeMap<&Box<str>, BalanceView<'_>> = balances.map(view).collect();
    answer(StatusCode::OK, &body)
}

/// Returns the amount as a JSON number with every digit.
pub(super) fn number(amount: &Amount) -> Value {
    serde_json::from_str(&amount.javascript()).unwrap_or_default()
}
