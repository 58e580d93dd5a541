//! Every metric of the service: its kind, labels and HELP text.
//!
//! A new metric is one more row here and in docs/OPERATIONS.md. Tests compare both tables, and this table with the
//! names in the sources.

use metrics::{describe_counter, describe_gauge, describe_histogram};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusRecorder};

/// Histogram bounds for responses of the API, in seconds. Usual objectives are 0.1 s and 0.5 s. A response is due within
/// 10 s.
const REQUEST_S: &[f64] = &[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];
/// Histogram bounds for commits, in seconds. A commit lasts a few milliseconds, and a lane waits at most 150 ms for a locked row.
const COMMIT_S: &[f64] = &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0];
/// Histogram bounds for calls to other machines, in seconds. The longest time limit of a call is 30 s.
const REMOTE_S: &[f64] = &[0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0];
/// Histogram bounds for the number of change sets in a batch. By default a batch has at most 256.
const BATCH: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// The name, with its unit last.
    pub name: &'static str,
    /// The kind of the metric.
    pub kind: Kind,
    /// The labels, separated by commas; none when empty.
    pub labels: &'static str,
    /// The HELP text.
    pub help: &'static str,
}

/// The kind of a metric.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// A number that only grows.
    Counter,
    /// A number that rises and falls.
    Gauge,
    /// Observations in buckets up to these bounds.
    Histogram(&'static [f64]),
}

impl Kind {
    /// Returns the type in the TYPE line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram(_) => "histogram",
        }
    }
}

use Kind::{Counter, Gauge, Histogram};

const fn row(name: &'static str, kind: Kind, labels: &'static str, help: &'static str) -> Metric {
    Metric { name, kind, labels, help }
}

/// The metrics of this program. The crate `metrics-process` adds the metrics of the process.
pub const METRICS: &[Metric] = &[
    row(
        "cais_acquirer_breaker_state",
        Gauge,
        "acquirer",
        "Circuit breaker of an acquirer: 0 closed, 1 half-open, 2 open.",
    ),
    row(
        "cais_acquirer_certificate_expiry_timestamp_seconds",
        Gauge,
        "acquirer",
        "Unix time at which the client certificate of an acquirer expires; absent without a certificate.",
    ),
    row(
        "cais_acquirer_charges_passed_on_total",
        Counter,
        "acquirer",
        "Charges that an acquirer certainly did not accept, so that the next acquirer was asked.",
    ),
    row("cais_acquirer_drained", Gauge, "acquirer", "1 while the acquirer receives no new orders, else 0."),
    row(
        "cais_acquirer_drained_open_orders",
        Gauge,
        "acquirer, kind",
        "Open orders at a drained acquirer; each kind counted to 100,000.",
    ),
    row("cais_acquirer_request_seconds", Histogram(REMOTE_S), "acquirer, operation", "Duration of calls to acquirers."),
    row(
        "cais_acquirer_requests_total",
        Counter,
        "acquirer, operation, outcome",
        "Calls to acquirers by operation and outcome.",
    ),
    row(
        "cais_acquirer_trial_calls_total",
        Counter,
        "acquirer, outcome",
        "Trial calls of half-open circuit breakers: answered, failed or cancelled.",
    ),
    row("cais_auth_failures_total", Counter, "reason", "Requests whose API key was missing or not valid, by reason."),
    row("cais_build_info", Gauge, "version", "Always 1; the label has the version of the program."),
    row("cais_callbacks_open", Gauge, "", "Callbacks that are not processed yet; counted to 500,000."),
    row(
        "cais_callbacks_unmatched",
        Gauge,
        "acquirer",
        "Callbacks that could not be matched to a charge, payout, infraction or crypto deposit.",
    ),
    row("cais_commit_batch_size", Histogram(BATCH), "", "Change sets in one pass of a commit lane."),
    row("cais_commit_queue_depth", Gauge, "", "Change sets that wait for the committer."),
    row(
        "cais_commit_queue_full_total",
        Counter,
        "",
        "Change sets that were refused because the queue of the committer was full.",
    ),
    row("cais_commit_retries_total", Counter, "", "Batches that were repeated after an error of the database."),
    row("cais_commit_seconds", Histogram(COMMIT_S), "", "Duration of one pass of a commit lane."),
    row(
        "cais_commit_set_aside_total",
        Counter,
        "",
        "Change sets that wait apart because another transaction keeps a row locked.",
    ),
    row("cais_commit_unknown_total", Counter, "outcome", "Lost replies to COMMIT by the outcome that was found."),
    row(
        "cais_crypto_held_brl",
        Gauge,
        "currency",
        "Worth in BRL of the coins at the crypto processor, updated every five minutes.",
    ),
    row("cais_crypto_owed_brl", Gauge, "", "BRL credited for crypto deposits less BRL debited for crypto withdrawals."),
    row(
        "cais_crypto_reviews_open",
        Gauge,
        "kind",
        "Crypto withdrawals and payments that wait for a decision of an operator; each kind counted to 200.",
    ),
    row("cais_db_pool_idle", Gauge, "", "Idle connections of the read pool at the end of the last read."),
    row("cais_db_pool_in_use", Gauge, "", "Connections of the read pool that are in use."),
    row(
        "cais_db_pool_waits_total",
        Counter,
        "",
        "Reads that waited because every connection of the read pool was in use.",
    ),
    row(
        "cais_housekeeping_last_success_timestamp_seconds",
        Gauge,
        "table",
        "Unix time at which housekeeping last succeeded for a table.",
    ),
    row(
        "cais_http_connections_cut_total",
        Counter,
        "reason",
        "Connections that a limit ended or refused, by the limit.",
    ),
    row("cais_http_request_seconds", Histogram(REQUEST_S), "method, route", "Time to answer by method and route."),
    row("cais_http_requests_total", Counter, "method, route, status", "Requests by method, route and status."),
    row(
        "cais_infraction_alerts_total",
        Counter,
        "hours",
        "Alerts of undefended infractions by the hours before the deadline.",
    ),
    row(
        "cais_ledger_differences",
        Gauge,
        "",
        "Differences that the last check of the ledger found, at most 1,000; absent before the first.",
    ),
    row(
        "cais_ledger_verified_timestamp_seconds",
        Gauge,
        "",
        "Unix time of the last check of the ledger; absent before the first.",
    ),
    row("cais_open_money_count", Gauge, "kind", "Payouts and refunds whose outcome is open; counted to 100,000."),
    row(
        "cais_open_money_oldest_seconds",
        Gauge,
        "kind",
        "Age of the oldest payout or refund whose outcome is open; 0 without any.",
    ),
    row(
        "cais_rate_limits_shared",
        Gauge,
        "",
        "1 while Redis counts requests for all nodes, else 0; absent without `redis_url`.",
    ),
    row(
        "cais_reconcile_differences",
        Gauge,
        "acquirer",
        "Differences and unreadable rows that the last reconciliation left open.",
    ),
    row(
        "cais_reconcile_last_success_timestamp_seconds",
        Gauge,
        "acquirer",
        "Unix time up to which the lists of an acquirer are compared.",
    ),
    row("cais_webhook_attempt_seconds", Histogram(REMOTE_S), "", "Duration of attempts to deliver a webhook."),
    row("cais_webhook_attempts_total", Counter, "outcome", "Attempts to deliver a webhook by outcome."),
    row(
        "cais_webhook_backlog",
        Gauge,
        "",
        "Deliveries of all nodes that are due and not in flight; counted to 10,000.",
    ),
    row("cais_webhook_failures_total", Counter, "reason", "Failed attempts to deliver a webhook by reason."),
    row("cais_webhook_in_flight", Gauge, "", "Attempts to deliver a webhook that this node makes now."),
    row("cais_webhook_oldest_due_seconds", Gauge, "", "Time since the oldest due delivery became due; 0 without any."),
    row("cais_worker_failures", Gauge, "worker", "Failed passes of a background worker since its last good pass."),
];

