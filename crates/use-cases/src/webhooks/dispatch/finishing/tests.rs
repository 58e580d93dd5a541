//! Outcomes on their way into the store: in order, in batches, and given up alone.
use cais_ports::{AttemptOutcome, DeliveryAttempt};
use cais_testkit::builders::start;

use super::*;
use crate::webhooks::dispatch::samples::Receiver;

fn outcome(receiver: &Receiver, health: Health) -> FinishedAttempt {
    let claimed = receiver.delivery();
    FinishedAttempt {
        key: claimed.key,
        fence: claimed.fence,
        epoch: claimed.endpoint.epoch,
        tries: claimed.tries,
        attempt: DeliveryAttempt {
            at: start(),
            status_code: Some(200),
            duration_ms: 1,
            error: None,
            response_body: None,
        },
        outcome: AttemptOutcome::Succeeded,
        health,
    }
}

fn filled(count: usize) -> Finishing {
    let mut finishing = Finishing::new();
    let receiver = Receiver::new();
    for _ in 0..count {
        finishing.push(outcome(&receiver, Health::Unchanged));
    }
    finishing
}

fn down() -> QueryError {
    QueryError::Unavailable("down".to_owned())
}

fn damaged() -> QueryError {
    QueryError::Corrupt("damaged".to_owned())
}

fn ids(batch: &[Unwritten]) -> Vec<cais_domain::ids::DeliveryId> {
    batch.iter().map(|one| one.finished.key.id).collect()
}

#[test]
fn one_batch_is_written_at_a_time_in_order() {
    let mut finishing = filled(BATCH + 1);
    let first = finishing.next().unwrap_or_default();
    assert_eq!(first.len(), BATCH);
    assert_eq!(finishing.next(), None, "while another is written");
    finishing.written();
    let second = finishing.next().unwrap_or_default();
    assert_eq!(second.len(), 1);
    assert!(!finishing.is_empty(), "it is not written yet");
    finishing.written();
    assert!(finishing.is_empty());
    assert_eq!(finishing.next(), None);
}

#[test]
fn what_a_store_that_is_down_refused_comes_first_again_and_is_given_up_after_a_while() {
    let mut finishing = filled(3);
    let mut batch = finishing.next().unwrap_or_default();
    let order = ids(&batch);
    finishing.push(outcome(&Receiver::new(), Health::Unchanged));
    for round in 1..TRIES {
        assert_eq!(finishing.refused(batch, &down(), false), [], "round {round}");
        batch = finishing.next().unwrap_or_default();
        assert_eq!(ids(&batch).get(..3), Some(&order[..]), "in their order, before what came later");
    }
    let given_up = finishing.refused(batch, &down(), false);
    assert_eq!(ids(&given_up), order, "and not what came later");
    assert_eq!(finishing.next().map(|batch| batch.len()), Some(1));
}

#[test]
fn at_the_end_it_is_given_up_soon() {
    let mut finishing = filled(2);
    for _ in 1..TRIES_AT_THE_END {
        let batch = finishing.next().unwrap_or_default();
        assert_eq!(finishing.refused(batch, &down(), true), []);
    }
    let batch = finishing.next().unwrap_or_default();
    assert_eq!(finishing.refused(batch, &down(), true).len(), 2);
    assert!(finishing.is_empty());
}

#[test]
fn one_that_the_store_cannot_take_is_given_up_alone() {
    let mut finishing = filled(37);
    let poison = finishing.waiting.get(20).map(|one| one.finished.key.id);
    let (mut given_up, mut written, mut rounds) = (Vec::new(), 0, 0);
    while let Some(batch) = finishing.next() {
        rounds += 1;
        if batch.iter().any(|one| Some(one.finished.key.id) == poison) {
            given_up.extend(finishing.refused(batch, &damaged(), false));
        } else {
            written += batch.len();
            finishing.written();
        }
    }
    assert_eq!(ids(&given_up), poison.into_iter().collect::<Vec<_>>());
    assert_eq!(written, 36);
    assert!(rounds < 40, "{rounds} rounds");
}

#[test]
fn only_the_last_word_on_an_endpoint_is_written() {
    let (one, other) = (Receiver::new(), Receiver::new());
    let mut finishing = Finishing::new();
    let said = [
        (&one, Health::Failing),
        (&other, Health::Failing),
        (&one, Health::Unchanged),
        (&one, Health::Healthy),
        (&one, Health::Unchanged),
    ];
    for (receiver, health) in said {
        finishing.push(outcome(receiver, health));
    }
    let health: Vec<Health> =
        finishing.next().unwrap_or_default().iter().map(|unwritten| unwritten.finished.health).collect();
    let expected = [Health::Unchanged, Health::Failing, Health::Unchanged, Health::Healthy, Health::Unchanged];
    assert_eq!(health, expected);
}

#[test]
fn failures_after_a_success_count_from_it() {
    let receiver = Receiver::new();
    let mut finishing = Finishing::new();
    for health in [Health::Healthy, Health::Failing, Health::Healthy, Health::Failing, Health::Failing] {
        finishing.push(outcome(&receiver, health));
    }
    let health: Vec<Health> =
        finishing.next().unwrap_or_default().iter().map(|unwritten| unwritten.finished.health).collect();
    let expected = [Health::Unchanged, Health::Unchanged, Health::Healthy, Health::Unchanged, Health::Failing];
    assert_eq!(health, expected);
}
