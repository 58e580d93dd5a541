//! Lists accounts, newest first.

use cais_domain::ids::AccountId;
use cais_domain::merchant::account::Account;
use cais_ports::{Page, PageRequest, QueryError};

use crate::Ports;

/// Returns one page of all accounts.
///
/// # Errors
/// [`QueryError`].
pub async fn list(ports: &Ports, page: PageRequest<AccountId>) -> Result<Page<Account>, QueryError> {
    ports.queries.list_accounts(page).await
}
