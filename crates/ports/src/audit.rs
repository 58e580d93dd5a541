//! The audit log. A row contains the person, the instant, the origin, and the record before and after the change.

use async_trait::async_trait;
use cais_domain::ids::{AccountId, AuditId};
use jiff::Timestamp;

use crate::page::{Page, PageRequest};
use crate::queries::QueryError;

/// The person who makes a change, and the origin of the change. The person may also be a merchant's user of the
/// dashboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// The name of the person: the e-mail address of a dashboard user, a user of the operating system, or a name that
    /// the person gave.
    pub name: String,
    /// The interface: `cli` for the command line, `dashboard`, or `demo` for the demonstration.
    pub source: String,
    /// The machine, or the address of the browser.
    pub host: String,
}

/// A change of a record by a person. The row is written in the commit of the change and is never updated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// The identifier. A later change has a greater identifier.
    pub id: AuditId,
    /// The instant of the change.
    pub at: Timestamp,
    /// The person and the origin of the change.
    pub operator: Actor,
    /// The command, for example `account.suspend`.
    pub action: String,
    /// The identifier of the changed record, usually its public id. Exceptions: the prefix of an API key, the name of
    /// an acquirer, the code of a currency, and the processor's id of a payment.
    pub subject: String,
    /// The account that the change concerns. `None` if the change concerns no single account.
    pub account: Option<AccountId>,
    /// The record before the change, as JSON without secrets. `None` for a new record, and if only secrets changed.
    pub before: Option<String>,
    /// The record after the change, as JSON without secrets. `None` for a deleted record, and if only secrets changed.
    pub after: Option<String>,
}

/// The filter of a list. `None` accepts every value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// The account that the change concerns.
    pub account: Option<AccountId>,
    /// The name of the actor.
    pub operator: Option<String>,
    /// The command, for example `account.suspend`.
    pub action: Option<String>,
}

/// The audit log.
#[async_trait]
pub trait AuditQueries: Send + Sync {
    /// Lists changes. The newest come first.
    async fn list_audit(&self, filter: AuditFilter, page: PageRequest<AuditId>) -> Result<Page<AuditRow>, QueryError>;
}
