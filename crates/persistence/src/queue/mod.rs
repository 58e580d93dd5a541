//! The queue of deliveries, with its own connections and threads, so that deliveries never delay the committer.
//!
//! A pending delivery has a row in `pending_deliveries`, which is the queue, and one in `deliveries`, which is permanent. The queue has one
//! part per endpoint and epoch, the endpoint queue ([`EndpointQueue`]). One index orders all pending deliveries by due time, and another
//! orders them by endpoint queue. So the cost of a claim does not depend on the number or the lengths of endpoint queues.
//!
//! The database may confirm a claim or an outcome before it is durable. If the database crashes in between, the delivery is repeated.
//!
//! A transaction that changes existing rows of both tables locks `pending_deliveries` first and then `deliveries`. New rows are inserted in
//! the opposite order, which is safe, because no transaction waits for a new row. An event is locked before both tables. So no cycle of
//! waits can form.

mod claim;
mod endpoint_queues;
mod far_ahead;
mod finish;
mod health;
mod link;
mod measured;
mod put;

pub(crate) use claim::{Endpoints, assemble, claimed_text, endpoints, queues_of};
#[cfg(test)]
pub(crate) use endpoint_queues::{MOST_COUNTED, OVERDUE, SET_ASIDE};
pub(crate) use endpoint_queues::{SET_ASIDE_US, queues_text};
#[cfg(test)]
pub(crate) use far_ahead::{LEASES, RETRIES};
pub(crate) use finish::Outcome;
#[cfg(test)]
pub(crate) use put::REQUESTED;

use std::sync::Arc;

use async_trait::async_trait;
use cais_domain::ids::DeliveryId;
use cais_ports::{
    ClaimedDelivery, DeliveryClaim, DeliveryQueue, DueQueues, EndpointQueue, FinishedAttempt, NewDelivery, QueryError,
};
use jiff::Timestamp;

use self::link::Link;
use crate::Persistence;
use crate::config::StoreConfig;
use crate::engine::Engine;
use crate::error::Fault;
use crate::sql::Session;

/// The parts of the queue that differ between the engines.
pub(crate) trait QueueEngine: Engine {
    /// Opens a connection whose commits need not survive a power failure.
    fn connect_queue(&self) -> Result<Box<dyn Session>, Fault>;

    /// Returns the suffix that makes a SELECT lock its rows and wait for other holders.
    fn row_lock(&self) -> &'static str;

    /// Returns the statement that reads the first row of each queue. Its parameters are the endpoint and the epoch of the queue to begin
    /// behind, and the largest number of queues.
    fn queues(&self) -> &'static str;

    /// Claims deliveries within the current transaction.
    fn claim(&self, session: &mut dyn Session, claim: &DeliveryClaim) -> Result<Vec<ClaimedDelivery>, Fault>;

    /// Forgets where the next claims start, after a claim that was not committed.
    fn unclaim(&self) {}

    /// Returns whether [`QueueEngine::finish`] may run outside of a transaction.
    fn finishes_alone(&self) -> bool;

