//! Sends an event again to each endpoint that had a delivery of it, or that subscribes to its type now.

use cais_domain::ids::{DeliveryId, EventId};
use cais_domain::merchant::account::Account;
use cais_domain::merchant::webhook::{DeliveryStatus, Endpoint, MAX_ENDPOINTS};
use cais_ports::{Delivery, NewDelivery, PageRequest, StoredEvent};
use jiff::Timestamp;

use super::error::SendAgainError;
use super::records::{self, queue};
use crate::ports::Ports;
use crate::store_error::StoreError;

/// Sends the event again with the same bytes. The receivers are the active endpoints that had a delivery of the event,
/// or that subscribe to its type now. An endpoint whose delivery of the event was cancelled is not a receiver. Returns
/// the deliveries to the receivers.
///
/// # Errors
/// [`SendAgainError`]. If there is no receiver, the error is `NoReceiver`. If one receiver would exceed its limit of
/// waiting tests and resends, the error is `TooMany`, and nothing is sent to any receiver.
pub async fn resend_event(ports: &Ports, account: &Account, event: EventId) -> Result<Vec<Delivery>, SendAgainError> {
    account.permit_write()?;
    let event = ports.queries.find_event(account.id, event).await.map_err(StoreError::from)?;
    let event = event.ok_or(SendAgainError::NotFound)?;
    let before = ports.queries.list_deliveries_of_event(account.id, event.id).await.map_err(StoreError::from)?;
    let all = PageRequest { limit: u32::from(MAX_ENDPOINTS), starting_after: None };
    let endpoints = ports.queries.list_endpoints(account.id, all).await.map_err(StoreError::from)?.rows;
    let now = ports.clock.now();
    let new: Vec<NewDelivery> = endpoints
        .iter()
        .filter(|endpoint| receives(endpoint, &event, &before))
        .map(|endpoint| delivery(endpoint, &event, DeliveryId::new(ports.ids.next_uuid()), now))
        .collect();
    if new.is_empty() {
        return Err(SendAgainError::NoReceiver);
    }
    let queued = records::queue_requested(ports, new).await?;
    let after = ports.queries.list_deliveries_of_event(account.id, event.id).await.map_err(StoreError::from)?;
    Ok(after.into_iter().filter(|delivery| queued.contains(&delivery.id)).collect())
}

fn receives(endpoint: &Endpoint, event: &StoredEvent, before: &[Delivery]) -> bool {
    let had = before.iter().find(|delivery| delivery.endpoint == endpoint.id);
    let is_recipient = had.map_or_else(
        || endpoint.subscription.includes(event.kind),
        |delivery| delivery.status != DeliveryStatus::Cancelled,
    );
    endpoint.is_active() && is_recipient
}

fn delivery(endpoint: &Endpoint, event: &StoredEvent, id: DeliveryId, at: Timestamp) -> NewDelivery {
    NewDelivery { id, queue: queue(endpoint), event: event.id, kind: event.kind, sequence: Some(event.sequence), at }
}
