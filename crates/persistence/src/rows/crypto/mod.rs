//! Rows of crypto quotes, deposits, payments and withdrawals. Amounts of coins and rates are decimal texts.

pub(crate) mod deposit;
pub(crate) mod payment;
pub(crate) mod quote;
pub(crate) mod withdrawal;

use cais_domain::crypto::{CryptoAmount, Currency, Rate};
use cais_domain::fee::FeeRule;
use cais_domain::money::Money;
use cais_domain::rate::Percentage;

use super::{corrupt, parsed};
use crate::error::Fault;

/// The text of an absent minimum or maximum of a fee rule.
const NONE: &str = "-";

/// Returns a fee rule as a text: the fixed part, the percentage, the minimum and the maximum, with blanks between them.
/// Amounts are in centavos.
fn fee_rule_text(rule: &FeeRule) -> String {
    let limit = |limit: Option<Money>| limit.map_or_else(|| NONE.to_owned(), |limit| limit.centavos().to_string());
    format!("{} {} {} {}", rule.fixed().centavos(), rule.percentage(), limit(rule.min()), limit(rule.max()))
}

fn parse_fee_rule(table: &str, text: &str) -> Result<FeeRule, Fault> {
    let centavos = |text: &str| parsed(table, text.parse().map(Money::from_centavos));
    let limit = |text: &str| (text != NONE).then(|| centavos(text)).transpose();
    let [fixed, percentage, min, max] = text.split(' ').collect::<Vec<_>>()[..] else {
        return Err(corrupt(table, "the fee rule does not have four parts"));
    };
    let (fixed, percentage) = (centavos(fixed)?, parsed(table, Percentage::parse(percentage))?);
    parsed(table, FeeRule::try_new(fixed, percentage, limit(min)?, limit(max)?))
}

fn currency(table: &str, code: &str) -> Result<Currency, Fault> {
    parsed(table, Currency::parse(code))
}

fn coins(table: &str, currency: Currency, text: &str) -> Result<CryptoAmount, Fault> {
    parsed(table, CryptoAmount::parse(currency, text))
}

fn rate(table: &str, text: &str) -> Result<Rate, Fault> {
    parsed(table, Rate::parse(text))
}
