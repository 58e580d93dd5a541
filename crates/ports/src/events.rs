//! Queries of events, endpoints and deliveries.

use async_trait::async_trait;
use cais_domain::event::EventType;
use cais_domain::ids::{AccountId, DeliveryId, EndpointId, EventId};
use cais_domain::merchant::webhook::{DeliveryStatus, Endpoint, WebhookUrl};
use jiff::Timestamp;

use crate::deliveries::{DeliveryAttempt, EndpointQueue};
use crate::page::{Page, PageRequest};
use crate::queries::QueryError;
use crate::record::{RecordKey, RecordQueries};

/// A stored event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// The public identifier.
    pub id: EventId,
    /// The sequence number in the account. The numbers start at 1 and have no gaps.
    pub sequence: i64,
    /// The type of the event.
    pub kind: EventType,
    /// The resource at the instant of the event, as [`crate::ResourceRenderer`] renders it.
    pub data: Vec<u8>,
    /// The instant of the event.
    pub created_at: Timestamp,
}

/// The filter of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EventFilter {
    /// The type. `None` stands for every type.
    pub kind: Option<EventType>,
    /// The sequence number after which the list starts; the oldest events come first. With `None`, the newest events
    /// come first.
    pub after_sequence: Option<i64>,
}

/// The requested page of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventPage {
    /// The largest number of rows.
    pub limit: u32,
    /// The last event of the previous page. `None` for the first page. The filter decides the order.
    pub starting_after: Option<EventId>,
}

/// A delivery of an event to an endpoint, with its attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The public identifier.
    pub id: DeliveryId,
    /// The endpoint that receives the delivery.
    pub endpoint: EndpointId,
    /// The delivered event.
    pub event: EventId,
    /// The event's type.
    pub kind: EventType,
    /// The status. A pending delivery counts as cancelled if its endpoint is disabled, is deleted, or has a later
    /// epoch.
    pub status: DeliveryStatus,
    /// The attempts, at most the last 50. The oldest comes first.
    pub attempts: Vec<DeliveryAttempt>,
    /// The instant of the next attempt; during an attempt, the end of its lease. `None` if the delivery is not pending,
    /// or waits for an inactive endpoint.
    pub next_attempt_at: Option<Timestamp>,
    /// The instant of creation.
    pub created_at: Timestamp,
}

/// The recent activity of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EndpointActivity {
    /// The number of pending deliveries in the endpoint's queue. The count stops at [`EndpointActivity::MOST_WAITING`].
    pub waiting: u64,
    /// The start of the latest successful attempt. Only the newest [`EndpointActivity::RECENT`] deliveries are read.
    /// `None` if none of them succeeded.
    pub last_success: Option<Timestamp>,
}

impl EndpointActivity {
    /// The limit of the count, which keeps counting cheap. A higher number would not change what a merchant does.
    pub const MOST_WAITING: u32 = 1_000;
    /// The number of newest deliveries that are read. This limit keeps the read cheap if an endpoint has failed for
    /// days.
    pub const RECENT: u32 = 100;
}

/// Webhook endpoints.
#[async_trait]
pub trait EndpointQueries: RecordQueries {
    /// Returns an endpoint of the account, in any state.
    async fn find_endpoint(&self, account: AccountId, id: EndpointId) -> Result<Option<Endpoint>, QueryError> {
        self.find_record(RecordKey::Endpoint { account, id }).await?.map(TryInto::try_into).transpose()
    }
    /// Returns the account's endpoint with this address. Deleted endpoints are ignored.
    async fn find_endpoint_by_url(&self, account: AccountId, url: &WebhookUrl) -> Result<Option<Endpoint>, QueryError>;
    /// Lists the endpoints of the account that are not deleted. The newest come first.
    async fn list_endpoints(
        &self,
        account: AccountId,
        page: PageRequest<EndpointId>,
    ) -> Result<Page<Endpoint>, QueryError>;
    /// Returns the instant since which every attempt in the queue failed. Returns `None` if the last attempt succeeded,
    /// or there was none.
    async fn failing_since(&self, queue: EndpointQueue) -> Result<Option<Timestamp>, QueryError>;
    /// Returns the number of pending deliveries in the queue, and the latest success of its endpoint.
    async fn endpoint_activity(&self, queue: EndpointQueue) -> Result<EndpointActivity, QueryError>;
}

/// Events.
#[async_trait]
pub trait EventQueries: Send + Sync {
    /// Returns an event of the account.
    async fn find_event(&self, account: AccountId, id: EventId) -> Result<Option<StoredEvent>, QueryError>;
    /// Lists the account's events by sequence number. The filter decides the order.
    async fn list_events(
        &self,
        account: AccountId,
        filter: EventFilter,
        page: EventPage,
    ) -> Result<Page<StoredEvent>, QueryError>;
    /// Lists the first `limit` events of the account's resource with this public id. The oldest come first.
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
    /// Lists the deliveries to an endpoint of the account. The newest come first.
    async fn list_deliveries(
        &self,
        account: AccountId,
        endpoint: EndpointId,
        page: PageRequest<DeliveryId>,
    ) -> Result<Page<Delivery>, QueryError>;
    /// Lists the deliveries of an event. The oldest come first. There is at most one for each endpoint that the account
    /// ever had. A list has at most 200 deliveries.
    async fn list_deliveries_of_event(&self, account: AccountId, event: EventId) -> Result<Vec<Delivery>, QueryError>;
}
