//! The queue of deliveries: due ones are claimed under a lease, attempted outside of transactions, and finished under
//! their fence.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cais_domain::event::EventType;
use cais_domain::ids::{AccountId, DeliveryId, EndpointId, EventId};
use cais_domain::merchant::webhook::Endpoint;
use jiff::Timestamp;

use crate::events::StoredEvent;
use crate::queries::QueryError;

/// The deliveries to one endpoint within one epoch. Deliveries wait for each other only within a queue.
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
    /// The identifier, if the delivery is new.
    pub id: DeliveryId,
    /// The queue.
    pub queue: EndpointQueue,
    /// The event.
    pub event: EventId,
    /// The event's type.
    pub kind: EventType,
    /// The event's sequence number in the account; `None` for a test, which is in no list.
    pub sequence: Option<i64>,
    /// The instant of creation.
    pub at: Timestamp,
}

/// The queues with due deliveries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DueQueues {
    /// Queues with a due delivery, in the order of endpoint and epoch, from the requested queue on.
    pub due: Vec<EndpointQueue>,
    /// The queue after which the next search continues, if this one did not cover all queues.
    pub next: Option<EndpointQueue>,
    /// The number of due deliveries, at most 10,000. Deliveries in flight are not counted.
    pub backlog: u64,
    /// The earliest due instant of all queues.
    pub oldest_due_at: Option<Timestamp>,
}

/// A node's request for deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryClaim {
    /// The queues.
    pub queues: Vec<EndpointQueue>,
    /// The current instant.
    pub now: Timestamp,
    /// The end of the lease. Until then no other node claims the deliveries; afterwards they are due again.
    pub lease_until: Timestamp,
    /// The largest number in flight per endpoint, over all nodes.
    pub per_endpoint: u32,
    /// The largest number per endpoint in this claim.
    pub at_once: u32,
    /// The largest number in this claim.
    pub limit: u32,
}

/// The event of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveredEvent {
    /// An event of the account.
    Stored(StoredEvent),
    /// A test of the endpoint, which no list of events contains.
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

/// A delivery that belongs to this node until its lease ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedDelivery {
    /// The key.
    pub key: DeliveryKey,
    /// The number of the claim, from 1; also the number of the following attempt.
    pub fence: i64,
    /// The number of the attempt in the schedule, from 1. A claim without an outcome does not count.
    pub tries: u32,
    /// The event.
    pub event: DeliveredEvent,
    /// The endpoint, shared by deliveries of one claim.
    pub endpoint: Arc<Endpoint>,
    /// The instant since which every attempt at the endpoint failed; `None` if the last one succeeded.
    pub failing_since: Option<Timestamp>,
}

/// An attempt at a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryAttempt {
    /// The beginning.
    pub at: Timestamp,
    /// The status of the answer.
    pub status_code: Option<u16>,
    /// The duration, in milliseconds.
    pub duration_ms: u32,
    /// The reason of the failure, from a fixed list; `None` for a success.
    pub error: Option<String>,
    /// The beginning of the answer's body, at most 2 KiB, without control characters.
    pub response_body: Option<String>,
}

impl DeliveryAttempt {
    /// Returns the end.
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
    /// No change.
    Unchanged,
    /// The endpoint fails from now on.
    Failing,
    /// The endpoint no longer fails.
    Healthy,
}

/// A finished attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedAttempt {
    /// The delivery.
    pub key: DeliveryKey,
    /// The claim of the attempt. An attempt of an older claim is logged and has no other effect.
    pub fence: i64,
    /// The endpoint's epoch at the claim.
    pub epoch: i64,
    /// The number of the attempt in the schedule.
    pub tries: u32,
    /// The attempt.
    pub attempt: DeliveryAttempt,
    /// The consequence.
    pub outcome: AttemptOutcome,
    /// The effect on the endpoint.
    pub health: Health,
}

/// The write side of deliveries, outside of the committer. No method moves money. A lost claim or outcome only causes
/// another delivery. Deliveries of new events are created with their events, in [`crate::Store::commit`].
#[async_trait]
pub trait DeliveryQueue: Send + Sync {
    /// Adds deliveries that are due at once. An existing delivery of the same event and endpoint becomes due again
    /// instead, with a new schedule. A delivery in flight becomes due after its attempt, with any outcome. So an
    /// attempt always begins after this call, and never two at a time.
    ///
    /// Returns the identifiers, in order. If more than `most` tests and resends would wait for one endpoint, returns `None` and adds no
    /// delivery. Nodes that call `put` at the same instant may exceed the limit by one delivery each.
    async fn put(&self, deliveries: Vec<NewDelivery>, most: Option<u32>)
    -> Result<Option<Vec<DeliveryId>>, QueryError>;

    /// Returns at most `limit` queues of active endpoints with deliveries due at `now`. The queues after `after`, by
    /// endpoint and epoch, come first; then the walk continues from the beginning. A caller that continues after
    /// [`DueQueues::next`] covers all queues. The cost is bounded: above the counted backlog, one call reads at most
    /// 10,000 queues. For deliveries that waited for an inactive endpoint, [`DeliveryQueue::cancel_stale`] hints the
    /// queue.
    ///
    /// A due time further ahead than [`cais_domain::merchant::webhook::MAX_RETRY_PAUSE`], or a lease further ahead than [`crate::DELIVERY_LEASE`],
    /// comes from a wrong clock ([`crate::Due`]). A call makes such deliveries due, within a minute.
    async fn due_queues(
        &self,
        now: Timestamp,
        after: Option<EndpointQueue>,
        limit: u32,
    ) -> Result<DueQueues, QueryError>;

    /// Claims due deliveries of the queues, the longest overdue of each first. An endpoint never has more than
    /// `per_endpoint` deliveries in flight: concurrent claims share its slots. Queues of inactive endpoints or earlier
    /// epochs have none. Deliveries that waited for an inactive endpoint come first.
    async fn claim(&self, claim: DeliveryClaim) -> Result<Vec<ClaimedDelivery>, QueryError>;

    /// Logs the attempts, and applies the outcomes of those with a valid claim, in order. A delivery to a disabled or
    /// deleted endpoint is cancelled and stays cancelled, after any outcome.
    async fn finish(&self, finished: Vec<FinishedAttempt>) -> Result<(), QueryError>;

    /// Marks at most `limit` pending deliveries of earlier epochs as cancelled, and returns their number. Each call
    /// reads a bounded number of queues; the next call continues after them. Queues whose endpoint is active again are
    /// hinted.
    async fn cancel_stale(&self, limit: u32) -> Result<u64, QueryError>;

    /// Clears the failing period of the endpoint, because the time while it was inactive does not count.
    async fn forget_failures(&self, queue: EndpointQueue) -> Result<(), QueryError>;

    /// Waits for new deliveries on this node. Returns their queues, each once. The result is a hint: `due_queues` finds
    /// missed ones.
    async fn hinted(&self) -> Vec<EndpointQueue>;
}
