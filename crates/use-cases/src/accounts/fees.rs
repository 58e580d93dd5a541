//! Sets the fee rule of an operation for one account.

use cais_domain::fee::{FeeRule, Operation};
use cais_domain::merchant::account::Account;
use cais_ports::Actor;

use super::update::update;
use super::{AccountEmail, ChangeAccountError};
use crate::Ports;

/// Replaces the fee rule of the operation. Existing charges, payouts, quotes, deposits and withdrawals keep their fees.
/// A repeat has no effect.
///
/// # Errors
/// [`ChangeAccountError`].
pub async fn set(
    ports: &Ports,
    operator: &Actor,
    email: &AccountEmail,
    operation: Operation,
    rule: &FeeRule,
) -> Result<Account, ChangeAccountError> {
    update(ports, (operator, "account.fees"), email, |account| Account {
        fees: account.fees.clone().with(operation, rule.clone()),
        ..account
    })
    .await
}
