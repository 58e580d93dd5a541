//! What follows from what a receiver said: schedule, disabling, health.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use cais_domain::webhook::{FAILING_AFTER, MAX_RETRY_AFTER, SCHEDULE_S};
use cais_testkit::builders::start;
use jiff::{SignedDuration, ToSpan as _};

use super::*;
use crate::webhooks::dispatch::samples::{Receiver, refused, taken};

fn called(claimed: ClaimedDelivery, sent: Sent) -> Called {
    Called { claimed, began_at: start(), ended_at: start() + 2.seconds(), sent }
}

#[test]
fn an_answer_says_of_the_endpoint_what_is_news_to_either_source() {
    use Health::{Failing, Healthy, Unchanged};
    use Turn::{Failed, Succeeded};
    let before = Some(start() - 1.hour());
    let cases = [
        // what the claim said, how the last call ended, the answer: what is written
        (None, None, taken(), Unchanged),
        (None, Some(Succeeded), taken(), Unchanged),
        (None, Some(Failed), taken(), Healthy),
        (before, None, taken(), Healthy),
        (before, Some(Succeeded), taken(), Healthy),
        (before, Some(Failed), taken(), Healthy),
        (None, None, refused(500), Failing),
        (None, Some(Succeeded), refused(500), Failing),
        (None, Some(Failed), refused(500), Failing),
        (before, None, refused(500), Unchanged),
        (before, Some(Succeeded), refused(500), Failing),
        (before, Some(Failed), refused(500), Unchanged),
    ];
    for (failing_since, last, sent, expected) in cases {
        let claimed = ClaimedDelivery { failing_since, ..Receiver::new().delivery() };
        let verdict = called(claimed, sent.clone()).judge(last);
        assert_eq!(verdict.finished.health, expected, "{failing_since:?} {last:?} {:?}", sent.error);
        assert_eq!(verdict.disable, None);
    }
}

#[test]
fn an_endpoint_is_disabled_when_it_is_gone_or_failed_for_days_without_a_success() {
    let (long_ago, not_quite) = (FAILING_AFTER, FAILING_AFTER - SignedDuration::from_secs(1));
    let cases = [
        // for how long it failed, how the last call ended, the answer: why it is disabled
        (None, None, refused(410), Some(DisabledReason::Gone)),
        (Some(long_ago), None, refused(410), Some(DisabledReason::Gone)),
        (Some(long_ago), None, refused(500), Some(DisabledReason::Failing)),
        (Some(long_ago), Some(Turn::Failed), refused(500), Some(DisabledReason::Failing)),
        (Some(long_ago), Some(Turn::Succeeded), refused(500), None),
        (Some(long_ago), None, taken(), None),
        (Some(not_quite), None, refused(500), None),
        (None, None, refused(500), None),
        (None, None, refused(404), None),
    ];
    for (failing_for, last, sent, expected) in cases {
        let failing_since = failing_for.map(|long| start() + 2.seconds() - long);
        let claimed = ClaimedDelivery { failing_since, ..Receiver::new().delivery() };
        let verdict = called(claimed, sent.clone()).judge(last);
        assert_eq!(verdict.disable, expected, "{failing_for:?} {last:?} {:?}", sent.status_code);
    }
}

#[test]
fn failed_test_is_not_tried_again() {
    let claimed = ClaimedDelivery { kind: EventType::WebhookTest, ..Receiver::new().delivery() };
    assert_eq!(called(claimed.clone(), refused(503)).judge(None).finished.outcome, AttemptOutcome::Failed);
    assert_eq!(called(claimed, taken()).judge(None).finished.outcome, AttemptOutcome::Succeeded);
}

#[test]
fn the_schedule_counts_from_the_end_of_the_call_and_ends() {
    let last = u32::try_from(SCHEDULE_S.len()).unwrap() + 1;
    for tries in 1..last {
        let claimed = ClaimedDelivery { tries, ..Receiver::new().delivery() };
        let verdict = called(claimed.clone(), refused(503)).judge(None);
        let due_at = next_attempt(claimed.key.id, tries, start() + 2.seconds(), None).unwrap();
        assert_eq!(verdict.finished.outcome, AttemptOutcome::Retry { due_at }, "after try {tries}");
        assert!(due_at > start() + 2.seconds());
    }
    let claimed = ClaimedDelivery { tries: last, ..Receiver::new().delivery() };
    assert_eq!(called(claimed.clone(), refused(503)).judge(None).finished.outcome, AttemptOutcome::Failed);
    assert_eq!(called(claimed, taken()).judge(None).finished.outcome, AttemptOutcome::Succeeded);
}

#[test]
fn a_receiver_that_asks_for_time_gets_it_and_never_less_than_the_schedule() {
    let due = |retry_after| {
        let claimed = Receiver::new().delivery();
        match called(claimed, Sent { retry_after: Some(retry_after), ..refused(429) }).judge(None).finished.outcome {
            AttemptOutcome::Retry { due_at } => due_at.duration_since(start() + 2.seconds()),
            other @ (AttemptOutcome::Succeeded | AttemptOutcome::Failed) => unreachable!("{other:?}"),
        }
    };
    assert_eq!(due(SignedDuration::from_mins(10)), SignedDuration::from_mins(10));
    assert!(due(SignedDuration::from_secs(1)) >= SignedDuration::from_millis(4_500), "it only ever delays");
    assert_eq!(due(SignedDuration::from_hours(1_000)), MAX_RETRY_AFTER);
}

#[test]
fn what_is_written_down_names_the_claim_and_what_was_seen() {
    let claimed = ClaimedDelivery { fence: 7, tries: 3, ..Receiver::new().delivery() };
    let sent = Sent { response_body: Some("no".to_owned()), ..refused(500) };
    let finished = called(claimed.clone(), sent).judge(None).finished;
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
fn what_cannot_be_signed_is_tried_again_and_says_nothing_of_its_receiver() {
    for (failing_since, last) in [(None, None), (None, Some(Turn::Succeeded)), (Some(start() - FAILING_AFTER), None)] {
        let claimed = ClaimedDelivery { failing_since, ..Receiver::new().delivery() };
        let verdict = called(claimed, nothing_sent(AttemptError::Unsigned)).judge(last);
        assert!(matches!(verdict.finished.outcome, AttemptOutcome::Retry { .. }));
        assert_eq!((verdict.finished.health, verdict.disable), (Health::Unchanged, None));
    }
}
