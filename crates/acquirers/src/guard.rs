//! Calls to an institution through its breaker. The calls are counted and timed.

use std::sync::Arc;
use std::time::Duration;

use cais_ports::AcquirerError;
use metrics::{counter, histogram};

use crate::breaker::{Breaker, MonotonicClock, Outcome};
use crate::http::observe;

/// The smallest budget of a call. With less time a call would fail because of this service, and would wrongly count as the institution's
/// failure.
pub(crate) const MIN_BUDGET: Duration = Duration::from_millis(20);

/// The longest time by which a call can exceed its budget while this process runs. If a call exceeds its budget by more, the process was
/// stopped, or its machine was overloaded. The answer may have arrived in time, so such a timeout is no failure of the institution.
const MAX_OVERRUN: Duration = Duration::from_millis(500);

/// The effect of a call on the breaker.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BreakerEffect {
    /// The breaker counts the outcome.
    Counted,
    /// The breaker does not count the outcome. The institution may have switched the feature off: Efí's test environment answers 500 to all
    /// requests about infractions. Charges must stay possible then.
    NotCounted,
}

/// Makes calls while the breaker allows them. Otherwise a call fails at once with [`AcquirerError::Unavailable`].
pub(crate) struct Guard {
    name: String,
    breaker: Arc<Breaker>,
    clock: MonotonicClock,
}

impl Guard {
    /// Creates a guard. `name` labels the metrics and the log lines.
    pub(crate) fn new(name: &str, clock: MonotonicClock) -> Self {
        Self { name: name.to_owned(), breaker: Breaker::new(name, Arc::clone(&clock)), clock }
    }

    pub(crate) fn is_available(&self) -> bool {
        self.breaker.is_available()
    }

    /// Makes a call whose outcome the breaker counts.
    pub(crate) async fn call<T>(
        &self,
        operation: &'static str,
        budget: Duration,
        work: impl Future<Output = Result<T, AcquirerError>> + Send,
    ) -> Result<T, AcquirerError> {
        self.attempt((operation, BreakerEffect::Counted), budget, work).await.unwrap_or_else(|| Err(breaker_open()))
    }

    /// Makes a call whose outcome the breaker does not count.
    pub(crate) async fn call_uncounted<T>(
        &self,
        operation: &'static str,
        budget: Duration,
        work: impl Future<Output = Result<T, AcquirerError>> + Send,
    ) -> Result<T, AcquirerError> {
        self.attempt((operation, BreakerEffect::NotCounted), budget, work).await.unwrap_or_else(|| Err(breaker_open()))
    }

    /// Makes a call, and reports its outcome to the metrics and, with [`BreakerEffect::Counted`], to the breaker. Returns `None` if the
    /// breaker refused the call.
    pub(crate) async fn attempt<T>(
        &self,
        (operation, effect): (&'static str, BreakerEffect),
        budget: Duration,
        work: impl Future<Output = Result<T, AcquirerError>> + Send,
    ) -> Option<Result<T, AcquirerError>> {
        if budget < MIN_BUDGET {
            let error = AcquirerError::Unavailable("the deadline has passed".to_owned());
            return Some(Err(error));
        }
        let Some(permit) = self.breaker.enter() else {
            self.count(operation, "left_alone");
            return None;
        };
        let started = (self.clock)();
        let (result, answered) = observe(work).await;
        let took = (self.clock)().saturating_duration_since(started);
        // An answer that this service rejects concerns only one record, so the institution counts as reachable.
        let of_an_error = if answered { Outcome::Answered } else { Outcome::Failed };
        let (outcome, label) = match &result {
            Ok(_) => (Outcome::Answered, "ok"),
            Err(AcquirerError::Refused(_)) => (Outcome::Answered, "refused"),
            Err(AcquirerError::Unavailable(_)) => (of_an_error, "unavailable"),
            Err(AcquirerError::OutcomeUnknown(_)) => (of_an_error, "unknown"),
        };
        let is_overrun = outcome == Outcome::Failed && took > budget.saturating_add(MAX_OVERRUN);
        match effect {
            BreakerEffect::Counted if !is_overrun => permit.report(outcome),
            BreakerEffect::Counted | BreakerEffect::NotCounted => drop(permit),
        }
        self.count(operation, label);
        histogram!(
            "cais_acquirer_request_seconds",
            "acquirer" => self.name.clone(),
            "operation" => operation
        )
        .record(took.as_secs_f64());
        Some(result)
    }

    fn count(&self, operation: &'static str, outcome: &'static str) {
        counter!(
            "cais_acquirer_requests_total",
            "acquirer" => self.name.clone(),
            "operation" => operation,
            "outcome" => outcome
        )
        .increment(1);
    }
}

/// Returns the error of a call that the breaker refused.
pub(crate) fn breaker_open() -> AcquirerError {
    AcquirerError::Unavailable("the breaker is open after consecutive failures".to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Instant;

    use super::*;
    use crate::breaker::FAILURES_TO_OPEN;

    const BUDGET: Duration = Duration::from_secs(3);

    /// Makes calls that each take this time and fail without an answer. Returns `true` if the breaker stays closed.
    async fn stays_closed(took: Duration) -> bool {
        let (begin, passed_ms) = (Instant::now(), Arc::new(AtomicU64::new(0)));
        let clock_ms = Arc::clone(&passed_ms);
        let clock = move || begin + Duration::from_millis(clock_ms.load(Ordering::SeqCst));
        let guard = Guard::new("main", Arc::new(clock));
        for _ in 0..FAILURES_TO_OPEN {
            let work = async {
                passed_ms.fetch_add(u64::try_from(took.as_millis()).unwrap_or(u64::MAX), Ordering::SeqCst);
                Err::<(), _>(AcquirerError::OutcomeUnknown("no answer in time".to_owned()))
            };
            let result = guard.call("send_payout", BUDGET, work).await;
            assert_eq!(result, Err(AcquirerError::OutcomeUnknown("no answer in time".to_owned())));
        }
        guard.is_available()
    }

    #[tokio::test]
    async fn timeout_after_a_pause_of_the_process_does_not_count() {
        assert!(!stays_closed(BUDGET).await, "timeouts open the breaker");
        assert!(stays_closed(BUDGET + Duration::from_secs(5)).await);
    }
}
