//! Sets the order in which an account uses the acquirers.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::merchant::account::Account;
use cais_ports::Actor;

use super::update::update;
use super::{AccountEmail, ChangeAccountError};
use crate::Ports;

/// Sets the order of acquirers for new charges and payouts. Acquirers that are not in the list follow in the configured
/// order. A repeat has no effect.
///
/// # Errors
/// [`ChangeAccountError`].
pub async fn set(
    ports: &Ports,
    operator: &Actor,
    email: &AccountEmail,
    acquirers: &[AcquirerName],
) -> Result<Account, ChangeAccountError> {
    let change = |account| Account { acquirers: acquirers.to_vec(), ..account };
    update(ports, (operator, "account.acquirers"), email, change).await
}
