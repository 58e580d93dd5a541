//! Reading what consumers were told: events, endpoints, and how deliveries went.

use async_trait::async_trait;
use cais_domain::event::EventType;
use cais_domain::ids::{AccountId, DeliveryId, EndpointId, EventId};
use cais_domain::webhook::{DeliveryStatus, Endpoint, WebhookUrl};
use jiff::Timestamp;

use crate::deliveries::{DeliveryAttempt, Lane};
use crate::page::{Page, PageRequest};
use crate::queries::QueryError;

/// An event as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// Its identifier.
    pub id: EventId,
    /// Its place among the account's events, from 1 without a gap.
    pub sequence: i64,
    /// What happened.
    pub kind: EventType,
    /// The body that is sent: a JSON object.
    pub body: Vec<u8>,
    /// When.
    pub created_at: Timestamp,
}

/// Which events are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EventFilter {
    /// Of one type.
    pub kind: Option<EventType>,
    /// Those that follow a sequence number, oldest first; without one the newest are first.
    pub after_sequence: Option<i64>,
}

/// Which page of events is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventPage {
    /// How many rows at most.
    pub limit: u32,
    /// The last row of the page before, in the order of the filter.
    pub starting_after: Option<EventId>,
}

/// A delivery of an event to an endpoint, with everything that was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its identifier.
    pub id: DeliveryId,
    /// Where it goes.
    pub endpoint: EndpointId,
    /// The event.
    pub event: EventId,
    /// Its type.
    pub kind: EventType,
    /// Where it stands; a pending one of an earlier epoch of its endpoint is cancelled.
    pub status: DeliveryStatus,
    /// What was tried, the oldest first; at most the last 50.
    pub attempts: Vec<DeliveryAttempt>,
    /// When it is tried next; `None` unless it is pending.
    pub next_attempt_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// Webhook endpoints.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait EndpointQueries: Send + Sync {
    /// An endpoint of the account, in whatever state.
    async fn find_endpoint(&self, account: AccountId, id: EndpointId) -> Result<Option<Endpoint>, QueryError>;
    /// The endpoint of the account with that address that was not deleted.
    async fn find_endpoint_by_url(&self, account: AccountId, url: &WebhookUrl) -> Result<Option<Endpoint>, QueryError>;
    /// The visible endpoints of the account, newest first.
    async fn list_endpoints(
        &self,
        account: AccountId,
        page: PageRequest<EndpointId>,
    ) -> Result<Page<Endpoint>, QueryError>;
    /// Since when every attempt in the lane failed; `None` when the last did not.
    async fn failing_since(&self, lane: Lane) -> Result<Option<Timestamp>, QueryError>;
}

/// Events.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait EventQueries: Send + Sync {
    /// An event of the account.
    async fn find_event(&self, account: AccountId, id: EventId) -> Result<Option<StoredEvent>, QueryError>;
    /// The account's events in the order of the filter: by sequence number.
    async fn list_events(
        &self,
        account: AccountId,
        filter: EventFilter,
        page: EventPage,
    ) -> Result<Page<StoredEvent>, QueryError>;
}

/// Deliveries.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait DeliveryQueries: Send + Sync {
    /// A delivery to an endpoint of the account.
    async fn find_delivery(
        &self,
        account: AccountId,
        endpoint: EndpointId,
        id: DeliveryId,
    ) -> Result<Option<Delivery>, QueryError>;
    /// The deliveries to an endpoint of the account, newest first.
    async fn list_deliveries(
        &self,
        account: AccountId,
        endpoint: EndpointId,
        page: PageRequest<DeliveryId>,
    ) -> Result<Page<Delivery>, QueryError>;
    /// Every delivery of an event of the account, the oldest first: at most one for each endpoint that it ever had.
    async fn list_deliveries_of_event(&self, account: AccountId, event: EventId) -> Result<Vec<Delivery>, QueryError>;
}
