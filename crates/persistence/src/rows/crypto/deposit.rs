//! Rows of crypto deposits.

use cais_domain::charge::Origin;
use cais_domain::crypto::ProcessorId;
use cais_domain::crypto::deposit::{
    Credited, Deposit, DepositPrice, DepositState, DepositStatus, DepositTerms, Issued, Resolution,
};
use cais_domain::money::Money;

use super::{coins, currency, fee_rule_text, parse_fee_rule, rate};
use crate::error::Fault;
use crate::rows::{
    Record, acquirer, corrupt, id, instant, optional_instant, parse_enum, parse_external_id, parse_postback,
    parse_text, parsed, to_u32, us,
};
use crate::sql::table::table;

const TABLE: &str = "crypto_deposits";

table! {
    /// The row of a deposit.
    DepositRow of crypto_deposits
    key { account_id: Text, id: Text }
    fixed {
        amount: BigInt, currency: Text, description: Nullable<Text>, external_id: Nullable<Text>,
        postback_endpoint: Nullable<Text>, postback_url: Nullable<Text>, origin: Text, processor: Text,
        created_at: BigInt,
    }
    changing {
        version: BigInt, quote_id: Text, rate: Text, fee_rule: Text, coins: Text, status: Text,
        payment_id: Nullable<Text>, address: Nullable<Text>, extra_id: Nullable<Text>, expires_at: Nullable<BigInt>,
        state_at: Nullable<BigInt>, credited_coins: Text, credited_gross: BigInt, credited_fee: BigInt,
        resolution: Nullable<Text>, confirmed_at: Nullable<BigInt>, tx_hash: Nullable<Text>,
        due_at: Nullable<BigInt>, attempts: BigInt,
    }
}

impl Record for Deposit {
    type Row<'a> = DepositRow<'a>;

    fn row(&self, version: i64) -> DepositRow<'_> {
        let (terms, price, state) = (&self.terms, &self.price, &self.state);
        let issued = state.issued();
        DepositRow {
            account_id: self.account.to_string().into(),
            id: self.id.to_string().into(),
            amount: terms.amount.centavos(),
            currency: terms.currency.code().into(),
            description: terms.description.as_ref().map(|text| text.as_str().into()),
            external_id: terms.external_id.as_ref().map(|name| name.as_str().into()),
            postback_endpoint: terms.postback.as_ref().map(|postback| postback.endpoint.to_string().into()),
            postback_url: terms.postback.as_ref().map(|postback| postback.url.as_str().into()),
            origin: terms.origin.as_str().into(),
            processor: self.processor.as_str().into(),
            created_at: self.created_at.as_microsecond(),
            version,
            quote_id: price.quote.to_string().into(),
            rate: price.rate.to_string().into(),
            fee_rule: fee_rule_text(&price.fee_rule).into(),
            coins: price.coins.to_string().into(),
            status: state.status().as_str().into(),
            payment_id: issued.map(|issued| issued.payment.as_str().into()),
            address: issued.map(|issued| issued.address.as_str().into()),
            extra_id: issued.and_then(|issued| issued.extra_id.as_deref()).map(Into::into),
            expires_at: us(issued.map(|issued| issued.expires_at)),
            state_at: us(state.since()),
            credited_coins: self.credited.coins.to_string().into(),
            credited_gross: self.credited.gross.centavos(),
            credited_fee: self.credited.fee.centavos(),
            resolution: self.resolution.map(|resolution| resolution.as_str().into()),
            confirmed_at: us(self.confirmed_at),
            tx_hash: self.tx_hash.as_deref().map(Into::into),
            due_at: us(self.due_at),
            attempts: self.attempts.into(),
        }
    }

    fn read(row: DepositRow<'_>) -> Result<Self, Fault> {
        let currency = currency(TABLE, &row.currency)?;
        let resolution =
            row.resolution.as_deref().map(|word| parse_enum(TABLE, word, Resolution::parse)).transpose()?;
        let (gross, fee) = (row.credited_gross, row.credited_fee);
        let is_credited = matches!(&*row.status, "completed" | "underpaid");
        if fee < 0 || fee > gross || (!is_credited && gross != 0) {
            return Err(corrupt(TABLE, "the credited amounts contradict the status or each other"));
        }
        Ok(Self {
            id: id(TABLE, &row.id)?,
            account: id(TABLE, &row.account_id)?,
            terms: DepositTerms {
                amount: Money::from_centavos(row.amount),
                currency,
                description: parse_text(TABLE, row.description.as_deref())?,
                external_id: parse_external_id(TABLE, row.external_id.as_deref())?,
                postback: parse_postback(TABLE, row.postback_endpoint.as_deref(), row.postback_url.as_deref())?,
                origin: parse_enum(TABLE, &row.origin, Origin::parse)?,
            },
            price: DepositPrice {
                quote: id(TABLE, &row.quote_id)?,
                rate: rate(TABLE, &row.rate)?,
                fee_rule: parse_fee_rule(TABLE, &row.fee_rule)?,
                coins: coins(TABLE, currency, &row.coins)?,
            },
            processor: acquirer(TABLE, &row.processor)?,
            state: read_state(&row)?,
            credited: Credited {
                coins: coins(TABLE, currency, &row.credited_coins)?,
                gross: Money::from_centavos(gross),
                fee: Money::from_centavos(fee),
            },
            resolution,
            confirmed_at: optional_instant(TABLE, row.confirmed_at)?,
            tx_hash: row.tx_hash.map(Into::into),
            due_at: optional_instant(TABLE, row.due_at)?,
            attempts: to_u32(TABLE, row.attempts)?,
            created_at: instant(TABLE, row.created_at)?,
            version: row.version,
        })
    }
}

