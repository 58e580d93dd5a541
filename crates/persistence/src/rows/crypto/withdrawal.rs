//! Rows of crypto withdrawals.

use cais_domain::charge::Origin;
use cais_domain::crypto::withdrawal::{
    Withdrawal, WithdrawalPrice, WithdrawalSent, WithdrawalState, WithdrawalStatus, WithdrawalTerms,
};
use cais_domain::crypto::{Address, ProcessorId};
use cais_domain::money::Money;

use super::{coins, currency, rate};
use crate::error::Fault;
use crate::rows::{
    Record, acquirer, corrupt, id, instant, optional_instant, parse_enum, parse_external_id, parse_text, parsed,
    to_u32, us,
};
use crate::sql::table::table;

const TABLE: &str = "crypto_withdrawals";

table! {
    /// The row of a withdrawal.
    WithdrawalRow of crypto_withdrawals
    key { account_id: Text, id: Text }
    fixed {
        amount: BigInt, currency: Text, address: Text, description: Nullable<Text>, external_id: Nullable<Text>,
        origin: Text, processor: Text, created_at: BigInt,
    }
    changing {
        version: BigInt, quote_id: Text, rate: Text, fee: BigInt, coins: Text, status: Text,
        sent_at: Nullable<BigInt>, batch_id: Nullable<Text>, review_since: Nullable<BigInt>, failure: Nullable<Text>,
        ended_at: Nullable<BigInt>, network_fee: Nullable<Text>, tx_hash: Nullable<Text>, due_at: Nullable<BigInt>,
        attempts: BigInt,
    }
}

impl Record for Withdrawal {
    type Row<'a> = WithdrawalRow<'a>;

    fn row(&self, version: i64) -> WithdrawalRow<'_> {
        let (terms, price, state) = (&self.terms, &self.price, &self.state);
        let ended_at = match state {
            WithdrawalState::Abandoned { at }
            | WithdrawalState::Completed { at, .. }
            | WithdrawalState::Failed { at, .. } => Some(*at),
            WithdrawalState::Pending | WithdrawalState::Processing { .. } => None,
        };
        let sent = state.sent();
        WithdrawalRow {
            account_id: self.account.to_string().into(),
            id: self.id.to_string().into(),
            amount: terms.amount.centavos(),
            currency: terms.address.currency().code().into(),
            address: terms.address.as_str().into(),
            description: terms.description.as_ref().map(|text| text.as_str().into()),
            external_id: terms.external_id.as_ref().map(|name| name.as_str().into()),
            origin: terms.origin.as_str().into(),
            processor: self.processor.as_str().into(),
            created_at: self.created_at.as_microsecond(),
            version,
            quote_id: price.quote.to_string().into(),
            rate: price.rate.to_string().into(),
            fee: price.fee.centavos(),
            coins: price.coins.to_string().into(),
            status: state.status().as_str().into(),
            sent_at: us(sent.map(|sent| sent.recorded_at)),
            batch_id: sent.and_then(|sent| sent.batch.as_ref()).map(|batch| batch.as_str().into()),
            review_since: us(state.review_since()),
            failure: state.failure().map(Into::into),
            ended_at: us(ended_at),
            network_fee: self.network_fee.map(|fee| fee.to_string().into()),
            tx_hash: self.tx_hash.as_deref().map(Into::into),
            due_at: us(self.due_at),
            attempts: self.attempts.into(),
        }
    }

    fn read(row: WithdrawalRow<'_>) -> Result<Self, Fault> {
        let currency = currency(TABLE, &row.currency)?;
        Ok(Self {
            id: id(TABLE, &row.id)?,
            account: id(TABLE, &row.account_id)?,
            terms: WithdrawalTerms {
                amount: Money::from_centavos(row.amount),
                address: parsed(TABLE, Address::parse(currency, &row.address))?,
                description: parse_text(TABLE, row.description.as_deref())?,
                external_id: parse_external_id(TABLE, row.external_id.as_deref())?,
                origin: parse_enum(TABLE, &row.origin, Origin::parse)?,
            },
            price: WithdrawalPrice {
                quote: id(TABLE, &row.quote_id)?,
                rate: rate(TABLE, &row.rate)?,
                fee: Money::from_centavos(row.fee),
                coins: coins(TABLE, currency, &row.coins)?,
            },
            processor: acquirer(TABLE, &row.processor)?,
            state: read_state(&row)?,
            network_fee: row.network_fee.as_deref().map(|fee| coins(TABLE, currency, fee)).transpose()?,
            tx_hash: row.tx_hash.map(Into::into),
            due_at: optional_instant(TABLE, row.due_at)?,
            attempts: to_u32(TABLE, row.attempts)?,
            created_at: instant(TABLE, row.created_at)?,
            version: row.version,
        })
    }
}

fn read_state(row: &WithdrawalRow<'_>) -> Result<WithdrawalState, Fault> {
    let status = parse_enum(TABLE, &row.status, WithdrawalStatus::parse)?;
    let impossible = || corrupt(TABLE, format_args!("fields that contradict the status `{}`", status.as_str()));
    let batch = row.batch_id.as_deref().map(|batch| parsed(TABLE, ProcessorId::parse(batch))).transpose()?;
    let sent = match (optional_instant(TABLE, row.sent_at)?, batch) {
        (Some(recorded_at), batch) => Some(WithdrawalSent { recorded_at, batch }),
        (None, None) => None,
        (None, Some(_)) => return Err(impossible()),
    };
    let (review_since, ended_at) = (optional_instant(TABLE, row.review_since)?, optional_instant(TABLE, row.ended_at)?);
    match (status, sent, review_since, row.failure.as_deref(), ended_at) {
        (WithdrawalStatus::Pending, None, None, None, None) => Ok(WithdrawalState::Pending),
        (WithdrawalStatus::Abandoned, None, None, None, Some(at)) => Ok(WithdrawalState::Abandoned { at }),
        (WithdrawalStatus::Processing, Some(sent), review_since, None, None) => {
            Ok(WithdrawalState::Processing { sent, review_since })
        }
        (WithdrawalStatus::Completed, Some(sent), None, None, Some(at)) => Ok(WithdrawalState::Completed { sent, at }),
        (WithdrawalStatus::Failed, Some(sent), None, Some(reason), Some(at)) => {
            Ok(WithdrawalState::Failed { sent, reason: reason.to_owned(), at })
        }
        (
            WithdrawalStatus::Pending
            | WithdrawalStatus::Abandoned
            | WithdrawalStatus::Processing
            | WithdrawalStatus::Completed
            | WithdrawalStatus::Failed,
            ..,
        ) => Err(impossible()),
    }
}
