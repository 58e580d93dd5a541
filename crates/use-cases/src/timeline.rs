//! Reads an account's timeline: charges, payouts and split credits in one list, newest first.

use cais_domain::ids::AccountId;
use cais_domain::timeline::Direction;
use cais_ports::{Page, PageRequest, Transaction, TransactionFilter};
use uuid::Uuid;

use crate::ports::Ports;
pub use crate::statement::ListError;
use crate::store_error::StoreError;

/// Returns a page of the account's transactions. The cursor may be a transaction that the filter excludes: it marks
/// only a position.
///
/// # Errors
/// [`ListError`].
pub async fn list(
    ports: &Ports,
    account: AccountId,
    filter: TransactionFilter,
    limit: u32,
    starting_after: Option<(Direction, Uuid)>,
) -> Result<Page<Transaction>, ListError> {
    if let Some((direction, key)) = starting_after
        && find(ports, account, direction, key).await?.is_none()
    {
        return Err(ListError::UnknownCursor);
    }
    let page = PageRequest { limit, starting_after: starting_after.map(|(_, key)| key) };
    Ok(ports.queries.list_transactions(account, filter, page).await.map_err(StoreError::from)?)
}

/// Returns the account's visible transaction with this key and direction.
///
/// # Errors
/// [`StoreError`].
pub async fn find(
    ports: &Ports,
    account: AccountId,
    direction: Direction,
    key: Uuid,
) -> Result<Option<Transaction>, StoreError> {
    Ok(ports.queries.find_transaction(account, direction, key).await?)
}
