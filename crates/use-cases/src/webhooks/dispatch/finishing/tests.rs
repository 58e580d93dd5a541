//! Tests the batches of outcomes: their order, retries and losses.
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
fn batches_are_written_in_order_one_at_a_time() {
    let mut finishing = filled(BATCH + 1);
    let first = finishing.next().unwrap_or_default();
    assert_eq!(first.len(), BATCH);
    assert_eq!(finishing.next(), None, "a batch is being written");
    finishing.on_success();
    let second = finishing.next().unwrap_or_default();
    assert_eq!(second.len(), 1);
    assert!(!finishing.is_empty(), "the second batch is being written");
    finishing.on_success();
    assert!(finishing.is_empty());
    assert_eq!(finishing.next(), None);
}

#[test]
fn failed_batch_is_retried_first_and_lost_after_its_tries() {
    let mut finishing = filled(3);
    let mut batch = finishing.next().unwrap_or_default();
    let order = ids(&batch);
    finishing.push(outcome(&Receiver::new(), Health::Unchanged));
    for round in 1..TRIES {
        assert_eq!(finishing.on_failure(batch, &down(), false), [], "round {round}");
        batch = finishing.next().unwrap_or_default();
        assert_eq!(ids(&batch).get(..3), Some(&order[..]), "the order stays, before later outcomes");
    }
    let lost = finishing.on_failure(batch, &down(), false);
    assert_eq!(ids(&lost), order, "the later outcome stays");
    assert_eq!(finishing.next().map(|batch| batch.len()), Some(1));
}

#[test]
fn failed_batch_after_a_stop_is_lost_after_fewer_tries() {
    let mut finishing = filled(2);
    for _ in 1..TRIES_AFTER_STOP {
        let batch = finishing.next().unwrap_or_default();
        assert_eq!(finishing.on_failure(batch, &down(), true), []);
    }
    let batch = finishing.next().unwrap_or_default();
    assert_eq!(finishing.on_failure(batch, &down(), true).len(), 2);
    assert!(finishing.is_empty());
}

#[test]
fn damaged_outcome_is_lost_alone() {
    let mut finishing = filled(37);
    let poison = finishing.waiting.get(20).map(|one| one.finished.key.id);
    let (mut lost, mut written, mut rounds) = (Vec::new(), 0, 0);
    while let Some(batch) = finishing.next() {
        rounds += 1;
        if batch.iter().any(|one| Some(one.finished.key.id) == poison) {
            lost.extend(finishing.on_failure(batch, &damaged(), false));
        } else {
            written += batch.len();
            finishing.on_success();
        }
    }
    assert_eq!(ids(&lost), poison.into_iter().collect::<Vec<_>>());
    assert_eq!(written, 36);
    assert!(rounds < 40, "{rounds} rounds");
}

#[test]
fn last_change_of_health_of_an_endpoint_is_written() {
    let (one, other) = (Receiver::new(), Receiver::new());
    let mut finishing = Finishing::new();
    let changes = [
        (&one, Health::Failing),
        (&other, Health::Failing),
        (&one, Health::Unchanged),
        (&one, Health::Healthy),
        (&one, Health::Unchanged),
    ];
    for (receiver, health) in changes {
        finishing.push(outcome(receiver, health));
    }
    let health: Vec<Health> =
        finishing.next().unwrap_or_default().iter().map(|unwritten| unwritten.finished.health).collect();
    let expected = [Health::Unchanged, Health::Failing, Health::Unchanged, Health::Healthy, Health::Unchanged];
    assert_eq!(health, expected);
}

#[test]
fn success_before_the_last_failure_is_written_too() {
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
