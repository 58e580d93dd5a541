//! Lists an account's charges, newest first.

use cais_domain::charge::Charge;
use cais_domain::ids::{AccountId, ChargeId};
use cais_ports::{Page, PageRequest};

use crate::ports::Ports;
pub use crate::statement::ListError;
use crate::store_error::StoreError;

/// Returns a page of the account's charges as they are stored.
///
/// # Errors
/// [`ListError`].
pub async fn list(ports: &Ports, account: AccountId, page: PageRequest<ChargeId>) -> Result<Page<Charge>, ListError> {
    if let Some(cursor) = page.starting_after {
        let known = ports.queries.find_charge(account, cursor).await.map_err(StoreError::from)?;
        if !known.is_some_and(|charge| charge.is_visible()) {
            return Err(ListError::UnknownCursor);
        }
    }
    Ok(ports.queries.list_charges(account, page).await.map_err(StoreError::from)?)
}
