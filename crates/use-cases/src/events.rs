//! Reading what consumers were told: the account's events, newest first or from a sequence number on.

use cais_domain::ids::{AccountId, EventId};
use cais_ports::{EventFilter, EventPage, Page, StoredEvent};

use crate::ports::Ports;
pub use crate::statement::ListError;
use crate::trouble::Trouble;

/// A page of the account's events. The cursor may be one that the filter leaves out: it only says where to go on.
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
    Ok(ports.queries.list_events(account, filter, page).await.map_err(Trouble::from)?)
}

/// The account's event of that identifier, as it was sent.
///
/// # Errors
/// [`Trouble`].
pub async fn find(ports: &Ports, account: AccountId, id: EventId) -> Result<Option<StoredEvent>, Trouble> {
    Ok(ports.queries.find_event(account, id).await?)
}
