//! The body of `POST /v1/crypto/quotes`.

use cais_domain::crypto::Side;
use cais_strict_json::{Fields, Issues, Node, Problem};
use utoipa::ToSchema;

use crate::crypto::{Code, code};
use crate::input::JsonBody;
use crate::resources::crypto_quote::CryptoSide;
use crate::resources::values::{AmountFrom, AnyAmount};
use crate::rules;

/// The terms of a new quote.
#[derive(Debug, PartialEq, Eq, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCryptoQuote {
    /// The direction: `deposit` or `withdrawal`.
    #[schema(value_type = CryptoSide)]
    pub side: Side,
    /// The code of the currency: `trx`, `usdtbsc`, `btc`, `ltc` or `usdterc20`.
    #[schema(value_type = String, max_length = 20)]
    pub currency: Code,
    /// The amount: BRL, at most two decimals. The fee of a withdrawal is added to it, the fee of a deposit is part of it.
    #[schema(inline)]
    pub amount: AnyAmount,
}

impl JsonBody for NewCryptoQuote {
    fn read(body: &Node<'_>, issues: &Issues) -> Option<Self> {
        let mut fields = Fields::of(body, "", issues)?;
        let side = fields.required("side", side);
        let currency = fields.required("currency", code);
        let amount = fields.required("amount", AmountFrom::read);
        fields.finish();
        Some(Self { side: side?, currency: currency?, amount: amount? })
    }
}

fn side(node: &Node<'_>) -> Result<Side, Problem> {
    let known = Side::parse(rules::string(node)?);
    known.ok_or_else(|| format!("must be one of {}", Side::ALL.map(Side::as_str).join(", ")).into())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use cais_domain::crypto::{Currency, UnsupportedCurrency};
    use cais_strict_json::read;

    use super::*;

    fn parsed(body: &str) -> Result<NewCryptoQuote, Vec<String>> {
        let issues = Issues::default();
        let quote = NewCryptoQuote::read(&read(body.as_bytes(), &issues), &issues);
        issues.unless_any(quote).map_err(|issues| issues.into_iter().map(|issue| issue.path).collect())
    }

    #[test]
    fn terms_are_read_and_problems_are_listed_together() {
        let quote = parsed(r#"{"side":"withdrawal","currency":"btc","amount":250.5}"#).unwrap();
        assert_eq!(
            (quote.side, quote.currency, quote.amount.0.centavos()),
            (Side::Withdrawal, Ok(Currency::Btc), 25_050)
        );
        let other = parsed(r#"{"side":"deposit","currency":"usdttrc20","amount":1}"#).unwrap();
        assert_eq!(other.currency, Err(UnsupportedCurrency("usdttrc20".to_owned())));
        assert_eq!(
            parsed(r#"{"side":"sale","currency":1,"amount":"1","x":1}"#),
            Err(["side", "currency", "amount", "x"].map(str::to_owned).to_vec())
        );
        assert_eq!(parsed(r#"{"side":"deposit","currency":"aaaaaaaaaaaaaaaaaaaaa","amount":0}"#).unwrap_err().len(), 2);
    }
}
