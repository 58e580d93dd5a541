//! The queue of deliveries, beside the committer and never in its way: on connections and threads of its own.
//!
//! A delivery that is pending has a row in `pending_deliveries`, which is the queue, and one in `deliveries`, which stays when it is
//! over. What is due is found along an index of its own, and what waits in a lane along another, so that neither the number of lanes nor how
//! much waits in one matters. A claim is made durable a moment
//! after it is answered, and so is an outcome: to lose one means to deliver again.
//!
//! Whoever changes rows of both tables that are there goes through the queue first and then through the deliveries. New ones come the other
//! way round, and nobody waits for those. An event is locked before both: so nobody waits in a circle.

mod claim;
mod far_ahead;
mod finish;
mod health;
mod lanes;
mod link;
mod put;

pub(crate) use claim::{Endpoints, assemble, claimed_text, endpoints, lanes_of};
#[cfg(test)]
pub(crate) use far_ahead::{LEASES, RETRIES};
pub(crate) use finish::Outcome;
#[cfg(test)]
pub(crate) use lanes::{MOST_COUNTED, OVERDUE, SET_ASIDE};
pub(crate) use lanes::{SET_ASIDE_US, lanes_text};
#[cfg(test)]
pub(crate) use put::REQUESTED;

use std::sync::Arc;

use async_trait::async_trait;
use cais_domain::ids::DeliveryId;
use cais_ports::{
    ClaimedDelivery, DeliveryClaim, DeliveryQueue, DueLanes, FinishedAttempt, Lane, NewDelivery, QueryError,
};
use jiff::Timestamp;

use self::link::Link;
use crate::Persistence;
use crate::config::StoreConfig;
use crate::engine::Engine;
use crate::error::Fault;
use crate::sql::Session;

/// What of the queue differs between the engines.
pub(crate) trait QueueEngine: Engine {
    /// A connection whose commits need not outlive the machine.
    fn connect_queue(&self) -> Result<Box<dyn Session>, Fault>;

    /// What locks the rows of a SELECT when it is written behind it, and waits for whoever holds them.
    fn row_lock(&self) -> &'static str;

    /// Reads the first row of each lane: takes the endpoint and the epoch behind which it begins, then how many lanes at most.
    fn lanes(&self) -> &'static str;

    /// Claims, in a transaction that has begun.
    fn claim(&self, session: &mut dyn Session, claim: &DeliveryClaim) -> Result<Vec<ClaimedDelivery>, Fault>;

    /// A claim did not become true after all.
    fn unclaim(&self) {}

    /// Whether [`QueueEngine::finish`] is one statement, which is a transaction of its own.
    fn finishes_alone(&self) -> bool;

    /// Logs the attempts and makes their outcomes true; the places of those that still had their claim.
    fn finish(&self, session: &mut dyn Session, outcomes: &[Outcome<'_>]) -> Result<Vec<usize>, Fault>;

    /// Cancels at most `limit` deliveries in these lanes, within the current transaction. Returns their number. Lanes that keep their
    /// deliveries are skipped.
    fn cancel(&self, session: &mut dyn Session, stale: &[Lane], limit: u32) -> Result<u64, Fault>;
}

/// The ways to the queue: claims and outcomes do not wait for each other, and what is durable at once for neither.
pub(crate) struct Queue {
    claims: Link,
    outcomes: Link,
    others: Link,
    sweep: Arc<lanes::Sweep>,
    far_ahead: Arc<far_ahead::FarAhead>,
}

impl Queue {
    /// Starts the threads; they connect when there is something to do.
    pub(crate) fn start(engine: &Arc<dyn QueueEngine>, config: &StoreConfig) -> Result<Self, Fault> {
        let relaxed = |name| Link::start(name, engine, |engine| engine.connect_queue(), config.deadline);
        Ok(Self {
            claims: relaxed("cais-claims")?,
            outcomes: relaxed("cais-outcomes")?,
            others: Link::start("cais-queue", engine, |engine| engine.connect_writer(), config.deadline)?,
            sweep: Arc::default(),
            far_ahead: Arc::default(),
        })
    }

    /// Whether every link has a connection that works.
    pub(crate) async fn probe(&self) -> Result<(), QueryError> {
        for link in [&self.claims, &self.outcomes, &self.others] {
            link.probe().await?;
        }
        Ok(())
    }

    /// Whether every thread is at work.
    pub(crate) fn is_open(&self) -> bool {
        [&self.claims, &self.outcomes, &self.others].into_iter().all(Link::is_open)
    }

    /// Takes nothing more, and returns when everything that was taken is answered.
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
        let lanes: Vec<Lane> = deliveries.iter().map(|new| new.lane).collect();
        let put = self.queue().others.ask(move |work| {
            let engine = work.engine();
            work.transaction(|session| put::put(&*engine, session, &deliveries, most))
        });
        let ids = put.await?;
        self.hints().add(lanes);
        Ok(ids)
    }

    async fn due_lanes(&self, now: Timestamp, after: Option<Lane>, limit: u32) -> Result<DueLanes, QueryError> {
        let far_ahead = Arc::clone(&self.queue().far_ahead);
        self.queue()
            .others
            .ask(move |work| {
                let engine = work.engine();
                work.session(|session| {
                    if let Err(fault) = far_ahead.step(session, now) {
                        tracing::warn!(%fault, "due times too far ahead could not be repaired; the next look tries again");
                    }
                    lanes::due(&*engine, session, now, after, limit)
                })
            })
            .await
    }

    async fn claim(&self, claim: DeliveryClaim) -> Result<Vec<ClaimedDelivery>, QueryError> {
        self.queue()
            .claims
            .ask(move |work| {
                let (engine, wanted) = (work.engine(), work.wanted());
                let claimed = work.transaction(|session| {
                    let claimed = engine.claim(session, &claim)?;
                    // Nobody would deliver them until their lease is over.
                    if wanted() { Ok(claimed) } else { Err(Fault::Again("nobody waits for the claim any more".into())) }
                });
                claimed.inspect_err(|_| engine.unclaim())
            })
            .await
    }

    async fn finish(&self, finished: Vec<FinishedAttempt>) -> Result<(), QueryError> {
        self.queue().outcomes.ask(move |work| finish::finish(work, &finished)).await
    }

    async fn cancel_stale(&self, limit: u32) -> Result<u64, QueryError> {
        let sweep = Arc::clone(&self.queue().sweep);
        let (cancelled, resumed) = self.queue().others.ask(move |work| sweep.step(work, limit)).await?;
        self.hints().add(resumed);
        Ok(cancelled)
    }

    async fn forget_failures(&self, lane: Lane) -> Result<(), QueryError> {
        self.queue()
            .others
            .ask(move |work| {
                let engine = work.engine();
                work.transaction(|session| engine.apply(session, &[health::forget(lane)]).map(drop))
            })
            .await
    }

    async fn hinted(&self) -> Vec<Lane> {
        self.hints().wait().await
    }
}
