//! Rows of payouts.

use cais_domain::charge::Origin;
use cais_domain::document::Document;
use cais_domain::money::Money;
use cais_domain::payout::{Payout, PayoutState, PayoutStatus, PayoutTerms, Recipient, Sent};
use cais_domain::pix_key::{PixKey, PixKeyType};

use super::{
    Record, acquirer, corrupt, id, instant, optional_instant, parse_end_to_end_id, parse_enum, parse_external_id,
    parse_text, parsed, to_u32, us,
};
use crate::error::Fault;
use crate::sql::table::table;

const TABLE: &str = "payouts";

table! {
    /// The row of a payout. `owner_document` is the document that the owner of the Pix key must have.
    PayoutRow of payouts
    key { account_id: Text, id: Text }
    fixed {
        amount: BigInt, fee: BigInt, created_at: BigInt, pix_key: Text, pix_key_type: Text,
        owner_document: Nullable<Text>, description: Nullable<Text>, external_id: Nullable<Text>,
        origin: Text,
    }
    changing {
        version: BigInt, recipient_name: Nullable<Text>, recipient_document: Nullable<Text>, returned: BigInt,
        due_at: Nullable<BigInt>, attempts: BigInt, status: Text, acquirer: Text, sent_at: Nullable<BigInt>,
        end_to_end_id: Nullable<Text>, completed_at: Nullable<BigInt>, failure: Nullable<Text>,
        ended_at: Nullable<BigInt>,
    }
}

impl Record for Payout {
    type Row<'a> = PayoutRow<'a>;

    fn row(&self, version: i64) -> PayoutRow<'_> {
        let (terms, state) = (&self.terms, &self.state);
        let ended_at = match state {
            PayoutState::Abandoned { at, .. } | PayoutState::Failed { at, .. } | PayoutState::Reversed { at, .. } => {
                Some(*at)
            }
            PayoutState::Pending { .. } | PayoutState::Processing(_) | PayoutState::Completed { .. } => None,
        };
        PayoutRow {
            account_id: self.account.to_string().into(),
            id: self.id.to_string().into(),
            amount: terms.amount.centavos(),
            fee: terms.fee.centavos(),
            created_at: self.created_at.as_microsecond(),
            pix_key: terms.pix_key.as_str().into(),
            pix_key_type: terms.pix_key.key_type().as_str().into(),
            owner_document: terms.recipient_document.as_ref().map(|document| document.as_str().into()),
            description: terms.description.as_ref().map(|text| text.as_str().into()),
            external_id: terms.external_id.as_ref().map(|name| name.as_str().into()),
            origin: terms.origin.as_str().into(),
            version,
            recipient_name: self.recipient.name.as_deref().map(Into::into),
            recipient_document: self.recipient.document.as_deref().map(Into::into),
            returned: self.returned.centavos(),
            due_at: us(self.due_at),
            attempts: self.attempts.into(),
            status: state.status().as_str().into(),
            acquirer: state.acquirer().as_str().into(),
            sent_at: us(state.sent().map(|sent| sent.recorded_at)),
            end_to_end_id: state.end_to_end_id().map(|name| name.as_str().into()),
            completed_at: us(state.completed_at()),
            failure: state.failure().map(Into::into),
            ended_at: us(ended_at),
        }
    }

    fn read(row: PayoutRow<'_>) -> Result<Self, Fault> {
        let pix_key_type = parse_enum(TABLE, &row.pix_key_type, PixKeyType::parse)?;
        let owner_document = row.owner_document.as_deref().map(Document::parse).transpose();
        let terms = PayoutTerms {
            amount: Money::from_centavos(row.amount),
            fee: Money::from_centavos(row.fee),
            pix_key: parsed(TABLE, PixKey::parse_as(&row.pix_key, pix_key_type))?,
            recipient_document: parsed(TABLE, owner_document)?,
            description: parse_text(TABLE, row.description.as_deref())?,
            external_id: parse_external_id(TABLE, row.external_id.as_deref())?,
            origin: parse_enum(TABLE, &row.origin, Origin::parse)?,
        };
        let payout = Self {
            id: id(TABLE, &row.id)?,
            account: id(TABLE, &row.account_id)?,
            terms,
            state: read_state(&row)?,
            due_at: optional_instant(TABLE, row.due_at)?,
            attempts: to_u32(TABLE, row.attempts)?,
            created_at: instant(TABLE, row.created_at)?,
            version: row.version,
            returned: Money::from_centavos(row.returned),
            recipient: Recipient {
                name: row.recipient_name.map(Into::into),
                document: row.recipient_document.map(Into::into),
            },
        };
        let whole = payout.state.status() == PayoutStatus::Reversed;
        let came_back = payout.state.completed_at().is_some() || row.returned == 0;
        if !(0..=row.amount).contains(&row.returned) || !came_back || whole != (row.returned == row.amount) {
            return Err(corrupt(TABLE, "the returned amount contradicts the status"));
        }
        Ok(payout)
    }
}

fn read_state(row: &PayoutRow<'_>) -> Result<PayoutState, Fault> {
    let acquirer = acquirer(TABLE, &row.acquirer)?;
    let status = parse_enum(TABLE, &row.status, PayoutStatus::parse)?;
    let impossible = || corrupt(TABLE, format_args!("fields that contradict the status `{}`", status.as_str()));
    let end_to_end_id = parse_end_to_end_id(TABLE, row.end_to_end_id.as_deref())?;
    let sent = match optional_instant(TABLE, row.sent_at)? {
        Some(recorded_at) => Some(Sent { acquirer: acquirer.clone(), recorded_at, end_to_end_id }),
        None if end_to_end_id.is_none() => None,
        None => return Err(impossible()),
    };
    let completed_at = optional_instant(TABLE, row.completed_at)?;
    if completed_at.is_some() && sent.as_ref().is_none_or(|sent| sent.end_to_end_id.is_none()) {
        return Err(impossible());
    }
    match (status, sent, completed_at, row.failure.as_deref(), optional_instant(TABLE, row.ended_at)?) {
        (PayoutStatus::Pending, None, None, None, None) => Ok(PayoutState::Pending { acquirer }),
        (PayoutStatus::Abandoned, None, None, None, Some(at)) => Ok(PayoutState::Abandoned { acquirer, at }),
        (PayoutStatus::Processing, Some(sent), None, None, None) => Ok(PayoutState::Processing(sent)),
        (PayoutStatus::Completed, Some(sent), Some(at), None, None) => Ok(PayoutState::Completed { sent, at }),
        (PayoutStatus::Failed, Some(sent), None, Some(reason), Some(at)) => {
            Ok(PayoutState::Failed { sent, reason: reason.to_owned(), at })
        }
        (PayoutStatus::Reversed, Some(sent), Some(completed_at), None, Some(at)) => {
            Ok(PayoutState::Reversed { sent, completed_at, at })
        }
        (
            PayoutStatus::Pending
            | PayoutStatus::Abandoned
            | PayoutStatus::Processing
            | PayoutStatus::Completed
            | PayoutStatus::Failed
            | PayoutStatus::Reversed,
            ..,
        ) => Err(impossible()),
    }
}
