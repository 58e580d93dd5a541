//! The numbers that operators alert on exist from the start: a counter that appears with its first event cannot be seen to grow.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::infraction::ALERT_HOURS;
use cais_ports::NoticeCounts;
use cais_use_cases::reconcile::Standing;
use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge};

use crate::http::{auth_failures, connections};
use crate::measured;

/// Infractions without a defence that operators were told of, by the hours that were left.
const ALERTS: &str = "cais_infraction_alerts_total";

/// Callbacks that wait for their truth.
const CALLBACKS_OPEN: &str = "cais_callbacks_open";
/// Callbacks that could not be matched, by the acquirer.
const CALLBACKS_UNMATCHED: &str = "cais_callbacks_unmatched";

/// When each acquirer's lists were compared to their end.
const RECONCILED: &str = "cais_reconcile_last_success_timestamp_seconds";
/// How many findings of the last reconciliation are open, by the acquirer.
const DIFFERENCES: &str = "cais_reconcile_differences";

/// Describes what the store, the acquirers and the webhooks count, and registers alarms at zero.
pub fn announce() {
    describe_counter!("cais_commit_queue_full_total", "Changes refused because the queue of the committer was full.");
    describe_counter!("cais_commit_unknown_total", "Lost replies to COMMIT by what was found out about them.");
    describe_counter!("cais_commit_retries_total", "Batches that were repeated after the database asked for it.");
    describe_counter!(
        "cais_commit_set_aside_total",
        "Changes that wait apart because another transaction keeps a row locked."
    );
    describe_histogram!("cais_commit_seconds", Unit::Seconds, "Time from a batch's begin to its end.");
    describe_histogram!("cais_commit_batch_size", "Changes that were committed together.");
    describe_gauge!("cais_commit_queue_depth", "Changes that wait for the committer.");
    describe_counter!("cais_acquirer_requests_total", "Calls to acquirers by operation and outcome.");
    describe_gauge!("cais_acquirer_breaker_state", "An acquirer's circuit breaker: 0 closed, 1 half-open, 2 open.");
    describe_gauge!(
        "cais_housekeeping_last_success_timestamp_seconds",
        Unit::Seconds,
        "When old rows of a table were last removed, in Unix time."
    );
    announce_webhooks();
    describe_gauge!(
        RECONCILED,
        Unit::Seconds,
        "Unix time before which everything an acquirer received and sent is compared."
    );
    describe_gauge!(
        DIFFERENCES,
        "Differences and unreadable rows of an acquirer's lists that the last pass left open."
    );
    announce_door();
    describe_gauge!(CALLBACKS_OPEN, "Callbacks whose truth is still to be read; counted to 100,000.");
    describe_gauge!(CALLBACKS_UNMATCHED, "Callbacks that could not be matched to a charge, payout or infraction.");
    gauge!(CALLBACKS_OPEN).set(0.0);
    describe_counter!(ALERTS, "Infractions without a defence that were told, by the hours that were left.");
    for hours in ALERT_HOURS {
        counter!(ALERTS, "hours" => hours.to_string()).increment(0);
    }
    counter!("cais_commit_queue_full_total").increment(0);
    counter!("cais_commit_retries_total").increment(0);
    for outcome in ["committed", "not_committed", "unknown"] {
        counter!("cais_commit_unknown_total", "outcome" => outcome).increment(0);
    }
}

fn announce_door() {
    describe_counter!(auth_failures::TOTAL, "Requests whose API key was missing or not valid, by reason.");
    for reason in auth_failures::REASONS {
        counter!(auth_failures::TOTAL, "reason" => reason).increment(0);
    }
    describe_gauge!(
        cais_rate_limits::SHARED,
        "Whether Redis counts requests for all nodes; absent without `redis_url`."
    );
    describe_counter!(connections::CUT, "Connections that a limit ended or refused, by the limit.");
    for reason in ["head", "body", "write", "per_address"] {
        counter!(connections::CUT, "reason" => reason).increment(0);
    }
}

/// Shows how many callbacks have not ended well. An acquirer that has none any more shows zero.
pub fn show_callbacks(names: &[AcquirerName], counts: &NoticeCounts) {
    gauge!(CALLBACKS_OPEN).set(float(counts.open));
    for name in names {
        let unmatched = counts.unmatched.get(name).copied().unwrap_or_default();
        gauge!(CALLBACKS_UNMATCHED, "acquirer" => name.to_string()).set(float(unmatched));
    }
}

fn float(count: u64) -> f64 {
    u32::try_from(count).map_or(f64::from(u32::MAX), f64::from)
}

fn announce_webhooks() {
    describe_counter!(measured::ATTEMPTS, "Attempts to deliver a webhook by what follows from them.");
    describe_counter!(measured::FAILURES, "Failed attempts to deliver a webhook by their reason.");
    describe_histogram!(measured::SECONDS, Unit::Seconds, "Time of an attempt to deliver a webhook.");
    describe_gauge!(measured::IN_FLIGHT, "Attempts to deliver a webhook that this node makes just now.");
    describe_gauge!(measured::BACKLOG, "Deliveries of all nodes that are due and not in flight; counted to 10,000.");
    describe_gauge!(measured::OLDEST_DUE, Unit::Seconds, "How long the oldest of these deliveries has been due.");
    for outcome in ["succeeded", "retried", "failed"] {
        counter!(measured::ATTEMPTS, "outcome" => outcome).increment(0);
    }
    for zero in [measured::IN_FLIGHT, measured::BACKLOG, measured::OLDEST_DUE] {
        gauge!(zero).set(0.0);
    }
}

/// Shows how the books stand with an acquirer.
pub fn set_reconciled(standing: &Standing) {
    let acquirer = standing.acquirer.to_string();
    if let Some(until) = standing.compared_until.and_then(|until| u32::try_from(until.as_second()).ok()) {
        gauge!(RECONCILED, "acquirer" => acquirer.clone()).set(until);
    }
    gauge!(DIFFERENCES, "acquirer" => acquirer).set(u32::try_from(standing.open).unwrap_or(u32::MAX));
}

/// Counts an infraction that operators were told of so many hours before its deadline.
pub fn count_alert(hours: u8) {
    counter!(ALERTS, "hours" => hours.to_string()).increment(1);
}

#[cfg(test)]
mod tests {
    use metrics_exporter_prometheus::PrometheusBuilder;

    #[test]
    fn alarms_are_zero_before_anything_happens() {
        let recorder = PrometheusBuilder::new().build_recorder();
        metrics::with_local_recorder(&recorder, super::announce);
        let page = recorder.handle().render();
        for line in [
            "cais_commit_queue_full_total 0",
            "cais_commit_retries_total 0",
            "cais_commit_unknown_total{outcome=\"committed\"} 0",
            "cais_commit_unknown_total{outcome=\"not_committed\"} 0",
            "cais_commit_unknown_total{outcome=\"unknown\"} 0",
            "cais_webhook_attempts_total{outcome=\"failed\"} 0",
            "cais_auth_failures_total{reason=\"wrong_secret\"} 0",
            "cais_http_connections_cut_total{reason=\"write\"} 0",
            "cais_webhook_backlog 0",
            "cais_webhook_oldest_due_seconds 0",
            "cais_webhook_in_flight 0",
            "cais_infraction_alerts_total{hours=\"6\"} 0",
            "# HELP cais_commit_queue_full_total Changes refused because the queue of the committer was full.",
        ] {
            assert!(page.lines().any(|found| found == line), "{line} is missing in\n{page}");
        }
    }
}
