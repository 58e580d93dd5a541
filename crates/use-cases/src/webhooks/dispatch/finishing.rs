//! The outcomes that are not stored yet. Only one batch of outcomes is written at a time. If its write fails, its
//! outcomes are written again.

use std::collections::{HashMap, VecDeque};

use cais_domain::ids::EndpointId;
use cais_ports::{FinishedAttempt, Health, QueryError};

/// The largest number of outcomes in one batch.
const BATCH: usize = 256;
/// The largest number of writes of one outcome, about one per second. After the last write the lease of the delivery is
/// over, and the delivery is sent again.
const TRIES: u32 = 30;
/// The largest number of writes of one outcome after a stop. Writes before the stop count too. The writes follow each
/// other at once, because no tick follows a stop.
const TRIES_AFTER_STOP: u32 = 3;

/// An outcome that is not stored yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unwritten {
    /// The outcome.
    pub finished: FinishedAttempt,
    tries: u32,
}

/// The outcomes that are not stored yet.
#[derive(Debug)]
pub(super) struct Finishing {
    waiting: VecDeque<Unwritten>,
    batch: usize,
    under_way: bool,
}

impl Finishing {
    pub(super) const fn new() -> Self {
        Self { waiting: VecDeque::new(), batch: BATCH, under_way: false }
    }

    /// Returns whether no outcome waits and no batch is being written.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && !self.under_way
    }

    pub(super) fn push(&mut self, finished: FinishedAttempt) {
        self.waiting.push_back(Unwritten { finished, tries: 0 });
    }

    /// Returns the oldest outcomes as the next batch. Returns `None` if a batch is being written or no outcome waits.
    pub(super) fn next(&mut self) -> Option<Vec<Unwritten>> {
        if self.under_way || self.waiting.is_empty() {
            return None;
        }
        let mut batch: Vec<Unwritten> = self.waiting.drain(..self.batch.min(self.waiting.len())).collect();
        keep_last_health(&mut batch);
        self.under_way = true;
        Some(batch)
    }

    /// Records that the batch was stored, so that the next batch can follow.
    pub(super) const fn on_success(&mut self) {
        self.under_way = false;
        self.batch = BATCH;
    }

    /// Puts the outcomes of a failed batch before all other waiting outcomes. Returns the lost outcomes: those that are
    /// not written again.
    ///
    /// If a row in the store is damaged, the next batch has half as many outcomes. Finally the outcome that needs the
    /// damaged row is alone in its batch, and only this outcome is lost.
    pub(super) fn on_failure(
        &mut self,
        batch: Vec<Unwritten>,
        error: &QueryError,
        is_stopping: bool,
    ) -> Vec<Unwritten> {
        self.under_way = false;
        let is_alone = batch.len() <= 1;
        let tries = if is_stopping { TRIES_AFTER_STOP } else { TRIES };
        let is_lost = |one: &Unwritten| match error {
            QueryError::Corrupt(_) => is_alone,
            QueryError::Unavailable(_) => one.tries >= tries,
        };
        if matches!(error, QueryError::Corrupt(_)) {
            self.batch = batch.len().div_ceil(2).max(1);
        }
        let tried = batch.into_iter().map(|one| Unwritten { tries: one.tries.saturating_add(1), ..one });
        let (lost, again): (Vec<_>, Vec<_>) = tried.partition(is_lost);
        for one in again.into_iter().rev() {
            self.waiting.push_front(one);
        }
        lost
    }
}

/// Keeps the last change of health of each endpoint, and sets its earlier changes to `Unchanged`. If the last change is
/// `Failing`, the last `Healthy` before it is kept too, because it ends the earlier period of failures.
fn keep_last_health(batch: &mut [Unwritten]) {
    let mut latest: HashMap<(EndpointId, i64), Health> = HashMap::new();
    for Unwritten { finished, .. } in batch.iter_mut().rev() {
        let later = latest.get(&(finished.key.endpoint, finished.epoch));
        match (finished.health, later) {
            (Health::Unchanged, _) => {}
            (health, None) | (health @ Health::Healthy, Some(Health::Failing)) => {
                latest.insert((finished.key.endpoint, finished.epoch), health);
            }
            (Health::Failing | Health::Healthy, Some(_)) => finished.health = Health::Unchanged,
        }
    }
}

#[cfg(test)]
mod tests;
