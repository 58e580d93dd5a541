//! Changes one stored account. After a concurrent change, the account is read again.

use cais_domain::merchant::account::Account;
use cais_ports::{ChangeSet, CommitError, Operator, QueryError, Write};

use super::AccountEmail;
use crate::Ports;
use crate::audit::{self, AuditedChange};

/// The largest number of passes of one change. A further pass follows a concurrent change. Only operators make such
/// changes, so they are rare.
const MAX_ATTEMPTS: u32 = 5;

/// The reason why an account was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeAccountError {
    /// No account has this e-mail.
    #[error("no account has the e-mail {0}")]
    NotFound(AccountEmail),
    /// Concurrent changes made every attempt fail.
    #[error("other requests change the account at the same time; try again")]
    Contended,
    /// The account could not be read.
    #[error("the account could not be read")]
    Query(#[source] QueryError),
    /// The store failed. If the error is `Unavailable`, the change may be committed.
    #[error("the account could not be changed")]
    Store(#[source] CommitError),
}

/// Returns the account with this e-mail.
pub(crate) async fn get(ports: &Ports, email: &AccountEmail) -> Result<Account, ChangeAccountError> {
    ports
        .queries
        .find_account_by_email(email.as_str())
        .await
        .map_err(ChangeAccountError::Query)?
        .ok_or_else(|| ChangeAccountError::NotFound(email.clone()))
}

/// Returns the change set that stores `changed` and a row of the audit log. If `changed` equals `account`, the change
/// set is empty.
pub(crate) fn prepare(
    ports: &Ports,
    (operator, action): (&Operator, &'static str),
    account: &Account,
    changed: &Account,
) -> ChangeSet {
    let mut change = ChangeSet::new(ports.clock.now());
    if changed == account {
        return change;
    }
    change.writes.push(Write::update(changed.clone()));
    let audited = AuditedChange {
        action,
        subject: account.id.to_string(),
        account: Some(account.id),
        before: Some(ports.representation.account(account)),
        after: Some(ports.representation.account(changed)),
    };
    change.writes.push(audit::record(ports, operator, change.at, audited));
    change
}

/// Applies `decide` to the account, and stores the result together with a row of the audit log. Returns the stored
/// account. If nothing changes, nothing is written. `by` is the operator and the command.
pub(crate) async fn update(
    ports: &Ports,
    by: (&Operator, &'static str),
    email: &AccountEmail,
    decide: impl Fn(Account) -> Account + Send + Sync,
) -> Result<Account, ChangeAccountError> {
    for _ in 0..MAX_ATTEMPTS {
        let account = get(ports, email).await?;
        let changed = decide(account.clone());
        if changed == account {
            return Ok(account);
        }
        match ports.store.commit(prepare(ports, by, &account, &changed)).await {
            Ok(_) => {
                let version = changed.version.saturating_add(1);
                return Ok(Account { version, ..changed });
            }
            Err(CommitError::Stale) => {}
            Err(error) => return Err(ChangeAccountError::Store(error)),
        }
    }
    Err(ChangeAccountError::Contended)
}
