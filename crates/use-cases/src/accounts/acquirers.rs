//! Sets the acquirers that an account uses first.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::merchant::account::Account;
use cais_ports::Operator;

use super::update::update;
use super::{AccountEmail, ChangeAccountError};
use crate::Ports;

/// Sets the order of acquirers for later charges and payouts. The acquirers that it does not name follow in the
/// configured order. A repeat changes nothing.
///
/// # Errors
/// [`ChangeAccountError`].
pub async fn set(
    ports: &Ports,
    operator: &Operator,
    email: &AccountEmail,
    acquirers: &[AcquirerName],
) -> Result<Account, ChangeAccountError> {
    let change = |account| Account { acquirers: acquirers.to_vec(), ..account };
    update(ports, (operator, "account.acquirers"), email, change).await
}
