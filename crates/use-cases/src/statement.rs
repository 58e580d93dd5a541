//! Reads an account's statement: all entries of `available`, `pending` and `blocked`. The newest come first.

use cais_domain::ids::{AccountId, EntryId};
use cais_ports::{EntryFilter, Page, PageRequest, StatementEntry};

use crate::ports::Ports;
use crate::store_error::{RETRY_AFTER_S, StoreError};

/// The reason why no page of a list is returned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// The cursor is not a record of this account.
    #[error("`starting_after` names no resource of this account")]
    UnknownCursor,
    /// The store did not answer.
    #[error("the service is temporarily unavailable")]
    Unavailable {
        /// Seconds until the caller should repeat the request.
        retry_after_s: u32,
    },
    /// A bug or a damaged store.
    #[error("internal error: {0}")]
    Internal(String),
}

impl From<StoreError> for ListError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) => Self::Unavailable { retry_after_s: RETRY_AFTER_S },
            StoreError::Internal(cause) => Self::Internal(cause),
        }
    }
}

/// Returns a page of the account's entries. The cursor is only a position, so it may be an entry that the filter
/// excludes.
///
/// # Errors
/// [`ListError`].
pub async fn list(
    ports: &Ports,
    account: AccountId,
    filter: EntryFilter,
    page: PageRequest<EntryId>,
) -> Result<Page<StatementEntry>, ListError> {
    if let Some(cursor) = page.starting_after
        && !ports.queries.has_entry(account, cursor).await.map_err(StoreError::from)?
    {
        return Err(ListError::UnknownCursor);
    }
    Ok(ports.queries.list_entries(account, filter, page).await.map_err(StoreError::from)?)
}
