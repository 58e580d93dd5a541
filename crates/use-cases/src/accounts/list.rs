//! Lists accounts. The newest come first.

use cais_domain::ids::AccountId;
use cais_domain::merchant::account::{Account, Kyc};
use cais_ports::{Page, PageRequest, QueryError};

use crate::Ports;

/// Returns one page of the accounts with this state of KYC. `None` stands for all accounts.
///
/// # Errors
/// [`QueryError`].
pub async fn list(ports: &Ports, kyc: Option<Kyc>, page: PageRequest<AccountId>) -> Result<Page<Account>, QueryError> {
    ports.queries.list_accounts(kyc, page).await
}
