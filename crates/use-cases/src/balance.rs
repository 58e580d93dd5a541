//! Reads an account's balance.

use cais_domain::ids::AccountId;
use cais_ports::{Balances, QueryError};

use crate::ports::Ports;

/// Returns all parts of the account's balance at one instant.
///
/// # Errors
/// [`QueryError`].
pub async fn read(ports: &Ports, account: AccountId) -> Result<Balances, QueryError> {
    ports.queries.balances(account).await
}
