//! Changes an endpoint: its address, its subscription, its description, or whether it is active.

use cais_domain::ids::EndpointId;
use cais_domain::merchant::account::{Account, NotPermitted};
use cais_domain::merchant::webhook::{
    Endpoint, EndpointChange, EndpointError, EndpointState, EndpointStep, WebhookUrl,
};
use cais_ports::{Actor, ChangeSet, CommitError, UrlRefusal};

use super::records::{audited, queue, reservation, stored, update, url_key, visible};
use crate::ports::Ports;
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError};

/// The reason why an endpoint was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeEndpointError {
    /// The account is not permitted to write.
    #[error(transparent)]
    NotPermitted(#[from] NotPermitted),
    /// The account has no endpoint with this id.
    #[error("the webhook endpoint does not exist")]
    NotFound,
    /// This service refuses to call the address.
    #[error(transparent)]
    Url(#[from] UrlRefusal),
    /// Another endpoint of the account has the address.
    #[error("is registered already")]
    UrlTaken,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Changes the endpoint and returns it. A new address is checked first. If the endpoint becomes active again, its
/// address is checked too.
///
/// # Errors
/// [`ChangeEndpointError`]. The variants are checked in their order.
pub async fn change(
    ports: &Ports,
    account: &Account,
    id: EndpointId,
    requested: EndpointChange,
) -> Result<Endpoint, ChangeEndpointError> {
    run(ports, None, account, id, requested).await
}

/// Works like [`change`], for a user of the dashboard. The change has a row in the audit log.
///
/// # Errors
/// The errors of [`change`].
pub async fn change_by(
    ports: &Ports,
    actor: &Actor,
    account: &Account,
    id: EndpointId,
    requested: EndpointChange,
) -> Result<Endpoint, ChangeEndpointError> {
    run(ports, Some(actor), account, id, requested).await
}

/// Checks a new address for the endpoint. Writes nothing.
///
/// # Errors
/// The errors of [`change`].
pub async fn check_url(
    ports: &Ports,
    account: &Account,
    id: EndpointId,
    url: &WebhookUrl,
) -> Result<(), ChangeEndpointError> {
    account.permit_write()?;
    visible(ports, account.id, id).await?.ok_or(ChangeEndpointError::NotFound)?;
    ports.webhooks.vet(url).await?;
    let owner = ports.queries.find_owner(&url_key(account.id, url)).await.map_err(StoreError::from)?;
    if owner.is_none_or(|owner| owner == id.to_string()) { Ok(()) } else { Err(ChangeEndpointError::UrlTaken) }
}

async fn run(
    ports: &Ports,
    actor: Option<&Actor>,
    account: &Account,
    id: EndpointId,
    requested: EndpointChange,
) -> Result<Endpoint, ChangeEndpointError> {
    account.permit_write()?;
    let mut vetted: Option<WebhookUrl> = None;
    for _ in 0..MAX_COMMIT_RETRIES {
        let before = visible(ports, account.id, id).await?.ok_or(ChangeEndpointError::NotFound)?;
        let Some((after, change)) = prepare(ports, actor, &before, requested.clone())? else { return Ok(before) };
        let is_new = after.url != before.url || (after.is_active() && !before.is_active());
        if is_new && vetted.as_ref() != Some(&after.url) {
            ports.webhooks.vet(&after.url).await?;
            vetted = Some(after.url.clone());
        }
        if after.is_active() && before.state == EndpointState::Inactive {
            ports.deliveries.clear_failures(queue(&after)).await.map_err(StoreError::from)?;
        }
        match ports.store.commit(change).await {
            Ok(_) => return Ok(stored(after)),
            // A concurrent identical change has reserved the address for this endpoint. The next attempt of the loop
            // reads the changed endpoint.
            Err(CommitError::Taken { by, .. }) if by == id.to_string() => {}
            Err(CommitError::Taken { .. }) => return Err(ChangeEndpointError::UrlTaken),
            Err(CommitError::Stale) => {}
            Err(error) => return Err(StoreError::from(error).into()),
        }
    }
    Err(StoreError::contended().into())
}

/// Returns the changed endpoint and the change set; `None` if nothing changes. If an `actor` makes the change, the
/// change set contains a row of the audit log.
pub(crate) fn prepare(
    ports: &Ports,
    actor: Option<&Actor>,
    before: &Endpoint,
    requested: EndpointChange,
) -> Result<Option<(Endpoint, ChangeSet)>, ChangeEndpointError> {
    let after = match before.clone().change(requested) {
        Ok(EndpointStep::Taken(after)) => *after,
        Ok(EndpointStep::AlreadyTaken(_)) => return Ok(None),
        Err(EndpointError::Deleted) => return Err(ChangeEndpointError::NotFound),
    };
    let at = ports.clock.now();
    let mut change = update(&after, at);
    if after.url != before.url {
        change.reserve.push(reservation(&after, url_key(after.account, &after.url)));
        change.unreserve.push(url_key(before.account, &before.url));
    }
    let row = |actor| audited(ports, (actor, "webhook_endpoint.change"), Some(before), &after, at);
    change.writes.extend(actor.map(row));
    Ok(Some((after, change)))
}
