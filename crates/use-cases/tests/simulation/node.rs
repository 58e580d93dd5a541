//! The points at which a node can crash.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};

use async_trait::async_trait;
use cais_ports::{ChangeSet, CommitError, Committed, Store};
use cais_testkit::MemoryStore;
use cais_testkit::psp::Connection;

/// The point at which the process of an operation crashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrashPoint {
    /// Before the commit that stores the order.
    BeforeIntent,
    /// After that commit, before the order is sent.
    AfterIntent,
    /// After the acquirer processed the order, before its reply.
    AfterRequest,
    /// After the reply, and before the next look-up or commit.
    AfterReply,
    /// After the commit that stores the outcome, and before the caller has a response.
    AfterOutcome,
}

impl CrashPoint {
    pub const ALL: [Self; 5] =
        [Self::BeforeIntent, Self::AfterIntent, Self::AfterRequest, Self::AfterReply, Self::AfterOutcome];
}

#[derive(Debug, Default)]
struct State {
    armed: Option<CrashPoint>,
    /// `true` if an order was sent since the crash point was set.
    ordered: bool,
    is_dead: bool,
}

/// A node. At its crash point all its work stops, until the node restarts.
#[derive(Debug, Default)]
pub struct Node(Mutex<State>);

impl Node {
    /// Makes the node crash when it next reaches the point.
    pub fn crash_at(&self, point: CrashPoint) {
        *self.state() = State { armed: Some(point), ..State::default() };
    }

    pub fn is_dead(&self) -> bool {
        self.state().is_dead
    }

    pub fn restart(&self) {
        *self.state() = State::default();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// Waits forever if the node crashes at this point.
    async fn reach(&self, point: CrashPoint, after_order: bool) {
        if self.crashes(point, after_order) {
            std::future::pending::<()>().await;
        }
    }

    fn crashes(&self, point: CrashPoint, after_order: bool) -> bool {
        let mut state = self.state();
        state.is_dead |= state.armed == Some(point) && state.ordered == after_order;
        state.is_dead
    }
}

#[async_trait]
impl Connection for Node {
    async fn before_read(&self) {
        Yield(false).await;
        self.reach(CrashPoint::AfterReply, true).await;
    }

    /// Does not yield, so that no time passes between the decision to send and the request.
    async fn before_order(&self) {
        self.reach(CrashPoint::AfterReply, true).await;
    }

    async fn after_order(&self) {
        self.state().ordered = true;
        self.reach(CrashPoint::AfterRequest, true).await;
        Yield(false).await;
    }
}

/// The store as a node uses it.
pub struct NodeStore {
    pub store: Arc<MemoryStore>,
    pub node: Arc<Node>,
}

#[async_trait]
impl Store for NodeStore {
    async fn commit(&self, change: ChangeSet) -> Result<Committed, CommitError> {
        Yield(false).await;
        self.node.reach(CrashPoint::BeforeIntent, false).await;
        self.node.reach(CrashPoint::AfterReply, true).await;
        let committed = self.store.commit(change).await;
        self.node.reach(CrashPoint::AfterIntent, false).await;
        self.node.reach(CrashPoint::AfterOutcome, true).await;
        Yield(false).await;
        committed
    }
}

/// Lets the other tasks run once.
struct Yield(bool);

impl Future for Yield {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
