//! Reads an account's events: the newest first, or in the order of their sequence numbers.

use cais_domain::ids::{AccountId, EventId};
use cais_ports::{EventFilter, EventPage, Page, StoredEvent};

use crate::ports::Ports;
pub use crate::statement::ListError;
use crate::store_error::StoreError;

/// Returns a page of the account's events. The cursor is only a position, so it may be an event that the filter
/// excludes.
///
/// # Errors
/// [`ListError`].
pub async fn list(
    ports: &Ports,
    account: AccountId,
    filter: EventFilter,
    page: EventPage,
) -> Result<Page<StoredEvent>, ListError> {
    if let Some(cursor) = page.starting_after
        && find(ports, account, cursor).await?.is_none()
    {
        return Err(ListError::UnknownCursor);
    }
    Ok(ports.queries.list_events(account, filter, page).await.map_err(StoreError::from)?)
}

/// Returns the account's event with this id, as it was published.
///
/// # Errors
/// [`StoreError`].
pub async fn find(ports: &Ports, account: AccountId, id: EventId) -> Result<Option<StoredEvent>, StoreError> {
    Ok(ports.queries.find_event(account, id).await?)
}
