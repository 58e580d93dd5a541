//! Approves an account's KYC.

use cais_domain::merchant::account::Account;
use cais_ports::Actor;

use super::update::update;
use super::{AccountEmail, ChangeAccountError};
use crate::Ports;

/// Approves KYC, and enables `pix_in` and `pix_out`. If KYC is already approved and both features are enabled, nothing
/// changes.
///
/// # Errors
/// [`ChangeAccountError`].
pub async fn approve(ports: &Ports, operator: &Actor, email: &AccountEmail) -> Result<Account, ChangeAccountError> {
    update(ports, (operator, "account.approve"), email, Account::approve).await
}
