//! Deletes an endpoint. No event is sent to it any more, and its address and slot are free again.

use cais_domain::ids::EndpointId;
use cais_domain::merchant::account::Account;
use cais_domain::merchant::webhook::EndpointStep;
use cais_ports::CommitError;

use super::error::WriteEndpointError;
use super::records::{slot_key, update, url_key, visible};
use crate::ports::Ports;
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError};

/// Deletes the endpoint and cancels its waiting deliveries.
///
/// # Errors
/// [`WriteEndpointError`]. An endpoint that was deleted before is not found.
pub async fn delete(ports: &Ports, account: &Account, id: EndpointId) -> Result<(), WriteEndpointError> {
    account.permit_write()?;
    for _ in 0..MAX_COMMIT_RETRIES {
        let endpoint = visible(ports, account.id, id).await?.ok_or(WriteEndpointError::NotFound)?;
        let now = ports.clock.now();
        let EndpointStep::Taken(gone) = endpoint.delete(now) else { return Err(WriteEndpointError::NotFound) };
        let mut change = update(&gone, now);
        change.unreserve.push(url_key(gone.account, &gone.url));
        change.unreserve.push(slot_key(gone.account, gone.slot));
        match ports.store.commit(change).await {
            Ok(_) => return Ok(()),
            Err(CommitError::Stale) => {}
            Err(error) => return Err(StoreError::from(error).into()),
        }
    }
    Err(StoreError::contended().into())
}
