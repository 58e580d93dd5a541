//! Lists an account's deposits. The newest come first.

use cais_domain::crypto::Deposit;
use cais_domain::ids::{AccountId, CryptoDepositId};
use cais_ports::{Page, PageRequest};

use crate::ports::Ports;
pub use crate::statement::ListError;
use crate::store_error::StoreError;

/// Returns a page of the account's deposits as they are stored.
///
/// # Errors
/// [`ListError`].
pub async fn list(
    ports: &Ports,
    account: AccountId,
    page: PageRequest<CryptoDepositId>,
) -> Result<Page<Deposit>, ListError> {
    if let Some(cursor) = page.starting_after {
        let known = ports.queries.find_crypto_deposit(account, cursor).await.map_err(StoreError::from)?;
        if !known.is_some_and(|deposit| deposit.is_visible()) {
            return Err(ListError::UnknownCursor);
        }
    }
    Ok(ports.queries.list_crypto_deposits(account, page).await.map_err(StoreError::from)?)
}
