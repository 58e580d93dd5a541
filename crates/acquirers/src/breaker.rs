//! Leaves an acquirer alone for a while after too many of its last calls failed, then lets one call try.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use metrics::gauge;

/// Calls that must fail one after another before an acquirer is left alone.
pub const FAILURES_TO_OPEN: u32 = 5;
/// How long it is left alone.
pub const OPEN_FOR: Duration = Duration::from_secs(10);

/// Where a breaker gets the time: monotonic, in tests under the test's hand.
pub type MonotonicClock = Arc<dyn Fn() -> Instant + Send + Sync>;

/// The breaker of one acquirer.
///
/// A failure is a call that the institution did not answer: no connection, a timeout, a 5xx, or a 401 or 429, which are about
/// all requests. Every other whole answer counts as one, also a refusal, a 403 on one request, and a record that is not
/// believed.
pub struct Breaker {
    name: String,
    clock: MonotonicClock,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    state: State,
    /// Counts the changes of state: what a call of an earlier state reports is of no interest any more.
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
    /// One call is trying.
    HalfOpen,
}

/// How a call went, as far as the breaker is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The acquirer answered, whatever it said.
    Answered,
    /// The institution did not answer.
    Failed,
}

/// The right to make one call. Dropped without a report, for a call that was given up, it counts for nothing.
#[must_use = "report how the call went"]
pub struct Permit {
    breaker: Arc<Breaker>,
    epoch: u64,
}

impl Breaker {
    /// A closed one. `name` labels its gauge and its log lines.
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

    /// Whether [`Breaker::enter`] would let a call through just now.
    #[must_use]
    pub fn is_available(&self) -> bool {
        match self.lock().state {
            State::Closed { .. } => true,
            State::Open { until } => (self.clock)() >= until,
            State::HalfOpen => false,
        }
    }

    /// Lets a call through, or `None`: the acquirer is being left alone, or another call is trying already.
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
                self.change(&mut inner, State::Closed { failures: 0 });
            }
            (State::HalfOpen, Outcome::Failed) => self.open(&mut inner, OPEN_FOR),
            // Nothing enters while it is open, so nothing of its epoch reports.
            (State::Open { .. }, Outcome::Answered | Outcome::Failed) => {}
        }
    }

    /// A call was given up. If it was the one that tried, the next may try at once.
    fn give_up(&self, epoch: u64) {
        let mut inner = self.lock();
        if inner.epoch == epoch && inner.state == State::HalfOpen {
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
                tracing::info!(acquirer = self.name, "the acquirer answers again");
            }
            State::Open { .. } => {
                tracing::warn!(acquirer = self.name, "the acquirer is being left alone");
            }
            State::HalfOpen => {
                tracing::info!(acquirer = self.name, "one call tries the acquirer");
            }
        }
    }

    /// `cais_acquirer_breaker_state`: 0 closed, 1 half-open, 2 open.
    fn publish(&self, state: State) {
        let value = match state {
            State::Closed { .. } => 0.0,
            State::HalfOpen => 1.0,
            State::Open { .. } => 2.0,
        };
        gauge!("cais_acquirer_breaker_state", "acquirer" => self.name.clone()).set(value);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Every change leaves a whole state behind, so a panic elsewhere did no harm.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit {
    /// Tells how the call went.
    pub fn report(self, outcome: Outcome) {
        self.breaker.report(self.epoch, outcome);
    }
}

/// After a report this finds another state or one that is closed, and does nothing.
impl Drop for Permit {
    fn drop(&mut self) {
        self.breaker.give_up(self.epoch);
    }
}

impl fmt::Debug for Breaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Breaker").field("name", &self.name).field("inner", &self.inner).finish_non_exhaustive()
    }
}
