//! The breaker: stops calls to an acquirer for [`OPEN_FOR`] after [`FAILURES_TO_OPEN`] consecutive failures, then
//! allows one trial call.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use metrics::{counter, gauge};

/// The number of consecutive failures that opens the breaker.
pub const FAILURES_TO_OPEN: u32 = 5;
/// The time that the breaker stays open.
pub const OPEN_FOR: Duration = Duration::from_secs(10);

/// A monotonic clock. Tests supply a clock that they control.
pub type MonotonicClock = Arc<dyn Fn() -> Instant + Send + Sync>;

/// The breaker of one acquirer.
///
/// A failure is a failed connection, a timeout, or a status 5xx, 401 or 429. Every other complete response counts as
/// answered: also a business refusal, a 403, or a record that this service rejects.
pub struct Breaker {
    name: String,
    clock: MonotonicClock,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    state: State,
    /// The number of state changes. Reports of calls from an earlier state are ignored.
    epoch: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Closed {
        failures: u32,
    },
    Open {
        until: Instant,
    },
    /// A trial call is running.
    HalfOpen,
}

/// The outcome of a call, as the breaker counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The acquirer answered, with any content.
    Answered,
    /// The call failed, as defined at [`Breaker`].
    Failed,
}

/// The permit for one call. A permit that is dropped without a report counts neither as a success nor as a failure. A
/// dropped trial permit allows the next trial at once.
#[must_use = "report the outcome of the call"]
pub struct Permit {
    breaker: Arc<Breaker>,
    epoch: u64,
}

impl Breaker {
    /// Creates a closed breaker. `name` labels its gauge and its log lines.
    #[must_use]
    pub fn new(name: impl Into<String>, clock: MonotonicClock) -> Arc<Self> {
        let breaker = Self {
            name: name.into(),
            clock,
            inner: Mutex::new(Inner { state: State::Closed { failures: 0 }, epoch: 0 }),
        };
        breaker.publish(State::Closed { failures: 0 });
        Arc::new(breaker)
    }

    /// Returns whether [`Breaker::enter`] would now allow a call.
    #[must_use]
    pub fn is_available(&self) -> bool {
        match self.lock().state {
            State::Closed { .. } => true,
            State::Open { until } => (self.clock)() >= until,
            State::HalfOpen => false,
        }
    }

    /// Returns a permit for a call; `None` if the breaker is open or a trial call is running.
    #[must_use]
    pub fn enter(self: &Arc<Self>) -> Option<Permit> {
        let mut inner = self.lock();
        match inner.state {
            State::Closed { .. } => {}
            State::Open { until } if (self.clock)() >= until => {
                self.change(&mut inner, State::HalfOpen);
            }
            State::Open { .. } | State::HalfOpen => return None,
        }
        Some(Permit { breaker: Arc::clone(self), epoch: inner.epoch })
    }

    fn report(&self, epoch: u64, outcome: Outcome) {
        let mut inner = self.lock();
        if inner.epoch != epoch {
            return;
        }
        match (inner.state, outcome) {
            (State::Closed { .. }, Outcome::Answered) => {
                inner.state = State::Closed { failures: 0 };
            }
            (State::Closed { failures }, Outcome::Failed) => {
                let failures = failures.saturating_add(1);
                if failures < FAILURES_TO_OPEN {
                    inner.state = State::Closed { failures };
                } else {
                    self.open(&mut inner, OPEN_FOR);
                }
            }
            (State::HalfOpen, Outcome::Answered) => {
                self.count_trial("answered");
                self.change(&mut inner, State::Closed { failures: 0 });
            }
            (State::HalfOpen, Outcome::Failed) => {
                self.count_trial("failed");
                self.open(&mut inner, OPEN_FOR);
            }
            // No call enters an open breaker, so no report has the epoch of this state.
            (State::Open { .. }, Outcome::Answered | Outcome::Failed) => {}
        }
    }

    /// Ends a call that reported no outcome. If the call was the trial, the next call is allowed at once, as a new trial.
    fn cancel(&self, epoch: u64) {
        let mut inner = self.lock();
        if inner.epoch == epoch && inner.state == State::HalfOpen {
            self.count_trial("cancelled");
            self.open(&mut inner, Duration::ZERO);
        }
    }

    fn open(&self, inner: &mut Inner, length: Duration) {
        let now = (self.clock)();
        let until = now.checked_add(length).unwrap_or(now);
        self.change(inner, State::Open { until });
    }

    fn change(&self, inner: &mut Inner, state: State) {
        inner.state = state;
        inner.epoch = inner.epoch.wrapping_add(1);
        self.publish(state);
        match state {
            State::Closed { .. } => {
                tracing::info!(acquirer = self.name, "trial call to the acquirer succeeded; the breaker is closed");
            }
            State::Open { .. } => {
                tracing::warn!(
                    acquirer = self.name,
                    "breaker is open; calls to the acquirer are refused until a trial call succeeds"
                );
            }
            State::HalfOpen => {
                tracing::info!(acquirer = self.name, "breaker is half-open; one trial call is allowed");
            }
        }
    }

    fn count_trial(&self, outcome: &'static str) {
        counter!("cais_acquirer_trial_calls_total", "acquirer" => self.name.clone(), "outcome" => outcome).increment(1);
    }

    /// Sets `cais_acquirer_breaker_state`: 0 closed, 1 half-open, 2 open.
    fn publish(&self, state: State) {
        let value = match state {
            State::Closed { .. } => 0.0,
            State::HalfOpen => 1.0,
            State::Open { .. } => 2.0,
        };
        gauge!("cais_acquirer_breaker_state", "acquirer" => self.name.clone()).set(value);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // The state is consistent after each change, so the lock's poison can be ignored.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit {
    /// Reports the outcome of the call.
    pub fn report(self, outcome: Outcome) {
        self.breaker.report(self.epoch, outcome);
    }
}

/// Ends a call that reported no outcome. After a report the drop has no effect: the epoch has changed, or the breaker is closed.
impl Drop for Permit {
    fn drop(&mut self) {
        self.breaker.cancel(self.epoch);
    }
}

impl fmt::Debug for Breaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Breaker").field("name", &self.name).field("inner", &self.inner).finish_non_exhaustive()
    }
}
