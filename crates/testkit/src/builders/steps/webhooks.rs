//! The change sets of a webhook endpoint's steps, and of events of any type.

use cais_domain::merchant::webhook::{Endpoint, EndpointState, EndpointStep};
use cais_ports::{ChangeSet, NewEvent, Reservation, ReservationKey, Write};
use jiff::Timestamp;

use super::super::records::start;
use super::write;

/// Returns the change set that stores the endpoint. The change set also reserves two values in the account: the
/// endpoint's address and its [slot](Endpoint::slot).
#[must_use]
pub fn open_endpoint(endpoint: &Endpoint) -> ChangeSet {
    let reserve = |key| Reservation { key, account: endpoint.account, owner: endpoint.id.to_string() };
    ChangeSet {
        reserve: keys(endpoint).into_iter().map(reserve).collect(),
        ..write(Write::insert(endpoint.clone()), endpoint.created_at)
    }
}

/// Returns the change set that updates the stored endpoint. `endpoint` must have the stored version.
#[must_use]
pub fn update_endpoint(endpoint: &Endpoint, at: Timestamp) -> ChangeSet {
    write(Write::update(endpoint.clone()), at)
}

/// Returns the change set that stores the effects of a step. A step that was taken before has no effects. Deletion
/// frees the address and the slot.
#[must_use]
pub fn move_endpoint(step: EndpointStep, at: Timestamp) -> ChangeSet {
    let EndpointStep::Taken(endpoint) = step else {
        return ChangeSet::new(at);
    };
    let deleted = matches!(endpoint.state, EndpointState::Deleted { .. });
    let unreserve = if deleted { keys(&endpoint).to_vec() } else { Vec::new() };
    ChangeSet { unreserve, ..update_endpoint(&endpoint, at) }
}

/// Returns the change set that publishes events without other effects.
#[must_use]
pub fn publish(events: Vec<NewEvent>) -> ChangeSet {
    let at = events.first().map_or_else(start, |event| event.at);
    ChangeSet { events, ..ChangeSet::new(at) }
}

fn keys(endpoint: &Endpoint) -> [ReservationKey; 2] {
    let slot = format!("{:02}", endpoint.slot);
    [
        ReservationKey::EndpointUrl(endpoint.account, endpoint.url.clone()),
        ReservationKey::EndpointSlot(endpoint.account, slot),
    ]
}
