//! Rotates the secret of an endpoint. The previous secret also signs for a while, so that the receiver can change over.

use cais_domain::ids::EndpointId;
use cais_domain::merchant::account::Account;
use cais_domain::merchant::webhook::{Endpoint, EndpointError, EndpointStep};
use cais_ports::{CommitError, SigningSecret};

use super::error::WriteEndpointError;
use super::records::{new_secret, stored, update, visible};
use crate::ports::Ports;
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError};

/// Creates a new secret for the endpoint, returned only once. The previous secret also signs for `grace_s` seconds, at
/// most [`cais_domain::merchant::webhook::MAX_GRACE_S`].
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
    let secret = new_secret(ports);
    let sealed = ports.secret_cipher.encrypt(&id.to_string(), &secret).map_err(StoreError::from)?;
    for _ in 0..MAX_COMMIT_RETRIES {
        let endpoint = visible(ports, account.id, id).await?.ok_or(WriteEndpointError::NotFound)?;
        let now = ports.clock.now();
        let rotated = match endpoint.rotate(sealed.clone(), grace_s, now) {
            Ok(EndpointStep::Taken(rotated) | EndpointStep::AlreadyTaken(rotated)) => *rotated,
            Err(EndpointError::Deleted) => return Err(WriteEndpointError::NotFound),
        };
        match ports.store.commit(update(&rotated, now)).await {
            Ok(_) => return Ok((stored(rotated), secret)),
            Err(CommitError::Stale) => {}
            Err(error) => return Err(StoreError::from(error).into()),
        }
    }
    Err(StoreError::contended().into())
}
