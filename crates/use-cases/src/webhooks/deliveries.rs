//! Lists the deliveries to an endpoint, and sends a delivery again.

use cais_domain::event::EventType;
use cais_domain::ids::{AccountId, DeliveryId, EndpointId};
use cais_domain::merchant::account::Account;
use cais_domain::merchant::webhook::{DeliveryStatus, Endpoint};
use cais_ports::{Delivery, NewDelivery, Page, PageRequest};

use super::error::SendAgainError;
use super::records::{queue, queue_requested, visible};
use super::test;
use crate::ports::Ports;
use crate::store_error::StoreError;

/// The reason why no page of deliveries is returned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListDeliveriesError {
    /// The account has no endpoint with this id.
    #[error("the webhook endpoint does not exist")]
    NotFound,
    /// The cursor is not a delivery of this endpoint.
    #[error("`starting_after` names no delivery to this endpoint")]
    UnknownCursor,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns a page of the deliveries to the account's endpoint. The newest come first.
///
/// # Errors
/// [`ListDeliveriesError`].
pub async fn list(
    ports: &Ports,
    account: AccountId,
    endpoint: EndpointId,
    page: PageRequest<DeliveryId>,
) -> Result<Page<Delivery>, ListDeliveriesError> {
    visible(ports, account, endpoint).await?.ok_or(ListDeliveriesError::NotFound)?;
    if let Some(cursor) = page.starting_after
        && ports.queries.find_delivery(account, endpoint, cursor).await.map_err(StoreError::from)?.is_none()
    {
        return Err(ListDeliveriesError::UnknownCursor);
    }
    Ok(ports.queries.list_deliveries(account, endpoint, page).await.map_err(StoreError::from)?)
}

/// Sends a delivery again. The delivery is due at once, and its schedule of attempts starts again. If an attempt is in
/// flight, the delivery is due when that attempt ends.
///
/// # Errors
/// [`SendAgainError`]. The endpoint must be active, and the delivery must not be cancelled.
pub async fn resend(
    ports: &Ports,
    account: &Account,
    endpoint: EndpointId,
    id: DeliveryId,
) -> Result<Delivery, SendAgainError> {
    account.permit_write()?;
    let endpoint = visible(ports, account.id, endpoint).await?.ok_or(SendAgainError::NotFound)?;
    let delivery = read(ports, &endpoint, id).await?;
    if !endpoint.is_active() {
        return Err(SendAgainError::NotActive(endpoint.state.as_str()));
    }
    if delivery.status == DeliveryStatus::Cancelled {
        return Err(SendAgainError::Cancelled);
    }
    let again = again(ports, &endpoint, &delivery).await?;
    queue_requested(ports, vec![again]).await?;
    read(ports, &endpoint, id).await
}

async fn read(ports: &Ports, endpoint: &Endpoint, id: DeliveryId) -> Result<Delivery, SendAgainError> {
    let found = ports.queries.find_delivery(endpoint.account, endpoint.id, id).await.map_err(StoreError::from)?;
    found.ok_or(SendAgainError::NotFound)
}

async fn again(ports: &Ports, endpoint: &Endpoint, delivery: &Delivery) -> Result<NewDelivery, SendAgainError> {
    if delivery.kind == EventType::WebhookTest {
        return Ok(test::delivery(endpoint, delivery.id, delivery.event, delivery.created_at));
    }
    let event = ports.queries.find_event(endpoint.account, delivery.event).await.map_err(StoreError::from)?;
    let event = event.ok_or(SendAgainError::NotFound)?;
    Ok(NewDelivery {
        id: delivery.id,
        queue: queue(endpoint),
        event: event.id,
        kind: event.kind,
        sequence: Some(event.sequence),
        at: ports.clock.now(),
    })
}
