//! Tests the metrics of calls.

use std::sync::Arc;

use cais_acquirers::Router;
use cais_acquirers::breaker::{Breaker, FAILURES_TO_OPEN, OPEN_FOR, Outcome};
use cais_domain::acquirer_name::AcquirerName;
use cais_ports::Acquirers;
use metrics_exporter_prometheus::PrometheusBuilder;

use crate::answers::{BUDGET, acquirer, order};
use crate::breaker::FakeClock;
use crate::router;
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

#[tokio::test]
async fn charge_is_passed_on_only_if_the_next_acquirer_is_asked() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let router = Router::new(vec![router::acquirer("main", "is down", 1), router::acquirer("other", "refuses", 1)]);
    router.issue(&order(), &AcquirerName::parse("main").unwrap(), BUDGET).await.unwrap_err();
    let text = handle.render();
    let lines = text.lines().filter(|line| line.starts_with("cais_acquirer_charges_passed_on_total{"));
    assert_eq!(lines.collect::<Vec<_>>(), [r#"cais_acquirer_charges_passed_on_total{acquirer="main"} 1"#]);
}

#[test]
fn trial_calls_are_counted_by_outcome() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let clock = FakeClock::new();
    let breaker = Breaker::new("main", clock.as_clock());
    for _ in 0..FAILURES_TO_OPEN {
        breaker.enter().unwrap().report(Outcome::Failed);
    }
    clock.pass(OPEN_FOR);
    breaker.enter().unwrap().report(Outcome::Failed);
    clock.pass(OPEN_FOR);
    drop(breaker.enter().unwrap());
    let trial = breaker.enter().unwrap();
    let half_open = handle.render();
    assert!(half_open.contains(r#"cais_acquirer_breaker_state{acquirer="main"} 1"#), "{half_open}");
    trial.report(Outcome::Answered);
    // A call through a closed breaker is no trial.
    breaker.enter().unwrap().report(Outcome::Answered);
    let text = handle.render();
    for outcome in ["answered", "failed", "cancelled"] {
        let line = format!(r#"cais_acquirer_trial_calls_total{{acquirer="main",outcome="{outcome}"}} 1"#);
        assert!(text.contains(&line), "{line} is not in\n{text}");
    }
    assert!(text.contains(r#"cais_acquirer_breaker_state{acquirer="main"} 0"#), "{text}");
}
