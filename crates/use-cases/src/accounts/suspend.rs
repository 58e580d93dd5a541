//! Suspends an account: it reads but does not write.

use cais_domain::merchant::account::{Account, AccountStatus};
use cais_ports::Operator;

use super::update::update;
use super::{AccountEmail, ChangeAccountError};
use crate::Ports;

/// Suspends the account. A repeat changes nothing.
///
/// # Errors
/// [`ChangeAccountError`].
pub async fn suspend(ports: &Ports, operator: &Operator, email: &AccountEmail) -> Result<Account, ChangeAccountError> {
    update(ports, (operator, "account.suspend"), email, |account| Account {
        status: AccountStatus::Suspended,
        ..account
    })
    .await
}
