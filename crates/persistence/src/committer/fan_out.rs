//! Who hears of an event: a delivery for each endpoint of its account that wants it, as the endpoints stand at that moment.

use std::collections::BTreeMap;

use cais_domain::ids::{AccountId, DeliveryId, EndpointId};
use cais_domain::webhook::Endpoint;
use cais_ports::{ChangeSet, Ids, Lane, NewDelivery, NewEvent, Write};
use jiff::Timestamp;

/// Endpoints of accounts that have events in a batch.
pub(crate) type Endpoints = BTreeMap<AccountId, BTreeMap<EndpointId, Endpoint>>;

/// The endpoints that a change set writes are for its own events, and for those after it, what it made of them.
pub(super) fn learn(endpoints: &mut Endpoints, change: &ChangeSet) {
    for write in &change.writes {
        if let Write::InsertEndpoint(endpoint) | Write::UpdateEndpoint(endpoint) = write
            && let Some(known) = endpoints.get_mut(&endpoint.account)
        {
            known.insert(endpoint.id, (**endpoint).clone());
        }
    }
}

/// The deliveries of an event that got its number.
pub(super) fn deliveries(
    endpoints: &Endpoints,
    event: &NewEvent,
    sequence: i64,
    at: Timestamp,
    ids: &dyn Ids,
) -> impl Iterator<Item = NewDelivery> {
    let known = endpoints.get(&event.account).into_iter().flat_map(BTreeMap::values);
    let hearing = known.filter(|endpoint| endpoint.subscribes_to(event.kind, event.postback.as_ref()));
    hearing.map(move |endpoint| NewDelivery {
        id: DeliveryId::new(ids.next_uuid()),
        lane: Lane { account: endpoint.account, endpoint: endpoint.id, epoch: endpoint.epoch },
        event: event.id,
        kind: event.kind,
        sequence: Some(sequence),
        body: None,
        at,
    })
}
