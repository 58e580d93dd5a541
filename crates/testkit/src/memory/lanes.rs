//! The deliveries of a lane, and the endpoint that the lane leads to.

use cais_domain::webhook::Endpoint;
use cais_ports::{DeliveryKey, Lane};

use super::deliveries::Row;
use super::state::State;

impl State {
    /// Returns whether the lane leads to an active endpoint in its present epoch.
    pub(super) fn is_called(&self, lane: Lane) -> bool {
        self.endpoint_of(lane).is_some_and(Endpoint::is_active)
    }

    /// Returns whether the deliveries of the lane are kept: its endpoint is active or inactive.
    pub(super) fn is_kept(&self, lane: Lane) -> bool {
        self.endpoint_of(lane).is_some_and(Endpoint::keeps_deliveries)
    }

    fn endpoint_of(&self, lane: Lane) -> Option<&Endpoint> {
        self.endpoint(lane.account, lane.endpoint).filter(|endpoint| endpoint.epoch == lane.epoch)
    }

    /// Returns every delivery of the lane, pending or ended.
    pub(super) fn rows_of(&self, lane: Lane) -> impl Iterator<Item = &Row> {
        self.deliveries.values().filter(move |row| row.lane() == lane)
    }

    /// Returns the delivery with that key.
    pub(super) fn row_mut(&mut self, key: DeliveryKey) -> Option<&mut Row> {
        self.deliveries.get_mut(&key.id).filter(|row| row.key == key)
    }
}
