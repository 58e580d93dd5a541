//! Lists an account's payouts. The newest come first.

use cais_domain::ids::{AccountId, PayoutId};
use cais_domain::payout::Payout;
use cais_ports::{Page, PageRequest};

use crate::ports::Ports;
pub use crate::statement::ListError;
use crate::store_error::StoreError;

/// Returns a page of the account's payouts as they are stored.
///
/// # Errors
/// [`ListError`].
pub async fn list(ports: &Ports, account: AccountId, page: PageRequest<PayoutId>) -> Result<Page<Payout>, ListError> {
    if let Some(cursor) = page.starting_after {
        let known = ports.queries.find_payout(account, cursor).await.map_err(StoreError::from)?;
        if !known.is_some_and(|payout| payout.is_visible()) {
            return Err(ListError::UnknownCursor);
        }
    }
    Ok(ports.queries.list_payouts(account, page).await.map_err(StoreError::from)?)
}
