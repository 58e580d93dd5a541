//! Suspends an account. A suspended account can read but not write.

use cais_domain::merchant::account::{Account, AccountStatus};
use cais_ports::Actor;

use super::update::update;
use super::{AccountEmail, ChangeAccountError};
use crate::Ports;

/// Suspends the account. A repeat has no effect.
///
/// # Errors
/// [`ChangeAccountError`].
pub async fn suspend(ports: &Ports, operator: &Actor, email: &AccountEmail) -> Result<Account, ChangeAccountError> {
    update(ports, (operator, "account.suspend"), email, |account| Account {
        status: AccountStatus::Suspended,
        ..account
    })
    .await
}
