//! `/v1/sandbox/crypto/coins` and `…/dollar`: the prices, minimums and fees of the simulated processor, and the simulated rate of the
//! US dollar.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, put};
use cais_domain::crypto::Currency;
use cais_strict_json::{Fields, Issues, Node, Problem};
use serde::Serialize;
use utoipa::ToSchema;

use super::processor;
use crate::context::{Authorized, CryptoWrite};
use crate::describe::examples;
use crate::describe::failures::{Errors, OfBody};
use crate::error::{ApiError, code};
use crate::input::{Input, Json, JsonBody, NoQuery};
use crate::sandbox::blocking;
use crate::{reply, rules};

/// Longest decimal in a request, in characters.
const MAX_DECIMAL: usize = 40;
/// Largest `age_days` in a request.
const MAX_AGE_DAYS: i64 = 365;

/// New values of a currency at the sandbox's processor. Absent fields keep their values.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SandboxCoinChange {
    /// The code of the currency, such as `usdtbsc`.
    #[schema(value_type = String)]
    pub currency: Currency,
    /// USDT for one coin, a decimal.
    #[schema(max_length = 40)]
    pub price: Option<String>,
    /// `false`: the processor has no price.
    pub priced: Option<bool>,
    /// The processor's minimum of a deposit, in coins.
    #[schema(max_length = 40)]
    pub min_deposit: Option<String>,
    /// The processor's minimum of a withdrawal, in coins.
    #[schema(max_length = 40)]
    pub min_withdrawal: Option<String>,
    /// The network fee of a withdrawal, in coins.
    #[schema(max_length = 40)]
    pub network_fee: Option<String>,
    /// The service's balance at the processor, in coins.
    #[schema(max_length = 40)]
    pub balance: Option<String>,
    /// `false`: the processor refuses new payments and withdrawals.
    pub enabled: Option<bool>,
}

impl JsonBody for SandboxCoinChange {
    fn read(body: &Node<'_>, issues: &Issues) -> Option<Self> {
        let mut fields = Fields::of(body, "", issues)?;
        let currency = fields.required("currency", currency);
        let (price, priced) = (fields.optional("price", positive), fields.optional("priced", rules::flag));
        let min_deposit = fields.optional("min_deposit", decimal);
        let min_withdrawal = fields.optional("min_withdrawal", decimal);
        let network_fee = fields.optional("network_fee", decimal);
        let (balance, enabled) = (fields.optional("balance", decimal), fields.optional("enabled", rules::flag));
        fields.finish();
        let currency = currency?;
        Some(Self { currency, price, priced, min_deposit, min_withdrawal, network_fee, balance, enabled })
    }
}

/// The values of a currency at the sandbox's processor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SandboxCoin {
    /// The code of the currency, such as `usdtbsc`.
    pub currency: &'static str,
    /// USDT for one coin, a decimal.
    pub price: String,
    /// `false`: the processor has no price.
    pub priced: bool,
    /// The processor's minimum of a deposit, in coins.
    pub min_deposit: String,
    /// The processor's minimum of a withdrawal, in coins.
    pub min_withdrawal: String,
    /// The network fee of a withdrawal, in coins.
    pub network_fee: String,
    /// The service's balance at the processor, in coins.
    pub balance: String,
    /// `false`: the processor refuses new payments and withdrawals.
    pub enabled: bool,
}

/// A new rate of the US dollar at the sandbox. Absent fields keep their values.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SandboxDollarChange {
    /// BRL for one US dollar, the selling rate. The buying rate is 0.0006 less.
    #[schema(max_length = 40)]
    pub rate: Option<String>,
    /// Makes the rate old: the last publication is at least this number of days before today. 0 restores the daily publications. With a
    /// rate older than six days, the service gives no quotes.
    #[schema(value_type = Option<u16>, minimum = 0, maximum = 365)]
    pub age_days: Option<u16>,
}

impl JsonBody for SandboxDollarChange {
    fn read(body: &Node<'_>, issues: &Issues) -> Option<Self> {
        let mut fields = Fields::of(body, "", issues)?;
        let rate = fields.optional("rate", positive);
        let age_days = fields.optional("age_days", |node| rules::integer(node, &(0..=MAX_AGE_DAYS)));
        fields.finish();
        Some(Self { rate, age_days: age_days.and_then(|days| u16::try_from(days).ok()) })
    }
}

/// The newest published rate of the US dollar at the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SandboxDollar {
    /// BRL for one US dollar, the selling rate; `null` without a publication in the last 30 days.
    #[schema(required)]
    pub rate: Option<String>,
    /// The day of the publication, `YYYY-MM-DD`; `null` without a publication in the last 30 days.
    #[schema(format = "date", required)]
    pub published_on: Option<String>,
}

