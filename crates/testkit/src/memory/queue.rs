//! The queue of deliveries of the store in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use cais_domain::event::EventType;
use cais_domain::ids::DeliveryId;
use cais_domain::merchant::webhook::{DeliveryStatus, Endpoint};
use cais_ports::{
    AttemptOutcome, ClaimedDelivery, DeliveredEvent, DeliveryClaim, DeliveryQueue, DueQueues, EndpointQueue,
    FinishedAttempt, Health, NewDelivery, QueryError,
};
use jiff::Timestamp;

use super::MemoryStore;
use super::deliveries::Row;
use super::queries::count;
use super::state::State;

/// The largest number of due deliveries that are counted.
const MAX_BACKLOG: u64 = 10_000;

#[async_trait]
impl DeliveryQueue for MemoryStore {
    async fn put(
        &self,
        deliveries: Vec<NewDelivery>,
        most: Option<u32>,
    ) -> Result<Option<Vec<DeliveryId>>, QueryError> {
        let queues: Vec<EndpointQueue> = deliveries.iter().map(|delivery| delivery.queue).collect();
        let mut state = self.read()?;
        if most.is_some_and(|most| queues.iter().any(|queue| state.would_wait(*queue, &deliveries) > count(most))) {
            return Ok(None);
        }
        let ids = deliveries.iter().map(|delivery| state.put(delivery)).collect();
        drop(state);
        self.hint(queues);
        Ok(Some(ids))
    }

    async fn due_queues(
        &self,
        now: Timestamp,
        after: Option<EndpointQueue>,
        limit: u32,
    ) -> Result<DueQueues, QueryError> {
        let mut state = self.read()?;
        for row in state.deliveries.values_mut() {
            row.correct_due_time(now);
        }
        let (mut since, mut backlog) = (BTreeMap::new(), 0_u64);
        for row in state.deliveries.values().filter(|row| state.is_active(row.queue())) {
            if let Some(due) = row.due_since(now) {
                let oldest = since.entry(row.queue()).or_insert(due);
                *oldest = due.min(*oldest);
                backlog = backlog.saturating_add(1).min(MAX_BACKLOG);
            }
        }
        let oldest_due_at = since.values().min().copied();
        let place = |queue: &EndpointQueue| (queue.endpoint, queue.epoch);
        let mut queues: Vec<EndpointQueue> = since.into_keys().collect();
        queues.sort_unstable_by_key(|queue| (after.is_some_and(|after| place(queue) <= place(&after)), place(queue)));
        let is_cut = queues.len() > count(limit);
        queues.truncate(count(limit));
        let next = queues.last().copied().filter(|_| is_cut);
        Ok(DueQueues { due: queues, next, backlog, oldest_due_at })
    }

    async fn claim(&self, claim: DeliveryClaim) -> Result<Vec<ClaimedDelivery>, QueryError> {
        let mut state = self.read()?;
        let (mut claimed, mut left) = (Vec::new(), count(claim.limit));
        for queue in claim.queues.iter().copied() {
            let of_queue = state.claim(queue, &claim, left);
            left = left.saturating_sub(of_queue.len());
            claimed.extend(of_queue);
        }
        Ok(claimed)
    }

    async fn finish(&self, finished: Vec<FinishedAttempt>) -> Result<(), QueryError> {
        let mut state = self.read()?;
        for attempt in finished {
            state.finish(attempt);
        }
        Ok(())
    }

    async fn cancel_stale(&self, limit: u32) -> Result<u64, QueryError> {
        let mut state = self.read()?;
        let pending = state.deliveries.values().filter(|row| row.status == DeliveryStatus::Pending);
        let stale = pending.filter(|row| !state.keeps_deliveries(row.queue())).take(count(limit));
        let stale: Vec<_> = stale.map(|row| row.key).collect();
        let mut cancelled = 0_u64;
        for key in stale {
            if let Some(row) = state.row_mut(key) {
                row.ends(DeliveryStatus::Cancelled);
                cancelled = cancelled.saturating_add(1);
            }
        }
        Ok(cancelled)
    }

    async fn clear_failures(&self, queue: EndpointQueue) -> Result<(), QueryError> {
        self.read()?.failing.remove(&(queue.endpoint, queue.epoch));
        Ok(())
    }

    async fn hinted(&self) -> Vec<EndpointQueue> {
        loop {
            let queues = std::mem::take(&mut *self.hints());
            if !queues.is_empty() {
                return queues.into_iter().collect();
            }
            self.hint.notified().await;
        }
    }
}

impl State {
    /// Returns the number of tests and resends that would wait in the queue, together with `new`.
    fn would_wait(&self, queue: EndpointQueue, new: &[NewDelivery]) -> usize {
        let new: BTreeSet<_> = new.iter().filter(|new| new.queue == queue).map(|new| new.event).collect();
        let waits = |row: &&Row| row.requested && row.status == DeliveryStatus::Pending && !new.contains(&row.event);
        self.rows_of(queue).filter(waits).count().saturating_add(new.len())
    }

