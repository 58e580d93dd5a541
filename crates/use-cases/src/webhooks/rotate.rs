//! Rotates the secret of an endpoint. For a limited time the previous secret also signs, so that the receiver can
//! change to the new secret.

use cais_domain::ids::EndpointId;
use cais_domain::merchant::account::Account;
use cais_domain::merchant::webhook::{Endpoint, EndpointError, EndpointStep};
use cais_ports::{Actor, ChangeSet, SigningSecret};

use super::error::WriteEndpointError;
use super::records::{audited, new_secret, stored, update, visible};
use crate::ports::Ports;
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError, commit_unless_stale};

/// Creates a new secret for the endpoint. Returns the endpoint and the secret, which cannot be read later. The previous
/// secret also signs for `grace_s` seconds. The caller must check that `grace_s` is at most
/// [`cais_domain::merchant::webhook::MAX_GRACE_S`].
///
/// # Errors
/// [`WriteEndpointError`].
pub async fn rotate(
    ports: &Ports,
    account: &Account,
    id: EndpointId,
    grace_s: u32,
) -> Result<(Endpoint, SigningSecret), WriteEndpointError> {
    account.permit_write()?;
    for _ in 0..MAX_COMMIT_RETRIES {
        let endpoint = visible(ports, account.id, id).await?.ok_or(WriteEndpointError::NotFound)?;
        let (rotated, change) = prepare(ports, None, &endpoint, grace_s)?;
        if commit_unless_stale(ports, change).await? {
            return Ok(rotated);
        }
    }
    Err(StoreError::contended().into())
}

/// Prepares a rotation. Returns the endpoint as it will be stored, its new secret, and the change set to commit. If an
/// `actor` makes the change, the change set contains a row of the audit log.
pub(crate) fn prepare(
    ports: &Ports,
    actor: Option<&Actor>,
    endpoint: &Endpoint,
    grace_s: u32,
) -> Result<((Endpoint, SigningSecret), ChangeSet), WriteEndpointError> {
    let (now, secret) = (ports.clock.now(), new_secret(ports));
    let sealed = ports.secret_cipher.encrypt(&endpoint.id.to_string(), &secret).map_err(StoreError::from)?;
    let rotated = match endpoint.clone().rotate(sealed, grace_s, now) {
        Ok(EndpointStep::Taken(rotated) | EndpointStep::AlreadyTaken(rotated)) => *rotated,
        Err(EndpointError::Deleted) => return Err(WriteEndpointError::NotFound),
    };
    let mut change = update(&rotated, now);
    let row = |actor| audited(ports, (actor, "webhook_endpoint.rotate_secret"), Some(endpoint), &rotated, now);
    change.writes.extend(actor.map(row));
    Ok(((stored(rotated), secret), change))
}
