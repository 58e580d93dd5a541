//! Takeover of a creation whose holder is slow or crashed. The fence prevents a response of the slow holder.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::ChargeStatus;
use cais_ports::{Acquirer, Acquirers, ChargeOrder, IssueError, UpstreamCharge};
use cais_testkit::FakeAcquirers;
use cais_use_cases::charges::create::create;
use tokio::sync::Semaphore;

use crate::bed::{PAST_LEASE, TestBed, id_of, ten_reais};

/// Acquirers whose reply to a creation waits for the test.
pub struct SlowReply {
    behind: Arc<dyn Acquirers>,
    /// A permit for each creation at the acquirer.
    pub done: Semaphore,
    /// Each permit releases one reply.
    pub let_through: Semaphore,
}

impl SlowReply {
    pub fn new(bed: &TestBed) -> Arc<Self> {
        let behind = Arc::new(FakeAcquirers::new(std::slice::from_ref(&bed.psp)));
        Arc::new(Self { behind, done: Semaphore::new(0), let_through: Semaphore::new(0) })
    }
}

#[async_trait]
impl Acquirers for SlowReply {
    fn first(&self, preferred: &[AcquirerName]) -> Option<AcquirerName> {
        self.behind.first(preferred)
    }

    fn is_available(&self) -> bool {
        self.behind.is_available()
    }

    fn is_refusing(&self, name: &AcquirerName) -> bool {
        self.behind.is_refusing(name)
    }

    fn first_sender(&self, preferred: &[AcquirerName]) -> Option<AcquirerName> {
        self.behind.first_sender(preferred)
    }

    fn names(&self) -> Vec<AcquirerName> {
        self.behind.names()
    }

    async fn issue(
        &self,
        order: &ChargeOrder,
        begin_with: &AcquirerName,
        budget: Duration,
    ) -> Result<(AcquirerName, UpstreamCharge), IssueError> {
        let reply = self.behind.issue(order, begin_with, budget).await;
        self.done.add_permits(1);
        self.let_through.acquire().await.unwrap().forget();
        reply
    }

    fn named(&self, name: &AcquirerName) -> Option<Arc<dyn Acquirer>> {
        self.behind.named(name)
    }
}

#[tokio::test]
async fn slow_holder_gets_response_of_new_holder() {
    let bed = TestBed::new().await;
    let slow = SlowReply::new(&bed);
    let ports = bed.ports_with(slow.clone());
    let command = bed.command("a", ten_reais());
    let zombie = tokio::spawn(async move { create(&ports, command).await });
    slow.done.acquire().await.unwrap().forget();

    bed.clock.advance(PAST_LEASE);
    let answer = bed.create("a", ten_reais()).await.unwrap();
    assert_eq!(answer.replay_of, None);
    slow.let_through.add_permits(1);
    let late = zombie.await.unwrap().unwrap();

    assert_eq!(late.body, answer.body);
    assert!(late.replay_of.is_some(), "the late process replays the stored response");
    let charge = bed.only_charge();
    assert_eq!((charge.id, charge.state.status()), (id_of(&answer), ChargeStatus::Pending));
    assert_eq!(bed.psp.charges().len(), 1);
    let records = bed.store.idempotency_records();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].fence, 2);
    assert_eq!(records[0].answer.as_ref().map(|answer| answer.body.clone()), Some(answer.body));
    bed.check().await;
}

#[tokio::test]
async fn concurrent_takeovers_leave_one_holder() {
    let bed = TestBed::new().await;
    bed.store.crash_at(1, cais_testkit::Crash::After);
    bed.create("a", ten_reais()).await.unwrap_err();
    bed.clock.advance(PAST_LEASE);

    let calls = (0..16).map(|_| bed.create("a", ten_reais()));
    let answers = futures_util::future::join_all(calls).await;
    let fresh = answers.iter().flatten().filter(|answer| answer.replay_of.is_none()).count();
    assert_eq!(fresh, 1, "{answers:?}");
    assert_eq!(bed.psp.charges().len(), 1);
    let id = bed.only_charge().id;
    assert!(answers.iter().flatten().all(|answer| id_of(answer) == id));
}
