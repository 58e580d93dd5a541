//! A single account over an empty store, with receivers that the test controls, and a manual clock.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::ids::EndpointId;
use cais_domain::merchant::webhook::{DeliveryStatus, Endpoint, EndpointChange, Subscription};
use cais_ports::acquirers::MockAcquirers;
use cais_ports::{Delivery, DeliveryQueries as _, EndpointQueries as _, NewEvent, PageRequest, Store as _};
use cais_testkit::SequentialIds;
use cais_testkit::builders::{a_webhook_url, an_account, an_event, steps, subscribed};
use cais_use_cases::Ports;
use cais_use_cases::webhooks::change::change;
use cais_use_cases::webhooks::create::{CreateEndpoint, create};
use cais_use_cases::webhooks::dispatch::{self, DispatchLimits, Signal};
use futures_util::stream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::queue::Queue;
use crate::receivers::{Answer, Receivers, taken};

/// The slots of an endpoint that was never called.
pub const FIRST: usize = 1;
/// The slots of an endpoint that accepted the last delivery.
pub const HEALTHY_SLOTS: usize = 8;
/// The slots of a slow endpoint.
pub const SLOW_SLOTS: usize = 2;
/// The longest wait of a test.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The environment of a test.
pub struct TestBed {
    base: cais_testkit::TestBed,
    pub queue: Arc<Queue>,
    pub receivers: Arc<Receivers>,
}

impl Deref for TestBed {
    type Target = cais_testkit::TestBed;

    fn deref(&self) -> &Self::Target {
        &self.base
    }
}

impl TestBed {
    pub async fn new() -> Self {
        // Without an expectation, so that a request to an acquirer fails the test.
        let base = cais_testkit::TestBed::new(an_account()).await.with_acquirers(MockAcquirers::new());
        let mut base = base.contended();
        let (queue, receivers) = (Arc::new(Queue::new(base.store.clone())), Arc::new(Receivers::default()));
        base.ports.ids = Arc::new(SequentialIds::starting_at(1 << 32));
        base.ports.deliveries = queue.clone();
        base.ports.webhooks = receivers.clone();
        Self { base, queue, receivers }
    }

    /// Creates an endpoint that subscribes to every event.
    pub async fn endpoint(&self) -> Endpoint {
        self.endpoint_for(Subscription::All).await
    }

    /// Creates an endpoint without a subscription to the events of the tests.
    pub async fn endpoint_without_test_events(&self) -> Endpoint {
        self.endpoint_for(subscribed(&[EventType::PayoutReversed])).await
    }

    pub async fn endpoint_for(&self, subscription: Subscription) -> Endpoint {
        let asked = CreateEndpoint { url: a_webhook_url(), subscription, description: None };
        create(&self.ports, &self.account, asked).await.unwrap().0
    }

    /// Changes the endpoint as its merchant.
    pub async fn change(&self, endpoint: &Endpoint, asked: EndpointChange) -> Endpoint {
        change(&self.ports, &self.account, endpoint.id, asked).await.unwrap()
    }

    pub async fn set_active(&self, endpoint: &Endpoint, active: bool) -> Endpoint {
        self.change(endpoint, EndpointChange { active: Some(active), ..EndpointChange::default() }).await
    }

    /// Publishes an event about a charge of the account.
    pub async fn publish(&self, kind: EventType) -> NewEvent {
        let event = NewEvent { at: self.now(), ..an_event(self.account.id, kind, "chg_1") };
        self.store.commit(steps::publish(vec![event.clone()])).await.unwrap();
        event
    }

    pub async fn publish_many(&self, count: usize) {
        for _ in 0..count {
            self.publish(EventType::ChargePaid).await;
        }
    }

    /// Returns the stored endpoint.
    pub async fn stored(&self, id: EndpointId) -> Endpoint {
        self.store.find_endpoint(self.account.id, id).await.unwrap().unwrap()
    }

    /// Returns every delivery to the endpoint. The oldest comes first.
    pub async fn deliveries(&self, endpoint: &Endpoint) -> Vec<Delivery> {
        let page = PageRequest { limit: 200, starting_after: None };
        let mut rows = self.store.list_deliveries(self.account.id, endpoint.id, page).await.unwrap().rows;
        rows.reverse();
        rows
    }

