//! Sets the largest single charge and the largest single payout of an account.

use cais_domain::merchant::account::{Account, Limits};
use cais_domain::money::Money;
use cais_ports::Actor;

use super::update::update;
use super::{AccountEmail, ChangeAccountError};
use crate::Ports;

/// Sets the limits. `None` leaves a limit unchanged. A repeat has no effect.
///
/// # Errors
/// [`ChangeAccountError`].
pub async fn set(
    ports: &Ports,
    operator: &Actor,
    email: &AccountEmail,
    charge: Option<Money>,
    payout: Option<Money>,
) -> Result<Account, ChangeAccountError> {
    update(ports, (operator, "account.limits"), email, |account| {
        let limits =
            Limits { charge: charge.unwrap_or(account.limits.charge), payout: payout.unwrap_or(account.limits.payout) };
        Account { limits, ..account }
    })
    .await
}
