//! Changes an endpoint: its address, its subscription, its description, or whether it is active.

use cais_domain::ids::EndpointId;
use cais_domain::merchant::account::{Account, NotPermitted};
use cais_domain::merchant::webhook::{
    Endpoint, EndpointChange, EndpointError, EndpointState, EndpointStep, WebhookUrl,
};
use cais_ports::{ChangeSet, CommitError, Operator, UrlRefusal};

use super::records::{audited, of, queue, stored, update, url_key, visible};
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
    asked: EndpointChange,
) -> Result<Endpoint, ChangeEndpointError> {
    run(ports, None, account, id, asked).await
}

/// Works like [`change`], for an operator in the dashboard. The change has a row in the audit log.
///
/// # Errors
/// The errors of [`change`].
pub async fn change_by(
    ports: &Ports,
    operator: &Operator,
    account: &Account,
    id: EndpointId,
    asked: EndpointChange,
) -> Result<Endpoint, ChangeEndpointError> {
    run(ports, Some(operator), account, id, asked).await
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
    operator: Option<&Operator>,
    account: &Account,
    id: EndpointId,
    asked: EndpointChange,
) -> Result<Endpoint, ChangeEndpointError> {
    account.permit_write()?;
    let mut vetted: Option<WebhookUrl> = None;
    for _ in 0..MAX_COMMIT_RETRIES {
        let before = visible(ports, account.id, id).await?.ok_or(ChangeEndpointError::NotFound)?;
        let Some((after, change)) = prepare(ports, operator, &before, asked.clone())? else { return Ok(before) };
        let is_new = after.url != before.url || (after.is_active() && !before.is_active());
        if is_new && vetted.as_ref() != Some(&after.url) {
            ports.webhooks.vet(&after.url).await?;
            vetted = Some(after.url.clone());
        }
        if after.is_active() && before.state == EndpointState::Inactive {
            ports.deliveries.forget_failures(queue(&after)).await.map_err(StoreError::from)?;
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

/// Returns the changed endpoint and the change set; `None` if nothing changes. If an `operator` makes the change, the
/// change set contains a row of the audit log.
pub(crate) fn prepare(
    ports: &Ports,
    operator: Option<&Operator>,
    before: &Endpoint,
    asked: EndpointChange,
) -> Result<Option<(Endpoint, ChangeSet)>, ChangeEndpointError> {
    let after = match before.clone().change(asked) {
        Ok(EndpointStep::Taken(after)) => *after,
        Ok(EndpointStep::AlreadyTaken(_)) => return Ok(None),
        Err(EndpointError::Deleted) => return Err(ChangeEndpointError::NotFound),
    };
    let at = ports.clock.now();
    let mut change = update(&after, at);
    if after.url != before.url {
        change.reserve.push(of(&after, url_key(after.account, &after.url)));
        change.unreserve.push(url_key(before.account, &before.url));
    }
    let row = |operator| audited(ports, (operator, "webhook_endpoint.change"), Some(before), &after, at);
    change.writes.extend(operator.map(row));
    Ok(Some((after, change)))
}
