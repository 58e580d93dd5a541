//! Lists the account's endpoints. The newest come first.

use cais_domain::ids::{AccountId, EndpointId};
use cais_domain::merchant::webhook::Endpoint;
use cais_ports::{Page, PageRequest};

use super::records::visible;
use crate::ports::Ports;
pub use crate::statement::ListError;
use crate::store_error::StoreError;

/// Returns a page of the account's endpoints. Deleted endpoints are left out. The cursor is only a position, so it may
/// be an endpoint that was deleted after the previous page.
///
/// # Errors
/// [`ListError`].
pub async fn list(
    ports: &Ports,
    account: AccountId,
    page: PageRequest<EndpointId>,
) -> Result<Page<Endpoint>, ListError> {
    if let Some(cursor) = page.starting_after
        && ports.queries.find_endpoint(account, cursor).await.map_err(StoreError::from)?.is_none()
    {
        return Err(ListError::UnknownCursor);
    }
    Ok(ports.queries.list_endpoints(account, page).await.map_err(StoreError::from)?)
}

/// Returns the account's endpoint. Returns `None` if the account has no such endpoint, or the endpoint was deleted.
///
/// # Errors
/// [`StoreError`].
pub async fn find(ports: &Ports, account: AccountId, id: EndpointId) -> Result<Option<Endpoint>, StoreError> {
    visible(ports, account, id).await
}
