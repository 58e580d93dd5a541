//! Ends an account's suspension.

use cais_domain::account::{Account, AccountStatus};

use super::update::update;
use super::{AccountEmail, ChangeAccountError};
use crate::Ports;

/// Makes the account active. A repeat changes nothing.
///
/// # Errors
/// [`ChangeAccountError`].
pub async fn resume(ports: &Ports, email: &AccountEmail) -> Result<Account, ChangeAccountError> {
    update(ports, email, |account| Account { status: AccountStatus::Active, ..account }).await
}
