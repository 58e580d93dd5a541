//! The lanes that received deliveries on this node, for the dispatcher. The hints only save time: every lane is also found by a query.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use cais_ports::Lane;
use tokio::sync::Notify;

/// The largest number of lanes kept. Without a dispatcher the hints are never read. Lanes beyond the limit are found by a query.
const MAX_LANES: usize = 10_000;

/// Lanes with new deliveries that were not returned yet.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    lanes: Mutex<BTreeSet<Lane>>,
    told: Notify,
}

impl Hints {
    /// Adds lanes with new durable deliveries.
    pub(crate) fn add(&self, new: impl IntoIterator<Item = Lane>) {
        let mut new = new.into_iter().peekable();
        if new.peek().is_none() {
            return;
        }
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        for lane in new {
            if lanes.len() >= MAX_LANES {
                break;
            }
            lanes.insert(lane);
        }
        drop(lanes);
        self.told.notify_one();
    }

    /// Waits until there are lanes. Returns each lane once, in order.
    pub(crate) async fn wait(&self) -> Vec<Lane> {
        loop {
            // A caller of `add` between this check and the wait leaves a permit, which ends the wait at once.
            let lanes = std::mem::take(&mut *self.lanes.lock().unwrap_or_else(PoisonError::into_inner));
            if !lanes.is_empty() {
                return lanes.into_iter().collect();
            }
            self.told.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cais_testkit::builders::fresh;

    use super::*;

    fn a_lane() -> Lane {
        Lane { account: fresh(), endpoint: fresh(), epoch: 0 }
    }

    #[tokio::test]
    async fn lane_is_returned_once_and_waiting_caller_wakes() {
        let (hints, one, other) = (Arc::new(Hints::default()), a_lane(), a_lane());
        hints.add([other, one, other]);
        assert_eq!(hints.wait().await, [one, other]);
        let waiting = tokio::spawn({
            let hints = Arc::clone(&hints);
            async move { hints.wait().await }
        });
        hints.add([]);
        hints.add([one]);
        assert!(matches!(waiting.await.as_deref(), Ok([lane]) if *lane == one));
    }

    #[tokio::test]
    async fn unread_lanes_are_bounded() {
        let hints = Hints::default();
        hints.add((0..=MAX_LANES).map(|_| a_lane()));
        assert_eq!(hints.wait().await.len(), MAX_LANES);
    }
}