    fn put(&mut self, delivery: &NewDelivery) -> DeliveryId {
        let EndpointQueue { account, endpoint, epoch } = delivery.queue;
        let known = self.deliveries.values_mut().find(|row| {
            let key = row.key;
            (key.account, key.endpoint, row.event) == (account, endpoint, delivery.event)
        });
        let Some(row) = known else {
            let row = Row { requested: true, ..Row::new(delivery) };
            let id = row.key.id;
            self.deliveries.insert(id, row);
            return id;
        };
        row.resend_requested = row.epoch == epoch && row.is_in_flight(delivery.at);
        row.status = DeliveryStatus::Pending;
        row.requested = true;
        row.epoch = epoch;
        row.tries = 0;
        if !row.resend_requested {
            row.due_at = Some(delivery.at);
            row.lease_until = None;
        }
        row.key.id
    }

    fn claim(&mut self, queue: EndpointQueue, claim: &DeliveryClaim, limit: usize) -> Vec<ClaimedDelivery> {
        let called = self.endpoint(queue.account, queue.endpoint).filter(|_| self.is_active(queue));
        let Some(endpoint) = called.cloned().map(Arc::new) else {
            return Vec::new();
        };
        let to_endpoint = self.deliveries.values().filter(|row| row.key.endpoint == queue.endpoint);
        let in_flight = to_endpoint.filter(|row| row.is_in_flight(claim.now)).count();
        let slots = count(claim.per_endpoint).saturating_sub(in_flight).min(count(claim.at_once)).min(limit);
        let due = self.rows_of(queue).filter_map(|row| Some((row.due_since(claim.now)?, row.key)));
        let mut due: Vec<_> = due.collect();
        due.sort_unstable();
        due.truncate(slots);
        due.into_iter().filter_map(|(_, key)| self.lease(key.id, &endpoint, claim.lease_until)).collect()
    }

    /// Claims the delivery; `None` if its event is not stored any more.
    fn lease(&mut self, id: DeliveryId, endpoint: &Arc<Endpoint>, until: Timestamp) -> Option<ClaimedDelivery> {
        let row = self.deliveries.get(&id)?;
        let mut of_account = self.events.get(&row.key.account).into_iter().flatten();
        let stored = of_account.find(|stored| stored.event.id == row.event);
        let event = if row.kind == EventType::WebhookTest {
            DeliveredEvent::Test { id: row.event, at: row.created_at }
        } else {
            DeliveredEvent::Stored(stored?.read())
        };
        let failing_since = self.failing.get(&(row.key.endpoint, row.epoch)).copied();
        let row = self.deliveries.get_mut(&id)?;
        row.fence = row.fence.saturating_add(1);
        row.due_at = Some(until);
        row.lease_until = Some(until);
        row.resend_requested = false;
        Some(ClaimedDelivery {
            key: row.key,
            fence: row.fence,
            tries: row.tries.saturating_add(1),
            event,
            endpoint: Arc::clone(endpoint),
            failing_since,
        })
    }

    fn finish(&mut self, finished: FinishedAttempt) {
        let FinishedAttempt { key, fence, epoch, attempt, outcome, health, .. } = finished;
        let (at, ended_at) = (attempt.at, attempt.ended_at());
        let Some(row) = self.row_mut(key) else { return };
        row.attempts.entry(fence).or_insert(attempt);
        let queue = row.queue();
        let stands = row.fence == fence && row.status == DeliveryStatus::Pending && row.lease_until.is_some();
        if !stands {
            return;
        }
        let kept = self.keeps_deliveries(queue);
        if let Some(row) = self.row_mut(key) {
            match outcome {
                AttemptOutcome::Succeeded | AttemptOutcome::Failed | AttemptOutcome::Retry { .. } if !kept => {
                    row.ends(DeliveryStatus::Cancelled);
                }
                AttemptOutcome::Succeeded | AttemptOutcome::Failed | AttemptOutcome::Retry { .. }
                    if row.resend_requested =>
                {
                    row.tries = 0;
                    row.due_at = Some(ended_at);
                    row.lease_until = None;
                    row.resend_requested = false;
                }
                AttemptOutcome::Succeeded => row.ends(DeliveryStatus::Succeeded),
                AttemptOutcome::Failed => row.ends(DeliveryStatus::Failed),
                AttemptOutcome::Retry { due_at } => {
                    row.tries = row.tries.saturating_add(1);
                    row.due_at = Some(due_at);
                    row.lease_until = None;
                }
            }
        }
        match health {
            Health::Unchanged => {}
            Health::Failing => {
                self.failing.entry((key.endpoint, epoch)).or_insert(at);
            }
            Health::Healthy => {
                self.failing.remove(&(key.endpoint, epoch));
            }
        }
    }
}
