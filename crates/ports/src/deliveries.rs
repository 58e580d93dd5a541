//! The queue of deliveries. Due deliveries are claimed under a lease and attempted outside of transactions. The outcome
//! of an attempt counts only if no newer claim of the delivery exists.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cais_domain::event::EventType;
use cais_domain::ids::{AccountId, DeliveryId, EndpointId, EventId};
use cais_domain::merchant::webhook::Endpoint;
use jiff::Timestamp;

use crate::events::StoredEvent;
use crate::queries::QueryError;

/// The deliveries to one endpoint within one epoch. A long queue does not delay the deliveries of other queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EndpointQueue {
    /// The owning account.
    pub account: AccountId,
    /// The endpoint.
    pub endpoint: EndpointId,
    /// The endpoint's epoch.
    pub epoch: i64,
}

/// The key of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeliveryKey {
    /// The owning account.
    pub account: AccountId,
    /// The endpoint.
    pub endpoint: EndpointId,
    /// The public identifier.
    pub id: DeliveryId,
}

/// A delivery that is due at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDelivery {
    /// The identifier of the new delivery. An existing delivery of the same event and endpoint keeps its own.
    pub id: DeliveryId,
    /// The queue of the endpoint.
    pub queue: EndpointQueue,
    /// The event to deliver.
    pub event: EventId,
    /// The event's type.
    pub kind: EventType,
    /// The event's sequence number in the account. `None` for a test event, which is in no list of events.
    pub sequence: Option<i64>,
    /// The instant of creation.
    pub at: Timestamp,
}

/// The queues with due deliveries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DueQueues {
    /// The queues with a due delivery, ordered by endpoint and epoch. The queues after the argument `after` come first.
    pub due: Vec<EndpointQueue>,
    /// The queue after which the next search must continue. `None` if this search covered all queues.
    pub next: Option<EndpointQueue>,
    /// The number of due deliveries to active endpoints, at most 10,000. Deliveries in flight do not count.
    pub backlog: u64,
    /// The earliest due instant over all queues. `None` if no delivery is due.
    pub oldest_due_at: Option<Timestamp>,
}

/// A node's request for deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryClaim {
    /// The queues whose deliveries are claimed.
    pub queues: Vec<EndpointQueue>,
    /// The current instant.
    pub now: Timestamp,
    /// The end of the lease. Until then no other node claims the deliveries. Afterwards they are due again.
    pub lease_until: Timestamp,
    /// The largest number of deliveries in flight per endpoint, over all nodes.
    pub per_endpoint: u32,
    /// The largest number of deliveries per endpoint in this claim.
    pub at_once: u32,
    /// The largest number of deliveries in this claim.
    pub limit: u32,
}

/// The event of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveredEvent {
    /// An event of the account.
    Stored(StoredEvent),
    /// A test event for the endpoint. No list of events contains it.
    Test {
        /// The public identifier.
        id: EventId,
        /// The instant of the test.
        at: Timestamp,
    },
}

impl DeliveredEvent {
    /// Returns the public identifier.
    #[must_use]
    pub const fn id(&self) -> EventId {
        match self {
            Self::Stored(event) => event.id,
            Self::Test { id, .. } => *id,
        }
    }

    /// Returns the type.
    #[must_use]
    pub const fn kind(&self) -> EventType {
        match self {
            Self::Stored(event) => event.kind,
            Self::Test { .. } => EventType::WebhookTest,
        }
    }
}

/// A delivery that this node holds until the end of its lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedDelivery {
    /// The key.
    pub key: DeliveryKey,
    /// The number of the claim, from 1. The attempt that follows has the same number.
    pub fence: i64,
    /// The number of the attempt in the schedule, from 1. A claim whose outcome was not stored does not count.
    pub tries: u32,
    /// The event to deliver.
    pub event: DeliveredEvent,
    /// The endpoint that receives the delivery.
    pub endpoint: Arc<Endpoint>,
    /// The instant since which every attempt at the endpoint failed. `None` if the last attempt succeeded, or there was
    /// none.
    pub failing_since: Option<Timestamp>,
}

/// An attempt at a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryAttempt {
    /// The start of the attempt.
    pub at: Timestamp,
    /// The HTTP status of the answer. `None` if no answer arrived.
    pub status_code: Option<u16>,
    /// The duration, in milliseconds.
    pub duration_ms: u32,
    /// The reason of the failure, from a fixed list. `None` if the attempt succeeded.
    pub error: Option<String>,
    /// The start of the answer's body, at most 2 KiB, without control characters. `None` if there is no body.
    pub response_body: Option<String>,
}

impl DeliveryAttempt {
    /// Returns the end of the attempt.
    #[must_use]
    pub fn ended_at(&self) -> Timestamp {
        self.at.saturating_add(Duration::from_millis(self.duration_ms.into())).unwrap_or(Timestamp::MAX)
    }
}

