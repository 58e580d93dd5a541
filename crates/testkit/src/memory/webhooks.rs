//! Reads endpoints and events of the store in memory.

use async_trait::async_trait;
use cais_domain::ids::{AccountId, EndpointId, EventId};
use cais_domain::merchant::webhook::{DeliveryStatus, Endpoint, WebhookUrl};
use cais_ports::{
    EndpointActivity, EndpointQueries, EndpointQueue, EventFilter, EventPage, EventQueries, Page, PageRequest,
    QueryError,
};
use jiff::Timestamp;

use super::MemoryStore;
use super::deliveries::Row;
use super::queries::{count, cut};
use super::state::StoredEvent;

#[async_trait]
impl EndpointQueries for MemoryStore {
    async fn find_endpoint_by_url(&self, account: AccountId, url: &WebhookUrl) -> Result<Option<Endpoint>, QueryError> {
        let state = self.read()?;
        let mut own = state.endpoints_of(account).filter(|endpoint| endpoint.is_visible());
        Ok(own.find(|endpoint| endpoint.url == *url).cloned())
    }

    async fn list_endpoints(
        &self,
        account: AccountId,
        page: PageRequest<EndpointId>,
    ) -> Result<Page<Endpoint>, QueryError> {
        let state = self.read()?;
        let visible = state.endpoints_of(account).rev().filter(|endpoint| endpoint.is_visible());
        Ok(cut(visible.cloned(), page, |endpoint| endpoint.id))
    }

    async fn failing_since(&self, queue: EndpointQueue) -> Result<Option<Timestamp>, QueryError> {
        let state = self.read()?;
        let own = state.endpoint(queue.account, queue.endpoint).is_some();
        Ok(state.failing.get(&(queue.endpoint, queue.epoch)).filter(|_| own).copied())
    }

    async fn endpoint_activity(&self, queue: EndpointQueue) -> Result<EndpointActivity, QueryError> {
        let state = self.read()?;
        let own = || state.deliveries.values().rev().filter(|row| row.key.endpoint == queue.endpoint);
        let waits = |row: &&Row| row.status == DeliveryStatus::Pending && row.epoch == queue.epoch;
        let waiting = own().filter(waits).take(count(EndpointActivity::MOST_WAITING)).count();
        let newest = own().filter(|row| row.key.account == queue.account).take(count(EndpointActivity::RECENT));
        let successes = newest.flat_map(|row| row.attempts.values()).filter(|attempt| attempt.error.is_none());
        let last_success = successes.map(|attempt| attempt.at).max();
        Ok(EndpointActivity { waiting: u64::try_from(waiting).unwrap_or(u64::MAX), last_success })
    }
}

#[async_trait]
impl EventQueries for MemoryStore {
    async fn find_event(&self, account: AccountId, id: EventId) -> Result<Option<cais_ports::StoredEvent>, QueryError> {
        let state = self.read()?;
        let events = state.events.get(&account).map_or(&[][..], Vec::as_slice);
        Ok(events.iter().find(|stored| stored.event.id == id).map(StoredEvent::read))
    }

    async fn list_events(
        &self,
        account: AccountId,
        filter: EventFilter,
        page: EventPage,
    ) -> Result<Page<cais_ports::StoredEvent>, QueryError> {
        let state = self.read()?;
        let mut events: Vec<&StoredEvent> = state.events.get(&account).into_iter().flatten().collect();
        if filter.after_sequence.is_none() {
            events.reverse();
        }
        if let Some(cursor) = page.starting_after {
            let place = events.iter().position(|stored| stored.event.id == cursor);
            let passed = place.map_or(events.len(), |place| place.saturating_add(1));
            events.drain(..passed);
        }
        events.retain(|stored| filter.kind.is_none_or(|kind| kind == stored.event.kind));
        events.retain(|stored| filter.after_sequence.is_none_or(|after| stored.sequence > after));
        let has_more = events.len() > count(page.limit);
        let rows = events.into_iter().take(count(page.limit)).map(StoredEvent::read).collect();
        Ok(Page { rows, has_more })
    }

    async fn list_events_of(
        &self,
        account: AccountId,
        resource: &str,
        limit: u32,
    ) -> Result<Vec<cais_ports::StoredEvent>, QueryError> {
        let state = self.read()?;
        let events = state.events.get(&account).into_iter().flatten();
        let own = events.filter(|stored| stored.event.resource == resource);
        Ok(own.take(count(limit)).map(StoredEvent::read).collect())
    }
}
