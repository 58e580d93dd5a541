//! Helpers that several use cases of endpoints share.

use cais_domain::ids::{AccountId, DeliveryId, EndpointId};
use cais_domain::merchant::webhook::{Endpoint, MAX_WAITING_REQUESTS, WebhookUrl};
use cais_ports::{Actor, ChangeSet, EndpointQueue, NewDelivery, Reservation, ReservationKey, SigningSecret, Write};
use jiff::Timestamp;

use super::error::SendAgainError;
use crate::audit::{self, AuditedChange};
use crate::ports::Ports;
use crate::store_error::StoreError;

/// Returns the account's endpoint. Returns `None` if the account has no such endpoint, or the endpoint was deleted.
pub(super) async fn visible(ports: &Ports, account: AccountId, id: EndpointId) -> Result<Option<Endpoint>, StoreError> {
    Ok(ports.queries.find_endpoint(account, id).await?.filter(Endpoint::is_visible))
}

/// Returns a change set that stores only the endpoint.
pub(super) fn update(endpoint: &Endpoint, at: Timestamp) -> ChangeSet {
    let mut change = ChangeSet::new(at);
    change.writes.push(Write::update(endpoint.clone()));
    change
}

/// Returns the endpoint with its next version, which the store assigns when it writes the endpoint.
pub(super) fn stored(endpoint: Endpoint) -> Endpoint {
    Endpoint { version: endpoint.version.saturating_add(1), ..endpoint }
}

/// Returns a reservation of `key` for the endpoint.
pub(super) fn reservation(endpoint: &Endpoint, key: ReservationKey) -> Reservation {
    Reservation { key, account: endpoint.account, owner: endpoint.id.to_string() }
}

/// Returns the row of the audit log for a change of an endpoint in the dashboard. `before` is `None` for a new
/// endpoint. If the change deletes the endpoint, the row has no state after the change.
pub(super) fn audited(
    ports: &Ports,
    (actor, action): (&Actor, &'static str),
    before: Option<&Endpoint>,
    after: &Endpoint,
    at: Timestamp,
) -> Write {
    let json = |endpoint: &Endpoint| ports.representation.endpoint(endpoint);
    let (before, after_json) = (before.map(json), after.is_visible().then(|| json(after)));
    let (subject, account) = (after.id.to_string(), Some(after.account));
    audit::record(ports, actor, at, AuditedChange { action, subject, account, before, after: after_json })
}

pub(super) fn url_key(account: AccountId, url: &WebhookUrl) -> ReservationKey {
    ReservationKey::EndpointUrl(account, url.clone())
}

pub(super) fn slot_key(account: AccountId, slot: u8) -> ReservationKey {
    ReservationKey::EndpointSlot(account, format!("{slot:02}"))
}

/// Returns a new random secret.
pub(super) fn new_secret(ports: &Ports) -> SigningSecret {
    let mut secret = SigningSecret([0; 32]);
    ports.keyed_hash.fill_random(&mut secret.0);
    secret
}

/// Queues the test deliveries or resends. If more than [`MAX_WAITING_REQUESTS`] would wait for one endpoint, queues
/// none of them and returns [`SendAgainError::TooMany`].
pub(super) async fn queue_requested(ports: &Ports, new: Vec<NewDelivery>) -> Result<Vec<DeliveryId>, SendAgainError> {
    let put = ports.deliveries.put(new, Some(MAX_WAITING_REQUESTS)).await.map_err(StoreError::from)?;
    put.ok_or(SendAgainError::TooMany)
}

/// Returns the queue of the deliveries to the endpoint.
pub(super) const fn queue(endpoint: &Endpoint) -> EndpointQueue {
    EndpointQueue { account: endpoint.account, endpoint: endpoint.id, epoch: endpoint.epoch }
}
