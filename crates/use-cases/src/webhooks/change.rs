//! Changes an endpoint: its address, its subscription, and whether it is active.

use cais_domain::ids::EndpointId;
use cais_domain::merchant::account::{Account, NotPermitted};
use cais_domain::merchant::webhook::{
    Endpoint, EndpointChange, EndpointError, EndpointState, EndpointStep, WebhookUrl,
};
use cais_ports::{ChangeSet, CommitError, UrlRefusal};
use jiff::Timestamp;

use super::records::{of, queue, stored, update, url_key, visible};
use crate::ports::Ports;
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError};

/// The reason for which an endpoint was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeEndpointError {
    /// The account is not permitted to write.
    #[error(transparent)]
    NotPermitted(#[from] NotPermitted),
    /// The account has no endpoint with this id.
    #[error("the webhook endpoint does not exist")]
    NotFound,
    /// This service does not call the address.
    #[error(transparent)]
    Url(#[from] UrlRefusal),
    /// Another endpoint of the account has the address.
    #[error("is registered already")]
    UrlTaken,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Changes the endpoint and returns it. Before the change, checks a new address, and the address of an endpoint that
/// becomes active again.
///
/// # Errors
/// [`ChangeEndpointError`]; the checks come in the order of its variants.
pub async fn change(
    ports: &Ports,
    account: &Account,
    id: EndpointId,
    asked: EndpointChange,
) -> Result<Endpoint, ChangeEndpointError> {
    account.permit_write()?;
    let mut vetted: Option<WebhookUrl> = None;
    for _ in 0..MAX_COMMIT_RETRIES {
        let before = visible(ports, account.id, id).await?.ok_or(ChangeEndpointError::NotFound)?;
        let after = match before.clone().change(asked.clone()) {
            Ok(EndpointStep::Taken(after)) => *after,
            Ok(EndpointStep::AlreadyTaken(same)) => return Ok(*same),
            Err(EndpointError::Deleted) => return Err(ChangeEndpointError::NotFound),
        };
        let is_new = after.url != before.url || (after.is_active() && !before.is_active());
        if is_new && vetted.as_ref() != Some(&after.url) {
            ports.webhooks.vet(&after.url).await?;
            vetted = Some(after.url.clone());
        }
        if after.is_active() && before.state == EndpointState::Inactive {
            ports.deliveries.forget_failures(queue(&after)).await.map_err(StoreError::from)?;
        }
        match ports.store.commit(change_set(&before, &after, ports.clock.now())).await {
            Ok(_) => return Ok(stored(after)),
            // A concurrent identical change has the address already. The next pass reads it.
            Err(CommitError::Taken { by, .. }) if by == id.to_string() => {}
            Err(CommitError::Taken { .. }) => return Err(ChangeEndpointError::UrlTaken),
            Err(CommitError::Stale) => {}
            Err(error) => return Err(StoreError::from(error).into()),
        }
    }
    Err(StoreError::contended().into())
}

fn change_set(before: &Endpoint, after: &Endpoint, at: Timestamp) -> ChangeSet {
    let mut change = update(after, at);
    if after.url != before.url {
        change.reserve.push(of(after, url_key(after.account, &after.url)));
        change.unreserve.push(url_key(before.account, &before.url));
    }
    change
}
