//! Tests the outcome of an attempt: schedule, disabling and health.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use cais_domain::merchant::webhook::{FAILING_AFTER, MAX_RETRY_AFTER, SCHEDULE_S};
use cais_testkit::builders::{fresh, start};
use jiff::{SignedDuration, ToSpan as _};

use super::*;
use crate::webhooks::dispatch::samples::{Receiver, accepted, refused};

fn result(claimed: ClaimedDelivery, sent: Sent) -> AttemptResult {
    AttemptResult { claimed, began_at: start(), ended_at: start() + 2.seconds(), sent }
}

#[test]
fn health_is_written_if_the_claim_or_last_attempt_differs() {
    use AttemptStatus::{Failed, Succeeded};
    use Health::{Failing, Healthy, Unchanged};
    let before = Some(start() - 1.hour());
    let cases = [
        // (start of the failures, as read with the claim; last attempt; response; written health)
        (None, None, accepted(), Unchanged),
        (None, Some(Succeeded), accepted(), Unchanged),
        (None, Some(Failed), accepted(), Healthy),
        (before, None, accepted(), Healthy),
        (before, Some(Succeeded), accepted(), Healthy),
        (before, Some(Failed), accepted(), Healthy),
        (None, None, refused(500), Failing),
        (None, Some(Succeeded), refused(500), Failing),
        (None, Some(Failed), refused(500), Failing),
        (before, None, refused(500), Unchanged),
        (before, Some(Succeeded), refused(500), Failing),
        (before, Some(Failed), refused(500), Unchanged),
    ];
    for (failing_since, last, sent, expected) in cases {
        let claimed = ClaimedDelivery { failing_since, ..Receiver::new().delivery() };
        let consequences = result(claimed, sent.clone()).consequences(last);
        assert_eq!(consequences.finished.health, expected, "{failing_since:?} {last:?} {:?}", sent.error);
        assert_eq!(consequences.disable, None);
    }
}

#[test]
fn endpoint_that_is_gone_or_fails_for_days_is_disabled() {
    let (long_ago, not_quite) = (FAILING_AFTER, FAILING_AFTER - SignedDuration::from_secs(1));
    let cases = [
        // (start of the failures; last attempt; response; reason to disable)
        (None, None, refused(410), Some(DisabledReason::Gone)),
        (Some(long_ago), None, refused(410), Some(DisabledReason::Gone)),
        (Some(long_ago), None, refused(500), Some(DisabledReason::Failing)),
        (Some(long_ago), Some(AttemptStatus::Failed), refused(500), Some(DisabledReason::Failing)),
        (Some(long_ago), Some(AttemptStatus::Succeeded), refused(500), None),
        (Some(long_ago), None, accepted(), None),
        (Some(not_quite), None, refused(500), None),
        (None, None, refused(500), None),
        (None, None, refused(404), None),
    ];
    for (failing_for, last, sent, expected) in cases {
        let failing_since = failing_for.map(|long| start() + 2.seconds() - long);
        let claimed = ClaimedDelivery { failing_since, ..Receiver::new().delivery() };
        let consequences = result(claimed, sent.clone()).consequences(last);
        assert_eq!(consequences.disable, expected, "{failing_for:?} {last:?} {:?}", sent.status_code);
    }
}

#[test]
fn failed_test_is_not_tried_again() {
    let claimed =
        ClaimedDelivery { event: DeliveredEvent::Test { id: fresh(), at: start() }, ..Receiver::new().delivery() };
    assert_eq!(result(claimed.clone(), refused(503)).consequences(None).finished.outcome, AttemptOutcome::Failed);
    assert_eq!(result(claimed, accepted()).consequences(None).finished.outcome, AttemptOutcome::Succeeded);
}

#[test]
fn schedule_counts_from_the_end_of_the_call_and_ends() {
    let last = u32::try_from(SCHEDULE_S.len()).unwrap() + 1;
    for tries in 1..last {
        let claimed = ClaimedDelivery { tries, ..Receiver::new().delivery() };
        let consequences = result(claimed.clone(), refused(503)).consequences(None);
        let due_at = next_attempt(claimed.key.id, tries, start() + 2.seconds(), None).unwrap();
        assert_eq!(consequences.finished.outcome, AttemptOutcome::Retry { due_at }, "after try {tries}");
        assert!(due_at > start() + 2.seconds());
    }
    let claimed = ClaimedDelivery { tries: last, ..Receiver::new().delivery() };
    assert_eq!(result(claimed.clone(), refused(503)).consequences(None).finished.outcome, AttemptOutcome::Failed);
    assert_eq!(result(claimed, accepted()).consequences(None).finished.outcome, AttemptOutcome::Succeeded);
}

#[test]
fn retry_after_only_delays_the_schedule() {
    let due = |retry_after| {
        let claimed = Receiver::new().delivery();
        match result(claimed, Sent { retry_after: Some(retry_after), ..refused(429) })
            .consequences(None)
            .finished
            .outcome
        {
            AttemptOutcome::Retry { due_at } => due_at.duration_since(start() + 2.seconds()),
            other @ (AttemptOutcome::Succeeded | AttemptOutcome::Failed) => unreachable!("{other:?}"),
        }
    };
    assert_eq!(due(SignedDuration::from_mins(10)), SignedDuration::from_mins(10));
    assert!(due(SignedDuration::from_secs(1)) >= SignedDuration::from_millis(4_500), "a shorter time is ignored");
    assert_eq!(due(SignedDuration::from_hours(1_000)), MAX_RETRY_AFTER);
}

#[test]
fn outcome_has_the_facts_of_claim_and_response() {
    let claimed = ClaimedDelivery { fence: 7, tries: 3, ..Receiver::new().delivery() };
    let sent = Sent { response_body: Some("no".to_owned()), ..refused(500) };
    let finished = result(claimed.clone(), sent).consequences(None).finished;
    assert_eq!((finished.key, finished.fence, finished.tries), (claimed.key, 7, 3));
    assert_eq!(finished.epoch, claimed.endpoint.epoch);
    let expected = DeliveryAttempt {
        at: start(),
        status_code: Some(500),
        duration_ms: 7,
        error: Some("status_not_2xx".to_owned()),
        response_body: Some("no".to_owned()),
    };
    assert_eq!(finished.attempt, expected);
}

#[test]
fn unsigned_delivery_is_retried_without_a_change_of_health() {
    for (failing_since, last) in
        [(None, None), (None, Some(AttemptStatus::Succeeded)), (Some(start() - FAILING_AFTER), None)]
    {
        let claimed = ClaimedDelivery { failing_since, ..Receiver::new().delivery() };
        let consequences = result(claimed, nothing_sent(AttemptError::Unsigned)).consequences(last);
        assert!(matches!(consequences.finished.outcome, AttemptOutcome::Retry { .. }));
        assert_eq!((consequences.finished.health, consequences.disable), (Health::Unchanged, None));
    }
}
