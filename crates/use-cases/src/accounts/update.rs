//! Changes one stored account. If another process changes the account at the same time, the account is read and the
//! change is decided again.

use cais_domain::merchant::account::Account;
use cais_ports::{Actor, ChangeSet, Write};

use super::AccountEmail;
use crate::Ports;
use crate::audit::{self, AuditedChange};
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError, commit_unless_stale};

/// The reason why an account was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeAccountError {
    /// No account has this e-mail.
    #[error("no account has the e-mail {0}")]
    NotFound(AccountEmail),
    /// The store failed. If the error is `Unavailable`, the change may be committed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns the account with this e-mail.
pub(crate) async fn get(ports: &Ports, email: &AccountEmail) -> Result<Account, ChangeAccountError> {
    let found = ports.queries.find_account_by_email(email.as_str()).await.map_err(StoreError::from)?;
    found.ok_or_else(|| ChangeAccountError::NotFound(email.clone()))
}

/// Returns the change set that stores `changed` and a row of the audit log. If `changed` equals `account`, the change
/// set is empty.
pub(crate) fn prepare(
    ports: &Ports,
    (operator, action): (&Actor, &'static str),
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

/// Applies `decide` to the account with this e-mail, and stores the result together with a row of the audit log.
/// Returns the stored account. If nothing changes, nothing is written. `by` is the operator and the action's name in
/// the audit log.
pub(crate) async fn update(
    ports: &Ports,
    by: (&Actor, &'static str),
    email: &AccountEmail,
    decide: impl Fn(Account) -> Account + Send + Sync,
) -> Result<Account, ChangeAccountError> {
    for _ in 0..MAX_COMMIT_RETRIES {
        let account = get(ports, email).await?;
        let changed = decide(account.clone());
        if changed == account {
            return Ok(account);
        }
        if commit_unless_stale(ports, prepare(ports, by, &account, &changed)).await? {
            return Ok(Account { version: changed.version.saturating_add(1), ..changed });
        }
    }
    Err(StoreError::contended().into())
}
