//! Reading an account's balance.

use cais_domain::ids::AccountId;
use cais_ports::{Balances, QueryError};

use crate::ports::Ports;

/// All parts of the account's money at one instant.
///
/// # Errors
/// [`QueryError`].
pub async fn read(ports: &Ports, account: AccountId) -> Result<Balances, QueryError> {
    ports.queries.balances(account).await
}