/// The consequence of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The receiver accepted the delivery.
    Succeeded,
    /// The delivery is retried.
    Retry {
        /// The instant of the retry.
        due_at: Timestamp,
    },
    /// The delivery is not retried.
    Failed,
}

/// The effect of an attempt on its endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// The stored health stays as it is.
    Unchanged,
    /// The endpoint starts to fail.
    Failing,
    /// The endpoint no longer fails.
    Healthy,
}

/// A finished attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedAttempt {
    /// The key of the delivery.
    pub key: DeliveryKey,
    /// The fence of the attempt's claim. If a newer claim exists, the attempt is only logged.
    pub fence: i64,
    /// The endpoint's epoch when the delivery was claimed.
    pub epoch: i64,
    /// The number of the attempt in the schedule.
    pub tries: u32,
    /// The attempt, as it is logged.
    pub attempt: DeliveryAttempt,
    /// The consequence for the delivery.
    pub outcome: AttemptOutcome,
    /// The effect on the endpoint.
    pub health: Health,
}

/// The write side of deliveries. No method moves money. A lost claim or a lost outcome only causes another attempt.
/// Deliveries of new events are not added here: [`crate::Store::commit`] creates them together with the events.
#[async_trait]
pub trait DeliveryQueue: Send + Sync {
    /// Adds deliveries that are due at once. If a delivery of the same event and endpoint exists, that delivery becomes
    /// due again with a new schedule. If that delivery is in flight, it becomes due after the attempt, whatever the
    /// outcome. So an attempt always starts after this call, and two attempts never run at the same time.
    ///
    /// Returns the identifiers, in order. If more than `most` test events and resends would wait for one endpoint,
    /// returns `None` and adds no delivery. If `most` is `None`, their number is not limited. If several nodes call
    /// `put` at the same instant, each may exceed the limit by one delivery.
    async fn put(&self, deliveries: Vec<NewDelivery>, most: Option<u32>)
    -> Result<Option<Vec<DeliveryId>>, QueryError>;

    /// Returns at most `limit` queues of active endpoints that have deliveries due at `now`. The queues are ordered by
    /// endpoint and epoch. The queues after `after` come first; then the search continues from the start. A caller that
    /// continues after [`DueQueues::next`] covers all queues.
    ///
    /// The cost is limited: a call counts at most 10,000 due deliveries. If more are due, the call reads at most 10,000
    /// queues. Due deliveries to an inactive endpoint are set aside, so that later calls do not count them. When the
    /// endpoint is active again, [`DeliveryQueue::cancel_stale`] finds their queue, and [`DeliveryQueue::hinted`]
    /// returns it.
    ///
    /// A due instant that is further ahead than [`cais_domain::merchant::webhook::MAX_RETRY_PAUSE`] comes from a wrong
    /// clock ([`crate::Due`]). So does the end of a lease that is further ahead than [`crate::DELIVERY_LEASE`]. Once a
    /// minute, a call makes such deliveries due now.
    async fn due_queues(
        &self,
        now: Timestamp,
        after: Option<EndpointQueue>,
        limit: u32,
    ) -> Result<DueQueues, QueryError>;

    /// Claims due deliveries of the queues. In each queue, deliveries that waited for an inactive endpoint come first,
    /// and then the longest overdue. An endpoint never has more than `per_endpoint` deliveries in flight, because
    /// concurrent claims share its slots. Only deliveries to active endpoints are claimed, and only in their current
    /// epoch.
    async fn claim(&self, claim: DeliveryClaim) -> Result<Vec<ClaimedDelivery>, QueryError>;

    /// Logs the attempts. Then applies, in order, the outcomes of the deliveries that have no newer claim. If the
    /// endpoint is disabled or deleted, its delivery is cancelled permanently, whatever the outcome.
    async fn finish(&self, finished: Vec<FinishedAttempt>) -> Result<(), QueryError>;

    /// Marks at most `limit` pending deliveries as cancelled whose endpoint is disabled, is deleted, or has a later
    /// epoch. Returns their number. Each call reads a limited number of queues, and repeated calls cover all queues. If
    /// a queue has deliveries that were set aside, and its endpoint is active again, [`DeliveryQueue::hinted`] returns
    /// the queue.
    async fn cancel_stale(&self, limit: u32) -> Result<u64, QueryError>;

    /// Clears the failing period of an endpoint that becomes active, so that its inactive time does not count as
    /// failing.
    async fn clear_failures(&self, queue: EndpointQueue) -> Result<(), QueryError>;

    /// Waits for new deliveries on this node. Returns their queues, each once. The result is a hint: `due_queues` finds
    /// the queues that are missing in it.
    async fn hinted(&self) -> Vec<EndpointQueue>;
}
