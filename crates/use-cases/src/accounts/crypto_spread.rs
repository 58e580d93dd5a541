//! Sets the spread of an account's crypto rates: the percentage by which they differ from the market rate.

use cais_domain::merchant::account::Account;
use cais_domain::rate::Percentage;
use cais_ports::Actor;

use super::update::update;
use super::{AccountEmail, ChangeAccountError};
use crate::Ports;

/// Sets the spread of new quotes. With `None`, new quotes have the configured spread. A repeat has no effect.
///
/// # Errors
/// [`ChangeAccountError`].
pub async fn set(
    ports: &Ports,
    operator: &Actor,
    email: &AccountEmail,
    crypto_spread: Option<Percentage>,
) -> Result<Account, ChangeAccountError> {
    let change = |account| Account { crypto_spread: crypto_spread.clone(), ..account };
    update(ports, (operator, "account.crypto_spread"), email, change).await
}
