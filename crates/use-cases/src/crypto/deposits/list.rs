//! Lists an account's deposits. The newest come first.

use cais_domain::crypto::Deposit;
use cais_domain::ids::{AccountId, CryptoDepositId};
use cais_ports::{Page, PageRequest};

use crate::ports::Ports;
pub use crate::statement::ListError;
use crate::upstream_order;

/// Returns a page of the account's deposits as they are stored.
///
/// # Errors
/// [`ListError`].
pub async fn list(
    ports: &Ports,
    account: AccountId,
    page: PageRequest<CryptoDepositId>,
) -> Result<Page<Deposit>, ListError> {
    upstream_order::list(ports, account, page, ports.queries.list_crypto_deposits(account, page)).await
}