    /// Stores the attempts and applies their outcomes. Returns the positions of the outcomes whose claim was still valid.
    fn finish(&self, session: &mut dyn Session, outcomes: &[Outcome<'_>]) -> Result<Vec<usize>, Fault>;

    /// Cancels at most `limit` deliveries in these queues, within the current transaction. Returns their number. Skips queues that have not
    /// ended.
    fn cancel(&self, session: &mut dyn Session, stale: &[EndpointQueue], limit: u32) -> Result<u64, Fault>;
}

/// The links to the queue: one for claims, one for outcomes, and one for all other work. Only the commits of the last are durable when they
/// are confirmed. The links do not wait for each other.
pub(crate) struct Queue {
    claims: Link,
    outcomes: Link,
    others: Link,
    cancel_walk: Arc<endpoint_queues::CancelWalk>,
    far_ahead: Arc<far_ahead::FarAhead>,
}

impl Queue {
    /// Starts the threads, which connect when the first work arrives.
    pub(crate) fn start(engine: &Arc<dyn QueueEngine>, config: &StoreConfig) -> Result<Self, Fault> {
        let relaxed = |name| Link::start(name, engine, |engine| engine.connect_queue(), config.deadline);
        Ok(Self {
            claims: relaxed("cais-claims")?,
            outcomes: relaxed("cais-outcomes")?,
            others: Link::start("cais-queue", engine, |engine| engine.connect_writer(), config.deadline)?,
            cancel_walk: Arc::default(),
            far_ahead: Arc::default(),
        })
    }

    /// Checks that every link has a working connection.
    pub(crate) async fn probe(&self) -> Result<(), QueryError> {
        for link in [&self.claims, &self.outcomes, &self.others] {
            link.probe().await?;
        }
        Ok(())
    }

    /// Returns whether every thread is running.
    pub(crate) fn is_open(&self) -> bool {
        [&self.claims, &self.outcomes, &self.others].into_iter().all(Link::is_open)
    }

    /// Accepts no more work, and returns when all accepted work is done.
    pub(crate) fn close(&self) {
        for link in [&self.claims, &self.outcomes, &self.others] {
            link.close();
        }
    }
}

#[async_trait]
impl DeliveryQueue for Persistence {
    async fn put(
        &self,
        deliveries: Vec<NewDelivery>,
        most: Option<u32>,
    ) -> Result<Option<Vec<DeliveryId>>, QueryError> {
        let queues: Vec<EndpointQueue> = deliveries.iter().map(|new| new.queue).collect();
        let put = self.queue().others.run(move |work| {
            let engine = work.engine();
            work.transaction(|session| put::put(&*engine, session, &deliveries, most))
        });
        let ids = put.await?;
        self.hints().add(queues);
        Ok(ids)
    }

    async fn due_queues(
        &self,
        now: Timestamp,
        after: Option<EndpointQueue>,
        limit: u32,
    ) -> Result<DueQueues, QueryError> {
        let far_ahead = Arc::clone(&self.queue().far_ahead);
        let due = self
            .queue()
            .others
            .run(move |work| {
                let engine = work.engine();
                work.session(|session| {
                    if let Err(fault) = far_ahead.step(session, now) {
                        tracing::warn!(%fault, "due times too far ahead could not be repaired; the next pass tries again");
                    }
                    endpoint_queues::due(&*engine, session, now, after, limit)
                })
            })
            .await?;
        measured::show_due(&due, now);
        Ok(due)
    }

    async fn claim(&self, claim: DeliveryClaim) -> Result<Vec<ClaimedDelivery>, QueryError> {
        self.queue()
            .claims
            .run(move |work| {
                let (engine, is_awaited) = (work.engine(), work.is_awaited());
                let claimed = work.transaction(|session| {
                    let claimed = engine.claim(session, &claim)?;
                    // Without a waiting caller, the claimed deliveries would not be sent until their lease ends. So the claim is rolled
                    // back.
                    if is_awaited() {
                        Ok(claimed)
                    } else {
                        Err(Fault::Again("the caller no longer waits for the claim".into()))
                    }
                });
                claimed.inspect_err(|_| engine.unclaim())
            })
            .await
    }

    async fn finish(&self, finished: Vec<FinishedAttempt>) -> Result<(), QueryError> {
        let labels = measured::Labels::of(&finished);
        self.queue().outcomes.run(move |work| finish::finish(work, &finished)).await?;
        labels.count();
        Ok(())
    }

    async fn cancel_stale(&self, limit: u32) -> Result<u64, QueryError> {
        let cancel_walk = Arc::clone(&self.queue().cancel_walk);
        let (cancelled, resumed) = self.queue().others.run(move |work| cancel_walk.step(work, limit)).await?;
        self.hints().add(resumed);
        Ok(cancelled)
    }

    async fn clear_failures(&self, queue: EndpointQueue) -> Result<(), QueryError> {
        self.queue()
            .others
            .run(move |work| {
                let engine = work.engine();
                work.transaction(|session| engine.apply(session, &[health::delete(queue)]).map(drop))
            })
            .await
    }

    async fn hinted(&self) -> Vec<EndpointQueue> {
        self.hints().wait().await
    }
}
