//! The queue of deliveries: what is due is claimed under a lease, tried outside of any transaction, and finished under its fence.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cais_domain::event::EventType;
use cais_domain::ids::{AccountId, DeliveryId, EndpointId, EventId};
use cais_domain::webhook::Endpoint;
use jiff::Timestamp;

use crate::queries::QueryError;

/// The deliveries to one endpoint within one epoch. Deliveries wait for each other only within a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lane {
    /// Whose it is.
    pub account: AccountId,
    /// Where it leads.
    pub endpoint: EndpointId,
    /// The endpoint's epoch.
    pub epoch: i64,
}

/// Names a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeliveryKey {
    /// Whose it is.
    pub account: AccountId,
    /// Where it goes.
    pub endpoint: EndpointId,
    /// Its identifier.
    pub id: DeliveryId,
}

/// A delivery that is due at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDelivery {
    /// The identifier that it gets, if it is new.
    pub id: DeliveryId,
    /// Where it goes.
    pub lane: Lane,
    /// The event.
    pub event: EventId,
    /// Its type.
    pub kind: EventType,
    /// The event's place among the account's events; `None` for a test, which is in no list.
    pub sequence: Option<i64>,
    /// The body of a test; that of an event is kept once, with the event.
    pub body: Option<Vec<u8>>,
    /// When it is made.
    pub at: Timestamp,
}

/// Which lanes have something to do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DueLanes {
    /// Those with a delivery that is due, in the order of their endpoints and epochs, from the lane on that was asked for.
    pub due: Vec<Lane>,
    /// Behind which lane the next look goes on, where this one did not come by all of them.
    pub next: Option<Lane>,
    /// How many deliveries are due, at most 10,000 are counted; what is in flight is not.
    pub backlog: u64,
    /// When the oldest of all was due, in whichever lane.
    pub oldest_due_at: Option<Timestamp>,
}

/// What a node wants to deliver now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryClaim {
    /// From these lanes.
    pub lanes: Vec<Lane>,
    /// The instant now.
    pub now: Timestamp,
    /// Until when nobody else claims the same; then they are due again by themselves.
    pub lease_until: Timestamp,
    /// How many may be in flight for one endpoint, over all nodes.
    pub per_endpoint: u32,
    /// How many of one endpoint this claim takes at most.
    pub at_once: u32,
    /// How many at most.
    pub limit: u32,
}

/// A delivery that is this node's until its lease is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedDelivery {
    /// Its name.
    pub key: DeliveryKey,
    /// Which of its claims this is, from 1; also the number of the attempt that follows.
    pub fence: i64,
    /// Which attempt of the schedule this is, from 1; a claim whose outcome nobody tells uses up none.
    pub tries: u32,
    /// The event.
    pub event: EventId,
    /// Its type.
    pub kind: EventType,
    /// What is sent.
    pub body: Vec<u8>,
    /// Where it goes; deliveries of one claim share it.
    pub endpoint: Arc<Endpoint>,
    /// Since when every attempt at the endpoint failed; `None` when the last did not.
    pub failing_since: Option<Timestamp>,
}

/// One attempt at a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryAttempt {
    /// When it began.
    pub at: Timestamp,
    /// The status that the receiver answered with.
    pub status_code: Option<u16>,
    /// How long it took, in milliseconds.
    pub duration_ms: u32,
    /// Why it failed: one of a fixed list of words; `None` for a success.
    pub error: Option<String>,
    /// The beginning of the answer's body, at most 2 KiB, without control characters.
    pub response_body: Option<String>,
}

impl DeliveryAttempt {
    /// When it was over.
    #[must_use]
    pub fn ended_at(&self) -> Timestamp {
        self.at.saturating_add(Duration::from_millis(self.duration_ms.into())).unwrap_or(Timestamp::MAX)
    }
}

