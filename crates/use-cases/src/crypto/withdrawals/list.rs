//! Lists an account's withdrawals. The newest come first.

use cais_domain::crypto::withdrawal::Withdrawal;
use cais_domain::ids::{AccountId, CryptoWithdrawalId};
use cais_ports::{Page, PageRequest};

use crate::ports::Ports;
pub use crate::statement::ListError;
use crate::store_error::StoreError;

/// Returns a page of the account's withdrawals as they are stored.
///
/// # Errors
/// [`ListError`].
pub async fn list(
    ports: &Ports,
    account: AccountId,
    page: PageRequest<CryptoWithdrawalId>,
) -> Result<Page<Withdrawal>, ListError> {
    if let Some(cursor) = page.starting_after {
        let known = ports.queries.find_crypto_withdrawal(account, cursor).await.map_err(StoreError::from)?;
        if !known.is_some_and(|withdrawal| withdrawal.is_visible()) {
            return Err(ListError::UnknownCursor);
        }
    }
    Ok(ports.queries.list_crypto_withdrawals(account, page).await.map_err(StoreError::from)?)
}
