//! The queues that received deliveries on this node, for the dispatcher. The hints only save time: every queue is also found by a query.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use cais_ports::EndpointQueue;
use tokio::sync::Notify;

/// The largest number of stored queues. A node without a dispatcher would otherwise store queues forever. Queues beyond the limit are
/// found by a query.
const MAX_QUEUES: usize = 10_000;

/// The queues with new deliveries that [`Hints::wait`] has not returned yet.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    queues: Mutex<BTreeSet<EndpointQueue>>,
    added: Notify,
}

impl Hints {
    /// Adds queues with new durable deliveries.
    pub(crate) fn add(&self, new: impl IntoIterator<Item = EndpointQueue>) {
        let mut new = new.into_iter().peekable();
        if new.peek().is_none() {
            return;
        }
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        for queue in new {
            if queues.len() >= MAX_QUEUES {
                break;
            }
            queues.insert(queue);
        }
        drop(queues);
        self.added.notify_one();
    }

    /// Waits until there are queues. Returns each queue once, in order.
    pub(crate) async fn wait(&self) -> Vec<EndpointQueue> {
        loop {
            // An `add` between this check and the wait leaves a permit, and the permit ends the wait at once.
            let queues = std::mem::take(&mut *self.queues.lock().unwrap_or_else(PoisonError::into_inner));
            if !queues.is_empty() {
                return queues.into_iter().collect();
            }
            self.added.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cais_testkit::builders::fresh;

    use super::*;

    fn a_queue() -> EndpointQueue {
        EndpointQueue { account: fresh(), endpoint: fresh(), epoch: 0 }
    }

    #[tokio::test]
    async fn queue_is_returned_once_and_waiting_caller_wakes() {
        let (hints, one, other) = (Arc::new(Hints::default()), a_queue(), a_queue());
        hints.add([other, one, other]);
        assert_eq!(hints.wait().await, [one, other]);
        let waiting = tokio::spawn({
            let hints = Arc::clone(&hints);
            async move { hints.wait().await }
        });
        hints.add([]);
        hints.add([one]);
        assert!(matches!(waiting.await.as_deref(), Ok([queue]) if *queue == one));
    }

    #[tokio::test]
    async fn unread_queues_are_bounded() {
        let hints = Hints::default();
        hints.add((0..=MAX_QUEUES).map(|_| a_queue()));
        assert_eq!(hints.wait().await.len(), MAX_QUEUES);
    }
}
