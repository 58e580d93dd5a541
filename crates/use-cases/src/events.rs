//! Reads an account's events, newest first or from a sequence number on.

use cais_domain::ids::{AccountId, EventId};
use cais_ports::{EventFilter, EventPage, Page, StoredEvent};

use crate::ports::Ports;
pub use crate::statement::ListError;
use crate::store_error::StoreError;

/// Returns a page of the account's events. The cursor may be an event that the filter excludes: it marks only a
/// position.
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

/// Returns the account's event with this id, as published.
///
/// # Errors
/// [`StoreError`].
pub async fn find(ports: &Ports, account: AccountId, id: EventId) -> Result<Option<StoredEvent>, StoreError> {
    Ok(ports.queries.find_event(account, id).await?)
}