/// Sets values of a currency at the sandbox's processor.
///
/// # Errors
/// `VALIDATION_ERROR`, `account_suspended`; `internal_error` if the sandbox fails.
#[utoipa::path(
    operation_id = "sandboxSetCryptoCoin",
    tag = "sandbox",
    summary = "Set the price and the minimums of a currency",
    description = "Available only with the built-in sandbox. The change applies to all accounts. A restart resets all values to their defaults, except the balance. Scope: `crypto:write`.",
    request_body(content = SandboxCoinChange,
        example = json!(examples::literal(r#"{"currency":"btc","price":"68000"}"#))),
    responses(
        (status = 200, description = "All current values of the currency.", body = SandboxCoin, example = json!(examples::literal(
            r#"{"currency":"btc","price":"68000","priced":true,"min_deposit":"0.00012","min_withdrawal":"0.0002","network_fee":"0.00003","balance":"150","enabled":true}"#
        ))),
        Errors<(OfBody, code::AccountSuspended, code::NotFound)>,
    ),
)]
#[put("/sandbox/crypto/coins")]
pub async fn set_coin(
    call: Authorized<CryptoWrite>,
    input: Input<(NoQuery, Json<SandboxCoinChange>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, Json(change))) = input;
    call.caller.account.permit_write()?;
    let processor = Arc::clone(processor(&call.state)?);
    let coin = blocking(move || processor.set_coin(&change)).await?;
    Ok(reply::json(StatusCode::OK, &coin))
}

/// Sets the rate of the US dollar at the sandbox.
///
/// # Errors
/// `VALIDATION_ERROR`, `account_suspended`; `internal_error` if the sandbox fails.
#[utoipa::path(
    operation_id = "sandboxSetDollar",
    tag = "sandbox",
    summary = "Set the rate of the US dollar",
    description = "Available only with the built-in sandbox. The change applies to all accounts. A restart resets the rate to its default. Scope: `crypto:write`.",
    request_body(content = SandboxDollarChange, example = json!(examples::literal(r#"{"rate":"5.50"}"#))),
    responses(
        (status = 200, description = "The newest published rate.", body = SandboxDollar,
            example = json!(examples::literal(r#"{"rate":"5.50","published_on":"2026-01-02"}"#))),
        Errors<(OfBody, code::AccountSuspended, code::NotFound)>,
    ),
)]
#[put("/sandbox/crypto/dollar")]
pub async fn set_dollar(
    call: Authorized<CryptoWrite>,
    input: Input<(NoQuery, Json<SandboxDollarChange>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, Json(change))) = input;
    call.caller.account.permit_write()?;
    let processor = Arc::clone(processor(&call.state)?);
    let dollar = blocking(move || processor.set_dollar(&change)).await?;
    Ok(reply::json(StatusCode::OK, &dollar))
}

/// Reads the code of a currency.
pub(super) fn currency(node: &Node<'_>) -> Result<Currency, Problem> {
    Currency::parse(rules::string(node)?)
        .map_err(|_| Problem::from(format!("must be one of {}", Currency::ALL.map(Currency::code).join(", "))))
}

/// Reads a decimal text above zero. The sandbox checks the number of its decimals.
pub(super) fn positive(node: &Node<'_>) -> Result<String, Problem> {
    let text = decimal(node)?;
    let is_positive = text.bytes().any(|byte| (b'1'..=b'9').contains(&byte));
    if is_positive { Ok(text) } else { Err("must be above zero".into()) }
}

/// Reads a decimal text: digits, with an optional point between digits.
fn decimal(node: &Node<'_>) -> Result<String, Problem> {
    let text = rules::string(node)?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if text.len() <= MAX_DECIMAL && is_digits(whole) && is_digits(fraction) {
        Ok(text.to_owned())
    } else {
        Err(format!("must be a decimal in a string, of at most {MAX_DECIMAL} characters").into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use cais_strict_json::read;

    use super::*;

    fn paths<T: JsonBody>(body: &str) -> Vec<String> {
        let issues = Issues::default();
        let value = T::read(&read(body.as_bytes(), &issues), &issues);
        issues.unless_any(value).err().unwrap_or_default().into_iter().map(|issue| issue.path).collect()
    }

    #[test]
    fn market_bodies_are_read_strictly() {
        let issues = Issues::default();
        let body = read(br#"{"currency":"btc","price":"65000.5","balance":"0"}"#, &issues);
        let change = SandboxCoinChange::read(&body, &issues).unwrap();
        assert_eq!((change.currency, change.price.as_deref()), (Currency::Btc, Some("65000.5")));
        for (body, expected) in [
            (r#"{"currency":"btc"}"#, vec![]),
            (r#"{"price":"1"}"#, vec!["currency"]),
            (r#"{"currency":"doge","price":"0"}"#, vec!["currency", "price"]),
            (r#"{"currency":"btc","price":1}"#, vec!["price"]),
            (r#"{"currency":"btc","network_fee":"1..5"}"#, vec!["network_fee"]),
            (r#"{"currency":"btc","balance":"-1"}"#, vec!["balance"]),
            (r#"{"currency":"btc","min_deposit":"1e3","coin":1}"#, vec!["min_deposit", "coin"]),
        ] {
            assert_eq!(paths::<SandboxCoinChange>(body), expected, "{body}");
        }
        for (body, expected) in [
            (r#"{"rate":"5.5","age_days":7}"#, vec![]),
            (r#"{"rate":"5.","age_days":-1}"#, vec!["rate", "age_days"]),
            (r#"{"age_days":366}"#, vec!["age_days"]),
        ] {
            assert_eq!(paths::<SandboxDollarChange>(body), expected, "{body}");
        }
    }
}
