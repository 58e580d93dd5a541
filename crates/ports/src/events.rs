//! Queries of events, endpoints and deliveries.

use async_trait::async_trait;
use cais_domain::event::EventType;
use cais_domain::ids::{AccountId, DeliveryId, EndpointId, EventId};
use cais_domain::merchant::webhook::{DeliveryStatus, Endpoint, WebhookUrl};
use jiff::Timestamp;

use crate::deliveries::{DeliveryAttempt, EndpointQueue};
use crate::page::{Page, PageRequest};
use crate::queries::QueryError;

/// A stored event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// The public identifier.
    pub id: EventId,
    /// The sequence number in the account, from 1 without a gap.
    pub sequence: i64,
    /// The type.
    pub kind: EventType,
    /// The resource at that instant, as [`crate::ResourceRenderer`] renders it.
    pub data: Vec<u8>,
    /// The instant of the event.
    pub created_at: Timestamp,
}

/// The filter of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EventFilter {
    /// The type.
    pub kind: Option<EventType>,
    /// Events after a sequence number, oldest first; `None` lists the newest first.
    pub after_sequence: Option<i64>,
}

/// The requested page of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventPage {
    /// The largest number of rows.
    pub limit: u32,
    /// The last row of the previous page, in the order of the filter.
    pub starting_after: Option<EventId>,
}

/// A delivery of an event to an endpoint, with its attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The public identifier.
    pub id: DeliveryId,
    /// The endpoint.
    pub endpoint: EndpointId,
    /// The event.
    pub event: EventId,
    /// The event's type.
    pub kind: EventType,
    /// The status. A pending delivery of an earlier epoch of its endpoint is cancelled.
    pub status: DeliveryStatus,
    /// The attempts, oldest first; at most the last 50.
    pub attempts: Vec<DeliveryAttempt>,
    /// The instant of the next attempt; `None` unless pending.
    pub next_attempt_at: Option<Timestamp>,
    /// The instant of creation.
    pub created_at: Timestamp,
}

/// The recent deliveries of an endpoint, in two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EndpointActivity {
    /// The number of waiting deliveries, counted to [`EndpointActivity::MOST_WAITING`].
    pub waiting: u64,
    /// The beginning of the latest successful attempt among the newest [`EndpointActivity::RECENT`] deliveries.
    pub last_success: Option<Timestamp>,
}

impl EndpointActivity {
    /// The limit of the count, which keeps counting cheap. A greater number means the same to a merchant.
    pub const MOST_WAITING: u32 = 1_000;
    /// The number of newest deliveries that are read. The limit keeps the read cheap at an endpoint that fails for days.
    pub const RECENT: u32 = 100;
}

/// Webhook endpoints.
#[async_trait]
pub trait EndpointQueries: Send + Sync {
    /// Returns an endpoint of the account, in any state.
    async fn find_endpoint(&self, account: AccountId, id: EndpointId) -> Result<Option<Endpoint>, QueryError>;
    /// Returns the account's endpoint with this address that is not deleted.
    async fn find_endpoint_by_url(&self, account: AccountId, url: &WebhookUrl) -> Result<Option<Endpoint>, QueryError>;
    /// Lists the visible endpoints of the account, newest first.
    async fn list_endpoints(
        &self,
        account: AccountId,
        page: PageRequest<EndpointId>,
    ) -> Result<Page<Endpoint>, QueryError>;
    /// Returns the instant since which every attempt in the queue failed; `None` if the last one succeeded.
    async fn failing_since(&self, queue: EndpointQueue) -> Result<Option<Timestamp>, QueryError>;
    /// Returns the number of waiting deliveries and the latest success of the queue's endpoint.
    async fn endpoint_activity(&self, queue: EndpointQueue) -> Result<EndpointActivity, QueryError>;
}

/// Events.
#[async_trait]
pub trait EventQueries: Send + Sync {
    /// Returns an event of the account.
    async fn find_event(&self, account: AccountId, id: EventId) -> Result<Option<StoredEvent>, QueryError>;
    /// Lists the account's events in the order of the filter, by sequence number.
    async fn list_events(
        &self,
        account: AccountId,
        filter: EventFilter,
        page: EventPage,
    ) -> Result<Page<StoredEvent>, QueryError>;
    /// Lists the first events of a resource of the account, by its public id, oldest first.
    async fn list_events_of(
        &self,
        account: AccountId,
        resource: &str,
        limit: u32,
    ) -> Result<Vec<StoredEvent>, QueryError>;
}

/// Deliveries.
#[async_trait]
pub trait DeliveryQueries: Send + Sync {
    /// Returns a delivery to an endpoint of the account.
    async fn find_delivery(
        &self,
        account: AccountId,
        endpoint: EndpointId,
        id: DeliveryId,
    ) -> Result<Option<Delivery>, QueryError>;
    /// Lists the deliveries to an endpoint of the account, newest first.
    async fn list_deliveries(
        &self,
        account: AccountId,
        endpoint: EndpointId,
        page: PageRequest<DeliveryId>,
    ) -> Result<Page<Delivery>, QueryError>;
    /// Lists the deliveries of an event, oldest first: at most one per endpoint that the account ever had.
    async fn list_deliveries_of_event(&self, account: AccountId, event: EventId) -> Result<Vec<Delivery>, QueryError>;
}
