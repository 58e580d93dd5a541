//! Rows of infractions.

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::external_id::ExternalId;
use cais_domain::infraction::{
    Defense, Infraction, InfractionState, InfractionStatus, Review, ReviewReason, Situation,
};
use cais_domain::money::Money;
use cais_domain::text::Text;
use diesel::sql_types::{BigInt, Nullable, Text as SqlText};

use super::{acquirer, corrupt, external, id, instant, optional_instant, small, text, word};
use crate::error::Fault;
use crate::sql::Value;
use crate::sql::spec::{Kind, Spec};

const TABLE: &str = "infractions";

/// The columns, in the order of a row, of a table that is called `i`.
macro_rules! infraction_columns {
    () => {
        "i.account_id, i.id, i.charge_id, i.external_id, i.acquirer, i.upstream_id, i.end_to_end_id, \
         i.reason, i.situation, i.amount, i.max_amount, i.deadline_at, i.alerted_h, \
         i.status, i.state_at, i.returned, i.refunded, i.review_reason, i.review_since, \
         i.defense_text, i.defense_evidence_url, i.defense_sent_at, i.defense_submitted_at, \
         i.due_at, i.attempts, i.opened_at, i.created_at, i.version"
    };
}
pub(crate) use infraction_columns;

/// Their types.
pub(crate) type InfractionColumns = (
    (SqlText, SqlText, SqlText, Nullable<SqlText>, SqlText, SqlText, SqlText),
    (Nullable<SqlText>, SqlText, BigInt, BigInt, Nullable<BigInt>, Nullable<BigInt>),
    (SqlText, Nullable<BigInt>, Nullable<BigInt>, Nullable<BigInt>, Nullable<SqlText>, Nullable<BigInt>),
    (Nullable<SqlText>, Nullable<SqlText>, Nullable<BigInt>, Nullable<BigInt>),
    (Nullable<BigInt>, BigInt, BigInt, BigInt, BigInt),
);

/// Account, id, charge, the merchant's name for it, acquirer, name there, Pix.
type Identity = (String, String, String, Option<String>, String, String, String);
/// Reason, situation, amount, how much of it concerns the account, deadline, last alert in hours before it.
type Dispute = (Option<String>, String, i64, i64, Option<i64>, Option<i64>);
/// Status, its instant, returned amount, refunded part of that amount; the reason and the instant of the mark for review.
type State = (String, Option<i64>, Option<i64>, Option<i64>, Option<String>, Option<i64>);
/// Text, address of evidence, when it was sent, when it arrived.
type Defended = (Option<String>, Option<String>, Option<i64>, Option<i64>);
/// When to ask, how often it was asked, instants of beginning and of becoming known, version.
type Progress = (Option<i64>, i64, i64, i64, i64);

/// An infraction as it is read.
pub(crate) type InfractionRow = (Identity, Dispute, State, Defended, Progress);

macro_rules! columns {
    ($($first:expr),*) => {
        &[
            $($first,)*
            ("reason", Kind::Text),
            ("situation", Kind::Text),
            ("amount", Kind::Int),
            ("max_amount", Kind::Int),
            ("deadline_at", Kind::Int),
            ("alerted_h", Kind::Int),
            ("status", Kind::Text),
            ("state_at", Kind::Int),
            ("returned", Kind::Int),
            ("refunded", Kind::Int),
            ("review_reason", Kind::Text),
            ("review_since", Kind::Int),
            ("defense_text", Kind::Text),
            ("defense_evidence_url", Kind::Text),
            ("defense_sent_at", Kind::Int),
            ("defense_submitted_at", Kind::Int),
            ("due_at", Kind::Int),
            ("attempts", Kind::Int),
            ("version", Kind::Int),
        ]
    };
}

/// New infractions.
pub(crate) static INSERT: Spec = Spec::insert(
    TABLE,
    columns!(
        ("account_id", Kind::Text),
        ("id", Kind::Text),
        ("charge_id", Kind::Text),
        ("external_id", Kind::Text),
        ("acquirer", Kind::Text),
        ("upstream_id", Kind::Text),
        ("end_to_end_id", Kind::Text),
        ("opened_at", Kind::Int),
        ("created_at", Kind::Int)
    ),
);

/// Changed infractions.
pub(crate) static UPDATE: Spec =
    Spec::update(TABLE, columns!(), &[("account_id", Kind::Text), ("id", Kind::Text), ("version", Kind::Int)]);

/// The row of a new infraction.
pub(crate) fn inserted(infraction: &Infraction, version: i64) -> Vec<Value<'_>> {
    let mut row: Vec<Value<'_>> = vec![
        infraction.account.into(),
        infraction.id.into(),
        infraction.charge.into(),
        infraction.external_id.as_ref().map(ExternalId::as_str).into(),
        infraction.acquirer.as_str().into(),
        infraction.upstream_id.as_str().into(),
        infraction.end_to_end_id.as_str().into(),
        infraction.opened_at.into(),
        infraction.created_at.into(),
    ];
    row.extend(changing(infraction, version));
    row
}

