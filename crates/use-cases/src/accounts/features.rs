//! Switches features of an account on and off.

use cais_domain::merchant::account::{Account, Features};
use cais_ports::Actor;

use super::update::update;
use super::{AccountEmail, ChangeAccountError};
use crate::Ports;

/// Enables the features in `enable`, then disables those in `disable`. A repeat has no effect.
///
/// # Errors
/// [`ChangeAccountError`].
pub async fn set(
    ports: &Ports,
    operator: &Actor,
    email: &AccountEmail,
    enable: Features,
    disable: Features,
) -> Result<Account, ChangeAccountError> {
    update(ports, (operator, "account.features"), email, |account| {
        let enabled = account.features.union(enable);
        Account { features: disable.iter().fold(enabled, Features::without), ..account }
    })
    .await
}
