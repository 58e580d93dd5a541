//! Tests the breaker's states under a controlled clock.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cais_acquirers::breaker::{Breaker, FAILURES_TO_OPEN, MonotonicClock, OPEN_FOR, Outcome};

/// A clock that moves only on request.
#[derive(Clone)]
pub struct FakeClock(Arc<Mutex<Instant>>);

impl FakeClock {
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    pub fn pass(&self, time: Duration) {
        *self.0.lock().unwrap() += time;
    }

    pub fn as_clock(&self) -> MonotonicClock {
        let now = Arc::clone(&self.0);
        Arc::new(move || *now.lock().unwrap())
    }
}

fn breaker() -> (Arc<Breaker>, FakeClock) {
    let clock = FakeClock::new();
    (Breaker::new("main", clock.as_clock()), clock)
}

fn call(breaker: &Arc<Breaker>, outcome: Outcome) {
    breaker.enter().unwrap().report(outcome);
}

fn opened() -> (Arc<Breaker>, FakeClock) {
    let (breaker, clock) = breaker();
    for _ in 0..FAILURES_TO_OPEN {
        call(&breaker, Outcome::Failed);
    }
    (breaker, clock)
}

#[test]
fn only_consecutive_failures_open_breaker() {
    let (breaker, _) = breaker();
    for _ in 0..3 {
        for _ in 1..FAILURES_TO_OPEN {
            call(&breaker, Outcome::Failed);
        }
        call(&breaker, Outcome::Answered);
    }
    assert!(breaker.is_available());
    for _ in 0..FAILURES_TO_OPEN {
        assert!(breaker.is_available());
        call(&breaker, Outcome::Failed);
    }
    assert!(!breaker.is_available());
    assert!(breaker.enter().is_none());
}

#[test]
fn open_breaker_allows_one_trial_after_its_time() {
    let (breaker, clock) = opened();
    clock.pass(Duration::from_millis(9_999));
    assert!(!breaker.is_available() && breaker.enter().is_none());
    clock.pass(Duration::from_millis(1));
    assert!(breaker.is_available());
    let probe = breaker.enter().unwrap();
    assert!(!breaker.is_available() && breaker.enter().is_none());
    probe.report(Outcome::Answered);
    assert!(breaker.is_available());
    // The breaker is closed with a count of zero.
    for _ in 1..FAILURES_TO_OPEN {
        call(&breaker, Outcome::Failed);
    }
    assert!(breaker.is_available());
}

#[test]
fn failed_trial_opens_breaker_again() {
    let (breaker, clock) = opened();
    clock.pass(OPEN_FOR);
    call(&breaker, Outcome::Failed);
    assert!(!breaker.is_available());
    clock.pass(Duration::from_millis(9_999));
    assert!(breaker.enter().is_none());
    clock.pass(Duration::from_millis(1));
    call(&breaker, Outcome::Answered);
    assert!(breaker.is_available());
}

#[test]
fn cancelled_trial_allows_the_next_call() {
    let (breaker, clock) = opened();
    clock.pass(OPEN_FOR);
    drop(breaker.enter().unwrap());
    assert!(breaker.is_available());
    call(&breaker, Outcome::Answered);
    assert!(breaker.is_available());
}

#[test]
fn reports_of_an_earlier_state_are_ignored() {
    let (breaker, clock) = breaker();
    let slow_success = breaker.enter().unwrap();
    let slow_failure = breaker.enter().unwrap();
    let given_up = breaker.enter().unwrap();
    for _ in 0..FAILURES_TO_OPEN {
        call(&breaker, Outcome::Failed);
    }
    slow_success.report(Outcome::Answered);
    assert!(!breaker.is_available());
    clock.pass(OPEN_FOR);
    let probe = breaker.enter().unwrap();
    drop(given_up);
    assert!(!breaker.is_available());
    slow_failure.report(Outcome::Failed);
    probe.report(Outcome::Answered);
    assert!(breaker.is_available());
}
