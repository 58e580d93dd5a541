//! Rejects an account's KYC.

use cais_domain::merchant::account::Account;
use cais_ports::Actor;

use super::update::update;
use super::{AccountEmail, ChangeAccountError};
use crate::Ports;

/// Rejects KYC. An approval can follow. A repeat has no effect.
///
/// # Errors
/// [`ChangeAccountError`].
pub async fn reject(ports: &Ports, operator: &Actor, email: &AccountEmail) -> Result<Account, ChangeAccountError> {
    update(ports, (operator, "account.reject"), email, Account::reject).await
}
