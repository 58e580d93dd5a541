//! The numbers that operators alert on exist from the start: a counter that appears with its first event cannot be seen to grow.

use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram};

/// Describes what the store and the acquirers count, and registers the store's alarms at zero.
pub fn announce() {
    describe_counter!("cais_commit_queue_full_total", "Changes refused because the queue of the committer was full.");
    describe_counter!("cais_commit_unknown_total", "Lost replies to COMMIT by what was found out about them.");
    describe_counter!("cais_commit_retries_total", "Batches that were repeated after the database asked for it.");
    describe_histogram!("cais_commit_seconds", Unit::Seconds, "Time from a batch's begin to its end.");
    describe_histogram!("cais_commit_batch_size", "Changes that were committed together.");
    describe_gauge!("cais_commit_queue_depth", "Changes that wait for the committer.");
    describe_counter!("cais_acquirer_requests_total", "Calls to acquirers by operation and outcome.");
    describe_gauge!("cais_acquirer_breaker_state", "An acquirer's circuit breaker: 0 closed, 1 half-open, 2 open.");
    counter!("cais_commit_queue_full_total").increment(0);
    counter!("cais_commit_retries_total").increment(0);
    for outcome in ["committed", "not_committed", "unknown"] {
        counter!("cais_commit_unknown_total", "outcome" => outcome).increment(0);
    }
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
            "# HELP cais_commit_queue_full_total Changes refused because the queue of the committer was full.",
        ] {
            assert!(page.lines().any(|found| found == line), "{line} is missing in\n{page}");
        }
    }
}
