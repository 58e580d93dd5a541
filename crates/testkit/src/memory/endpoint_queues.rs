//! The deliveries of a queue, and the endpoint that the queue leads to.

use cais_domain::merchant::webhook::Endpoint;
use cais_ports::{DeliveryKey, EndpointQueue};

use super::deliveries::Row;
use super::state::State;

impl State {
    /// Returns whether the queue leads to an active endpoint in its current epoch.
    pub(super) fn is_active(&self, queue: EndpointQueue) -> bool {
        self.endpoint_of(queue).is_some_and(Endpoint::is_active)
    }

    /// Returns whether the deliveries of the queue are kept: its endpoint is active or inactive.
    pub(super) fn keeps_deliveries(&self, queue: EndpointQueue) -> bool {
        self.endpoint_of(queue).is_some_and(Endpoint::keeps_deliveries)
    }

    fn endpoint_of(&self, queue: EndpointQueue) -> Option<&Endpoint> {
        self.endpoint(queue.account, queue.endpoint).filter(|endpoint| endpoint.epoch == queue.epoch)
    }

    /// Returns every delivery of the queue, pending or ended.
    pub(super) fn rows_of(&self, queue: EndpointQueue) -> impl Iterator<Item = &Row> {
        self.deliveries.values().filter(move |row| row.queue() == queue)
    }

    /// Returns the delivery with that key.
    pub(super) fn row_mut(&mut self, key: DeliveryKey) -> Option<&mut Row> {
        self.deliveries.get_mut(&key.id).filter(|row| row.key == key)
    }
}
