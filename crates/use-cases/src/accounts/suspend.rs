//! Suspends an account: it reads but does not write.

use cais_domain::account::{Account, AccountStatus};

use super::update::update;
use super::{AccountEmail, ChangeAccountError};
use crate::Ports;

/// Suspends the account. A repeat changes nothing.
///
/// # Errors
/// [`ChangeAccountError`].
pub async fn suspend(ports: &Ports, email: &AccountEmail) -> Result<Account, ChangeAccountError> {
    update(ports, email, |account| Account { status: AccountStatus::Suspended, ..account }).await
}
