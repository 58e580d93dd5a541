//! The breaker's states under a clock of the test's own.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cais_acquirers::breaker::{Breaker, FAILURES_TO_OPEN, MonotonicClock, OPEN_FOR, Outcome};

/// A clock that stands still until it is moved.
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
fn only_failures_in_a_row_open_it() {
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
fn it_stays_open_for_its_time_then_one_call_tries() {
    let (breaker, clock) = opened();
    clock.pass(Duration::from_millis(9_999));
    assert!(!breaker.is_available() && breaker.enter().is_none());
    clock.pass(Duration::from_millis(1));
    assert!(breaker.is_available());
    let probe = breaker.enter().unwrap();
    assert!(!breaker.is_available() && breaker.enter().is_none());
    probe.report(Outcome::Answered);
    assert!(breaker.is_available());
    // Closed again with a clean record.
    for _ in 1..FAILURES_TO_OPEN {
        call(&breaker, Outcome::Failed);
    }
    assert!(breaker.is_available());
}

#[test]
fn a_trial_that_fails_opens_it_anew() {
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
fn a_trial_that_is_given_up_blocks_nobody() {
    let (breaker, clock) = opened();
    clock.pass(OPEN_FOR);
    drop(breaker.enter().unwrap());
    assert!(breaker.is_available());
    call(&breaker, Outcome::Answered);
    assert!(breaker.is_available());
}

#[test]
fn calls_of_an_earlier_state_are_not_heard() {
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
