//! Metrics of the queue: due deliveries, and attempts by their outcome.

use cais_ports::{AttemptOutcome, DueQueues, FinishedAttempt};
use jiff::Timestamp;
use metrics::{counter, gauge};

/// Attempts by outcome.
const ATTEMPTS: &str = "cais_webhook_attempts_total";
/// Failed attempts by reason.
const FAILURES: &str = "cais_webhook_failures_total";
/// Due deliveries to active endpoints, without those in flight. At most 10,000 are counted.
const BACKLOG: &str = "cais_webhook_backlog";
/// Time since the oldest due delivery became due.
const OLDEST_DUE: &str = "cais_webhook_oldest_due_seconds";

/// Sets the gauges of due deliveries.
pub(super) fn show_due(due: &DueQueues, now: Timestamp) {
    // `backlog` is at most 10,000, so the conversion is exact.
    gauge!(BACKLOG).set(f64::from(u32::try_from(due.backlog).unwrap_or(u32::MAX)));
    let waited = due.oldest_due_at.map_or(0.0, |since| now.duration_since(since).as_secs_f64());
    gauge!(OLDEST_DUE).set(waited.max(0.0));
}

/// The labels of finished attempts: outcome, and reason of a failure.
pub(super) struct Labels(Vec<(&'static str, Option<String>)>);

impl Labels {
    pub(super) fn of(finished: &[FinishedAttempt]) -> Self {
        Self(finished.iter().map(|one| (outcome_label(one.outcome), one.attempt.error.clone())).collect())
    }

    /// Counts the attempts, which must be stored already.
    pub(super) fn count(self) {
        for (outcome, error) in self.0 {
            counter!(ATTEMPTS, "outcome" => outcome).increment(1);
            // The reasons are a fixed list, so the number of time series has a limit.
            if let Some(reason) = error {
                counter!(FAILURES, "reason" => reason).increment(1);
            }
        }
    }
}

const fn outcome_label(outcome: AttemptOutcome) -> &'static str {
    match outcome {
        AttemptOutcome::Succeeded => "succeeded",
        AttemptOutcome::Retry { .. } => "retried",
        AttemptOutcome::Failed => "failed",
    }
}
