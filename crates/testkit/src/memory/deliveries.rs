//! Deliveries of the store in memory, and their reads.

use std::collections::BTreeMap;

use async_trait::async_trait;
use cais_domain::event::EventType;
use cais_domain::ids::{AccountId, DeliveryId, EndpointId, EventId};
use cais_domain::merchant::webhook::{DeliveryStatus, MAX_RETRY_PAUSE};
use cais_ports::{
    DELIVERY_LEASE, Delivery, DeliveryAttempt, DeliveryKey, DeliveryQueries, Due, EndpointQueue, NewDelivery, Page,
    PageRequest, QueryError,
};
use jiff::Timestamp;

use super::MemoryStore;
use super::queries::cut;
use super::state::State;

/// The largest number of attempts that a read of a delivery returns: the newest ones.
const MAX_ATTEMPTS: usize = 50;

/// A stored delivery.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) key: DeliveryKey,
    pub(super) epoch: i64,
    pub(super) event: EventId,
    pub(super) kind: EventType,
    pub(super) status: DeliveryStatus,
    pub(super) tries: u32,
    pub(super) fence: i64,
    /// The instant from which the delivery can be claimed. For a claimed delivery, this is the end of its lease. `None` if
    /// the delivery is not pending.
    pub(super) due_at: Option<Timestamp>,
    pub(super) lease_until: Option<Timestamp>,
    /// `true` if a resend follows when the attempt in flight ends.
    pub(super) resend_requested: bool,
    /// `true` while a requested test or resend is pending, `false` for the delivery of a new event.
    pub(super) requested: bool,
    pub(super) created_at: Timestamp,
    /// The attempts. The key is the fence of the claim that began the attempt.
    pub(super) attempts: BTreeMap<i64, DeliveryAttempt>,
}

impl Row {
    pub(super) fn new(delivery: &NewDelivery) -> Self {
        let EndpointQueue { account, endpoint, epoch } = delivery.queue;
        Self {
            key: DeliveryKey { account, endpoint, id: delivery.id },
            epoch,
            event: delivery.event,
            kind: delivery.kind,
            status: DeliveryStatus::Pending,
            tries: 0,
            fence: 0,
            due_at: Some(delivery.at),
            lease_until: None,
            resend_requested: false,
            requested: false,
            created_at: delivery.at,
            attempts: BTreeMap::new(),
        }
    }

    pub(super) const fn queue(&self) -> EndpointQueue {
        EndpointQueue { account: self.key.account, endpoint: self.key.endpoint, epoch: self.epoch }
    }

    pub(super) fn is_in_flight(&self, now: Timestamp) -> bool {
        self.lease_until.is_some_and(|until| until > now)
    }

    /// Returns the instant since which the delivery waits for a claim. Returns `None` if the delivery does not wait.
    pub(super) fn due_since(&self, now: Timestamp) -> Option<Timestamp> {
        let pending = self.status == DeliveryStatus::Pending;
        self.due_at.filter(|due| pending && *due <= now)
    }

    /// Makes the delivery due at `now` if only a clock that was ahead can have written its due time.
    pub(super) fn correct_due_time(&mut self, now: Timestamp) {
        let longest = self.lease_until.map_or(MAX_RETRY_PAUSE, |_| DELIVERY_LEASE);
        if self.due_at.is_some_and(|due| due > Due::new(now, longest).beyond()) {
            self.due_at = Some(now);
            self.lease_until = self.lease_until.map(|_| now);
        }
    }

    /// Ends the delivery with that status.
    pub(super) const fn ends(&mut self, status: DeliveryStatus) {
        self.status = status;
        self.due_at = None;
        self.lease_until = None;
        self.resend_requested = false;
        self.requested = false;
    }

    fn shown(&self, state: &State) -> Delivery {
        let stale = self.status == DeliveryStatus::Pending && !state.keeps_deliveries(self.queue());
        let hidden = self.attempts.len().saturating_sub(MAX_ATTEMPTS);
        Delivery {
            id: self.key.id,
            endpoint: self.key.endpoint,
            event: self.event,
            kind: self.kind,
            status: if stale { DeliveryStatus::Cancelled } else { self.status },
            attempts: self.attempts.values().skip(hidden).cloned().collect(),
            next_attempt_at: self.due_at.filter(|_| state.is_active(self.queue())),
            created_at: self.created_at,
        }
    }
}

#[async_trait]
impl DeliveryQueries for MemoryStore {
    async fn find_delivery(
        &self,
        account: AccountId,
        endpoint: EndpointId,
        id: DeliveryId,
    ) -> Result<Option<Delivery>, QueryError> {
        let state = self.read()?;
        let row = state.deliveries.get(&id).filter(|row| row.key == DeliveryKey { account, endpoint, id });
        Ok(row.map(|row| row.shown(&state)))
    }

    async fn list_deliveries(
        &self,
        account: AccountId,
        endpoint: EndpointId,
        page: PageRequest<DeliveryId>,
    ) -> Result<Page<Delivery>, QueryError> {
        let state = self.read()?;
        let newest_first = state.deliveries.values().rev();
        let own = newest_first.filter(|row| row.key.account == account && row.key.endpoint == endpoint);
        Ok(cut(own.map(|row| row.shown(&state)), page, |delivery| delivery.id))
    }

    async fn list_deliveries_of_event(&self, account: AccountId, event: EventId) -> Result<Vec<Delivery>, QueryError> {
        let state = self.read()?;
        let own = state.deliveries.values().filter(|row| row.key.account == account && row.event == event);
        Ok(own.map(|row| row.shown(&state)).collect())
    }
}
