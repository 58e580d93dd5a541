//! Rows of the audit log.

use cais_ports::{AuditRow, Operator};

use super::{id, instant};
use crate::error::Fault;
use crate::sql::Value;
use crate::sql::spec::Spec;
use crate::sql::table::{Row as _, table};

const TABLE: &str = "audit_log";

table! {
    /// A stored row of the audit log.
    StoredAudit of audit_log
    key { id: Text }
    fixed {
        changed_at: BigInt, operator: Text, source: Text, host: Text, action: Text, subject: Text,
        account_id: Nullable<Text>, state_before: Nullable<Text>, state_after: Nullable<Text>,
    }
}

/// New rows; rows are never changed.
pub(crate) static INSERT: Spec = Spec::insert_rows::<StoredAudit<'_>>();

/// Returns the values of a new row.
pub(crate) fn inserted(row: &AuditRow) -> Vec<Value<'_>> {
    let stored = StoredAudit {
        id: row.id.to_string().into(),
        changed_at: row.at.as_microsecond(),
        operator: row.operator.name.as_str().into(),
        source: row.operator.source.as_str().into(),
        host: row.operator.host.as_str().into(),
        action: row.action.as_str().into(),
        subject: row.subject.as_str().into(),
        account_id: row.account.map(|account| account.to_string().into()),
        state_before: row.before.as_deref().map(Into::into),
        state_after: row.after.as_deref().map(Into::into),
    };
    stored.values()
}

/// Returns the change of a row.
pub(crate) fn read(row: StoredAudit<'_>) -> Result<AuditRow, Fault> {
    Ok(AuditRow {
        id: id(TABLE, &row.id)?,
        at: instant(TABLE, row.changed_at)?,
        operator: Operator { name: row.operator.into(), source: row.source.into(), host: row.host.into() },
        action: row.action.into(),
        subject: row.subject.into(),
        account: row.account_id.map(|account| id(TABLE, &account)).transpose()?,
        before: row.state_before.map(Into::into),
        after: row.state_after.map(Into::into),
    })
}
