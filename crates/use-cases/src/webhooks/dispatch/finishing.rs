//! Outcomes that wait to be written down: in batches, one at a time, again when the store fails, until nobody waits for them any more.

use std::collections::{HashMap, VecDeque};

use cais_domain::ids::EndpointId;
use cais_ports::{FinishedAttempt, Health, QueryError};

/// How many are written at once at most.
const BATCH: usize = 256;
/// How often one is tried to be written; by then its lease is over, and it is delivered again.
const TRIES: u32 = 30;
/// How often at the end, when there are no ticks to wait for.
const TRIES_AT_THE_END: u32 = 3;

/// An outcome that is not written down yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unwritten {
    /// It.
    pub finished: FinishedAttempt,
    tries: u32,
}

/// What waits to be written down.
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

    /// Whether everything is written down.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && !self.under_way
    }

    pub(super) fn push(&mut self, finished: FinishedAttempt) {
        self.waiting.push_back(Unwritten { finished, tries: 0 });
    }

    /// What is to be written now: in the order in which it became known, and nothing while other outcomes are being written.
    pub(super) fn next(&mut self) -> Option<Vec<Unwritten>> {
        if self.under_way || self.waiting.is_empty() {
            return None;
        }
        let mut batch: Vec<Unwritten> = self.waiting.drain(..self.batch.min(self.waiting.len())).collect();
        last_word_of_each(&mut batch);
        self.under_way = true;
        Some(batch)
    }

    /// They are written down.
    pub(super) const fn written(&mut self) {
        self.under_way = false;
        self.batch = BATCH;
    }

    /// They are not: they wait again, before all others. Returned are those that are given up.
    ///
    /// Where the store refuses one of them for good, halves are tried, until only that one is given up.
    pub(super) fn refused(&mut self, batch: Vec<Unwritten>, error: &QueryError, ending: bool) -> Vec<Unwritten> {
        self.under_way = false;
        let alone = batch.len() <= 1;
        let tries = if ending { TRIES_AT_THE_END } else { TRIES };
        let gives_up = |one: &Unwritten| match error {
            QueryError::Corrupt(_) => alone,
            QueryError::Unavailable(_) => one.tries >= tries,
        };
        if matches!(error, QueryError::Corrupt(_)) {
            self.batch = batch.len().div_ceil(2).max(1);
        }
        let tried = batch.into_iter().map(|one| Unwritten { tries: one.tries.saturating_add(1), ..one });
        let (given_up, again): (Vec<_>, Vec<_>) = tried.partition(gives_up);
        for one in again.into_iter().rev() {
            self.waiting.push_front(one);
        }
        given_up
    }
}

/// Of several outcomes at one endpoint, only the last says how it is; and where that is a failure, the last success before it, since when the
/// failures count.
fn last_word_of_each(batch: &mut [Unwritten]) {
    let mut said: HashMap<(EndpointId, i64), Health> = HashMap::new();
    for Unwritten { finished, .. } in batch.iter_mut().rev() {
        let later = said.get(&(finished.key.endpoint, finished.epoch));
        match (finished.health, later) {
            (Health::Unchanged, _) => {}
            (health, None) | (health @ Health::Healthy, Some(Health::Failing)) => {
                said.insert((finished.key.endpoint, finished.epoch), health);
            }
            (Health::Failing | Health::Healthy, Some(_)) => finished.health = Health::Unchanged,
        }
    }
}

#[cfg(test)]
mod tests;
