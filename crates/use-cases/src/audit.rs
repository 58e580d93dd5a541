//! The audit log. Each change by an operator has one row, which is written in the commit of the change.

use cais_domain::ids::{AccountId, AuditId};
use cais_ports::{AuditFilter, AuditRow, Operator, Page, PageRequest, QueryError, Write};
use jiff::Timestamp;

use crate::Ports;

/// An operator's change of one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditedChange {
    /// The command, for example `account.suspend`.
    pub action: &'static str,
    /// The public id of the record, the prefix of an API key, or the name of an acquirer.
    pub subject: String,
    /// The account that the change concerns. `None` if the change concerns no single account.
    pub account: Option<AccountId>,
    /// The record before the change, as JSON without secrets. `None` for a new record, and for a change of secrets
    /// alone.
    pub before: Option<Vec<u8>>,
    /// The record after the change, as JSON without secrets. `None` for a deleted record, and for a change of secrets
    /// alone.
    pub after: Option<Vec<u8>>,
}

/// Returns the write that records the change. The caller must add this write to the change set of the change itself.
#[must_use]
pub fn record(ports: &Ports, operator: &Operator, at: Timestamp, change: AuditedChange) -> Write {
    let text = |json: Vec<u8>| String::from_utf8_lossy(&json).into_owned();
    Write::insert(AuditRow {
        id: AuditId::new(ports.ids.next_uuid()),
        at,
        operator: operator.clone(),
        action: change.action.to_owned(),
        subject: change.subject,
        account: change.account,
        before: change.before.map(text),
        after: change.after.map(text),
    })
}

/// Escapes a text for JSON. The text must have no control characters except line breaks.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n").replace('\r', r"\r")
}

/// Returns one page of changes. The newest come first.
///
/// # Errors
/// [`QueryError`].
pub async fn list(
    ports: &Ports,
    filter: AuditFilter,
    page: PageRequest<AuditId>,
) -> Result<Page<AuditRow>, QueryError> {
    ports.queries.list_audit(filter, page).await
}
