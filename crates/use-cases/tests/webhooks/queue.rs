//! A queue of deliveries for tests, which fails on demand and counts its requests.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use cais_domain::ids::DeliveryId;
use cais_ports::{
    ClaimedDelivery, DeliveryClaim, DeliveryQueue, DueQueues, EndpointQueue, FinishedAttempt, NewDelivery, QueryError,
};
use cais_testkit::MemoryStore;
use tokio::sync::Semaphore;

/// A failure of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The request is not executed.
    Before(QueryError),
    /// The request is executed, but its reply is lost.
    After,
}

type Judge<T> = Box<dyn FnMut(&T) -> Option<Failure> + Send>;

/// The queue of the store in memory, with failures that a test sets.
pub struct Queue {
    store: Arc<MemoryStore>,
    claim_fails: Mutex<Judge<DeliveryClaim>>,
    finish_fails: Mutex<Judge<Vec<FinishedAttempt>>>,
    /// The permits for replies to claims. A reply without a permit waits.
    replies: Semaphore,
    pub claims: AtomicU64,
    pub finishes: AtomicU64,
    pub looks: AtomicU64,
    /// The largest number of queues that one read returns.
    pub seen_at_once: AtomicU32,
}

impl Queue {
    pub fn new(store: Arc<MemoryStore>) -> Self {
        Self {
            store,
            claim_fails: Mutex::new(Box::new(|_| None)),
            finish_fails: Mutex::new(Box::new(|_| None)),
            replies: Semaphore::new(Semaphore::MAX_PERMITS / 2),
            claims: AtomicU64::default(),
            finishes: AtomicU64::default(),
            looks: AtomicU64::default(),
            seen_at_once: AtomicU32::new(u32::MAX),
        }
    }

    pub fn claims_fail(&self, judge: impl FnMut(&DeliveryClaim) -> Option<Failure> + Send + 'static) {
        *self.claim_fails.lock().unwrap() = Box::new(judge);
    }

    pub fn finishes_fail(&self, judge: impl FnMut(&Vec<FinishedAttempt>) -> Option<Failure> + Send + 'static) {
        *self.finish_fails.lock().unwrap() = Box::new(judge);
    }

    /// Holds the replies to claims back.
    pub fn hold_replies(&self) {
        self.replies.forget_permits(Semaphore::MAX_PERMITS);
    }

    pub fn release_replies(&self, count: usize) {
        self.replies.add_permits(count);
    }

    pub fn count(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }
}

pub fn down() -> QueryError {
    QueryError::Unavailable("switched off by the test".to_owned())
}

#[async_trait]
impl DeliveryQueue for Queue {
    async fn put(
        &self,
        deliveries: Vec<NewDelivery>,
        most: Option<u32>,
    ) -> Result<Option<Vec<DeliveryId>>, QueryError> {
        self.store.put(deliveries, most).await
    }

    async fn due_queues(
        &self,
        now: jiff::Timestamp,
        after: Option<EndpointQueue>,
        limit: u32,
    ) -> Result<DueQueues, QueryError> {
        self.looks.fetch_add(1, Ordering::Relaxed);
        self.store.due_queues(now, after, limit.min(self.seen_at_once.load(Ordering::Relaxed))).await
    }

    async fn claim(&self, claim: DeliveryClaim) -> Result<Vec<ClaimedDelivery>, QueryError> {
        self.claims.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
        let failure = (self.claim_fails.lock().unwrap())(&claim);
        if let Some(Failure::Before(error)) = failure {
            return Err(error);
        }
        let claimed = self.store.claim(claim).await;
        self.replies.acquire().await.unwrap().forget();
        if failure == Some(Failure::After) { Err(down()) } else { claimed }
    }

    async fn finish(&self, finished: Vec<FinishedAttempt>) -> Result<(), QueryError> {
        self.finishes.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
        let failure = (self.finish_fails.lock().unwrap())(&finished);
        if let Some(Failure::Before(error)) = failure {
            return Err(error);
        }
        self.store.finish(finished).await?;
        if failure == Some(Failure::After) { Err(down()) } else { Ok(()) }
    }

    async fn cancel_stale(&self, limit: u32) -> Result<u64, QueryError> {
        self.store.cancel_stale(limit).await
    }

    async fn clear_failures(&self, queue: EndpointQueue) -> Result<(), QueryError> {
        self.store.clear_failures(queue).await
    }

    async fn hinted(&self) -> Vec<EndpointQueue> {
        self.store.hinted().await
    }
}
