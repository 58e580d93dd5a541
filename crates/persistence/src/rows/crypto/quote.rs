//! Rows of crypto quotes.

use cais_domain::crypto::quote::{Prices, QuotedTerms};
use cais_domain::crypto::{Quote, RateInputs, Side};
use cais_domain::money::Money;
use cais_domain::rate::Percentage;

use super::{coins, currency, fee_rule_text, parse_fee_rule, rate};
use crate::error::Fault;
use crate::rows::{Record, id, instant, parse_enum, parsed};
use crate::sql::table::table;

const TABLE: &str = "crypto_quotes";

table! {
    /// The row of a quote.
    QuoteRow of crypto_quotes
    key { account_id: Text, id: Text }
    fixed {
        side: Text, currency: Text, amount: BigInt, rate: Text, coins: Text, fee_rule: Text, usdt_per_coin: Text,
        coin_priced_at: BigInt, brl_per_usd: Text, usd_priced_at: BigInt, spread: Text, expires_at: BigInt,
        created_at: BigInt,
    }
    changing { version: BigInt, used_by: Nullable<Text> }
}

impl Record for Quote {
    type Row<'a> = QuoteRow<'a>;

    fn row(&self, version: i64) -> QuoteRow<'_> {
        QuoteRow {
            account_id: self.account.to_string().into(),
            id: self.id.to_string().into(),
            side: self.terms.side.as_str().into(),
            currency: self.terms.currency.code().into(),
            amount: self.terms.amount.centavos(),
            rate: self.prices.rate.to_string().into(),
            coins: self.prices.coins.to_string().into(),
            fee_rule: fee_rule_text(&self.prices.fee_rule).into(),
            usdt_per_coin: self.inputs.usdt_per_coin.to_string().into(),
            coin_priced_at: self.inputs.coin_priced_at.as_microsecond(),
            brl_per_usd: self.inputs.brl_per_usd.to_string().into(),
            usd_priced_at: self.inputs.usd_priced_at.as_microsecond(),
            spread: self.inputs.spread.to_string().into(),
            expires_at: self.expires_at.as_microsecond(),
            created_at: self.created_at.as_microsecond(),
            version,
            used_by: self.used_by.as_deref().map(Into::into),
        }
    }

    fn read(row: QuoteRow<'_>) -> Result<Self, Fault> {
        let currency = currency(TABLE, &row.currency)?;
        let side = parse_enum(TABLE, &row.side, Side::parse)?;
        Ok(Self {
            id: id(TABLE, &row.id)?,
            account: id(TABLE, &row.account_id)?,
            terms: QuotedTerms { side, currency, amount: Money::from_centavos(row.amount) },
            prices: Prices {
                rate: rate(TABLE, &row.rate)?,
                coins: coins(TABLE, currency, &row.coins)?,
                fee_rule: parse_fee_rule(TABLE, &row.fee_rule)?,
            },
            inputs: RateInputs {
                usdt_per_coin: rate(TABLE, &row.usdt_per_coin)?,
                coin_priced_at: instant(TABLE, row.coin_priced_at)?,
                brl_per_usd: rate(TABLE, &row.brl_per_usd)?,
                usd_priced_at: instant(TABLE, row.usd_priced_at)?,
                spread: parsed(TABLE, Percentage::parse(&row.spread))?,
            },
            used_by: row.used_by.map(Into::into),
            expires_at: instant(TABLE, row.expires_at)?,
            created_at: instant(TABLE, row.created_at)?,
            version: row.version,
        })
    }
}
