//! Tests an endpoint with an event. Only this endpoint receives the event, and no list of events contains it.

use cais_domain::event::EventType;
use cais_domain::ids::{DeliveryId, EndpointId, EventId};
use cais_domain::merchant::account::Account;
use cais_domain::merchant::webhook::{DeliveryStatus, Endpoint};
use cais_ports::{Delivery, NewDelivery};
use jiff::Timestamp;

use super::error::SendAgainError;
use super::records::{queue, queue_requested, visible};
use crate::ports::Ports;

/// Sends a test event to the endpoint. Its delivery is due at once and has only one attempt.
///
/// # Errors
/// [`SendAgainError`]. The endpoint must be active.
pub async fn test(ports: &Ports, account: &Account, id: EndpointId) -> Result<Delivery, SendAgainError> {
    account.permit_write()?;
    let endpoint = visible(ports, account.id, id).await?.ok_or(SendAgainError::NotFound)?;
    if !endpoint.is_active() {
        return Err(SendAgainError::NotActive(endpoint.state.as_str()));
    }
    let now = ports.clock.now();
    let new_id = DeliveryId::new(ports.ids.next_uuid());
    let new = delivery(&endpoint, new_id, EventId::new(ports.ids.next_uuid()), now);
    let event = new.event;
    let ids = queue_requested(ports, vec![new]).await?;
    Ok(Delivery {
        id: ids.first().copied().unwrap_or(new_id),
        endpoint: id,
        event,
        kind: EventType::WebhookTest,
        status: DeliveryStatus::Pending,
        attempts: Vec::new(),
        next_attempt_at: Some(now),
        created_at: now,
    })
}

/// Returns a new delivery of a test event. `id` is the id of the delivery, and `event` the id of the test event.
pub(super) fn delivery(endpoint: &Endpoint, id: DeliveryId, event: EventId, at: Timestamp) -> NewDelivery {
    NewDelivery { id, queue: queue(endpoint), event, kind: EventType::WebhookTest, sequence: None, at }
}
