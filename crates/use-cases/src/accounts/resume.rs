//! Ends an account's suspension.

use cais_domain::merchant::account::{Account, AccountStatus};
use cais_ports::Actor;

use super::update::update;
use super::{AccountEmail, ChangeAccountError};
use crate::Ports;

/// Makes the account active. A repeat has no effect.
///
/// # Errors
/// [`ChangeAccountError`].
pub async fn resume(ports: &Ports, operator: &Actor, email: &AccountEmail) -> Result<Account, ChangeAccountError> {
    update(ports, (operator, "account.resume"), email, |account| Account { status: AccountStatus::Active, ..account })
        .await
}
