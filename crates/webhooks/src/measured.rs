//! Metrics of attempts: their number in flight and their duration.

use std::time::Duration;

use metrics::{gauge, histogram};

/// Attempts in flight on this node.
const IN_FLIGHT: &str = "cais_webhook_in_flight";
/// Duration of an attempt.
const SECONDS: &str = "cais_webhook_attempt_seconds";

/// An attempt in flight. The gauge is decremented when the attempt ends, even if its future is dropped.
pub(crate) struct InFlight;

impl InFlight {
    pub(crate) fn begin() -> Self {
        gauge!(IN_FLIGHT).increment(1.0);
        Self
    }

    /// Ends an attempt that has a result, and records its duration.
    pub(crate) fn end(self, duration_ms: u32) {
        drop(self);
        histogram!(SECONDS).record(Duration::from_millis(u64::from(duration_ms)));
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        gauge!(IN_FLIGHT).decrement(1.0);
    }
}

#[cfg(test)]
mod tests {
    use metrics_exporter_prometheus::PrometheusBuilder;

    use super::*;

    #[test]
    fn in_flight_gauge_returns_to_zero_after_any_end() {
        let recorder = PrometheusBuilder::new().build_recorder();
        metrics::with_local_recorder(&recorder, || {
            let (dropped, ended) = (InFlight::begin(), InFlight::begin());
            let page = recorder.handle().render();
            assert!(page.lines().any(|line| line == "cais_webhook_in_flight 2"), "{page}");
            drop(dropped);
            ended.end(250);
        });
        let page = recorder.handle().render();
        for line in [
            "cais_webhook_in_flight 0",
            "cais_webhook_attempt_seconds_sum 0.25",
            "cais_webhook_attempt_seconds_count 1",
        ] {
            assert!(page.lines().any(|found| found == line), "{line} is missing in\n{page}");
        }
    }
}