fn read_state(row: &DepositRow<'_>) -> Result<DepositState, Fault> {
    let status = parse_enum(TABLE, &row.status, DepositStatus::parse)?;
    let impossible = || corrupt(TABLE, format_args!("fields that contradict the status `{}`", status.as_str()));
    let extra_id = row.extra_id.as_deref().map(ToOwned::to_owned);
    let expires_at = optional_instant(TABLE, row.expires_at)?;
    let issued = match (row.payment_id.as_deref(), row.address.as_deref(), expires_at) {
        (Some(payment), Some(address), Some(expires_at)) => {
            let payment = parsed(TABLE, ProcessorId::parse(payment))?;
            Some(Issued { payment, address: address.to_owned(), extra_id, expires_at })
        }
        (None, None, None) if extra_id.is_none() => None,
        (Some(_) | None, Some(_) | None, Some(_) | None) => return Err(impossible()),
    };
    match (status, issued, optional_instant(TABLE, row.state_at)?) {
        (DepositStatus::Creating, None, None) => Ok(DepositState::Creating),
        (DepositStatus::Abandoned, None, Some(at)) => Ok(DepositState::Abandoned { at }),
        (DepositStatus::Pending, Some(issued), None) => Ok(DepositState::Pending(issued)),
        (DepositStatus::Confirming, Some(issued), None) => Ok(DepositState::Confirming(issued)),
        (DepositStatus::Completed, Some(issued), Some(at)) => Ok(DepositState::Completed { issued, at }),
        (DepositStatus::Underpaid, Some(issued), Some(at)) => Ok(DepositState::Underpaid { issued, at }),
        (DepositStatus::Expired, Some(issued), Some(at)) => Ok(DepositState::Expired { issued, at }),
        (DepositStatus::Failed, Some(issued), Some(at)) => Ok(DepositState::Failed { issued, at }),
        (DepositStatus::Refunded, Some(issued), Some(at)) => Ok(DepositState::Refunded { issued, at }),
        (
            DepositStatus::Creating
            | DepositStatus::Abandoned
            | DepositStatus::Pending
            | DepositStatus::Confirming
            | DepositStatus::Completed
            | DepositStatus::Underpaid
            | DepositStatus::Expired
            | DepositStatus::Failed
            | DepositStatus::Refunded,
            ..,
        ) => Err(impossible()),
    }
}
