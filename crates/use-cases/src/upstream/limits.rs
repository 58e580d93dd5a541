//! Limits the number of reads that one worker has in flight at an acquirer. All workers of a node share one limit per
//! acquirer. Answers raise the limit, and a failure halves it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cais_domain::acquirer_name::AcquirerName;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;

/// The limit of each acquirer when the node starts.
const INITIAL_LIMIT: usize = 32;
/// The maximum of the limit. At 200 ms per read, 128 concurrent reads make 640 reads per second. They use half of the
/// idle connections that the HTTP client keeps to an acquirer.
const MAX_LIMIT: usize = 128;
/// The limit grows by this number after as many answers in a row as the limit itself.
const LIMIT_STEP: usize = 8;

/// The limit of every acquirer. Clones share the limits.
#[derive(Debug, Clone, Default)]
pub struct UpstreamLimits {
    by_acquirer: Arc<Mutex<HashMap<AcquirerName, Limit>>>,
}

/// A limit with additive increase and multiplicative decrease, as in TCP.
#[derive(Debug, Clone, Copy)]
struct Limit {
    allowed: usize,
    /// The number of answers in a row since the last change of the limit.
    answered: usize,
    /// The number of results still expected from reads that were in flight at the last decrease. Failures among these
    /// results have the same cause as the first failure, so they do not decrease the limit again.
    excused: usize,
}

impl Default for Limit {
    fn default() -> Self {
        Self { allowed: INITIAL_LIMIT, answered: 0, excused: 0 }
    }
}

impl Limit {
    fn record(&mut self, is_overload: bool) {
        let is_excused = self.excused > 0;
        self.excused = self.excused.saturating_sub(1);
        if is_overload {
            self.answered = 0;
            if !is_excused {
                self.excused = self.allowed.saturating_sub(1);
                self.allowed = (self.allowed / 2).max(1);
            }
            return;
        }
        self.answered = self.answered.saturating_add(1);
        if self.answered >= self.allowed {
            self.answered = 0;
            self.allowed = self.allowed.saturating_add(LIMIT_STEP).min(MAX_LIMIT);
        }
    }
}

impl UpstreamLimits {
    /// Runs `work` for every item, within the current limit of the acquirer. `is_overload` returns `true` for a result
    /// that must lower the limit.
    pub(crate) async fn run<I, F: Future>(
        &self,
        acquirer: &AcquirerName,
        items: impl IntoIterator<Item = I>,
        work: impl Fn(I) -> F,
        is_overload: impl Fn(&F::Output) -> bool,
    ) -> Vec<F::Output> {
        let (mut items, mut in_flight, mut results) = (items.into_iter(), FuturesUnordered::new(), Vec::new());
        loop {
            let allowed = self.allowed(acquirer);
            while in_flight.len() < allowed
                && let Some(item) = items.next()
            {
                in_flight.push(work(item));
            }
            let Some(result) = in_flight.next().await else { return results };
            self.lock().entry(acquirer.clone()).or_default().record(is_overload(&result));
            results.push(result);
        }
    }

    fn allowed(&self, acquirer: &AcquirerName) -> usize {
        self.lock().entry(acquirer.clone()).or_default().allowed
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<AcquirerName, Limit>> {
        self.by_acquirer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn answers_raise_the_limit_up_to_its_maximum() {
        let mut limit = Limit::default();
        (0..INITIAL_LIMIT).for_each(|_| limit.record(false));
        assert_eq!(limit.allowed, INITIAL_LIMIT + LIMIT_STEP);
        (0..100_000).for_each(|_| limit.record(false));
        assert_eq!(limit.allowed, MAX_LIMIT);
    }

    #[test]
    fn failures_of_one_round_halve_the_limit_once() {
        let mut limit = Limit::default();
        (0..INITIAL_LIMIT).for_each(|_| limit.record(true));
        assert_eq!(limit.allowed, INITIAL_LIMIT / 2);
        limit.record(true);
        assert_eq!(limit.allowed, INITIAL_LIMIT / 4);
        (0..1_000).for_each(|_| limit.record(true));
        assert_eq!(limit.allowed, 1);
    }

    #[tokio::test]
    async fn reads_in_flight_stay_within_the_limit() {
        let (limits, name) = (UpstreamLimits::default(), AcquirerName::parse("main").unwrap());
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = |item: usize| {
            let (now, most) = (&now, &most);
            async move {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::task::yield_now().await;
                now.fetch_sub(1, Ordering::SeqCst);
                item
            }
        };
        let mut results = limits.run(&name, 0..5_000, work, |_| false).await;
        results.sort_unstable();
        assert_eq!(results, (0..5_000).collect::<Vec<_>>());
        assert!(most.load(Ordering::SeqCst) <= MAX_LIMIT, "{most:?}");
        assert!(most.load(Ordering::SeqCst) > INITIAL_LIMIT, "{most:?}");
    }
}
