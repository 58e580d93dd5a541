//! Listing an account's payouts, newest first.

use cais_domain::ids::{AccountId, PayoutId};
use cais_domain::payout::Payout;
use cais_ports::{Page, PageRequest};

use crate::ports::Ports;
use crate::trouble::{RETRY_AFTER_S, Trouble};

/// Why there is no page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListPayoutsError {
    /// The page is to begin after a payout that the account does not have.
    #[error("`starting_after` names no payout of this account")]
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

impl From<Trouble> for ListPayoutsError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Unavailable(_) => Self::Unavailable { retry_after_s: RETRY_AFTER_S },
            Trouble::Internal(cause) => Self::Internal(cause),
        }
    }
}

/// A page of the account's payouts as they are stored.
///
/// # Errors
/// [`ListPayoutsError`].
pub async fn list(
    ports: &Ports,
    account: AccountId,
    page: PageRequest<PayoutId>,
) -> Result<Page<Payout>, ListPayoutsError> {
    if let Some(cursor) = page.starting_after {
        let known = ports.queries.find_payout(account, cursor).await.map_err(Trouble::from)?;
        if !known.is_some_and(|payout| payout.is_visible()) {
            return Err(ListPayoutsError::UnknownCursor);
        }
    }
    Ok(ports.queries.list_payouts(account, page).await.map_err(Trouble::from)?)
}
