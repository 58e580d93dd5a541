//! Rows of the audit log.

use cais_ports::{AuditRow, Operator};
use diesel::sql_types::{BigInt, Nullable, Text};

use super::{id, instant};
use crate::error::Fault;
use crate::sql::Value;
use crate::sql::spec::{Kind, Spec};

const TABLE: &str = "audit_log";

/// The columns, in the order of a row.
pub(crate) const COLUMNS: &str =
    "id, changed_at, operator, source, host, action, subject, account_id, state_before, state_after";

/// Their types.
pub(crate) type AuditColumns =
    (Text, BigInt, Text, Text, Text, Text, Text, Nullable<Text>, Nullable<Text>, Nullable<Text>);

/// A row as it is read.
pub(crate) type StoredAudit =
    (String, i64, String, String, String, String, String, Option<String>, Option<String>, Option<String>);

/// New rows; there are no others.
pub(crate) static INSERT: Spec = Spec::insert(
    TABLE,
    &[
        ("id", Kind::Text),
        ("changed_at", Kind::Int),
        ("operator", Kind::Text),
        ("source", Kind::Text),
        ("host", Kind::Text),
        ("action", Kind::Text),
        ("subject", Kind::Text),
        ("account_id", Kind::Text),
        ("state_before", Kind::Text),
        ("state_after", Kind::Text),
    ],
);

/// The values of a new row.
pub(crate) fn inserted(row: &AuditRow) -> Vec<Value<'_>> {
    vec![
        row.id.into(),
        row.at.into(),
        row.operator.name.as_str().into(),
        row.operator.source.as_str().into(),
        row.operator.host.as_str().into(),
        row.action.as_str().into(),
        row.subject.as_str().into(),
        row.account.into(),
        row.before.as_deref().into(),
        row.after.as_deref().into(),
    ]
}

/// The change of a row.
pub(crate) fn read(row: StoredAudit) -> Result<AuditRow, Fault> {
    let (audit, changed_at, name, source, host, action, subject, account, before, after) = row;
    Ok(AuditRow {
        id: id(TABLE, &audit)?,
        at: instant(TABLE, changed_at)?,
        operator: Operator { name, source, host },
        action,
        subject,
        account: account.map(|account| id(TABLE, &account)).transpose()?,
        before,
        after,
    })
}
