//! Rows of refunds.

use cais_domain::end_to_end_id::{EndToEndId, ReturnId};
use cais_domain::money::Money;
use cais_domain::refund::{Refund, RefundState, RefundStatus};

use super::{
    Record, acquirer, corrupt, id, instant, optional_instant, parse_enum, parse_external_id, parse_text, parsed,
    to_u32, us,
};
use crate::error::Fault;
use crate::sql::table::table;

const TABLE: &str = "refunds";

table! {
    /// The row of a refund.
    RefundRow of refunds
    key { account_id: Text, id: Text }
    fixed {
        charge_id: Text, end_to_end_id: Text, acquirer: Text, amount: BigInt, of_charge: BigInt,
        reason: Nullable<Text>, external_id: Nullable<Text>, created_at: BigInt,
    }
    changing {
        version: BigInt, due_at: Nullable<BigInt>, attempts: BigInt, status: Text, sent_at: Nullable<BigInt>,
        return_id: Nullable<Text>, failure: Nullable<Text>, ended_at: Nullable<BigInt>,
    }
}

impl Record for Refund {
    type Row<'a> = RefundRow<'a>;

    fn row(&self, version: i64) -> RefundRow<'_> {
        let state = &self.state;
        let (sent_at, failure, ended_at) = match state {
            RefundState::Pending => (None, None, None),
            RefundState::Processing { recorded_at, .. } => (Some(*recorded_at), None, None),
            RefundState::Abandoned { at } | RefundState::Completed { at, .. } => (None, None, Some(*at)),
            RefundState::Failed { reason, at, .. } => (None, Some(reason), Some(*at)),
        };
        RefundRow {
            account_id: self.account.to_string().into(),
            id: self.id.to_string().into(),
            charge_id: self.charge.to_string().into(),
            end_to_end_id: self.end_to_end_id.as_str().into(),
            acquirer: self.acquirer.as_str().into(),
            amount: self.amount.centavos(),
            of_charge: self.of_charge.centavos(),
            reason: self.reason.as_ref().map(|reason| reason.as_str().into()),
            external_id: self.external_id.as_ref().map(|name| name.as_str().into()),
            created_at: self.created_at.as_microsecond(),
            version,
            due_at: us(self.due_at),
            attempts: self.attempts.into(),
            status: state.status().as_str().into(),
            sent_at: us(sent_at),
            return_id: state.return_id().map(|name| name.as_str().into()),
            failure: failure.map(Into::into),
            ended_at: us(ended_at),
        }
    }

    fn read(row: RefundRow<'_>) -> Result<Self, Fault> {
        Ok(Self {
            id: id(TABLE, &row.id)?,
            account: id(TABLE, &row.account_id)?,
            charge: id(TABLE, &row.charge_id)?,
            end_to_end_id: parsed(TABLE, EndToEndId::parse(&row.end_to_end_id))?,
            acquirer: acquirer(TABLE, &row.acquirer)?,
            amount: Money::from_centavos(row.amount),
            of_charge: Money::from_centavos(row.of_charge),
            reason: parse_text(TABLE, row.reason.as_deref())?,
            external_id: parse_external_id(TABLE, row.external_id.as_deref())?,
            due_at: optional_instant(TABLE, row.due_at)?,
            attempts: to_u32(TABLE, row.attempts)?,
            created_at: instant(TABLE, row.created_at)?,
            version: row.version,
            state: read_state(row)?,
        })
    }
}

fn read_state(row: RefundRow<'_>) -> Result<RefundState, Fault> {
    let status = parse_enum(TABLE, &row.status, RefundStatus::parse)?;
    let return_id = row.return_id.map(|text| parsed(TABLE, ReturnId::parse(&text))).transpose()?;
    let (sent_at, ended_at) = (optional_instant(TABLE, row.sent_at)?, optional_instant(TABLE, row.ended_at)?);
    match (status, sent_at, return_id, row.failure, ended_at) {
        (RefundStatus::Pending, None, None, None, None) => Ok(RefundState::Pending),
        (RefundStatus::Abandoned, None, None, None, Some(at)) => Ok(RefundState::Abandoned { at }),
        (RefundStatus::Processing, Some(recorded_at), return_id, None, None) => {
            Ok(RefundState::Processing { recorded_at, return_id })
        }
        (RefundStatus::Completed, None, return_id, None, Some(at)) => Ok(RefundState::Completed { return_id, at }),
        (RefundStatus::Failed, None, return_id, Some(reason), Some(at)) => {
            Ok(RefundState::Failed { return_id, reason: reason.into_owned(), at })
        }
        (
            RefundStatus::Pending
            | RefundStatus::Abandoned
            | RefundStatus::Processing
            | RefundStatus::Completed
            | RefundStatus::Failed,
            ..,
        ) => Err(corrupt(TABLE, format_args!("fields that contradict the status `{}`", status.as_str()))),
    }
}
