//! Sets the release delay: the time for which an account's received money stays in `pending`.

use cais_domain::merchant::account::Account;
use cais_ports::Actor;

use super::update::update;
use super::{AccountEmail, ChangeAccountError};
use crate::Ports;

/// Sets the delay in seconds for new payments. A repeat has no effect.
///
/// # Errors
/// [`ChangeAccountError`].
pub async fn set(
    ports: &Ports,
    operator: &Actor,
    email: &AccountEmail,
    release_delay_s: u32,
) -> Result<Account, ChangeAccountError> {
    update(ports, (operator, "account.release_delay"), email, |account| Account { release_delay_s, ..account }).await
}
