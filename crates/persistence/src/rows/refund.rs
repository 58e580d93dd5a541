//! Rows of refunds.

use cais_domain::end_to_end_id::{EndToEndId, ReturnId};
use cais_domain::external_id::ExternalId;
use cais_domain::money::Money;
use cais_domain::refund::{Refund, RefundState, RefundStatus};
use cais_domain::text::Text;
use diesel::sql_types::{BigInt, Nullable, Text as SqlText};

use super::{acquirer, corrupt, external, id, instant, optional_instant, small, text, word};
use crate::error::Fault;
use crate::sql::Value;
use crate::sql::spec::{Kind, Spec};

const TABLE: &str = "refunds";

/// The columns, in the order of a row, of a table that is called `r`.
macro_rules! refund_columns {
    () => {
        "r.account_id, r.id, r.charge_id, r.end_to_end_id, r.acquirer, r.amount, r.of_charge, \
         r.reason, r.external_id, r.due_at, r.attempts, r.created_at, r.version, \
         r.status, r.sent_at, r.return_id, r.failure, r.ended_at"
    };
}
pub(crate) use refund_columns;

/// Their types.
pub(crate) type RefundColumns = (
    (SqlText, SqlText, SqlText, SqlText, SqlText, BigInt, BigInt),
    (Nullable<SqlText>, Nullable<SqlText>, Nullable<BigInt>, BigInt, BigInt, BigInt),
    (SqlText, Nullable<BigInt>, Nullable<SqlText>, Nullable<SqlText>, Nullable<BigInt>),
);

/// Account, id, charge, Pix, acquirer, amount, the part of it that counts as refunded of the charge.
type Identity = (String, String, String, String, String, i64, i64);
/// Reason, external id, when to ask, how often it was asked, instant of creation, version.
type Progress = (Option<String>, Option<String>, Option<i64>, i64, i64, i64);
/// Status, instant of sending, return, reason of failure, end.
type State = (String, Option<i64>, Option<String>, Option<String>, Option<i64>);

/// A refund as it is read.
pub(crate) type RefundRow = (Identity, Progress, State);

macro_rules! columns {
    ($($first:expr),*) => {
        &[
            $($first,)*
            ("due_at", Kind::Int),
            ("attempts", Kind::Int),
            ("status", Kind::Text),
            ("sent_at", Kind::Int),
            ("return_id", Kind::Text),
            ("failure", Kind::Text),
            ("ended_at", Kind::Int),
            ("version", Kind::Int),
        ]
    };
}

/// New refunds.
pub(crate) static INSERT: Spec = Spec::insert(
    TABLE,
    columns!(
        ("account_id", Kind::Text),
        ("id", Kind::Text),
        ("charge_id", Kind::Text),
        ("end_to_end_id", Kind::Text),
        ("acquirer", Kind::Text),
        ("amount", Kind::Int),
        ("of_charge", Kind::Int),
        ("reason", Kind::Text),
        ("external_id", Kind::Text),
        ("created_at", Kind::Int)
    ),
);

/// Refunds in another state.
pub(crate) static UPDATE: Spec =
    Spec::update(TABLE, columns!(), &[("account_id", Kind::Text), ("id", Kind::Text), ("version", Kind::Int)]);

/// The row of a new refund.
pub(crate) fn inserted(refund: &Refund, version: i64) -> Vec<Value<'_>> {
    let mut row: Vec<Value<'_>> = vec![
        refund.account.into(),
        refund.id.into(),
        refund.charge.into(),
        refund.end_to_end_id.as_str().into(),
        refund.acquirer.as_str().into(),
        refund.amount.into(),
        refund.of_charge.into(),
        refund.reason.as_ref().map(Text::as_str).into(),
        refund.external_id.as_ref().map(ExternalId::as_str).into(),
        refund.created_at.into(),
    ];
    row.extend(changing(refund, version));
    row
}

/// The row of a refund in another state, where `read` is the version that was read.
pub(crate) fn updated(refund: &Refund, version: i64, read: i64) -> Vec<Value<'_>> {
    let mut row = changing(refund, version);
    row.extend([refund.account.into(), refund.id.into(), read.into()]);
    row
}

fn changing(refund: &Refund, version: i64) -> Vec<Value<'_>> {
    let state = &refund.state;
    let (sent_at, failure, ended_at) = match state {
        RefundState::Pending => (None, None, None),
        RefundState::Processing { sent_at, .. } => (Some(*sent_at), None, None),
        RefundState::Abandoned { at } | RefundState::Completed { at, .. } => (None, None, Some(*at)),
        RefundState::Failed { reason, at, .. } => (None, Some(reason.as_str()), Some(*at)),
    };
    vec![
        refund.due_at.into(),
        refund.attempts.into(),
        state.status().as_str().into(),
        sent_at.into(),
        state.return_id().map(ReturnId::as_str).into(),
        failure.into(),
        ended_at.into(),
        version.into(),
    ]
}

/// The refund of a row.
pub(crate) fn read(row: RefundRow) -> Result<Refund, Fault> {
    let ((account, refund, charge, end_to_end_id, returning, amount, of_charge), progress, state) = row;
    let (reason, external_id, due_at, attempts, created_at, version) = progress;
    Ok(Refund {
        id: id(TABLE, &refund)?,
        account: id(TABLE, &account)?,
        charge: id(TABLE, &charge)?,
        end_to_end_id: EndToEndId::parse(&end_to_end_id).map_err(|error| corrupt(TABLE, error))?,
        acquirer: acquirer(TABLE, &returning)?,
        amount: Money::from_centavos(amount),
        of_charge: Money::from_centavos(of_charge),
        reason: text(TABLE, reason)?,
        external_id: external(TABLE, external_id)?,
        state: read_state(state)?,
        due_at: optional_instant(TABLE, due_at)?,
        attempts: small(TABLE, attempts)?,
        created_at: instant(TABLE, created_at)?,
        version,
    })
}

fn read_state((status, sent_at, return_id, failure, ended_at): State) -> Result<RefundState, Fault> {
    let status = word(TABLE, &status, RefundStatus::parse)?;
    let return_id = return_id.map(|text| ReturnId::parse(&text)).transpose().map_err(|error| corrupt(TABLE, error))?;
    match (status, optional_instant(TABLE, sent_at)?, return_id, failure, optional_instant(TABLE, ended_at)?) {
        (RefundStatus::Pending, None, None, None, None) => Ok(RefundState::Pending),
        (RefundStatus::Abandoned, None, None, None, Some(at)) => Ok(RefundState::Abandoned { at }),
        (RefundStatus::Processing, Some(sent_at), return_id, None, None) => {
            Ok(RefundState::Processing { sent_at, return_id })
        }
        (RefundStatus::Completed, None, return_id, None, Some(at)) => Ok(RefundState::Completed { return_id, at }),
        (RefundStatus::Failed, None, return_id, Some(reason), Some(at)) => {
            Ok(RefundState::Failed { return_id, reason, at })
        }
        (
            RefundStatus::Pending
            | RefundStatus::Abandoned
            | RefundStatus::Processing
            | RefundStatus::Completed
            | RefundStatus::Failed,
            ..,
        ) => Err(corrupt(TABLE, format_args!("facts that do not belong to the status `{}`", status.as_str()))),
    }
}
