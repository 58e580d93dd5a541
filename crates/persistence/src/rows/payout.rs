//! Rows of payouts.

use cais_domain::charge::Origin;
use cais_domain::document::Document;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::external_id::ExternalId;
use cais_domain::money::Money;
use cais_domain::payout::{Payout, PayoutState, PayoutStatus, PayoutTerms, Recipient, Sent};
use cais_domain::pix_key::{PixKey, PixKeyType};
use cais_domain::text::Text;
use diesel::sql_types::{BigInt, Nullable, Text as SqlText};
use jiff::Timestamp;

use super::{acquirer, corrupt, external, id, instant, optional_instant, pix, small, text, word};
use crate::error::Fault;
use crate::sql::Value;
use crate::sql::spec::{Kind, Spec};

const TABLE: &str = "payouts";

/// The columns, in the order of a row, of a table that is called `p`.
macro_rules! payout_columns {
    () => {
        "p.account_id, p.id, p.amount, p.fee, p.created_at, p.version, \
         p.pix_key, p.pix_key_type, p.owner_document, p.description, p.external_id, p.origin, \
         p.recipient_name, p.recipient_document, p.returned, p.due_at, p.attempts, \
         p.status, p.acquirer, p.sent_at, p.end_to_end_id, p.completed_at, p.failure, p.ended_at"
    };
}
pub(crate) use payout_columns;

/// Their types.
pub(crate) type PayoutColumns = (
    (SqlText, SqlText, BigInt, BigInt, BigInt, BigInt),
    (SqlText, SqlText, Nullable<SqlText>, Nullable<SqlText>, Nullable<SqlText>, SqlText),
    (Nullable<SqlText>, Nullable<SqlText>, BigInt, Nullable<BigInt>, BigInt),
    (SqlText, SqlText, Nullable<BigInt>, Nullable<SqlText>, Nullable<BigInt>, Nullable<SqlText>, Nullable<BigInt>),
);

/// Account, id, amount, fee, instant of creation, version.
type Identity = (String, String, i64, i64, i64, i64);
/// Key and its kind, document that its owner must have, description, external id, origin.
type Terms = (String, String, Option<String>, Option<String>, Option<String>, String);
/// Name and document of the recipient, what came back, when to ask, how often it was asked.
type Progress = (Option<String>, Option<String>, i64, Option<i64>, i64);
/// Status, acquirer, instant of sending, Pix, completion, reason of failure, end.
type State = (String, String, Option<i64>, Option<String>, Option<i64>, Option<String>, Option<i64>);

/// A payout as it is read.
pub(crate) type PayoutRow = (Identity, Terms, Progress, State);

macro_rules! columns {
    ($($first:expr),*) => {
        &[
            $($first,)*
            ("recipient_name", Kind::Text),
            ("recipient_document", Kind::Text),
            ("returned", Kind::Int),
            ("due_at", Kind::Int),
            ("attempts", Kind::Int),
            ("status", Kind::Text),
            ("acquirer", Kind::Text),
            ("sent_at", Kind::Int),
            ("end_to_end_id", Kind::Text),
            ("completed_at", Kind::Int),
            ("failure", Kind::Text),
            ("ended_at", Kind::Int),
            ("version", Kind::Int),
        ]
    };
}

/// New payouts.
pub(crate) static INSERT: Spec = Spec::insert(
    TABLE,
    columns!(
        ("account_id", Kind::Text),
        ("id", Kind::Text),
        ("amount", Kind::Int),
        ("fee", Kind::Int),
        ("created_at", Kind::Int),
        ("pix_key", Kind::Text),
        ("pix_key_type", Kind::Text),
        ("owner_document", Kind::Text),
        ("description", Kind::Text),
        ("external_id", Kind::Text),
        ("origin", Kind::Text)
    ),
);

/// Payouts in another state.
pub(crate) static UPDATE: Spec =
    Spec::update(TABLE, columns!(), &[("account_id", Kind::Text), ("id", Kind::Text), ("version", Kind::Int)]);

/// The row of a new payout.
pub(crate) fn inserted(payout: &Payout, version: i64) -> Vec<Value<'_>> {
    let terms = &payout.terms;
    let mut row: Vec<Value<'_>> = vec![
        payout.account.into(),
        payout.id.into(),
        terms.amount.into(),
        terms.fee.into(),
        payout.created_at.into(),
        terms.pix_key.as_str().into(),
        terms.pix_key.key_type().as_str().into(),
        terms.recipient_document.as_ref().map(Document::as_str).into(),
        terms.description.as_ref().map(Text::as_str).into(),
        terms.external_id.as_ref().map(ExternalId::as_str).into(),
        terms.origin.as_str().into(),
    ];
    row.extend(changing(payout, version));
    row
}