/// Returns a recorder with the buckets of the table.
///
/// # Errors
/// A histogram has no buckets.
pub fn recorder() -> Result<PrometheusRecorder, BuildError> {
    let mut builder = PrometheusBuilder::new();
    for metric in METRICS {
        if let Histogram(bounds) = metric.kind {
            builder = builder.set_buckets_for_metric(Matcher::Full(metric.name.to_owned()), bounds)?;
        }
    }
    Ok(builder.build_recorder())
}

/// Registers the HELP text of every metric.
pub fn describe() {
    for Metric { name, kind, help, .. } in METRICS {
        match kind {
            Counter => describe_counter!(*name, *help),
            Gauge => describe_gauge!(*name, *help),
            Histogram(_) => describe_histogram!(*name, *help),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    const OPERATIONS: &str = include_str!("../../../../docs/OPERATIONS.md");

    #[test]
    fn metrics_match_the_table_in_operations() {
        let section = OPERATIONS.split("\n### Metrics\n").nth(1).unwrap().split("\n#").next().unwrap();
        let documented: Vec<&str> = section.lines().filter(|line| line.starts_with("| `cais_")).collect();
        let in_code: Vec<String> = METRICS
            .iter()
            .map(|row| format!("| `{}` | {} | {} | {} |", row.name, row.kind.as_str(), row.labels, row.help))
            .collect();
        assert_eq!(documented, in_code);
        assert!(METRICS.is_sorted_by(|one, next| one.name < next.name), "sorted by name");
    }

    #[test]
    fn durations_are_histograms_with_buckets() {
        let recorder = recorder().unwrap();
        let times = [
            "cais_acquirer_request_seconds",
            "cais_commit_seconds",
            "cais_http_request_seconds",
            "cais_webhook_attempt_seconds",
        ];
        metrics::with_local_recorder(&recorder, || {
            describe();
            for name in times {
                metrics::histogram!(name).record(0.3);
            }
        });
        let page = recorder.handle().render();
        for name in times {
            for line in [
                format!("# TYPE {name} histogram"),
                format!("{name}_bucket{{le=\"0.25\"}} 0"),
                format!("{name}_bucket{{le=\"+Inf\"}} 1"),
                format!("{name}_count 1"),
            ] {
                assert!(page.lines().any(|found| found == line), "{line} is missing in\n{page}");
            }
        }
        assert!(!page.contains("quantile="), "{page}");
    }
}
