//! Rows of infractions.

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::infraction::{
    Defense, Infraction, InfractionState, InfractionStatus, Review, ReviewReason, Situation,
};
use cais_domain::money::Money;

use super::{
    Record, acquirer, corrupt, id, instant, optional_instant, parse_enum, parse_external_id, parse_text, parsed,
    to_u32, us,
};
use crate::error::Fault;
use crate::sql::table::table;

const TABLE: &str = "infractions";

table! {
    /// The row of an infraction. At its last alert, at most `alerted_h` hours were left before the deadline. `state_at` is the instant of
    /// the current status.
    InfractionRow of infractions
    key { account_id: Text, id: Text }
    fixed {
        charge_id: Text, external_id: Nullable<Text>, acquirer: Text, upstream_id: Text, end_to_end_id: Text,
        opened_at: BigInt, created_at: BigInt,
    }
    changing {
        version: BigInt, reason: Nullable<Text>, situation: Text, amount: BigInt, max_amount: BigInt,
        deadline_at: Nullable<BigInt>, alerted_h: Nullable<BigInt>, status: Text, state_at: Nullable<BigInt>,
        returned: Nullable<BigInt>, refunded: Nullable<BigInt>, review_reason: Nullable<Text>,
        review_since: Nullable<BigInt>, defense_text: Nullable<Text>, defense_evidence_url: Nullable<Text>,
        defense_sent_at: Nullable<BigInt>, defense_submitted_at: Nullable<BigInt>, due_at: Nullable<BigInt>,
        attempts: BigInt,
    }
}

impl Record for Infraction {
    type Row<'a> = InfractionRow<'a>;

    fn row(&self, version: i64) -> InfractionRow<'_> {
        let (state_at, returned, refunded) = match &self.state {
            InfractionState::Open => (None, None, None),
            InfractionState::UnderReview { at } | InfractionState::Won { at } | InfractionState::Cancelled { at } => {
                (Some(*at), None, None)
            }
            InfractionState::Lost { returned, refunded, at } => (Some(*at), Some(*returned), Some(*refunded)),
        };
        let defense = self.defense.as_ref();
        InfractionRow {
            account_id: self.account.to_string().into(),
            id: self.id.to_string().into(),
            charge_id: self.charge.to_string().into(),
            external_id: self.external_id.as_ref().map(|name| name.as_str().into()),
            acquirer: self.acquirer.as_str().into(),
            upstream_id: self.upstream_id.as_str().into(),
            end_to_end_id: self.end_to_end_id.as_str().into(),
            opened_at: self.opened_at.as_microsecond(),
            created_at: self.created_at.as_microsecond(),
            version,
            reason: self.reason.as_deref().map(Into::into),
            situation: self.situation.as_str().into(),
            amount: self.amount.centavos(),
            max_amount: self.limit.centavos(),
            deadline_at: us(self.deadline_at),
            alerted_h: self.alerted_h.map(i64::from),
            status: self.state.status().as_str().into(),
            state_at: us(state_at),
            returned: returned.map(Money::centavos),
            refunded: refunded.map(Money::centavos),
            review_reason: self.review.map(|review| review.reason.as_str().into()),
            review_since: us(self.review.map(|review| review.since)),
            defense_text: defense.and_then(|defense| Some(defense.text.as_ref()?.as_str().into())),
            defense_evidence_url: defense.and_then(|defense| Some(defense.evidence_url.as_ref()?.as_str().into())),
            defense_sent_at: us(defense.map(|defense| defense.sent_at)),
            defense_submitted_at: us(defense.and_then(|defense| defense.submitted_at)),
            due_at: us(self.due_at),
            attempts: self.attempts.into(),
        }
    }

    fn read(row: InfractionRow<'_>) -> Result<Self, Fault> {
        if row.amount < 0 || row.max_amount < 0 {
            return Err(corrupt(TABLE, "the disputed amount or its maximum is negative"));
        }
        Ok(Self {
            id: id(TABLE, &row.id)?,
            account: id(TABLE, &row.account_id)?,
            charge: id(TABLE, &row.charge_id)?,
            external_id: parse_external_id(TABLE, row.external_id.as_deref())?,
            acquirer: acquirer(TABLE, &row.acquirer)?,
            end_to_end_id: parsed(TABLE, EndToEndId::parse(&row.end_to_end_id))?,
            situation: parse_enum(TABLE, &row.situation, Situation::parse)?,
            amount: Money::from_centavos(row.amount),
            limit: Money::from_centavos(row.max_amount),
            state: read_state(&row)?,
            review: read_review(row.review_reason.as_deref(), row.review_since)?,
            defense: read_defense(&row)?,
            deadline_at: optional_instant(TABLE, row.deadline_at)?,
            alerted_h: parsed(TABLE, row.alerted_h.map(u8::try_from).transpose())?,
            due_at: optional_instant(TABLE, row.due_at)?,
            attempts: to_u32(TABLE, row.attempts)?,
            opened_at: instant(TABLE, row.opened_at)?,
            created_at: instant(TABLE, row.created_at)?,
            version: row.version,
            upstream_id: row.upstream_id.into(),
            reason: row.reason.map(Into::into),
        })
    }
}

