//! Each event gets a delivery for every endpoint of its account that hears of it, in the commit of the event.

use cais_domain::webhook::Endpoint;
use cais_ports::{DeliveryKey, Lane, NewDelivery, NewEvent};
use jiff::Timestamp;

use super::deliveries::Row;
use super::state::{State, next_id};

impl State {
    /// Makes the deliveries of an event with that sequence number, and returns their lanes.
    pub(super) fn fan_out(&mut self, event: &NewEvent, sequence: i64, at: Timestamp) -> Vec<Lane> {
        let postback = event.postback.as_ref();
        let own = self.endpoints.values().filter(|endpoint| endpoint.account == event.account);
        let receivers = own.filter(|endpoint| endpoint.subscribes_to(event.kind, postback));
        let lanes: Vec<Lane> = receivers.map(lane).collect();
        for lane in lanes.iter().copied() {
            let (event, kind, sequence) = (event.id, event.kind, Some(sequence));
            let row = Row::new(NewDelivery { id: next_id(), lane, event, kind, sequence, body: None, at });
            self.deliveries.insert(row.key.id, row);
        }
        lanes
    }

    /// Whether the lane leads to an active endpoint in its present epoch.
    pub(super) fn is_called(&self, lane: Lane) -> bool {
        self.endpoint_of(lane).is_some_and(Endpoint::is_active)
    }

    /// Returns whether the deliveries of the lane are kept: its endpoint is active or inactive.
    pub(super) fn is_kept(&self, lane: Lane) -> bool {
        self.endpoint_of(lane).is_some_and(Endpoint::keeps_deliveries)
    }

    fn endpoint_of(&self, lane: Lane) -> Option<&Endpoint> {
        let found = self.endpoints.get(&lane.endpoint);
        found.filter(|endpoint| endpoint.account == lane.account && endpoint.epoch == lane.epoch)
    }

    /// Everything that waits in that lane or lies in it.
    pub(super) fn rows_of(&self, lane: Lane) -> impl Iterator<Item = &Row> {
        self.deliveries.values().filter(move |row| row.lane() == lane)
    }

    /// The delivery of that name.
    pub(super) fn row_mut(&mut self, key: DeliveryKey) -> Option<&mut Row> {
        self.deliveries.get_mut(&key.id).filter(|row| row.key == key)
    }
}

/// What waits for the endpoint now.
fn lane(endpoint: &Endpoint) -> Lane {
    Lane { account: endpoint.account, endpoint: endpoint.id, epoch: endpoint.epoch }
}
