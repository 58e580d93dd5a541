//! Reading an account's statement: every movement on available, pending and blocked, newest first.

use cais_domain::ids::{AccountId, EntryId};
use cais_ports::{EntryFilter, Page, PageRequest, StatementEntry};

use crate::ports::Ports;
use crate::trouble::{RETRY_AFTER_S, Trouble};

/// Why there is no page of a statement or a timeline.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// The page is to begin after something that the account does not have.
    #[error("`starting_after` names nothing of this account")]
    UnknownCursor,
    /// The store does not answer.
    #[error("the service is temporarily unavailable")]
    Unavailable {
        /// When to repeat.
        retry_after_s: u32,
    },
    /// A bug or a damaged store.
    #[error("internal error: {0}")]
    Internal(String),
}

impl From<Trouble> for ListError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Unavailable(_) => Self::Unavailable { retry_after_s: RETRY_AFTER_S },
            Trouble::Internal(cause) => Self::Internal(cause),
        }
    }
}

/// A page of the account's entries. The cursor may be an entry that the filter leaves out: it only says where to go on.
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
        && !ports.queries.has_entry(account, cursor).await.map_err(Trouble::from)?
    {
        return Err(ListError::UnknownCursor);
    }
    Ok(ports.queries.list_entries(account, filter, page).await.map_err(Trouble::from)?)
}