/// What follows from an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The receiver took it.
    Succeeded,
    /// It is tried again.
    Retry {
        /// When.
        due_at: Timestamp,
    },
    /// It is not tried again.
    Failed,
}

/// What an attempt says of its endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// Nothing new.
    Unchanged,
    /// From now on it fails.
    Failing,
    /// It does not fail any more.
    Healthy,
}

/// An attempt that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedAttempt {
    /// The delivery.
    pub key: DeliveryKey,
    /// The claim under which it was made. An attempt of an older claim is logged and changes nothing else.
    pub fence: i64,
    /// The endpoint's epoch when it was claimed.
    pub epoch: i64,
    /// Which attempt of the schedule it was.
    pub tries: u32,
    /// What happened.
    pub attempt: DeliveryAttempt,
    /// What follows.
    pub outcome: AttemptOutcome,
    /// What it says of the endpoint.
    pub health: Health,
}

/// The write side of deliveries, away from the committer: nothing here moves money, and losing a claim or an outcome only
/// means to deliver again. New deliveries of events come into being with their events, in [`crate::Store::commit`].
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait DeliveryQueue: Send + Sync {
    /// Adds deliveries that are due at once. One that exists for the same event and endpoint is due at once again instead, with the
    /// whole schedule before it. One that is in flight is due when that is over, whatever comes of it: so there always is an attempt that
    /// begins later than this, and never two at a time.
    ///
    /// Returns the identifiers, in order. If more than `most` tests and resends would wait for one endpoint, returns `None` and adds no
    /// delivery. Nodes that call `put` at the same instant may exceed the limit by one delivery each.
    async fn put(&self, deliveries: Vec<NewDelivery>, most: Option<u32>)
    -> Result<Option<Vec<DeliveryId>>, QueryError>;

    /// Lanes of active endpoints with something due at `now`, at most `limit`: those behind `after` by their endpoint and epoch, and
    /// then those from the first on. Whoever goes on behind [`DueLanes::next`] comes by all of them, whatever becomes of each. The cost
    /// is bounded: where more is due than is counted, one call reads at most 10,000 lanes. For deliveries that waited for an inactive
    /// endpoint, [`DeliveryQueue::cancel_stale`] hints the lane.
    ///
    /// A due time further ahead than [`cais_domain::webhook::MAX_RETRY_PAUSE`], or a lease further ahead than [`crate::DELIVERY_LEASE`],
    /// comes from a wrong clock ([`crate::Due`]). A call makes such deliveries due, within a minute.
    async fn due_lanes(&self, now: Timestamp, after: Option<Lane>, limit: u32) -> Result<DueLanes, QueryError>;

    /// Claims what is due in these lanes, the longest overdue of each first, and never more than `per_endpoint` in flight for one:
    /// two nodes that claim at once share an endpoint's places. Lanes of endpoints that are not active, or of an earlier epoch, have
    /// nothing. Deliveries that waited for an inactive endpoint come first.
    async fn claim(&self, claim: DeliveryClaim) -> Result<Vec<ClaimedDelivery>, QueryError>;

    /// Logs the attempts, and applies the outcomes of those with a valid claim, in order. A delivery to an endpoint that was disabled or
    /// deleted is cancelled and stays cancelled, whatever the outcome.
    async fn finish(&self, finished: Vec<FinishedAttempt>) -> Result<(), QueryError>;

    /// Marks at most `limit` pending deliveries of earlier epochs as cancelled, and returns their number. Each call reads a bounded number of
    /// lanes; the next call continues behind them. Lanes whose endpoint is active again are hinted.
    async fn cancel_stale(&self, limit: u32) -> Result<u64, QueryError>;

    /// Deletes the instant since which the endpoint fails: the time while it was inactive does not count.
    async fn forget_failures(&self, lane: Lane) -> Result<(), QueryError>;

    /// Waits until deliveries came into being on this node; their lanes, each once. A hint: what it misses, `due_lanes` finds.
    async fn hinted(&self) -> Vec<Lane>;
}
