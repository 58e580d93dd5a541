//! Which lanes got deliveries on this node, for whoever delivers: a hint, never the only way to them.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use cais_ports::Lane;
use tokio::sync::Notify;

/// So many lanes are remembered at most. Where nobody delivers nobody asks for them, and what is forgotten is found by looking.
const MAX_LANES: usize = 10_000;

/// Lanes with new deliveries that nobody was told of yet.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    lanes: Mutex<BTreeSet<Lane>>,
    told: Notify,
}

impl Hints {
    /// These lanes have something new, which is durable.
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

    /// Waits until there are lanes; each once, in order.
    pub(crate) async fn wait(&self) -> Vec<Lane> {
        loop {
            // Whoever adds between the look and the wait leaves a permit, with which the wait ends at once.
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
    async fn a_lane_is_told_once_and_whoever_waits_is_woken() {
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
    async fn lanes_that_nobody_asks_for_are_bounded() {
        let hints = Hints::default();
        hints.add((0..=MAX_LANES).map(|_| a_lane()));
        assert_eq!(hints.wait().await.len(), MAX_LANES);
    }
}
