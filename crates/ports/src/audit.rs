//! The audit log: operator, instant, origin, and the record before and after each change.

use async_trait::async_trait;
use cais_domain::ids::{AccountId, AuditId};
use jiff::Timestamp;

use crate::page::{Page, PageRequest};
use crate::queries::QueryError;

/// A person who changes something, and the place of the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operator {
    /// The person: a user of the operating system, or a given name.
    pub name: String,
    /// The interface: `cli` is the command line, `demo` the demonstration.
    pub source: String,
    /// The machine.
    pub host: String,
}

/// A change by an operator. The row is written in the commit of its change, and never updated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// The identifier. Later changes have greater ones.
    pub id: AuditId,
    /// The instant of the change.
    pub at: Timestamp,
    /// The person and the origin.
    pub operator: Operator,
    /// The command: `account.suspend`.
    pub action: String,
    /// The public id of the changed record; the prefix of an API key.
    pub subject: String,
    /// The account of the change.
    pub account: Option<AccountId>,
    /// The record before, as JSON without secrets; `None` for a new one.
    pub before: Option<String>,
    /// The record after.
    pub after: Option<String>,
}

/// The filter of a list; `None` accepts every value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// The account of the change.
    pub account: Option<AccountId>,
    /// The name of the operator.
    pub operator: Option<String>,
    /// The command.
    pub action: Option<String>,
}

/// The audit log.
#[async_trait]
pub trait AuditQueries: Send + Sync {
    /// Lists changes, newest first.
    async fn list_audit(&self, filter: AuditFilter, page: PageRequest<AuditId>) -> Result<Page<AuditRow>, QueryError>;
}
