//! Listing an account's charges, newest first.

use cais_domain::charge::Charge;
use cais_domain::ids::{AccountId, ChargeId};
use cais_ports::{Page, PageRequest};

use crate::ports::Ports;
use crate::trouble::{RETRY_AFTER_S, Trouble};

/// Why there is no page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListChargesError {
    /// The page is to begin after a charge that the account does not have.
    #[error("`starting_after` names no charge of this account")]
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

impl From<Trouble> for ListChargesError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Unavailable(_) => Self::Unavailable { retry_after_s: RETRY_AFTER_S },
            Trouble::Internal(cause) => Self::Internal(cause),
        }
    }
}

/// A page of the account's charges as they are stored.
///
/// # Errors
/// [`ListChargesError`].
pub async fn list(
    ports: &Ports,
    account: AccountId,
    page: PageRequest<ChargeId>,
) -> Result<Page<Charge>, ListChargesError> {
    if let Some(cursor) = page.starting_after {
        let known = ports.queries.find_charge(account, cursor).await.map_err(Trouble::from)?;
        if !known.is_some_and(|charge| charge.is_visible()) {
            return Err(ListChargesError::UnknownCursor);
        }
    }
    Ok(ports.queries.list_charges(account, page).await.map_err(Trouble::from)?)
}
