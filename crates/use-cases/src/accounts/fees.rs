//! Sets what an account pays for an operation.

use cais_domain::account::Account;
use cais_domain::fee::{FeeRule, Operation};
use cais_ports::Operator;

use super::update::update;
use super::{AccountEmail, ChangeAccountError};
use crate::Ports;

/// Replaces the rule of the operation; charges that exist keep the fee that was fixed when they were made. A repeat changes nothing.
///
/// # Errors
/// [`ChangeAccountError`].
pub async fn set(
    ports: &Ports,
    operator: &Operator,
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