/// The row of a changed infraction, where `read` is the version that was read.
pub(crate) fn updated(infraction: &Infraction, version: i64, read: i64) -> Vec<Value<'_>> {
    let mut row = changing(infraction, version);
    row.extend([infraction.account.into(), infraction.id.into(), read.into()]);
    row
}

fn changing(infraction: &Infraction, version: i64) -> Vec<Value<'_>> {
    let state = &infraction.state;
    let (state_at, returned, refunded) = match state {
        InfractionState::Open => (None, None, None),
        InfractionState::UnderReview { at } | InfractionState::Won { at } | InfractionState::Cancelled { at } => {
            (Some(*at), None, None)
        }
        InfractionState::Lost { returned, refunded, at } => (Some(*at), Some(*returned), Some(*refunded)),
    };
    let defense = infraction.defense.as_ref();
    vec![
        infraction.reason.as_deref().into(),
        infraction.situation.as_str().into(),
        infraction.amount.into(),
        infraction.limit.into(),
        infraction.deadline_at.into(),
        infraction.alerted_h.map(i64::from).into(),
        state.status().as_str().into(),
        state_at.into(),
        returned.into(),
        refunded.into(),
        infraction.review.map(|review| review.reason.as_str()).into(),
        infraction.review.map(|review| review.since).into(),
        defense.and_then(|defense| defense.text.as_ref()).map(Text::as_str).into(),
        defense.and_then(|defense| defense.evidence_url.as_ref()).map(Text::as_str).into(),
        defense.map(|defense| defense.sent_at).into(),
        defense.and_then(|defense| defense.submitted_at).into(),
        infraction.due_at.into(),
        infraction.attempts.into(),
        version.into(),
    ]
}

/// The infraction of a row.
pub(crate) fn read(row: InfractionRow) -> Result<Infraction, Fault> {
    let (identity, dispute, state, defense, (due_at, attempts, opened_at, created_at, version)) = row;
    let (account, infraction, charge, external_id, telling, upstream_id, end_to_end_id) = identity;
    let (reason, situation, amount, limit, deadline_at, alerted_h) = dispute;
    let (status, state_at, returned, refunded, review_reason, review_since) = state;
    if amount < 0 || limit < 0 {
        return Err(corrupt(TABLE, "less than nothing is disputed"));
    }
    let alerted_h = alerted_h.map(u8::try_from).transpose().map_err(|error| corrupt(TABLE, error))?;
    Ok(Infraction {
        id: id(TABLE, &infraction)?,
        account: id(TABLE, &account)?,
        charge: id(TABLE, &charge)?,
        external_id: external(TABLE, external_id)?,
        acquirer: acquirer(TABLE, &telling)?,
        upstream_id,
        end_to_end_id: EndToEndId::parse(&end_to_end_id).map_err(|error| corrupt(TABLE, error))?,
        reason,
        situation: word(TABLE, &situation, Situation::parse)?,
        amount: Money::from_centavos(amount),
        limit: Money::from_centavos(limit),
        state: read_state((status, state_at, returned, refunded))?,
        review: read_review(review_reason.as_deref(), review_since)?,
        defense: read_defense(defense)?,
        deadline_at: optional_instant(TABLE, deadline_at)?,
        alerted_h,
        due_at: optional_instant(TABLE, due_at)?,
        attempts: small(TABLE, attempts)?,
        opened_at: instant(TABLE, opened_at)?,
        created_at: instant(TABLE, created_at)?,
        version,
    })
}

fn read_review(reason: Option<&str>, since: Option<i64>) -> Result<Option<Review>, Fault> {
    match (reason, optional_instant(TABLE, since)?) {
        (None, None) => Ok(None),
        (Some(reason), Some(since)) => Ok(Some(Review { reason: word(TABLE, reason, ReviewReason::parse)?, since })),
        (None, Some(_)) | (Some(_), None) => Err(corrupt(TABLE, "a mark for review lacks its reason or its instant")),
    }
}

fn read_state(
    (status, at, returned, refunded): (String, Option<i64>, Option<i64>, Option<i64>),
) -> Result<InfractionState, Fault> {
    let status = word(TABLE, &status, InfractionStatus::parse)?;
    match (status, optional_instant(TABLE, at)?, returned, refunded) {
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
        ) => Err(corrupt(TABLE, format_args!("facts that do not belong to the status `{}`", status.as_str()))),
    }
}

fn read_defense((words, evidence_url, sent_at, submitted_at): Defended) -> Result<Option<Defense>, Fault> {
    match (optional_instant(TABLE, sent_at)?, optional_instant(TABLE, submitted_at)?) {
        (Some(sent_at), submitted_at) => {
            let (text, evidence_url) = (text(TABLE, words)?, text(TABLE, evidence_url)?);
            Ok(Some(Defense { text, evidence_url, sent_at, submitted_at }))
        }
        (None, None) if words.is_none() && evidence_url.is_none() => Ok(None),
        (None, Some(_) | None) => Err(corrupt(TABLE, "a defence that was never sent")),
    }
}
