//! Metrics of calls.

use std::sync::Arc;

use cais_acquirers::Router;
use cais_acquirers::breaker::FAILURES_TO_OPEN;
use cais_domain::acquirer_name::AcquirerName;
use cais_ports::Acquirers;
use metrics_exporter_prometheus::PrometheusBuilder;

use crate::answers::{BUDGET, acquirer, order};
use crate::server::closed_port;

#[tokio::test]
async fn calls_are_counted_by_acquirer_operation_and_outcome() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    // For this thread only, which is the runtime's only one.
    let _guard = metrics::set_default_local_recorder(&recorder);
    let router = Router::new(vec![Arc::new(acquirer(&closed_port().await))]);
    let main = AcquirerName::parse("main").unwrap();
    for _ in 0..=FAILURES_TO_OPEN {
        router.issue(&order(), &main, BUDGET).await.unwrap_err();
    }
    let text = handle.render();
    for line in [
        r#"cais_acquirer_requests_total{acquirer="main",operation="create",outcome="unavailable"} 5"#,
        r#"cais_acquirer_requests_total{acquirer="main",operation="create",outcome="left_alone"} 1"#,
        r#"cais_acquirer_breaker_state{acquirer="main"} 2"#,
        r#"cais_acquirer_request_seconds_count{acquirer="main",operation="create"} 5"#,
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}
