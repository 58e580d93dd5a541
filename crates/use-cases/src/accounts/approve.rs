//! Approves an account's KYC.

use cais_domain::account::Account;

use super::update::update;
use super::{AccountEmail, ChangeAccountError};
use crate::Ports;

/// Approves KYC, which enables `pix_in` and `pix_out`. A repeat changes nothing.
///
/// # Errors
/// [`ChangeAccountError`].
pub async fn approve(ports: &Ports, email: &AccountEmail) -> Result<Account, ChangeAccountError> {
    update(ports, email, Account::approve).await
}