fn read_review(reason: Option<&str>, since: Option<i64>) -> Result<Option<Review>, Fault> {
    match (reason, optional_instant(TABLE, since)?) {
        (None, None) => Ok(None),
        (Some(reason), Some(since)) => {
            Ok(Some(Review { reason: parse_enum(TABLE, reason, ReviewReason::parse)?, since }))
        }
        (None, Some(_)) | (Some(_), None) => Err(corrupt(TABLE, "a mark for review lacks its reason or its time")),
    }
}

fn read_state(row: &InfractionRow<'_>) -> Result<InfractionState, Fault> {
    let status = parse_enum(TABLE, &row.status, InfractionStatus::parse)?;
    match (status, optional_instant(TABLE, row.state_at)?, row.returned, row.refunded) {
        (InfractionStatus::Open, None, None, None) => Ok(InfractionState::Open),
        (InfractionStatus::UnderReview, Some(at), None, None) => Ok(InfractionState::UnderReview { at }),
        (InfractionStatus::Won, Some(at), None, None) => Ok(InfractionState::Won { at }),
        (InfractionStatus::Cancelled, Some(at), None, None) => Ok(InfractionState::Cancelled { at }),
        (InfractionStatus::Lost, Some(at), Some(returned), Some(refunded)) if (0..=returned).contains(&refunded) => {
            let (returned, refunded) = (Money::from_centavos(returned), Money::from_centavos(refunded));
            Ok(InfractionState::Lost { returned, refunded, at })
        }
        (
            InfractionStatus::Open
            | InfractionStatus::UnderReview
            | InfractionStatus::Won
            | InfractionStatus::Lost
            | InfractionStatus::Cancelled,
            ..,
        ) => Err(corrupt(TABLE, format_args!("fields that contradict the status `{}`", status.as_str()))),
    }
}

fn read_defense(row: &InfractionRow<'_>) -> Result<Option<Defense>, Fault> {
    let (text, evidence_url) = (row.defense_text.as_deref(), row.defense_evidence_url.as_deref());
    let submitted_at = optional_instant(TABLE, row.defense_submitted_at)?;
    match (optional_instant(TABLE, row.defense_sent_at)?, submitted_at) {
        (Some(sent_at), submitted_at) => {
            let (text, evidence_url) = (parse_text(TABLE, text)?, parse_text(TABLE, evidence_url)?);
            Ok(Some(Defense { text, evidence_url, sent_at, submitted_at }))
        }
        (None, None) if text.is_none() && evidence_url.is_none() => Ok(None),
        (None, Some(_) | None) => Err(corrupt(TABLE, "a defense has no time of sending")),
    }
}
