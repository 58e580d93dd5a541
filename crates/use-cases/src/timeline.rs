//! Reading an account's timeline: charges, payouts and split credits as one list, newest first.

use cais_domain::ids::AccountId;
use cais_domain::timeline::Direction;
use cais_ports::{Page, PageRequest, Transaction, TransactionFilter};
use uuid::Uuid;

use crate::ports::Ports;
pub use crate::statement::ListError;
use crate::trouble::Trouble;

/// A page of the account's transactions. The cursor may be one that the filter leaves out: it only says where to go on.
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
    Ok(ports.queries.list_transactions(account, filter, page).await.map_err(Trouble::from)?)
}

/// The account's transaction of that key in that direction, if it has a visible one.
///
/// # Errors
/// [`Trouble`].
pub async fn find(
    ports: &Ports,
    account: AccountId,
    direction: Direction,
    key: Uuid,
) -> Result<Option<Transaction>, Trouble> {
    Ok(ports.queries.find_transaction(account, direction, key).await?)
}