    /// Returns the states of the deliveries to the endpoint. The oldest comes first.
    pub async fn statuses(&self, endpoint: &Endpoint) -> Vec<DeliveryStatus> {
        self.deliveries(endpoint).await.iter().map(|delivery| delivery.status).collect()
    }

    pub fn now(&self) -> jiff::Timestamp {
        cais_ports::Clock::now(&*self.clock)
    }

    /// Waits until every delivery to the endpoint has this state.
    pub async fn until_all(&self, endpoint: &Endpoint, status: DeliveryStatus) {
        self.until_all_but(endpoint, 0, status).await;
    }

    /// Waits until every delivery after the first `first` ones has this state.
    pub async fn until_all_but(&self, endpoint: &Endpoint, first: usize, status: DeliveryStatus) {
        let started = tokio::time::Instant::now();
        while self.statuses(endpoint).await.iter().skip(first).any(|one| *one != status) {
            assert!(started.elapsed() < TIMEOUT, "{:?}", self.deliveries(endpoint).await);
            tokio::task::yield_now().await;
        }
    }

    /// Delivers one event to the endpoint, so that the endpoint is healthy.
    pub async fn make_healthy(&self, endpoint: &Endpoint, node: &Dispatcher) {
        self.receivers.set(&endpoint.url, Answer::Now(taken()));
        self.publish(EventType::ChargePaid).await;
        node.tick();
        self.until_all(endpoint, DeliveryStatus::Succeeded).await;
        settle().await;
    }

    /// Starts a dispatcher that receives hints about new deliveries.
    pub fn dispatcher(&self) -> Dispatcher {
        self.dispatcher_with(DispatchLimits::default())
    }

    pub fn dispatcher_with(&self, limits: DispatchLimits) -> Dispatcher {
        let dispatcher = Dispatcher::start(self.ports.clone(), limits);
        let (signals, queue) = (dispatcher.signals.clone(), self.queue.clone());
        tokio::spawn(async move {
            loop {
                let queues = cais_ports::DeliveryQueue::hinted(&*queue).await;
                if signals.send(Signal::Hint(queues)).is_err() {
                    return;
                }
            }
        });
        dispatcher
    }

    /// Starts a dispatcher without hints, which finds due deliveries at its ticks.
    pub fn dispatcher_without_hints(&self) -> Dispatcher {
        Dispatcher::start(self.ports.clone(), DispatchLimits::default())
    }
}

/// A running dispatcher.
pub struct Dispatcher {
    pub signals: mpsc::UnboundedSender<Signal>,
    task: JoinHandle<()>,
}

impl Dispatcher {
    pub fn start(ports: Ports, limits: DispatchLimits) -> Self {
        let (signals, received) = mpsc::unbounded_channel();
        let received = stream::unfold(received, |mut received| async move { Some((received.recv().await?, received)) });
        let task = tokio::spawn(dispatch::run(ports, limits, Box::pin(received)));
        Self { signals, task }
    }

    pub fn tick(&self) {
        self.signals.send(Signal::Tick).unwrap();
    }

    pub fn request_stop(&self) {
        self.signals.send(Signal::Stop).unwrap();
    }

    pub fn is_over(&self) -> bool {
        self.task.is_finished()
    }

    /// Waits until the dispatcher ends.
    pub async fn ends(self) {
        tokio::time::timeout(TIMEOUT, self.task).await.unwrap().unwrap();
    }

    pub async fn stop(self) {
        self.request_stop();
        self.ends().await;
    }

    /// Ends the dispatcher while it works.
    pub async fn kill(self) {
        self.task.abort();
        self.task.await.unwrap_err();
    }
}

/// Waits until the condition holds.
pub async fn until(what: &str, is_so: impl Fn() -> bool) {
    let started = tokio::time::Instant::now();
    while !is_so() {
        assert!(started.elapsed() < TIMEOUT, "waited for: {what}");
        tokio::task::yield_now().await;
    }
}

/// Lets all other tasks run until they wait.
pub async fn settle() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}
