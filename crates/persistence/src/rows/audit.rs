//! Rows of the audit log.

use cais_ports::{Actor, AuditRow};

use super::{Record, id, instant};
use crate::error::Fault;
use crate::sql::table::table;

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

impl Record for AuditRow {
    type Row<'a> = StoredAudit<'a>;

    fn row(&self, _version: i64) -> StoredAudit<'_> {
        StoredAudit {
            id: self.id.to_string().into(),
            changed_at: self.at.as_microsecond(),
            operator: self.operator.name.as_str().into(),
            source: self.operator.source.as_str().into(),
            host: self.operator.host.as_str().into(),
            action: self.action.as_str().into(),
            subject: self.subject.as_str().into(),
            account_id: self.account.map(|account| account.to_string().into()),
            state_before: self.before.as_deref().map(Into::into),
            state_after: self.after.as_deref().map(Into::into),
        }
    }

    fn read(row: StoredAudit<'_>) -> Result<Self, Fault> {
        Ok(Self {
            id: id(TABLE, &row.id)?,
            at: instant(TABLE, row.changed_at)?,
            operator: Actor { name: row.operator.into(), source: row.source.into(), host: row.host.into() },
            action: row.action.into(),
            subject: row.subject.into(),
            account: row.account_id.map(|account| id(TABLE, &account)).transpose()?,
            before: row.state_before.map(Into::into),
            after: row.state_after.map(Into::into),
        })
    }
}