/// The row of a payout in another state, where `read` is the version that was read.
pub(crate) fn updated(payout: &Payout, version: i64, read: i64) -> Vec<Value<'_>> {
    let mut row = changing(payout, version);
    row.extend([payout.account.into(), payout.id.into(), read.into()]);
    row
}

fn changing(payout: &Payout, version: i64) -> Vec<Value<'_>> {
    let state = &payout.state;
    let ended_at = match state {
        PayoutState::Abandoned { at, .. } | PayoutState::Failed { at, .. } | PayoutState::Reversed { at, .. } => {
            Some(*at)
        }
        PayoutState::Pending { .. } | PayoutState::Processing(_) | PayoutState::Completed { .. } => None,
    };
    vec![
        payout.recipient.name.as_deref().into(),
        payout.recipient.document.as_deref().into(),
        payout.returned.into(),
        payout.due_at.into(),
        payout.attempts.into(),
        state.status().as_str().into(),
        state.acquirer().as_str().into(),
        state.sent().map(|sent| sent.at).into(),
        state.end_to_end_id().map(EndToEndId::as_str).into(),
        state.completed_at().into(),
        state.failure().into(),
        ended_at.into(),
        version.into(),
    ]
}

/// The payout of a row.
pub(crate) fn read(row: PayoutRow) -> Result<Payout, Fault> {
    let ((account, payout, amount, fee, created_at, version), terms, progress, state) = row;
    let (pix_key, pix_key_type, owner_document, description, external_id, origin) = terms;
    let (name, document, returned, due_at, attempts) = progress;
    let pix_key_type = word(TABLE, &pix_key_type, PixKeyType::parse)?;
    let owner_document = owner_document.map(|text| Document::parse(&text)).transpose();
    let terms = PayoutTerms {
        amount: Money::from_centavos(amount),
        fee: Money::from_centavos(fee),
        pix_key: PixKey::parse_as(&pix_key, pix_key_type).map_err(|error| corrupt(TABLE, error))?,
        recipient_document: owner_document.map_err(|error| corrupt(TABLE, error))?,
        description: text(TABLE, description)?,
        external_id: external(TABLE, external_id)?,
        origin: word(TABLE, &origin, Origin::parse)?,
    };
    let payout = Payout {
        id: id(TABLE, &payout)?,
        account: id(TABLE, &account)?,
        terms,
        recipient: Recipient { name, document },
        returned: Money::from_centavos(returned),
        state: read_state(state)?,
        due_at: optional_instant(TABLE, due_at)?,
        attempts: small(TABLE, attempts)?,
        created_at: instant(TABLE, created_at)?,
        version,
    };
    let whole = payout.state.status() == PayoutStatus::Reversed;
    let came_back = payout.state.completed_at().is_some() || returned == 0;
    if !(0..=amount).contains(&returned) || !came_back || whole != (returned == amount) {
        return Err(corrupt(TABLE, "what came back does not belong to the status"));
    }
    Ok(payout)
}

fn read_state(state: State) -> Result<PayoutState, Fault> {
    let (status, asked, sent_at, end_to_end_id, completed_at, failure, ended_at) = state;
    let acquirer = acquirer(TABLE, &asked)?;
    let status = word(TABLE, &status, PayoutStatus::parse)?;
    let impossible = || corrupt(TABLE, format_args!("facts that do not belong to the status `{}`", status.as_str()));
    let end_to_end_id = pix(TABLE, end_to_end_id)?;
    let sent = match optional_instant(TABLE, sent_at)? {
        Some(at) => Some(Sent { acquirer: acquirer.clone(), at, end_to_end_id }),
        None if end_to_end_id.is_none() => None,
        None => return Err(impossible()),
    };
    let completed_at: Option<Timestamp> = optional_instant(TABLE, completed_at)?;
    if completed_at.is_some() && sent.as_ref().is_none_or(|sent| sent.end_to_end_id.is_none()) {
        return Err(impossible());
    }
    match (status, sent, completed_at, failure, optional_instant(TABLE, ended_at)?) {
        (PayoutStatus::Pending, None, None, None, None) => Ok(PayoutState::Pending { acquirer }),
        (PayoutStatus::Abandoned, None, None, None, Some(at)) => Ok(PayoutState::Abandoned { acquirer, at }),
        (PayoutStatus::Processing, Some(sent), None, None, None) => Ok(PayoutState::Processing(sent)),
        (PayoutStatus::Completed, Some(sent), Some(at), None, None) => Ok(PayoutState::Completed { sent, at }),
        (PayoutStatus::Failed, Some(sent), None, Some(reason), Some(at)) => {
            Ok(PayoutState::Failed { sent, reason, at })
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
