//! Deletes an endpoint. No further event is sent to the endpoint, and its address and slot are free again.

use cais_domain::ids::EndpointId;
use cais_domain::merchant::account::Account;
use cais_domain::merchant::webhook::EndpointStep;
use cais_ports::Actor;

use super::error::WriteEndpointError;
use super::records::{audited, slot_key, update, url_key, visible};
use crate::ports::Ports;
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError, commit_unless_stale};

/// Deletes the endpoint and cancels its waiting deliveries.
///
/// # Errors
/// [`WriteEndpointError`]. If the endpoint was deleted before, the error is `NotFound`.
pub async fn delete(ports: &Ports, account: &Account, id: EndpointId) -> Result<(), WriteEndpointError> {
    run(ports, None, account, id).await
}

/// Works like [`delete`], for a user of the dashboard. The deletion has a row in the audit log.
///
/// # Errors
/// The errors of [`delete`].
pub async fn delete_by(
    ports: &Ports,
    actor: &Actor,
    account: &Account,
    id: EndpointId,
) -> Result<(), WriteEndpointError> {
    run(ports, Some(actor), account, id).await
}

async fn run(
    ports: &Ports,
    actor: Option<&Actor>,
    account: &Account,
    id: EndpointId,
) -> Result<(), WriteEndpointError> {
    account.permit_write()?;
    for _ in 0..MAX_COMMIT_RETRIES {
        let endpoint = visible(ports, account.id, id).await?.ok_or(WriteEndpointError::NotFound)?;
        let now = ports.clock.now();
        let EndpointStep::Taken(gone) = endpoint.clone().delete(now) else { return Err(WriteEndpointError::NotFound) };
        let mut change = update(&gone, now);
        change.unreserve.push(url_key(gone.account, &gone.url));
        change.unreserve.push(slot_key(gone.account, gone.slot));
        let row = |actor| audited(ports, (actor, "webhook_endpoint.delete"), Some(&endpoint), &gone, now);
        change.writes.extend(actor.map(row));
        if commit_unless_stale(ports, change).await? {
            return Ok(());
        }
    }
    Err(StoreError::contended().into())
}
